// The binary interface of a compiled model: what `onnxc` writes into an object
// and what a caller hands to it. C11 and C++17, standalone, versioned.
//
// An object with the prefix P (the stem of the file it was written to, or
// `--name=`) exports
//
//   P_model        the descriptor, an `onnxc_model` in read-only memory
//   P_call         the generic entry, an `onnxc_call_fn`
//   P_run          the typed entry, declared in the generated header P.h
//   P_arena_bytes  the arena's size, declared in P.h
//
// and nothing else. It has no undefined symbol, no writable section and no
// absolute address: wherever one part of the descriptor refers to another, it
// holds the signed distance from the field itself (`onnxc_offset`, zero for
// "absent"). So it links into executables of any kind, shared libraries and
// flash without a dynamic relocation, and can be copied nowhere: always pass
// the descriptor by pointer.
//
// Rules for the caller
//  - Inputs and outputs are dense, in C order, aligned to their element. The
//    arena is aligned to ONNXC_ARENA_ALIGN. Outputs and the arena overlap
//    neither each other nor any input.
//  - A tensor with a dimension of zero may have a null data pointer. Rank 0 is
//    one element.
//  - All mutable state is in the arena: one model may run in any number of
//    threads at once as long as each brings its own arena and outputs.
//  - Shapes, arena, alignment and capacity are checked before anything is
//    written. After any other error the outputs and the arena hold unspecified
//    values and nothing outside them was touched.
//
// Every struct grows at its end only. A reader looks at a field only where
// `size` says that it is there; a change of meaning raises the version.

#ifndef ONNXC_MODEL_H
#define ONNXC_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONNXC_ABI_VERSION 1u
#define ONNXC_MAGIC 0x43584e4fu // "ONXC" in a little-endian file
#define ONNXC_ARENA_ALIGN 64u
#define ONNXC_WEIGHTS_ALIGN 64u
#define ONNXC_MAX_RANK 32u // of any input or output

// Status codes --------------------------------------------------------------

enum {
  ONNXC_OK = 0,
  ONNXC_SHAPE = 1,     // rank, dimension or element type does not match
  ONNXC_INDEX = 2,     // a run-time index is out of bounds
  ONNXC_ARENA = 3,     // the arena is missing or too small
  ONNXC_ALIGNMENT = 4, // a buffer is misaligned, or buffers overlap
  ONNXC_CAPACITY = 5,  // an output does not fit into its buffer
  ONNXC_ALLOCATOR =
      6,           // memory is needed and there is no allocator, or it failed
  ONNXC_CPU = 7,   // the CPU lacks a feature that the code uses
  ONNXC_ABI = 8,   // written for another version of this interface
  ONNXC_VALUE = 9, // a run-time value has no meaning: step 0, negative size
  ONNXC_FIRST_RUNTIME_STATUS = 64 // the codes of runtime.h begin here
};

// Element types: ONNX's own numbers (TensorProto.DataType) ------------------

enum {
  ONNXC_UNDEFINED = 0,
  ONNXC_FLOAT = 1,
  ONNXC_UINT8 = 2,
  ONNXC_INT8 = 3,
  ONNXC_UINT16 = 4,
  ONNXC_INT16 = 5,
  ONNXC_INT32 = 6,
  ONNXC_INT64 = 7,
  ONNXC_STRING = 8, // elements are onnxc_string
  ONNXC_BOOL = 9,   // one byte; any value but 0 is true, 1 is written
  ONNXC_FLOAT16 = 10,
  ONNXC_DOUBLE = 11,
  ONNXC_UINT32 = 12,
  ONNXC_UINT64 = 13,
  ONNXC_COMPLEX64 = 14,
  ONNXC_COMPLEX128 = 15,
  ONNXC_BFLOAT16 = 16,
  ONNXC_FLOAT8E4M3FN = 17,
  ONNXC_FLOAT8E4M3FNUZ = 18,
  ONNXC_FLOAT8E5M2 = 19,
  ONNXC_FLOAT8E5M2FNUZ = 20,
  ONNXC_UINT4 = 21, // two to a byte, the first in the low half
  ONNXC_INT4 = 22,
  ONNXC_FLOAT4E2M1 = 23,
  ONNXC_FLOAT8E8M0 = 24,
  ONNXC_UINT2 = 25, // four to a byte, the first in the lowest bits
  ONNXC_INT2 = 26
};

// Bits of one element in a caller's buffer; 0 for an unknown type. Sub-byte
// tensors take ceil(count * bits / 8) bytes.
static inline uint32_t onnxc_type_bits(uint32_t type) {
  switch (type) {
  case ONNXC_UINT2:
  case ONNXC_INT2:
    return 2;
  case ONNXC_UINT4:
  case ONNXC_INT4:
  case ONNXC_FLOAT4E2M1:
    return 4;
  case ONNXC_UINT8:
  case ONNXC_INT8:
  case ONNXC_BOOL:
  case ONNXC_FLOAT8E4M3FN:
  case ONNXC_FLOAT8E4M3FNUZ:
  case ONNXC_FLOAT8E5M2:
  case ONNXC_FLOAT8E5M2FNUZ:
  case ONNXC_FLOAT8E8M0:
    return 8;
  case ONNXC_UINT16:
  case ONNXC_INT16:
  case ONNXC_FLOAT16:
  case ONNXC_BFLOAT16:
    return 16;
  case ONNXC_FLOAT:
  case ONNXC_INT32:
  case ONNXC_UINT32:
    return 32;
  case ONNXC_DOUBLE:
  case ONNXC_INT64:
  case ONNXC_UINT64:
  case ONNXC_COMPLEX64:
    return 64;
  case ONNXC_COMPLEX128:
  case ONNXC_STRING:
    return 128;
  default:
    return 0;
  }
}

// What a value is: the field numbers of ONNX's TypeProto. All but tensors are
// reserved: a reader of this version refuses them.
enum {
  ONNXC_KIND_TENSOR = 1,
  ONNXC_KIND_SEQUENCE = 4,
  ONNXC_KIND_MAP = 5,
  ONNXC_KIND_SPARSE = 8,
  ONNXC_KIND_OPTIONAL = 9
};

// Calling -------------------------------------------------------------------

// One element of a string tensor: UTF-8, not terminated. Reserved.
typedef struct onnxc_string {
  uint64_t data; // address of the first byte, widened to 64 bits
  uint64_t bytes;
} onnxc_string;

// One input or output of a call. Both arrays belong to the caller.
typedef struct onnxc_tensor {
  // First element. Null in an output: the buffer comes from onnxc_call.alloc,
  // stays the caller's to free and is stored here.
  void *data;
  // `rank` extents: read for inputs, written for outputs. Null where rank is 0.
  int64_t *dims;
  // Bytes that may be written at `data`; outputs only.
  uint64_t capacity_bytes;
  uint32_t rank; // as in the descriptor; checked
  uint32_t type; // as in the descriptor; checked
} onnxc_tensor;

// A parallel-for of the caller's. `run` calls task(context, index, worker) once
// for every index < tasks, in any order, with worker < workers and never two
// calls at once with the same worker; it returns when all have returned. The
// results are the same bytes for every number of workers.
typedef struct onnxc_parallel onnxc_parallel;
struct onnxc_parallel {
  uint32_t workers; // at least 1
  void (*run)(const onnxc_parallel *parallel,
              void (*task)(void *context, uint32_t index, uint32_t worker),
              void *context, uint32_t tasks);
};

// Where an error arose. The strings are static parts of the object; null where
// there is nothing to name.
typedef struct onnxc_error {
  uint32_t size;    // sizeof(onnxc_error), set by the caller
  int32_t status;   // what the call returns
  const char *node; // "node 'enc/attn_3' (Gather)", or of an argument "input"
  const char *operand; // "indices"
} onnxc_error;

typedef struct onnxc_call {
  uint32_t size;  // sizeof(onnxc_call), set by the caller
  uint32_t flags; // 0
  uint32_t input_count;
  uint32_t output_count;
  const onnxc_tensor *inputs;
  onnxc_tensor *outputs;
  void *arena; // may be null where the arena takes no bytes
  uint64_t arena_bytes;
  const onnxc_parallel *parallel; // null: sequential
  // Memory for outputs without a buffer and for values whose size nobody knows
  // before the run: `bytes` bytes aligned to `align`, or null. The object never
  // frees; whoever made the call frees what it handed out. May be null.
  void *(*alloc)(void *user, uint64_t bytes, uint32_t align);
  void *user;
  // Weights of a model that does not carry them (--weights=file), aligned to
  // ONNXC_WEIGHTS_ALIGN; null: the ones in the object.
  const void *weights;
  onnxc_error *error; // may be null
} onnxc_call;

typedef int32_t onnxc_call_fn(const onnxc_call *call);

// The shared part of the arena in bytes, from one value for every
// symbol; UINT64_MAX where it does not fit into 64 bits or a value is negative.
typedef uint64_t onnxc_arena_bytes_fn(const int64_t *symbols);

// Writes the dims of every output, one after the other, from one value for
// every symbol: -1 for an extent that is known after the run only.
typedef int32_t onnxc_output_dims_fn(const int64_t *symbols, int64_t *dims);

// The descriptor ------------------------------------------------------------

// Distance in bytes from this field to what it refers to; 0: absent. As wide as
// an address, so that it is a link-time constant on every target.
#if UINTPTR_MAX == UINT32_MAX
typedef int32_t onnxc_offset;
#else
typedef int64_t onnxc_offset;
#endif

static inline const void *onnxc_at(const onnxc_offset *field) {
  return *field ? (const char *)field + *field : NULL;
}

// A named dimension that the caller chooses at run time. A symbol's value is
// the extent of the first input dimension that refers to it.
typedef struct onnxc_symbol {
  int64_t hint;      // the value that the arena's plan was made for
  int64_t bound;     // largest value, -1: none
  onnxc_offset name; // as in the model; "?0" where the model has none
  onnxc_offset reserved;
} onnxc_symbol;

// One dimension of an input or output.
typedef struct onnxc_dim {
  int64_t extent;    // -1: known at run time
  int64_t bound;     // largest extent, the same as `extent` if fixed, -1: none
  int32_t symbol;    // index of the symbol that it equals, -1: none
  uint32_t reserved; // 0
} onnxc_dim;

enum {
  // The extents depend on the data, not only on the symbols: the buffer needs
  // room for the bound, or there is none and onnxc_call.alloc is used.
  ONNXC_VALUE_DATA_DEPENDENT = 1
};

// One input or output.
typedef struct onnxc_value {
  uint32_t kind;     // ONNXC_KIND_TENSOR
  uint32_t type;     // of the elements
  uint32_t rank;     // at most ONNXC_MAX_RANK
  uint32_t flags;    // ONNXC_VALUE_*
  onnxc_offset name; // as in the model
  onnxc_offset dims; // onnxc_dim[rank]; absent where rank is 0
  // The C name of the typed entry's parameter, as in the header.
  onnxc_offset parameter;
  onnxc_offset reserved; // 0; later the element of a sequence, optional or map
} onnxc_value;

// Bits of onnxc_model.cpu_features: the features that the code may use beyond
// the baseline of its machine, X(bit, name in the spelling of LLVM). Whoever
// loads the model checks them before the first call. One list for each machine.
#define ONNXC_X86_FEATURES(X)                                                  \
  X(0, "sse3")                                                                 \
  X(1, "ssse3")                                                                \
  X(2, "sse4.1")                                                               \
  X(3, "sse4.2")                                                               \
  X(4, "popcnt")                                                               \
  X(5, "avx")                                                                  \
  X(6, "f16c")                                                                 \
  X(7, "fma")                                                                  \
  X(8, "movbe")                                                                \
  X(9, "avx2")                                                                 \
  X(10, "bmi")                                                                 \
  X(11, "bmi2")                                                                \
  X(12, "lzcnt")                                                               \
  X(13, "avx512f")                                                             \
  X(14, "avx512dq")                                                            \
  X(15, "avx512bw")                                                            \
  X(16, "avx512vl")                                                            \
  X(17, "avx512cd")                                                            \
  X(18, "avx512vnni")                                                          \
  X(19, "avx512bf16")                                                          \
  X(20, "avx512fp16")                                                          \
  X(21, "avx512vbmi")                                                          \
  X(22, "avx512vbmi2")                                                         \
  X(23, "avx512bitalg")                                                        \
  X(24, "avx512vpopcntdq")                                                     \
  X(25, "avx512ifma")                                                          \
  X(26, "avxvnni")                                                             \
  X(27, "avxvnniint8")                                                         \
  X(28, "avxneconvert")                                                        \
  X(29, "avxifma")                                                             \
  X(30, "gfni")                                                                \
  X(31, "vaes")                                                                \
  X(32, "vpclmulqdq")                                                          \
  X(33, "adx")                                                                 \
  X(34, "sse4a")                                                               \
  X(35, "xop")                                                                 \
  X(36, "fma4")                                                                \
  X(37, "tbm")                                                                 \
  X(38, "amx-tile")                                                            \
  X(39, "amx-int8")                                                            \
  X(40, "amx-bf16")                                                            \
  X(41, "aes")                                                                 \
  X(42, "pclmul")                                                              \
  X(43, "cx16")                                                                \
  X(44, "sahf")

#define ONNXC_AARCH64_FEATURES(X)                                              \
  X(0, "lse")                                                                  \
  X(1, "crc")                                                                  \
  X(2, "rdm")                                                                  \
  X(3, "fullfp16")                                                             \
  X(4, "dotprod")                                                              \
  X(5, "fp16fml")                                                              \
  X(6, "jsconv")                                                               \
  X(7, "complxnum")                                                            \
  X(8, "rcpc")                                                                 \
  X(9, "i8mm")                                                                 \
  X(10, "bf16")                                                                \
  X(11, "sve")                                                                 \
  X(12, "sve2")                                                                \
  X(13, "sme")                                                                 \
  X(14, "fptoint")                                                             \
  X(15, "altnzcv")                                                             \
  X(16, "rcpc-immo")

// ELF's machine numbers, for onnxc_model.machine.
enum {
  ONNXC_MACHINE_ANY = 0,
  ONNXC_MACHINE_ARM = 40,
  ONNXC_MACHINE_X86_64 = 62,
  ONNXC_MACHINE_AARCH64 = 183,
  ONNXC_MACHINE_RISCV = 243
};

typedef struct onnxc_model {
  uint32_t magic;       // ONNXC_MAGIC
  uint32_t abi_version; // ONNXC_ABI_VERSION of the compiler that wrote it
  uint32_t size;        // sizeof(onnxc_model) of that compiler
  uint32_t machine;     // ONNXC_MACHINE_*: which list of features is meant
  uint32_t flags;       // 0
  uint32_t input_count; // the graph's inputs that are no initializers
  uint32_t output_count;
  uint32_t symbol_count;
  uint64_t cpu_features; // bit mask, see the lists above
  // Arena = arena_bytes + workers * worker_bytes, where workers is that of
  // onnxc_call.parallel and 1 without. `arena_bytes` holds for the symbols'
  // hints; with symbols the function `arena_bytes_of` gives it for any values.
  // `worker_bytes` holds where there is no `worker_bytes_of`, else that does.
  uint64_t arena_bytes;
  uint64_t worker_bytes;
  uint64_t weights_bytes;
  onnxc_offset name;     // the prefix, a C identifier
  onnxc_offset producer; // "onnxc 0.1.0"
  onnxc_offset inputs;   // onnxc_value[input_count]
  onnxc_offset outputs;  // onnxc_value[output_count]
  onnxc_offset symbols;  // onnxc_symbol[symbol_count], in order of appearance
  onnxc_offset call;     // onnxc_call_fn, never absent
  onnxc_offset run;      // the typed entry; its type is in the header
  onnxc_offset arena_bytes_of; // onnxc_arena_bytes_fn; absent without symbols
  onnxc_offset
      output_dims_of;   // onnxc_output_dims_fn; absent where every output
                        // extent is fixed, a symbol or data-dependent
  onnxc_offset weights; // aligned to ONNXC_WEIGHTS_ALIGN; absent without any,
                        // or where they lie in a file
  onnxc_offset weights_file;    // name of that file, relative to the object's
  onnxc_offset worker_bytes_of; // onnxc_arena_bytes_fn, or absent
  onnxc_offset reserved[4];     // 0
} onnxc_model;

// Access --------------------------------------------------------------------

static inline const char *onnxc_model_name(const onnxc_model *model) {
  return (const char *)onnxc_at(&model->name);
}
static inline const char *onnxc_model_producer(const onnxc_model *model) {
  return (const char *)onnxc_at(&model->producer);
}
static inline const onnxc_value *onnxc_model_inputs(const onnxc_model *model) {
  return (const onnxc_value *)onnxc_at(&model->inputs);
}
static inline const onnxc_value *onnxc_model_outputs(const onnxc_model *model) {
  return (const onnxc_value *)onnxc_at(&model->outputs);
}
static inline const onnxc_symbol *
onnxc_model_symbols(const onnxc_model *model) {
  return (const onnxc_symbol *)onnxc_at(&model->symbols);
}
static inline const void *onnxc_model_weights(const onnxc_model *model) {
  return onnxc_at(&model->weights);
}
static inline const char *onnxc_model_weights_file(const onnxc_model *model) {
  return (const char *)onnxc_at(&model->weights_file);
}
static inline onnxc_call_fn *onnxc_model_call(const onnxc_model *model) {
  return (onnxc_call_fn *)(uintptr_t)onnxc_at(&model->call);
}
static inline onnxc_arena_bytes_fn *
onnxc_model_arena_bytes_of(const onnxc_model *model) {
  return (onnxc_arena_bytes_fn *)(uintptr_t)onnxc_at(&model->arena_bytes_of);
}
static inline onnxc_arena_bytes_fn *
onnxc_model_worker_bytes_of(const onnxc_model *model) {
  return (onnxc_arena_bytes_fn *)(uintptr_t)onnxc_at(&model->worker_bytes_of);
}
static inline onnxc_output_dims_fn *
onnxc_model_output_dims_of(const onnxc_model *model) {
  return (onnxc_output_dims_fn *)(uintptr_t)onnxc_at(&model->output_dims_of);
}
static inline const char *onnxc_value_name(const onnxc_value *value) {
  return (const char *)onnxc_at(&value->name);
}
static inline const onnxc_dim *onnxc_value_dims(const onnxc_value *value) {
  return (const onnxc_dim *)onnxc_at(&value->dims);
}
static inline const char *onnxc_value_parameter(const onnxc_value *value) {
  return (const char *)onnxc_at(&value->parameter);
}
static inline const char *onnxc_symbol_name(const onnxc_symbol *symbol) {
  return (const char *)onnxc_at(&symbol->name);
}

// Layout: the same on every 64-bit target, and on every 32-bit one -----------

#ifdef __cplusplus
#define ONNXC_ASSERT_LAYOUT(condition) static_assert(condition, #condition)
#else
#define ONNXC_ASSERT_LAYOUT(condition) _Static_assert(condition, #condition)
#endif
#define ONNXC_ASSERT_OFFSET(type, field, wide, narrow)                         \
  ONNXC_ASSERT_LAYOUT(offsetof(type, field) ==                                 \
                      (sizeof(onnxc_offset) == 8 ? (wide) : (narrow)))
#define ONNXC_ASSERT_SIZE(type, wide, narrow)                                  \
  ONNXC_ASSERT_LAYOUT(sizeof(type) ==                                          \
                      (sizeof(onnxc_offset) == 8 ? (wide) : (narrow)))

ONNXC_ASSERT_LAYOUT(sizeof(void *) == sizeof(onnxc_offset));
ONNXC_ASSERT_SIZE(onnxc_tensor, 32, 24);
ONNXC_ASSERT_OFFSET(onnxc_tensor, capacity_bytes, 16, 8);
ONNXC_ASSERT_OFFSET(onnxc_tensor, rank, 24, 16);
ONNXC_ASSERT_SIZE(onnxc_parallel, 16, 8);
ONNXC_ASSERT_SIZE(onnxc_error, 24, 16);
ONNXC_ASSERT_SIZE(onnxc_call, 88, 64);
ONNXC_ASSERT_OFFSET(onnxc_call, inputs, 16, 16);
ONNXC_ASSERT_OFFSET(onnxc_call, arena, 32, 24);
ONNXC_ASSERT_OFFSET(onnxc_call, arena_bytes, 40, 32);
ONNXC_ASSERT_OFFSET(onnxc_call, parallel, 48, 40);
ONNXC_ASSERT_OFFSET(onnxc_call, alloc, 56, 44);
ONNXC_ASSERT_OFFSET(onnxc_call, weights, 72, 52);
ONNXC_ASSERT_OFFSET(onnxc_call, error, 80, 56);
ONNXC_ASSERT_SIZE(onnxc_symbol, 32, 24);
ONNXC_ASSERT_SIZE(onnxc_dim, 24, 24);
ONNXC_ASSERT_SIZE(onnxc_value, 48, 32);
ONNXC_ASSERT_OFFSET(onnxc_value, name, 16, 16);
ONNXC_ASSERT_SIZE(onnxc_model, 192, 128);
ONNXC_ASSERT_OFFSET(onnxc_model, cpu_features, 32, 32);
ONNXC_ASSERT_OFFSET(onnxc_model, name, 64, 64);
ONNXC_ASSERT_OFFSET(onnxc_model, call, 104, 84);
ONNXC_ASSERT_OFFSET(onnxc_model, weights, 136, 100);
ONNXC_ASSERT_OFFSET(onnxc_model, worker_bytes_of, 152, 108);

#undef ONNXC_ASSERT_SIZE
#undef ONNXC_ASSERT_OFFSET
#undef ONNXC_ASSERT_LAYOUT

#ifdef __cplusplus
} // extern "C"
#endif

#endif // ONNXC_MODEL_H
