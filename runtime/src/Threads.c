// The thread pool behind onnxc_parallel. Parallel regions are short (tens of
// microseconds) and follow each other closely, so a worker that finds nothing
// to do spins for a while before it sleeps, and nobody ever waits for a worker
// that has not taken a task.
//
// One 64-bit word holds the state: a generation, counted up for every region,
// above the number of tasks that nobody has taken yet. A worker takes a task by
// a compare-and-swap of that word. It can succeed only while the region is
// alive, and as long as one task is not finished the region's fields are not
// reused: so a worker that was late for a region cannot run with the fields of
// another one.

#include "Loaded.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

// About 50 microseconds on current cores.
#define SPINS 2000u

typedef void task_fn(void *context, uint32_t index, uint32_t worker);

typedef struct pool pool;

typedef struct worker {
  pool *pool;
  pthread_t thread;
  uint32_t index;
} worker;

struct pool {
  onnxc_parallel parallel; // first: what the model sees
  _Alignas(64) _Atomic uint64_t state;
  _Atomic(task_fn *) task;
  _Atomic(void *) context;
  _Atomic uint32_t tasks;
  _Alignas(64) _Atomic uint32_t finished;
  _Alignas(64) atomic_flag busy; // a region is running
  _Atomic bool stop;
  _Atomic uint32_t sleepers;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  uint32_t thread_count;
  worker workers[];
};

static void pause_briefly(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
  __asm__ volatile("isb");
#endif
}

// Takes and runs one task of the current region; false where none is left.
static bool run_one(pool *pool, uint32_t worker) {
  uint64_t state = atomic_load(&pool->state);
  while ((uint32_t)state) {
    task_fn *task = atomic_load(&pool->task);
    void *context = atomic_load(&pool->context);
    uint32_t tasks = atomic_load(&pool->tasks);
    if (atomic_compare_exchange_weak(&pool->state, &state, state - 1)) {
      task(context, tasks - (uint32_t)state, worker);
      atomic_fetch_add(&pool->finished, 1);
      return true;
    }
  }
  return false;
}

static bool has_work(pool *pool) {
  return (uint32_t)atomic_load(&pool->state) || atomic_load(&pool->stop);
}

static void sleep_until_work(pool *pool) {
  pthread_mutex_lock(&pool->mutex);
  atomic_fetch_add(&pool->sleepers, 1);
  while (!has_work(pool))
    pthread_cond_wait(&pool->wake, &pool->mutex);
  atomic_fetch_sub(&pool->sleepers, 1);
  pthread_mutex_unlock(&pool->mutex);
}

static void *work(void *argument) {
  const worker *self = argument;
  pool *pool = self->pool;
  uint32_t spins = 0;
  while (!atomic_load(&pool->stop)) {
    if (run_one(pool, self->index)) {
      spins = 0;
    } else if (++spins < SPINS) {
      pause_briefly();
    } else {
      sleep_until_work(pool);
      spins = 0;
    }
  }
  return NULL;
}

static void wake_all(pool *pool) {
  if (!atomic_load(&pool->sleepers))
    return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->mutex);
}

// The calling thread is the last worker; it helps until no task is left and
// waits for the tasks that others have taken.
static void run_region(const onnxc_parallel *parallel, task_fn *task,
                       void *context, uint32_t tasks) {
  pool *owner = (pool *)(uintptr_t)parallel;
  uint32_t self = owner->thread_count;
  if (tasks < 2 || atomic_flag_test_and_set(&owner->busy)) {
    for (uint32_t i = 0; i < tasks; ++i)
      task(context, i, self);
    return;
  }
  atomic_store(&owner->task, task);
  atomic_store(&owner->context, context);
  atomic_store(&owner->tasks, tasks);
  atomic_store(&owner->finished, 0);
  uint64_t generation = (atomic_load(&owner->state) >> 32) + 1;
  atomic_store(&owner->state, generation << 32 | tasks);
  wake_all(owner);
  while (run_one(owner, self))
    ;
  for (uint32_t spins = 0; atomic_load(&owner->finished) < tasks; ++spins) {
    if (spins < SPINS)
      pause_briefly();
    else
      sched_yield();
  }
  atomic_flag_clear(&owner->busy);
}

static void stop(pool *pool) {
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->stop, true);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->mutex);
  for (uint32_t i = 0; i < pool->thread_count; ++i)
    pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}

const onnxc_parallel *onnxc_pool_create(uint32_t workers) {
  uint32_t threads = workers ? workers - 1 : 0;
  if (threads > 4095)
    return NULL;
  size_t bytes = sizeof(pool) + threads * sizeof(worker);
  size_t align = _Alignof(pool);
  pool *made = aligned_alloc(align, (bytes + align - 1) / align * align);
  if (!made)
    return NULL;
  *made = (pool){.parallel = {.workers = threads + 1, .run = run_region},
                 .busy = ATOMIC_FLAG_INIT,
                 .mutex = PTHREAD_MUTEX_INITIALIZER,
                 .wake = PTHREAD_COND_INITIALIZER};
  // A worker's index is fixed before the first region: where the system refuses
  // a thread there is no pool.
  for (uint32_t i = 0; i < threads; ++i) {
    made->workers[i] = (worker){.pool = made, .index = i};
    if (pthread_create(&made->workers[i].thread, NULL, work,
                       &made->workers[i])) {
      made->thread_count = i;
      stop(made);
      return NULL;
    }
  }
  made->thread_count = threads;
  return &made->parallel;
}

void onnxc_pool_destroy(const onnxc_parallel *parallel) {
  if (parallel)
    stop((pool *)(uintptr_t)parallel);
}
