// The thread pool behind onnxc_parallel. Parallel regions are short (tens of
// microseconds) and follow each other closely, so a worker that finds nothing
// to do spins for a while before it sleeps, and nobody ever waits for a worker
// that has not taken a task.
//
// The tasks of a region are shared out before it begins, neighbours to the same
// worker: the next region's share w reads mostly what this one's share w left
// in the cache of worker w. Who is done with its own share takes tasks from
// those of others.
//
// One 64-bit word holds the state of a share: a generation, counted up for
// every region, above the number of tasks that nobody has taken yet. A task is
// taken by a compare-and-swap of that word. It can succeed only while the
// region is alive, and as long as one task is not finished the region's fields
// are not reused: so a worker that was late for a region cannot run with the
// fields of another one.

#include "Loaded.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

// About 200 microseconds on current cores: what a network does between two
// regions on one core is mostly less.
#define SPINS 8000u

typedef void task_fn(void *context, uint32_t index, uint32_t worker);

typedef struct pool pool;

typedef struct worker {
  _Alignas(64) _Atomic uint64_t share; // state of the tasks meant for it
  pool *pool;
  pthread_t thread;
  uint32_t index;
} worker;

struct pool {
  onnxc_parallel parallel; // first: what the model sees
  _Alignas(64) _Atomic(task_fn *) task;
  _Atomic(void *) context;
  _Atomic uint32_t tasks;
  uint32_t generation; // of whoever has set `busy`
  _Alignas(64) _Atomic uint32_t finished;
  _Alignas(64) atomic_flag busy; // a region is running
  _Atomic bool stop;
  _Atomic uint32_t sleepers;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  uint32_t thread_count;
  worker workers[]; // of the threads, then the caller's
};

static void pause_briefly(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
  __asm__ volatile("isb");
#endif
}

// Where the share of a worker ends; that of the next one begins there.
static uint32_t end_of(const pool *pool, uint32_t worker, uint32_t tasks) {
  return (uint32_t)((uint64_t)tasks * (worker + 1) / pool->parallel.workers);
}

// Runs what nobody has taken of a share; how many tasks that were.
static uint32_t run_share(pool *pool, worker *share, uint32_t self) {
  uint32_t ran = 0;
  uint64_t state = atomic_load(&share->share);
  while ((uint32_t)state) {
    task_fn *task = atomic_load(&pool->task);
    void *context = atomic_load(&pool->context);
    uint32_t tasks = atomic_load(&pool->tasks);
    if (!atomic_compare_exchange_weak(&share->share, &state, state - 1))
      continue;
    task(context, end_of(pool, share->index, tasks) - (uint32_t)state, self);
    ++ran;
    state = atomic_load(&share->share);
  }
  return ran;
}

// Its own share first. All tasks that it runs belong to one region, which
// cannot end before they are counted.
static void run_shares(pool *pool, uint32_t self) {
  uint32_t ran = 0, workers = pool->parallel.workers;
  for (uint32_t i = 0; i < workers; ++i)
    ran += run_share(pool, &pool->workers[(self + i) % workers], self);
  if (ran)
    atomic_fetch_add(&pool->finished, ran);
}

static bool has_work(worker *self) {
  return (uint32_t)atomic_load(&self->share) || atomic_load(&self->pool->stop);
}

static void sleep_until_work(worker *self) {
  pool *pool = self->pool;
  pthread_mutex_lock(&pool->mutex);
  atomic_fetch_add(&pool->sleepers, 1);
  while (!has_work(self))
    pthread_cond_wait(&pool->wake, &pool->mutex);
  atomic_fetch_sub(&pool->sleepers, 1);
  pthread_mutex_unlock(&pool->mutex);
}

static void *work(void *argument) {
  worker *self = argument;
  uint32_t spins = 0;
  while (!atomic_load(&self->pool->stop)) {
    if ((uint32_t)atomic_load(&self->share)) {
      run_shares(self->pool, self->index);
      spins = 0;
    } else if (++spins < SPINS) {
      pause_briefly();
    } else {
      sleep_until_work(self);
      spins = 0;
    }
  }
  return NULL;
}

// A worker counts itself among the sleepers before it looks for work a last
// time. Both sides change that number, so one of them comes second and knows.
static void wake_all(pool *pool) {
  if (!atomic_fetch_add(&pool->sleepers, 0))
    return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->mutex);
}

static void share_out(pool *pool, uint32_t tasks) {
  uint64_t generation = (uint64_t)++pool->generation << 32;
  uint32_t begin = 0;
  for (uint32_t i = 0; i < pool->parallel.workers; ++i) {
    uint32_t end = end_of(pool, i, tasks);
    atomic_store_explicit(&pool->workers[i].share, generation | (end - begin),
                          memory_order_release);
    begin = end;
  }
}

// The calling thread is the last worker; it helps until no task is left and
// waits for the tasks that others have taken.
static void run_region(const onnxc_parallel *parallel, task_fn *task,
                       void *context, uint32_t tasks) {
  pool *owner = (pool *)(uintptr_t)parallel;
  uint32_t self = owner->thread_count;
  if (tasks < 2 || self == 0 || atomic_flag_test_and_set(&owner->busy)) {
    for (uint32_t i = 0; i < tasks; ++i)
      task(context, i, self);
    return;
  }
  atomic_store_explicit(&owner->task, task, memory_order_relaxed);
  atomic_store_explicit(&owner->context, context, memory_order_relaxed);
  atomic_store_explicit(&owner->tasks, tasks, memory_order_relaxed);
  atomic_store_explicit(&owner->finished, 0, memory_order_relaxed);
  share_out(owner, tasks);
  wake_all(owner);
  run_shares(owner, self);
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
  size_t bytes = sizeof(pool) + (threads + (size_t)1) * sizeof(worker);
  size_t align = _Alignof(pool);
  pool *made = aligned_alloc(align, (bytes + align - 1) / align * align);
  if (!made)
    return NULL;
  *made = (pool){.parallel = {.workers = threads + 1, .run = run_region},
                 .busy = ATOMIC_FLAG_INIT,
                 .mutex = PTHREAD_MUTEX_INITIALIZER,
                 .wake = PTHREAD_COND_INITIALIZER};
  for (uint32_t i = 0; i <= threads; ++i)
    made->workers[i] = (worker){.pool = made, .index = i};
  // A worker's index is fixed before the first region: where the system refuses
  // a thread there is no pool.
  for (uint32_t i = 0; i < threads; ++i) {
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
