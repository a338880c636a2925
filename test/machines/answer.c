#include "answer.h"

enum { RECORD_BYTES = 65, MAX_VALUES = 16 };

typedef struct memory {
  char *next;
  char *end;
} memory;

static void *take(memory *memory, uint64_t bytes, uint32_t align) {
  uintptr_t begin = ((uintptr_t)memory->next + align - 1) / align * align;
  if (begin > (uintptr_t)memory->end || bytes > (uintptr_t)memory->end - begin)
    return NULL;
  memory->next = (char *)(begin + bytes);
  return (void *)begin;
}

static void *allocate(void *user, uint64_t bytes, uint32_t align) {
  return take(user, bytes, align);
}

static uint64_t count_of(const onnxc_tensor *tensor) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < tensor->rank; ++i)
    count *= (uint64_t)tensor->dims[i];
  return count;
}

static uint64_t bytes_of(const onnxc_tensor *tensor) {
  return (count_of(tensor) * onnxc_type_bits(tensor->type) + 7) / 8;
}

// Gives a tensor the extents that the model was planned for and, where they are
// all known, memory.
static int place(const onnxc_model *model, const onnxc_value *value,
                 onnxc_tensor *tensor, memory *memory) {
  int open = 0;
  tensor->type = value->type;
  tensor->rank = value->rank;
  tensor->dims = take(memory, sizeof(int64_t) * (value->rank + 1u), 8);
  if (!tensor->dims)
    return 0;
  for (uint32_t i = 0; i < value->rank; ++i) {
    const onnxc_dim *dim = &onnxc_value_dims(value)[i];
    int64_t extent = dim->extent;
    if (extent < 0 && dim->symbol >= 0)
      extent = onnxc_model_symbols(model)[dim->symbol].hint;
    open |= extent < 0;
    tensor->dims[i] = extent;
  }
  tensor->capacity_bytes = open ? 0 : bytes_of(tensor);
  tensor->data = open ? NULL : take(memory, tensor->capacity_bytes, 16);
  return open || tensor->data;
}

static void fill(onnxc_tensor *tensor, const unsigned char *records,
                 uint32_t record_bytes, uint32_t index) {
  unsigned char *bytes = tensor->data;
  uint64_t total = bytes_of(tensor);
  for (uint64_t i = 0; i < total; ++i)
    bytes[i] = 0;
  if (tensor->type != ONNXC_FLOAT)
    return;
  // 32 bits: there may be no library that divides 64.
  uint32_t count = (uint32_t)count_of(tensor);
  for (uint32_t i = 0; i < count; ++i)
    ((float *)tensor->data)[i] =
        records[(index * RECORD_BYTES + i) % record_bytes];
}

static void put_byte(unsigned char byte) {
  static const char digits[] = "0123456789abcdef";
  char text[3] = {digits[byte >> 4], digits[byte & 15], 0};
  put(text);
}

static void write_down(const onnxc_value *value, const onnxc_tensor *tensor) {
  const unsigned char *bytes = tensor->data;
  uint64_t total = bytes_of(tensor);
  put(onnxc_value_name(value));
  put(tensor->type == ONNXC_FLOAT ? " float " : " bytes ");
  for (uint64_t i = 0; i < total; ++i)
    put_byte(bytes[i]);
  put("\n");
}

static int32_t call_once(const onnxc_model *model, onnxc_call *call,
                         const unsigned char *records, uint32_t record_bytes,
                         uint32_t index, memory memory) {
  onnxc_tensor inputs[MAX_VALUES], outputs[MAX_VALUES];
  for (uint32_t i = 0; i < model->input_count; ++i) {
    if (!place(model, &onnxc_model_inputs(model)[i], &inputs[i], &memory))
      return ONNXC_ALLOCATOR;
    fill(&inputs[i], records, record_bytes, index);
  }
  for (uint32_t i = 0; i < model->output_count; ++i)
    if (!place(model, &onnxc_model_outputs(model)[i], &outputs[i], &memory))
      return ONNXC_ALLOCATOR;
  call->inputs = inputs;
  call->outputs = outputs;
  call->alloc = allocate;
  call->user = &memory;
  int32_t status = onnxc_model_call(model)(call);
  for (uint32_t i = 0; i < model->output_count && !status; ++i)
    write_down(&onnxc_model_outputs(model)[i], &outputs[i]);
  return status;
}

// For one worker and the symbols' hints.
static uint64_t arena_bytes(const onnxc_model *model) {
  int64_t symbols[MAX_VALUES] = {0};
  onnxc_arena_bytes_fn *shared = onnxc_model_arena_bytes_of(model),
                       *own = onnxc_model_worker_bytes_of(model);
  for (uint32_t i = 0; i < model->symbol_count && i < MAX_VALUES; ++i)
    symbols[i] = onnxc_model_symbols(model)[i].hint;
  return (shared ? shared(symbols) : model->arena_bytes) +
         (own ? own(symbols) : model->worker_bytes);
}

int32_t answer(const onnxc_model *model, const unsigned char *records,
               uint32_t record_bytes, uint32_t times, char *begin,
               uint64_t bytes) {
  memory memory = {begin, begin + bytes};
  onnxc_call call = {.size = sizeof call,
                     .input_count = model->input_count,
                     .output_count = model->output_count};
  if (model->magic != ONNXC_MAGIC || model->abi_version != ONNXC_ABI_VERSION)
    return ONNXC_ABI;
  if (model->input_count > MAX_VALUES || model->output_count > MAX_VALUES ||
      model->symbol_count > MAX_VALUES)
    return ONNXC_SHAPE;
  call.arena_bytes = arena_bytes(model);
  call.arena = take(&memory, call.arena_bytes, ONNXC_ARENA_ALIGN);
  if (!call.arena)
    return ONNXC_ARENA;
  for (uint32_t i = 0; i < times; ++i) {
    int32_t status = call_once(model, &call, records, record_bytes, i, memory);
    if (status)
      return status;
  }
  return ONNXC_OK;
}
