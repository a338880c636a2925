// Breaks the contract of a compiled model in every way that has a status, and
// keeps it for several batches. Each buffer ends at a page that nobody may
// touch.
#include "contract.h"
#include "onnxc/model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int failures;

#define EXPECT(condition, ...)                                                 \
  do {                                                                         \
    if (!(condition)) {                                                        \
      ++failures;                                                              \
      printf("line %d: %s: ", __LINE__, #condition);                           \
      printf(__VA_ARGS__);                                                     \
      printf("\n");                                                            \
    }                                                                          \
  } while (0)

enum { page = 4096, filler = 0x5a };

// `bytes` rounded up to `align`, right before a page without access.
static void *guarded(size_t bytes, size_t align) {
  size_t usable = (bytes + page - 1) / page * page;
  char *memory = mmap(NULL, usable + 2 * page, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED ||
      mprotect(memory + page, usable ? usable : 1, PROT_READ | PROT_WRITE))
    abort();
  memset(memory + page, filler, usable);
  return memory + page + usable - (bytes + align - 1) / align * align;
}

enum { y, row, part, kept, outputs };
enum { x, k, step, z, inputs };

typedef struct run {
  onnxc_call call;
  onnxc_tensor in[inputs], out[outputs];
  int64_t in_dims[inputs][2], out_dims[outputs][2];
  onnxc_error error;
} run;

static void *allocate(void *user, uint64_t bytes, uint32_t align) {
  ++*(int *)user;
  return guarded(bytes, align);
}
static void *refuse(void *user, uint64_t bytes, uint32_t align) {
  (void)user, (void)bytes, (void)align;
  return NULL;
}

static int allocations;

static void set(onnxc_tensor *tensor, int64_t *dims, uint32_t rank,
                uint32_t type, size_t bytes, size_t align) {
  *tensor = (onnxc_tensor){guarded(bytes, align), dims, bytes, rank, type};
}

// A call of batch `n` that is right in all respects.
static run *valid(int64_t n) {
  run *r = calloc(1, sizeof *r);
  size_t rows = (size_t)n;
  r->in_dims[x][0] = r->in_dims[z][0] = n;
  r->in_dims[x][1] = 3;
  r->in_dims[step][0] = 1;
  set(&r->in[x], r->in_dims[x], 2, ONNXC_FLOAT, rows * 12, 4);
  set(&r->in[k], NULL, 0, ONNXC_INT64, 8, 8);
  set(&r->in[step], r->in_dims[step], 1, ONNXC_INT64, 8, 8);
  set(&r->in[z], r->in_dims[z], 1, ONNXC_FLOAT, rows * 4, 4);
  for (size_t i = 0; i < rows * 3; ++i)
    ((float *)r->in[x].data)[i] = (float)(i % 7) / 8;
  for (size_t i = 0; i < rows; ++i)
    ((float *)r->in[z].data)[i] = (float)(i % 3);
  *(int64_t *)r->in[k].data = n - 1;
  *(int64_t *)r->in[step].data = 2;
  set(&r->out[y], r->out_dims[y], 2, ONNXC_FLOAT, rows * 12, 4);
  set(&r->out[row], r->out_dims[row], 1, ONNXC_FLOAT, 12, 4);
  r->out[part] = (onnxc_tensor){NULL, r->out_dims[part], 0, 1, ONNXC_FLOAT};
  r->out[kept] = (onnxc_tensor){NULL, r->out_dims[kept], 0, 2, ONNXC_INT64};
  uint64_t bytes = contract_arena_bytes(n);
  r->error.size = sizeof r->error;
  r->call = (onnxc_call){.size = sizeof r->call,
                         .input_count = inputs,
                         .output_count = outputs,
                         .inputs = r->in,
                         .outputs = r->out,
                         .arena = guarded(bytes, 64),
                         .arena_bytes = bytes,
                         .alloc = allocate,
                         .user = &allocations,
                         .error = &r->error};
  return r;
}

static int is_untouched(const onnxc_tensor *tensor, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    if (((const unsigned char *)tensor->data)[i] != filler)
      return 0;
  return 1;
}

static int names(const char *text, const char *word) {
  return text && strstr(text, word);
}

// Statuses that are found before anything is written.
#define REFUSED(expected, node_word, operand_word, change)                     \
  do {                                                                         \
    run *r = valid(4);                                                         \
    change;                                                                    \
    int32_t got = contract_call(&r->call);                                     \
    EXPECT(got == expected, "status %d", got);                                 \
    EXPECT(names(r->error.node, node_word), "node '%s'", r->error.node);       \
    if (*operand_word)                                                         \
      EXPECT(names(r->error.operand, operand_word), "operand '%s'",            \
             r->error.operand);                                                \
    if (r->out[y].data && r->out[y].data != r->in[x].data)                     \
      EXPECT(is_untouched(&r->out[y], 44), "output written");                  \
  } while (0)

static void refuse_calls(void) {
  REFUSED(ONNXC_SHAPE, "input", "x", r->in[x].rank = 1);
  REFUSED(ONNXC_SHAPE, "input", "x", r->in[x].type = ONNXC_DOUBLE);
  REFUSED(ONNXC_SHAPE, "input", "x", r->in_dims[x][1] = 4);
  REFUSED(ONNXC_SHAPE, "input", "x", r->in_dims[x][0] = -1);
  REFUSED(ONNXC_SHAPE, "input", "x", r->in_dims[x][0] = INT64_MAX);
  REFUSED(ONNXC_SHAPE, "input", "z", r->in_dims[z][0] = 5);
  REFUSED(ONNXC_SHAPE, "output", "row", r->out[row].rank = 2);
  REFUSED(ONNXC_SHAPE, "output", "y", r->out[y].type = ONNXC_INT32);
  REFUSED(ONNXC_SHAPE, "input", "", r->call.input_count = 3);
  REFUSED(ONNXC_SHAPE, "input", "", r->call.output_count = 5);
  REFUSED(ONNXC_ARENA, "arena", "", r->call.arena = NULL);
  REFUSED(ONNXC_ARENA, "arena", "", r->call.arena_bytes -= 1);
  REFUSED(ONNXC_ALIGNMENT, "arena", "",
          r->call.arena = (char *)r->call.arena - 8);
  REFUSED(ONNXC_ALIGNMENT, "input", "x",
          r->in[x].data = (char *)r->in[x].data - 1);
  REFUSED(ONNXC_ALIGNMENT, "input", "x", r->in[x].data = NULL);
  REFUSED(ONNXC_ALIGNMENT, "output", "y",
          r->out[y].data = (char *)r->out[y].data - 2);
  REFUSED(ONNXC_ALIGNMENT, "output", "y", r->out[y].data = r->in[x].data);
  REFUSED(ONNXC_ALIGNMENT, "output", "y",
          r->out[row].data = (char *)r->out[y].data + 44);
  REFUSED(ONNXC_ALIGNMENT, "output", "row", r->out[row].data = r->call.arena);
  REFUSED(ONNXC_ALIGNMENT, "output", "", r->in[z].data = r->call.arena);
  REFUSED(ONNXC_CAPACITY, "output", "y", r->out[y].capacity_bytes -= 1);
  REFUSED(ONNXC_ALLOCATOR, "output", "y",
          (r->out[y].data = NULL, r->call.alloc = NULL));
}

// Statuses of the interface itself leave `error` alone.
static void refuse_versions(void) {
  run *r = valid(4);
  r->call.size -= 8;
  EXPECT(contract_call(&r->call) == ONNXC_ABI, "size");
  r = valid(4);
  r->call.flags = 1;
  EXPECT(contract_call(&r->call) == ONNXC_ABI, "flags");
  EXPECT(is_untouched(&r->out[y], 48), "output written");
}

// Statuses that only the run finds; whatever lies outside of the buffers would
// have stopped the program.
#define FOUND(expected, node_word, operand_word, change)                       \
  do {                                                                         \
    run *r = valid(4);                                                         \
    change;                                                                    \
    int32_t got = contract_call(&r->call);                                     \
    EXPECT(got == expected, "status %d", got);                                 \
    EXPECT(r->error.status == got, "status of the error %d", r->error.status); \
    EXPECT(names(r->error.node, node_word), "node '%s'", r->error.node);       \
    if (*operand_word)                                                         \
      EXPECT(names(r->error.operand, operand_word), "operand '%s'",            \
             r->error.operand);                                                \
  } while (0)

static void find_values(void) {
  FOUND(ONNXC_INDEX, "node 'pick' (Gather)", "indices",
        *(int64_t *)r->in[k].data = 4);
  FOUND(ONNXC_INDEX, "node 'pick' (Gather)", "indices",
        *(int64_t *)r->in[k].data = -5);
  FOUND(ONNXC_INDEX, "node 'pick' (Gather)", "indices",
        *(int64_t *)r->in[k].data = INT64_MIN);
  FOUND(ONNXC_VALUE, "node 'cut' (Slice)", "steps",
        *(int64_t *)r->in[step].data = 0);
  FOUND(ONNXC_ALLOCATOR, "", "", r->call.alloc = NULL);
  FOUND(ONNXC_ALLOCATOR, "", "", r->call.alloc = refuse);
  FOUND(ONNXC_CAPACITY, "output", "",
        (r->out[kept].data = guarded(8, 8), r->out[kept].capacity_bytes = 8));
}

static float result(const run *r, int64_t i, int64_t j) {
  return ((const float *)r->out[y].data)[i * 3 + j];
}

// Any batch, an arena of the size that the formula says and not a byte more.
static void keep(int64_t n) {
  run *r = valid(n);
  if (n == 0)
    *(int64_t *)r->in[k].data = 0;
  int32_t status = contract_call(&r->call);
  if (n == 0) { // there is no row to pick
    EXPECT(status == ONNXC_INDEX, "status %d", status);
    return;
  }
  EXPECT(status == ONNXC_OK, "batch %d: status %d, %s %s", (int)n, status,
         r->error.node, r->error.operand);
  EXPECT(r->out_dims[y][0] == n && r->out_dims[y][1] == 3, "dims of y");
  EXPECT(r->out_dims[part][0] == (n + 1) / 2, "dims of part");
  EXPECT(r->out_dims[kept][1] == n - (n + 2) / 3, "dims of kept");
  for (int64_t j = 0; j < 3; ++j) { // columns of a softmax add up to 1
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += result(r, i, j);
    EXPECT(sum > (12 + 3 * j) * 0.999 && sum < (12 + 3 * j) * 1.001,
           "batch %d: sum %f", (int)n, sum);
  }
  float last = ((float *)r->in[x].data)[3 * n - 1];
  EXPECT(((float *)r->out[row].data)[2] == last, "row");
}

// One object, two threads, each with its own arena and buffers.
static void *repeat(void *expected) {
  long wrong = 0;
  for (int i = 0; i < 200; ++i) {
    run *r = valid(64);
    int unused = 0;
    r->call.user = &unused;
    wrong += contract_call(&r->call) != ONNXC_OK ||
             memcmp(r->out[y].data, expected, 64 * 12) != 0;
  }
  return (void *)wrong;
}

static void share(void) {
  run *r = valid(64);
  EXPECT(contract_call(&r->call) == ONNXC_OK, "alone");
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, repeat, r->out[y].data);
  for (int i = 0; i < 2; ++i) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    EXPECT(!wrong, "%ld runs differ", (long)wrong);
  }
}

int main(void) {
  refuse_calls();
  refuse_versions();
  find_values();
  static const int64_t batches[] = {0, 1, 2, 3, 7, 64, 1000, 4097};
  for (size_t i = 0; i < sizeof batches / sizeof *batches; ++i) {
    keep(batches[i]);
    printf("batch %d: arena %llu\n", (int)batches[i],
           (unsigned long long)contract_arena_bytes(batches[i]));
  }
  EXPECT(contract_arena_bytes(-1) == UINT64_MAX, "negative");
  EXPECT(contract_arena_bytes(INT64_MAX) == UINT64_MAX, "overflow");
  EXPECT(contract_arena_bytes(INT64_MAX / 12) == UINT64_MAX, "overflow");
  share();
  printf("%d failures\n", failures);
  return failures != 0;
}
