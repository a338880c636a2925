// Opens compiled models and runs them. C11, libc only.
//
//   onnxc_loaded *model;
//   onnxc_message message;
//   if (onnxc_open("resnet50.o", &model, &message) != ONNXC_OK)
//     fail(message.text);
//   onnxc_run(model, inputs, outputs, NULL, &message);
//   onnxc_close(model);
//
// Nothing here prints or aborts: every function returns a status, those of
// model.h or those below, and fills in a message. A file may be hostile up to
// the moment when its code is called: opening checks every offset. Running it
// means trusting it as much as any other program.

#ifndef ONNXC_RUNTIME_H
#define ONNXC_RUNTIME_H

#include "onnxc/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ONNXC_FILE = 64,    // cannot be opened or read
  ONNXC_FORMAT = 65,  // no model, or a malformed one
  ONNXC_MACHINE = 66, // made for another machine than this one
  ONNXC_MEMORY = 67,  // out of memory
};

// What went wrong, in words; an empty text where nothing did. Every function
// accepts a null pointer instead.
typedef struct onnxc_message {
  char text[512];
} onnxc_message;

// A model that is ready to run. Immutable but for spare memory, which it keeps
// from the last run for the next: any number of threads may run it at once.
typedef struct onnxc_loaded onnxc_loaded;

// Opens `path`: a relocatable object straight from the compiler (x86-64 or
// AArch64 ELF), which is mapped and relocated here, or a shared library. The
// CPU must have the features that the code uses. Weights in a file of their own
// are mapped from the folder of `path`.
int32_t onnxc_open(const char *path, onnxc_loaded **model,
                   onnxc_message *message);

// Opens a relocatable object that lies in memory; `bytes` may be freed when
// this returns.
int32_t onnxc_open_memory(const void *bytes, uint64_t size,
                          onnxc_loaded **model, onnxc_message *message);

// Opens a model that is linked into this program: &P_model.
int32_t onnxc_open_linked(const onnxc_model *descriptor, onnxc_loaded **model,
                          onnxc_message *message);

// Unmaps everything that the model consists of. Null is accepted.
void onnxc_close(onnxc_loaded *model);

// The descriptor, valid until onnxc_close.
const onnxc_model *onnxc_describe(const onnxc_loaded *model);

// Bytes of machine code; 0 where that is not known (linked-in models).
uint64_t onnxc_code_bytes(const onnxc_loaded *model);

// Checks the inputs against the descriptor and finds the values of the symbols,
// one for each of symbol_count.
int32_t onnxc_bind(const onnxc_loaded *model, const onnxc_tensor *inputs,
                   int64_t *symbols, onnxc_message *message);

// Bytes of the arena for these symbols and this many workers; UINT64_MAX where
// there is no such size.
uint64_t onnxc_arena_bytes(const onnxc_loaded *model, const int64_t *symbols,
                           uint32_t workers);

// Runs the model once. `inputs` and `outputs` have as many elements as the
// descriptor says; every tensor brings its `dims` array, of an output too, with
// room for its rank. Where an output's `data` is null, memory is allocated that
// the caller frees with onnxc_free. `parallel` may be null.
int32_t onnxc_run(onnxc_loaded *model, const onnxc_tensor *inputs,
                  onnxc_tensor *outputs, const onnxc_parallel *parallel,
                  onnxc_message *message);

// The same in an arena of the caller's, aligned to ONNXC_ARENA_ALIGN.
int32_t onnxc_run_in(onnxc_loaded *model, void *arena, uint64_t arena_bytes,
                     const onnxc_tensor *inputs, onnxc_tensor *outputs,
                     const onnxc_parallel *parallel, onnxc_message *message);

// Frees what onnxc_run allocated for an output.
void onnxc_free(void *data);

// A pool of `workers` - 1 threads; the thread that runs a model is the last
// worker. The threads spin for some 200 microseconds after each region and
// sleep then. Models that run at the same time may share a pool: the second
// does its work alone. Null where threads cannot be had.
const onnxc_parallel *onnxc_pool_create(uint32_t workers);
void onnxc_pool_destroy(const onnxc_parallel *pool);

// A phrase for a status: "shape mismatch".
const char *onnxc_status_text(int32_t status);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // ONNXC_RUNTIME_H
