// A model written by hand, in the form that the compiler emits:
//
//   y[N, 3]   = x[N, 3] * w[3], row by row in parallel, through the arena
//   row[3]    = y[k], where k is checked at run time
//   kept[M]   = those elements of y that are not negative, size unknown before
//
// It is compiled for several machines, so it stands for what the loader must
// understand: code, constants, weights and the distances between them.

#include "Descriptor.h"
#include "onnxc/model.h"

#ifndef MACHINE
#error "define MACHINE as the number of the ELF machine"
#endif
#ifndef FEATURES
#define FEATURES 0
#endif
#ifndef WEIGHTS_SPACE
#define WEIGHTS_SPACE 52
#endif
#define STRING2(x) #x
#define STRING(x) STRING2(x)

__asm__(
    ".section .rodata.onnxc.scale.weights,\"a\",%progbits\n"
    ".balign 64\n"
    "scale_weights: .long 0x3f800000, 0x40000000, 0xc0400000\n" // 1, 2, -3
    ".space " STRING(
        WEIGHTS_SPACE) "\n"
                       ".section .rodata.onnxc.scale,\"a\",%progbits\n"
                       ".balign 8\n" OBJECT("scale_model") //
    WORD(0x43584e4f) WORD(
        1) ".long scale_end - scale_model\n"
           ".long " STRING(MACHINE) "\n" WORD(0) WORD(2) WORD(3)
               WORD(1) ".quad " STRING(FEATURES) "\n" LONG(12) LONG(
                   64) ".quad 12 + " STRING(WEIGHTS_SPACE) "\n" AT("text_scale")
                   AT("text_producer") AT("inputs") AT("outputs") AT("symbols")
                       AT("scale_call") NOTHING AT("scale_arena_bytes_of")
                           NOTHING AT("scale_weights")
                               NOTHING NOTHING NOTHING NOTHING NOTHING NOTHING
    "scale_end:\n"
    ".size scale_model, . - scale_model\n"
    "inputs:\n" VALUE(1, 2, 0, "text_x", AT("dims_x")) VALUE(
        7, 0, 0, "text_k",
        NOTHING) "outputs:\n" VALUE(1, 2, 0, "text_y",
                                    AT("dims_x")) VALUE(1, 1, 0, "text_row",
                                                        AT("dims_row"))
        VALUE(1, 1, 1, "text_kept", AT("dims_kept")) "dims_x:\n" DIM(
            -1, -1,
            0) "dims_row:\n" DIM(3, 3,
                                 -1) "dims_kept:\n" DIM(-1, -1,
                                                        -1) "symbols:\n" SYMBOL(1,
                                                                                -1, "text_n")
            TEXT("text_scale", "scale") TEXT("text_producer", "by hand")
                TEXT("text_x", "x") TEXT("text_k", "k") TEXT("text_y", "y/out")
                    TEXT("text_row", "row") TEXT("text_kept", "kept")
                        TEXT("text_n", "N") ".text\n");

extern const float scale_weights[3] __attribute__((visibility("hidden")));

// The descriptor refers to local symbols: a distance to a global one could not
// be fixed before the run of a shared library.
#define ENTRY __attribute__((used)) static

ENTRY uint64_t scale_arena_bytes_of(const int64_t *symbols) {
  uint64_t rows = (uint64_t)symbols[0];
  return rows > UINT64_MAX / 12 ? UINT64_MAX : rows * 12;
}

static int32_t fail(const onnxc_call *call, int32_t status, const char *node,
                    const char *operand) {
  if (call->error) {
    call->error->status = status;
    call->error->node = node;
    call->error->operand = operand;
  }
  return status;
}

struct rows {
  const float *x;
  float *y;
  float *scratch; // one line of 64 bytes for every worker
};

static void scale_row(void *context, uint32_t index, uint32_t worker) {
  struct rows *rows = context;
  float *scratch = rows->scratch + 16 * worker;
  for (int i = 0; i < 3; ++i)
    scratch[i] = rows->x[3 * index + i] * scale_weights[i];
  for (int i = 0; i < 3; ++i)
    rows->y[3 * index + i] = scratch[i];
}

static int32_t keep(const onnxc_call *call, const float *y, int64_t count) {
  onnxc_tensor *kept = &call->outputs[2];
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i)
    found += y[i] >= 0;
  uint64_t bytes = (uint64_t)found * sizeof(float);
  kept->dims[0] = found;
  if (!kept->data) {
    if (!call->alloc || !(kept->data = call->alloc(call->user, bytes, 64)))
      return fail(call, ONNXC_ALLOCATOR, "node 'keep' (Compress)", "output");
  } else if (kept->capacity_bytes < bytes) {
    return fail(call, ONNXC_CAPACITY, "node 'keep' (Compress)", "output");
  }
  for (int64_t i = 0, next = 0; i < count; ++i)
    if (y[i] >= 0)
      ((float *)kept->data)[next++] = y[i];
  return ONNXC_OK;
}

ENTRY int32_t scale_call(const onnxc_call *call) {
  const onnxc_tensor *x = &call->inputs[0];
  int64_t rows = x->dims[0];
  int64_t index = *(const int64_t *)call->inputs[1].data;
  uint32_t workers = call->parallel ? call->parallel->workers : 1;
  uint64_t bytes = (uint64_t)rows * 12;
  if (x->dims[1] != 3)
    return fail(call, ONNXC_SHAPE, "input", "x");
  if (call->arena_bytes < bytes + 64 * workers)
    return fail(call, ONNXC_ARENA, 0, 0);
  if ((uintptr_t)call->arena % 64)
    return fail(call, ONNXC_ALIGNMENT, 0, "arena");
  if (!call->outputs[0].data || !call->outputs[1].data ||
      call->outputs[0].capacity_bytes < bytes ||
      call->outputs[1].capacity_bytes < 12)
    return fail(call, ONNXC_CAPACITY, "output", "y/out");
  call->outputs[0].dims[0] = rows;
  call->outputs[0].dims[1] = call->outputs[1].dims[0] = 3;
  struct rows context = {x->data, call->outputs[0].data, call->arena};
  if (call->parallel)
    call->parallel->run(call->parallel, scale_row, &context, (uint32_t)rows);
  else
    for (int64_t i = 0; i < rows; ++i)
      scale_row(&context, (uint32_t)i, 0);
  if (index < 0 || index >= rows)
    return fail(call, ONNXC_INDEX, "node 'pick' (Gather)", "indices");
  for (int i = 0; i < 3; ++i)
    ((float *)call->outputs[1].data)[i] = context.y[3 * index + i];
  return keep(call, context.y, rows * 3);
}
