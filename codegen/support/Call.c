// What every compiled model does at its border, in C: check a call against the
// descriptor before anything is written, and talk to the caller's allocator.
// Built to LLVM bitcode with the compiler and linked into a model that uses it.
#include "runtime/include/onnxc/model.h"

#include <stdbool.h>

int32_t onnxc_fail(const onnxc_call *call, int32_t status, const char *node,
                   const char *operand) {
  onnxc_error *error = call->error;
  if (error && error->size >= sizeof *error) {
    error->status = status;
    error->node = node;
    error->operand = operand;
  }
  return status;
}

// Weights of the object, or the caller's. The distance is read at run time
// only: as a constant it would become an address in the code, and weights may
// be farther away than code can reach.
const void *onnxc_weights(const onnxc_model *model, const onnxc_call *call) {
  if (call->weights)
    return call->weights;
  const volatile onnxc_offset *field = &model->weights;
  onnxc_offset distance = *field;
  return distance ? (const char *)&model->weights + distance : NULL;
}

static uint64_t worker_bytes(const onnxc_model *model, const int64_t *symbols) {
  onnxc_arena_bytes_fn *formula = onnxc_model_worker_bytes_of(model);
  return formula ? formula(symbols) : model->worker_bytes;
}

// What all workers share, and the first one has alone, lies behind the parts of
// the others. The check of the call has found room for all of them.
void *onnxc_arena(const onnxc_model *model, const onnxc_call *call,
                  const int64_t *symbols) {
  uint64_t others = call->parallel ? call->parallel->workers - 1 : 0;
  return (char *)call->arena + others * worker_bytes(model, symbols);
}

void *onnxc_allocate(const onnxc_call *call, int64_t bytes) {
  if (!call->alloc || bytes < 0)
    return NULL;
  return call->alloc(call->user, (uint64_t)bytes, ONNXC_ARENA_ALIGN);
}

// Runs a kernel whose context begins with the number of its tasks: there, if
// the caller has a parallel-for, else as a single one.
__attribute__((noinline)) void
onnxc_run_tasks(const onnxc_call *call,
                void (*task)(void *context, uint32_t index, uint32_t worker),
                uint32_t *context) {
  const onnxc_parallel *parallel = call->parallel;
  if (parallel && *context > 1) {
    parallel->run(parallel, task, context, *context);
    return;
  }
  *context = 1;
  task(context, 0, 0);
}

// Product of extents and element size; false where it does not fit.
static bool byte_size(const int64_t *dims, uint32_t rank, uint32_t bits,
                      uint64_t *bytes) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i)
    if (dims[i] == 0) {
      *bytes = 0;
      return true;
    }
  for (uint32_t i = 0; i < rank; ++i)
    if (dims[i] < 0 || __builtin_mul_overflow(count, (uint64_t)dims[i], &count))
      return false;
  if (__builtin_mul_overflow(count, (uint64_t)bits, &count) ||
      count > UINT64_MAX - 7)
    return false;
  *bytes = (count + 7) / 8;
  return *bytes <= PTRDIFF_MAX;
}

// A view of elements of `bytes` each; strides count elements. Elements of fewer
// bits than eight have a byte of their own here.
typedef struct view {
  const char *data;
  const int64_t *dims, *strides;
  uint32_t rank, bytes;
} view;

static bool is_dense(view from) {
  int64_t count = 1;
  for (uint32_t i = from.rank; i-- > 0; count *= from.dims[i])
    if (from.dims[i] != 1 && from.strides[i] != count)
      return false;
  return true;
}

// Row-major; returns the end of what it wrote. There is an element.
static char *copy_elements(char *to, view from) {
  if (is_dense(from)) {
    uint64_t bytes = from.bytes;
    for (uint32_t i = 0; i < from.rank; ++i)
      bytes *= (uint64_t)from.dims[i];
    __builtin_memcpy(to, from.data, bytes);
    return to + bytes;
  }
  view part = {from.data, from.dims + 1, from.strides + 1, from.rank - 1,
               from.bytes};
  for (int64_t i = 0; i < from.dims[0]; ++i) {
    to = copy_elements(to, part);
    part.data += from.strides[0] * from.bytes;
  }
  return to;
}

// Row-major, the first element in the lowest bits; returns the position behind
// the last one, of those that began at `position`.
static uint64_t pack_elements(unsigned char *to, uint64_t position, view from,
                              uint32_t bits) {
  if (from.rank == 0) {
    uint64_t bit = position * bits;
    uint32_t code = *(const unsigned char *)from.data & ((1u << bits) - 1);
    uint32_t before = bit % 8 ? to[bit / 8] : 0;
    to[bit / 8] = (unsigned char)(before | code << bit % 8);
    return position + 1;
  }
  view part = {from.data, from.dims + 1, from.strides + 1, from.rank - 1,
               from.bytes};
  for (int64_t i = 0; i < from.dims[0]; ++i) {
    position = pack_elements(to, position, part, bits);
    part.data += from.strides[0];
  }
  return position;
}

int32_t onnxc_result(const onnxc_call *call, uint32_t index, const void *data,
                     const int64_t *dims, const int64_t *strides, uint32_t rank,
                     uint32_t element_bits) {
  onnxc_tensor *output = &call->outputs[index];
  uint64_t bytes = 0;
  if (!byte_size(dims, rank, element_bits, &bytes))
    return onnxc_fail(call, ONNXC_CAPACITY, "output", NULL);
  for (uint32_t i = 0; i < rank; ++i)
    output->dims[i] = dims[i];
  if (bytes == 0)
    return ONNXC_OK;
  if (output->data) {
    if (output->capacity_bytes < bytes)
      return onnxc_fail(call, ONNXC_CAPACITY, "output", NULL);
  } else {
    output->data = onnxc_allocate(call, (int64_t)bytes);
    if (!output->data)
      return onnxc_fail(call, ONNXC_ALLOCATOR, "output", NULL);
    output->capacity_bytes = bytes;
  }
  view from = {data, dims, strides, rank, (element_bits + 7) / 8};
  if (element_bits < 8)
    pack_elements(output->data, 0, from, element_bits);
  else
    copy_elements(output->data, from);
  return ONNXC_OK;
}

// Checks ----------------------------------------------------------------------

typedef struct range {
  uintptr_t begin;
  uint64_t bytes;
} range;

static bool overlap(range a, range b) {
  if (a.bytes == 0 || b.bytes == 0)
    return false;
  return a.begin < b.begin ? b.begin - a.begin < a.bytes
                           : a.begin - b.begin < b.bytes;
}

static bool is_aligned(const void *data, uint32_t bits) {
  uintptr_t align = bits <= 8 ? 1 : bits >= 64 ? 8 : bits / 8;
  return ((uintptr_t)data & (align - 1)) == 0;
}

static int32_t fail_value(const onnxc_call *call, int32_t status,
                          const char *node, const onnxc_value *value) {
  return onnxc_fail(call, status, node, onnxc_value_name(value));
}

static int32_t check_input(const onnxc_model *model, const onnxc_call *call,
                           uint32_t index, int64_t *symbols) {
  const onnxc_value *value = &onnxc_model_inputs(model)[index];
  const onnxc_tensor *input = &call->inputs[index];
  if (input->type != value->type || input->rank != value->rank ||
      (value->rank && !input->dims))
    return fail_value(call, ONNXC_SHAPE, "input", value);
  const onnxc_dim *dims = onnxc_value_dims(value);
  for (uint32_t i = 0; i < value->rank; ++i) {
    int64_t extent = input->dims[i];
    if (extent < 0 || (dims[i].extent >= 0 && extent != dims[i].extent) ||
        (dims[i].bound >= 0 && extent > dims[i].bound))
      return fail_value(call, ONNXC_SHAPE, "input", value);
    if (dims[i].symbol < 0)
      continue;
    int64_t *symbol = &symbols[dims[i].symbol];
    if (*symbol >= 0 && *symbol != extent)
      return fail_value(call, ONNXC_SHAPE, "input", value);
    *symbol = extent;
  }
  uint64_t bytes = 0;
  uint32_t bits = onnxc_type_bits(value->type);
  if (!byte_size(input->dims, value->rank, bits, &bytes))
    return fail_value(call, ONNXC_SHAPE, "input", value);
  if (bytes && (!input->data || !is_aligned(input->data, bits)))
    return fail_value(call, ONNXC_ALIGNMENT, "input", value);
  return ONNXC_OK;
}

static void find_dims(const onnxc_model *model, const int64_t *symbols,
                      int64_t *dims) {
  for (uint32_t i = 0; i < model->output_count; ++i) {
    const onnxc_value *value = &onnxc_model_outputs(model)[i];
    const onnxc_dim *known = onnxc_value_dims(value);
    for (uint32_t j = 0; j < value->rank; ++j, ++dims)
      *dims = known[j].extent >= 0   ? known[j].extent
              : known[j].symbol >= 0 ? symbols[known[j].symbol]
                                     : -1;
  }
}

static bool depends_on_data(const onnxc_value *value) {
  return value->flags & ONNXC_VALUE_DATA_DEPENDENT;
}

// Bytes that a run writes at the output's address, as far as entry knows.
static bool output_bytes(const onnxc_value *value, const onnxc_tensor *output,
                         const int64_t *dims, uint64_t *bytes) {
  if (depends_on_data(value)) {
    *bytes = output->data ? output->capacity_bytes : 0;
    return true;
  }
  return byte_size(dims, value->rank, onnxc_type_bits(value->type), bytes);
}

static int32_t check_output(const onnxc_model *model, const onnxc_call *call,
                            uint32_t index, const int64_t *dims) {
  const onnxc_value *value = &onnxc_model_outputs(model)[index];
  const onnxc_tensor *output = &call->outputs[index];
  uint64_t bytes = 0;
  if (output->type != value->type || output->rank != value->rank ||
      (value->rank && !output->dims) ||
      !output_bytes(value, output, dims, &bytes))
    return fail_value(call, ONNXC_SHAPE, "output", value);
  if (bytes == 0 || depends_on_data(value))
    return ONNXC_OK;
  if (!output->data)
    return call->alloc ? ONNXC_OK
                       : fail_value(call, ONNXC_ALLOCATOR, "output", value);
  if (!is_aligned(output->data, onnxc_type_bits(value->type)))
    return fail_value(call, ONNXC_ALIGNMENT, "output", value);
  if (output->capacity_bytes < bytes)
    return fail_value(call, ONNXC_CAPACITY, "output", value);
  return ONNXC_OK;
}

static int32_t check_arena(const onnxc_model *model, const onnxc_call *call,
                           const int64_t *symbols, uint64_t *bytes) {
  onnxc_arena_bytes_fn *formula = onnxc_model_arena_bytes_of(model);
  uint64_t shared = formula ? formula(symbols) : model->arena_bytes;
  uint64_t workers = call->parallel ? call->parallel->workers : 1;
  uint64_t own = 0;
  if (__builtin_mul_overflow(workers, worker_bytes(model, symbols), &own) ||
      __builtin_add_overflow(shared, own, bytes) || *bytes > PTRDIFF_MAX)
    return onnxc_fail(call, ONNXC_ARENA, "arena", NULL);
  if (*bytes == 0)
    return ONNXC_OK;
  if (!call->arena || call->arena_bytes < *bytes)
    return onnxc_fail(call, ONNXC_ARENA, "arena", NULL);
  if ((uintptr_t)call->arena % ONNXC_ARENA_ALIGN)
    return onnxc_fail(call, ONNXC_ALIGNMENT, "arena", NULL);
  return ONNXC_OK;
}

// Outputs and the arena overlap neither each other nor any input.
static int32_t check_overlap(const onnxc_model *model, const onnxc_call *call,
                             const int64_t *dims, uint64_t arena_bytes) {
  range arena = {(uintptr_t)call->arena, arena_bytes};
  for (uint32_t i = 0; i < model->output_count; ++i) {
    const onnxc_value *value = &onnxc_model_outputs(model)[i];
    range output = {(uintptr_t)call->outputs[i].data, 0};
    output_bytes(value, &call->outputs[i], dims, &output.bytes);
    output.bytes = output.begin ? output.bytes : 0;
    bool overlaps = overlap(output, arena);
    const int64_t *others = dims + value->rank;
    dims = others;
    for (uint32_t j = i + 1; j < model->output_count; ++j) {
      const onnxc_value *next = &onnxc_model_outputs(model)[j];
      range other = {(uintptr_t)call->outputs[j].data, 0};
      output_bytes(next, &call->outputs[j], others, &other.bytes);
      others += next->rank;
      overlaps |= other.begin && overlap(output, other);
    }
    for (uint32_t j = 0; j < model->input_count; ++j) {
      const onnxc_value *next = &onnxc_model_inputs(model)[j];
      range input = {(uintptr_t)call->inputs[j].data, 0};
      byte_size(call->inputs[j].dims, next->rank, onnxc_type_bits(next->type),
                &input.bytes);
      overlaps |= overlap(output, input) || (i == 0 && overlap(arena, input));
    }
    if (overlaps)
      return fail_value(call, ONNXC_ALIGNMENT, "output", value);
  }
  return ONNXC_OK;
}

// Nothing can fail here but the allocator: dims, and buffers that are missing.
static int32_t hand_over(const onnxc_model *model, const onnxc_call *call,
                         const int64_t *dims) {
  for (uint32_t i = 0; i < model->output_count; ++i) {
    const onnxc_value *value = &onnxc_model_outputs(model)[i];
    onnxc_tensor *output = &call->outputs[i];
    uint64_t bytes = 0;
    output_bytes(value, output, dims, &bytes);
    for (uint32_t j = 0; j < value->rank; ++j)
      output->dims[j] = dims[j];
    dims += value->rank;
    if (output->data || bytes == 0)
      continue;
    output->data = onnxc_allocate(call, (int64_t)bytes);
    output->capacity_bytes = bytes;
    if (!output->data)
      return fail_value(call, ONNXC_ALLOCATOR, "output", value);
  }
  return ONNXC_OK;
}

// Fills `symbols` and the dims of all outputs, one after the other.
int32_t onnxc_prepare(const onnxc_model *model, const onnxc_call *call,
                      int64_t *symbols, int64_t *dims) {
  if (call->size < sizeof *call || call->flags != 0)
    return ONNXC_ABI;
  if (call->input_count != model->input_count ||
      call->output_count != model->output_count)
    return onnxc_fail(call, ONNXC_SHAPE, "input", NULL);
  for (uint32_t i = 0; i < model->symbol_count; ++i)
    symbols[i] = -1;
  int32_t status = ONNXC_OK;
  for (uint32_t i = 0; i < model->input_count && status == ONNXC_OK; ++i)
    status = check_input(model, call, i, symbols);
  if (status != ONNXC_OK)
    return status;
  onnxc_output_dims_fn *formula = onnxc_model_output_dims_of(model);
  if (formula)
    status = formula(symbols, dims);
  else
    find_dims(model, symbols, dims);
  const int64_t *next = dims;
  for (uint32_t i = 0; i < model->output_count && status == ONNXC_OK; ++i) {
    status = check_output(model, call, i, next);
    next += onnxc_model_outputs(model)[i].rank;
  }
  uint64_t arena_bytes = 0;
  if (status == ONNXC_OK)
    status = check_arena(model, call, symbols, &arena_bytes);
  if (status == ONNXC_OK)
    status = check_overlap(model, call, dims, arena_bytes);
  if (status == ONNXC_OK && model->weights_bytes) {
    const void *weights = onnxc_weights(model, call);
    if (!weights || (uintptr_t)weights % ONNXC_WEIGHTS_ALIGN)
      status = onnxc_fail(call, ONNXC_ALIGNMENT, "weights", NULL);
  }
  return status == ONNXC_OK ? hand_over(model, call, dims) : status;
}
