// Runs a model through its generic entry: finds the symbols' values, brings an
// arena and the memory for outputs whose size is known after the run only.

#include "Loaded.h"

#include <stdlib.h>

static const char *known_name(const onnxc_value *value) {
  const char *name = onnxc_value_name(value);
  return name ? name : "";
}

// Compares one input with the descriptor and binds symbols to its extents.
static int32_t bind_input(const onnxc_value *value, const onnxc_tensor *input,
                          bool *bound, int64_t *symbols,
                          onnxc_message *message) {
  if (input->type != value->type || input->rank != value->rank)
    return onnxc_fail(message, ONNXC_SHAPE,
                      "input '%.200s': expected type %u of rank %u, got type "
                      "%u of rank %u",
                      known_name(value), value->type, value->rank, input->type,
                      input->rank);
  const onnxc_dim *dims = onnxc_value_dims(value);
  for (uint32_t i = 0; i < value->rank; ++i) {
    int64_t extent = input->dims[i];
    int64_t expected = dims[i].extent;
    int32_t symbol = dims[i].symbol;
    if (symbol >= 0 && bound[symbol])
      expected = symbols[symbol];
    if (extent < 0 || (expected >= 0 && extent != expected) ||
        (dims[i].bound >= 0 && extent > dims[i].bound))
      return onnxc_fail(message, ONNXC_SHAPE,
                        "input '%.200s': dimension %u is %lld, expected %lld",
                        known_name(value), i, (long long)extent,
                        (long long)(expected >= 0 ? expected : dims[i].bound));
    if (symbol >= 0) {
      symbols[symbol] = extent;
      bound[symbol] = true;
    }
  }
  return ONNXC_OK;
}

int32_t onnxc_bind(const onnxc_loaded *loaded, const onnxc_tensor *inputs,
                   int64_t *symbols, onnxc_message *message) {
  const onnxc_model *model = loaded->model;
  bool *bound = calloc(model->symbol_count + (size_t)1, sizeof *bound);
  if (!bound)
    return onnxc_fail(message, ONNXC_MEMORY, "out of memory");
  for (uint32_t i = 0; i < model->symbol_count; ++i)
    symbols[i] = onnxc_model_symbols(model)[i].hint;
  int32_t status = ONNXC_OK;
  for (uint32_t i = 0; i < model->input_count && !status; ++i)
    status = bind_input(&onnxc_model_inputs(model)[i], &inputs[i], bound,
                        symbols, message);
  free(bound);
  return status;
}

uint64_t onnxc_arena_bytes(const onnxc_loaded *loaded, const int64_t *symbols,
                           uint32_t workers) {
  const onnxc_model *model = loaded->model;
  onnxc_arena_bytes_fn *formula = onnxc_model_arena_bytes_of(model);
  uint64_t shared = formula ? formula(symbols) : model->arena_bytes;
  onnxc_arena_bytes_fn *own = onnxc_model_worker_bytes_of(model);
  uint64_t each = own ? own(symbols) : model->worker_bytes;
  if (workers && each > UINT64_MAX / workers)
    return UINT64_MAX;
  uint64_t all = each * workers;
  return shared > UINT64_MAX - all ? UINT64_MAX : shared + all;
}

// The spare arena if it is large enough, else a new one. The bytes behind the
// header, from ONNXC_ARENA_ALIGN on, are the arena.
static onnxc_spare *take_arena(onnxc_loaded *loaded, uint64_t bytes) {
  onnxc_spare *spare = atomic_exchange(&loaded->spare, NULL);
  if (spare && spare->bytes >= bytes)
    return spare;
  free(spare);
  if (bytes > UINT64_MAX - 2 * ONNXC_ARENA_ALIGN)
    return NULL;
  spare = onnxc_aligned(bytes + ONNXC_ARENA_ALIGN, ONNXC_ARENA_ALIGN);
  if (spare)
    spare->bytes = bytes;
  return spare;
}

static void give_arena_back(onnxc_loaded *loaded, onnxc_spare *arena) {
  free(atomic_exchange(&loaded->spare, arena));
}

// Calls the generic entry and puts an error into words.
static int32_t call(onnxc_loaded *loaded, onnxc_call *call,
                    onnxc_message *message) {
  onnxc_error error = {.size = sizeof error};
  onnxc_blocks blocks = {.loaded = loaded};
  call->alloc = onnxc_allocate_block;
  call->user = &blocks;
  call->error = &error;
  int32_t status = onnxc_model_call(loaded->model)(call);
  onnxc_release_blocks(&blocks, call, status != ONNXC_OK);
  if (!status)
    return ONNXC_OK;
  return onnxc_fail(
      message, status, "%.200s%s%.200s%s%s", error.node ? error.node : "",
      error.node && error.operand ? ", " : "",
      error.operand ? error.operand : "",
      error.node || error.operand ? ": " : "", onnxc_status_text(status));
}

int32_t onnxc_run_in(onnxc_loaded *loaded, void *arena, uint64_t arena_bytes,
                     const onnxc_tensor *inputs, onnxc_tensor *outputs,
                     const onnxc_parallel *parallel, onnxc_message *message) {
  onnxc_call request = {.size = sizeof request,
                        .input_count = loaded->model->input_count,
                        .output_count = loaded->model->output_count,
                        .inputs = inputs,
                        .outputs = outputs,
                        .arena = arena,
                        .arena_bytes = arena_bytes,
                        .parallel = parallel,
                        .weights = loaded->weights};
  return call(loaded, &request, message);
}

static int32_t run_with_symbols(onnxc_loaded *loaded, int64_t *symbols,
                                const onnxc_tensor *inputs,
                                onnxc_tensor *outputs,
                                const onnxc_parallel *parallel,
                                onnxc_message *message) {
  int32_t status = onnxc_bind(loaded, inputs, symbols, message);
  if (status)
    return status;
  uint64_t bytes =
      onnxc_arena_bytes(loaded, symbols, parallel ? parallel->workers : 1);
  if (bytes == UINT64_MAX)
    return onnxc_fail(message, ONNXC_ARENA,
                      "a size is negative, or the arena's overflows");
  onnxc_spare *arena = take_arena(loaded, bytes);
  if (!arena)
    return onnxc_fail(message, ONNXC_MEMORY, "no memory for the arena");
  status = onnxc_run_in(loaded, (char *)arena + ONNXC_ARENA_ALIGN, arena->bytes,
                        inputs, outputs, parallel, message);
  give_arena_back(loaded, arena);
  return status;
}

int32_t onnxc_run(onnxc_loaded *loaded, const onnxc_tensor *inputs,
                  onnxc_tensor *outputs, const onnxc_parallel *parallel,
                  onnxc_message *message) {
  int64_t few[16];
  uint32_t count = loaded->model->symbol_count;
  if (count <= sizeof few / sizeof *few)
    return run_with_symbols(loaded, few, inputs, outputs, parallel, message);
  int64_t *many = calloc(count, sizeof *many);
  if (!many)
    return onnxc_fail(message, ONNXC_MEMORY, "out of memory");
  int32_t status =
      run_with_symbols(loaded, many, inputs, outputs, parallel, message);
  free(many);
  return status;
}

void onnxc_free(void *data) { free(data); }
