// Reads descriptors. One that comes out of a file is checked once, when the
// model is opened, so that everything after that may follow its offsets without
// a second thought.

#include "Loaded.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int32_t onnxc_fail(onnxc_message *message, int32_t status, const char *format,
                   ...) {
  if (message) {
    va_list args;
    va_start(args, format);
    vsnprintf(message->text, sizeof message->text, format, args);
    va_end(args);
  }
  return status;
}

const char *onnxc_status_text(int32_t status) {
  switch (status) {
  case ONNXC_OK:
    return "ok";
  case ONNXC_SHAPE:
    return "shape or type mismatch";
  case ONNXC_INDEX:
    return "index out of bounds";
  case ONNXC_ARENA:
    return "arena too small";
  case ONNXC_ALIGNMENT:
    return "misaligned or overlapping buffers";
  case ONNXC_CAPACITY:
    return "output does not fit into its buffer";
  case ONNXC_ALLOCATOR:
    return "no memory for a value of unknown size";
  case ONNXC_CPU:
    return "CPU lacks a feature";
  case ONNXC_ABI:
    return "other version of the interface";
  case ONNXC_VALUE:
    return "value out of range";
  case ONNXC_FILE:
    return "cannot read file";
  case ONNXC_FORMAT:
    return "no model or a malformed one";
  case ONNXC_MACHINE:
    return "made for another machine";
  case ONNXC_MEMORY:
    return "out of memory";
  default:
    return "unknown status";
  }
}

// A linked-in model has no extent: the linker put it there, it is trusted.
static bool reaches(const onnxc_extent *extent, const onnxc_offset *field,
                    uint64_t bytes, uint64_t align) {
  uintptr_t target = (uintptr_t)field + (uintptr_t)*field;
  if (!*field)
    return false;
  if (!extent)
    return true;
  uintptr_t begin = (uintptr_t)extent->begin;
  return target >= begin && target - begin <= extent->bytes &&
         bytes <= extent->bytes - (target - begin) && target % align == 0;
}

static bool reaches_text(const onnxc_extent *extent,
                         const onnxc_offset *field) {
  if (!reaches(extent, field, 1, 1))
    return false;
  const char *text = onnxc_at(field);
  return !extent ||
         memchr(text, 0, (size_t)(extent->begin + extent->bytes - text));
}

static bool reaches_code(const onnxc_extent *extent,
                         const onnxc_offset *field) {
  if (!extent)
    return *field != 0;
  onnxc_extent code = {extent->code, extent->code_bytes, NULL, 0};
  return reaches(&code, field, 1, 1);
}

static bool optional(bool valid, const onnxc_offset *field) {
  return valid || *field == 0;
}

static bool check_value(const onnxc_value *value, uint32_t symbol_count,
                        const onnxc_extent *extent) {
  if (value->rank > ONNXC_MAX_RANK || !reaches_text(extent, &value->name) ||
      !optional(reaches_text(extent, &value->parameter), &value->parameter))
    return false;
  if (!value->rank)
    return true;
  if (!reaches(extent, &value->dims, value->rank * sizeof(onnxc_dim),
               _Alignof(onnxc_dim)))
    return false;
  const onnxc_dim *dims = onnxc_value_dims(value);
  for (uint32_t i = 0; i < value->rank; ++i)
    if (dims[i].extent < -1 || dims[i].symbol < -1 ||
        (dims[i].symbol >= 0 && (uint32_t)dims[i].symbol >= symbol_count))
      return false;
  return true;
}

static bool check_values(const onnxc_offset *field, uint32_t count,
                         uint32_t symbol_count, const onnxc_extent *extent) {
  if (!count)
    return true;
  if (!reaches(extent, field, (uint64_t)count * sizeof(onnxc_value),
               _Alignof(onnxc_value)))
    return false;
  const onnxc_value *values = onnxc_at(field);
  for (uint32_t i = 0; i < count; ++i)
    if (!check_value(&values[i], symbol_count, extent))
      return false;
  return true;
}

static bool check_symbols(const onnxc_model *model,
                          const onnxc_extent *extent) {
  if (!model->symbol_count)
    return true;
  if (!reaches(extent, &model->symbols,
               (uint64_t)model->symbol_count * sizeof(onnxc_symbol),
               _Alignof(onnxc_symbol)) ||
      !reaches_code(extent, &model->arena_bytes_of))
    return false;
  for (uint32_t i = 0; i < model->symbol_count; ++i)
    if (!reaches_text(extent, &onnxc_model_symbols(model)[i].name))
      return false;
  return true;
}

static bool check_offsets(const onnxc_model *model,
                          const onnxc_extent *extent) {
  return reaches_text(extent, &model->name) &&
         reaches_text(extent, &model->producer) &&
         reaches_code(extent, &model->call) &&
         optional(reaches_code(extent, &model->run), &model->run) &&
         optional(reaches_code(extent, &model->output_dims_of),
                  &model->output_dims_of) &&
         optional(reaches_code(extent, &model->worker_bytes_of),
                  &model->worker_bytes_of) &&
         optional(reaches(extent, &model->weights, model->weights_bytes,
                          ONNXC_WEIGHTS_ALIGN),
                  &model->weights) &&
         optional(reaches_text(extent, &model->weights_file),
                  &model->weights_file) &&
         check_symbols(model, extent) &&
         check_values(&model->inputs, model->input_count, model->symbol_count,
                      extent) &&
         check_values(&model->outputs, model->output_count, model->symbol_count,
                      extent);
}

static bool has_reserved_kind(const onnxc_value *values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (values[i].kind != ONNXC_KIND_TENSOR ||
        !onnxc_type_bits(values[i].type) || values[i].type == ONNXC_STRING)
      return true;
  return false;
}

int32_t onnxc_check_model(const onnxc_model *model, const onnxc_extent *extent,
                          onnxc_message *message) {
  if (!model || model->magic != ONNXC_MAGIC)
    return onnxc_fail(message, ONNXC_FORMAT, "not a model");
  if (model->abi_version != ONNXC_ABI_VERSION ||
      model->size < sizeof(onnxc_model) || model->flags)
    return onnxc_fail(message, ONNXC_ABI,
                      "model has interface version %u, this runtime reads %u",
                      model->abi_version, ONNXC_ABI_VERSION);
  if (model->machine != onnxc_this_machine() &&
      model->machine != ONNXC_MACHINE_ANY)
    return onnxc_fail(message, ONNXC_MACHINE,
                      "model is for ELF machine %u, this is %u", model->machine,
                      onnxc_this_machine());
  if (!check_offsets(model, extent))
    return onnxc_fail(message, ONNXC_FORMAT, "malformed descriptor");
  if (has_reserved_kind(onnxc_model_inputs(model), model->input_count) ||
      has_reserved_kind(onnxc_model_outputs(model), model->output_count))
    return onnxc_fail(message, ONNXC_ABI,
                      "model has a kind of value that this runtime lacks");
  const char *missing = onnxc_missing_feature(model->cpu_features);
  if (missing)
    return onnxc_fail(message, ONNXC_CPU, "CPU lacks a feature: %s", missing);
  return ONNXC_OK;
}
