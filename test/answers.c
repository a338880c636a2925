// Runs compiled models on given operands and writes down what came out. The
// same program runs on this machine and, built for another one, under an
// emulator.
//
//   run CASES ANSWERS
//
// Each case has a process of its own, so that a crash is one more answer. Every
// buffer ends at an unreadable page.
//
// Numbers are little-endian. CASES: for each case u32 bytes of the object's
// path, the path, u32 inputs, and for each of them u32 type, u32 rank, u64
// bytes, i64 dims[rank], the bytes. ANSWERS: for each case i32 status (minus a
// signal where it crashed), u32 outputs, and for each of them the same as for
// inputs.

#include "onnxc/runtime.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TENSORS = 256, MAX_PATH = 4096 };

static FILE *cases, *answers;

static void die(const char *why) {
  fprintf(stderr, "run: %s\n", why);
  exit(2);
}

static void get(void *to, size_t bytes) {
  if (bytes && fread(to, bytes, 1, cases) != 1)
    die("cases end early");
}

static void put(const void *from, size_t bytes) {
  if (bytes && fwrite(from, bytes, 1, answers) != 1)
    die("cannot write answers");
}

// Memory whose last byte is followed by an unreadable page.
static void *guarded(uint64_t bytes) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t usable = (bytes + page - 1) / page * page;
  char *memory = mmap(NULL, usable + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + usable, page, PROT_NONE))
    die("no memory");
  memset(memory, 0xff, usable);
  return memory + usable - bytes;
}

static onnxc_tensor read_tensor(void) {
  onnxc_tensor tensor = {0};
  uint64_t bytes;
  get(&tensor.type, 4);
  get(&tensor.rank, 4);
  get(&bytes, 8);
  if (tensor.rank > ONNXC_MAX_RANK)
    die("a tensor has too many dimensions");
  tensor.dims = calloc(tensor.rank + 1u, sizeof *tensor.dims);
  get(tensor.dims, tensor.rank * sizeof *tensor.dims);
  tensor.data = guarded(bytes);
  get(tensor.data, bytes);
  return tensor;
}

static uint64_t byte_count(const onnxc_tensor *tensor) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < tensor->rank; ++i)
    count *= (uint64_t)tensor->dims[i];
  return (count * onnxc_type_bits(tensor->type) + 7) / 8;
}

static void write_tensor(const onnxc_tensor *tensor) {
  uint64_t bytes = byte_count(tensor);
  put(&tensor->type, 4);
  put(&tensor->rank, 4);
  put(&bytes, 8);
  put(tensor->dims, tensor->rank * sizeof *tensor->dims);
  put(tensor->data, bytes);
}

// A buffer of exactly the right size where that is known before the run.
static onnxc_tensor output_for(const onnxc_value *value) {
  onnxc_tensor tensor = {.rank = value->rank, .type = value->type};
  tensor.dims = calloc(value->rank + 1u, sizeof *tensor.dims);
  bool known = !(value->flags & ONNXC_VALUE_DATA_DEPENDENT);
  for (uint32_t i = 0; i < value->rank; ++i) {
    tensor.dims[i] = onnxc_value_dims(value)[i].extent;
    known = known && tensor.dims[i] >= 0;
  }
  if (known) {
    tensor.capacity_bytes = byte_count(&tensor);
    tensor.data = guarded(tensor.capacity_bytes);
  }
  return tensor;
}

static int32_t run(onnxc_loaded *model, const onnxc_tensor *inputs,
                   onnxc_tensor *outputs, onnxc_message *message) {
  int64_t symbols[64];
  if (onnxc_describe(model)->symbol_count > 64)
    die("too many symbols");
  int32_t status = onnxc_bind(model, inputs, symbols, message);
  if (status)
    return status;
  uint64_t bytes = onnxc_arena_bytes(model, symbols, 1);
  uint64_t rounded =
      (bytes + ONNXC_ARENA_ALIGN - 1) & -(uint64_t)ONNXC_ARENA_ALIGN;
  return onnxc_run_in(model, guarded(rounded), bytes, inputs, outputs, NULL,
                      message);
}

static void answer(const char *path, const onnxc_tensor *inputs) {
  onnxc_loaded *model;
  onnxc_message message;
  onnxc_tensor outputs[MAX_TENSORS];
  uint32_t count = 0;
  int32_t status = onnxc_open(path, &model, &message);
  if (!status) {
    const onnxc_model *description = onnxc_describe(model);
    count = description->output_count;
    if (count > MAX_TENSORS)
      die("too many outputs");
    for (uint32_t i = 0; i < count; ++i)
      outputs[i] = output_for(&onnxc_model_outputs(description)[i]);
    status = run(model, inputs, outputs, &message);
  }
  if (status) {
    fprintf(stderr, "%s: status %d: %s\n", path, status, message.text);
    count = 0;
  }
  put(&status, 4);
  put(&count, 4);
  for (uint32_t i = 0; i < count; ++i)
    write_tensor(&outputs[i]);
}

// True where there is one more case.
static bool next_case(void) {
  char path[MAX_PATH] = {0};
  onnxc_tensor inputs[MAX_TENSORS];
  uint32_t length, count;
  if (fread(&length, 4, 1, cases) != 1)
    return false;
  if (length >= MAX_PATH)
    die("a path is too long");
  get(path, length);
  get(&count, 4);
  if (count > MAX_TENSORS)
    die("too many inputs");
  for (uint32_t i = 0; i < count; ++i)
    inputs[i] = read_tensor();
  fflush(answers);
  pid_t child = fork();
  if (!child) {
    answer(path, inputs);
    fflush(answers);
    _exit(0);
  }
  int ended = 0;
  if (child < 0 || waitpid(child, &ended, 0) != child)
    die("no process");
  if (WIFSIGNALED(ended)) {
    int32_t crashed[2] = {-WTERMSIG(ended), 0};
    put(crashed, sizeof crashed);
  } else if (WEXITSTATUS(ended)) {
    exit(WEXITSTATUS(ended));
  }
  return true;
}

int main(int argc, char **argv) {
  if (argc != 3 || !(cases = fopen(argv[1], "rb")) ||
      !(answers = fopen(argv[2], "ab")))
    die("usage: run CASES ANSWERS");
  while (next_case())
    continue;
  return fclose(answers) != 0;
}
