// What an opened model consists of, shared by the files of this folder.

#ifndef ONNXC_SRC_LOADED_H
#define ONNXC_SRC_LOADED_H

#include "onnxc/runtime.h"

#include <stdatomic.h>
#include <stdbool.h>

// A mapping of ours; unmapped on close.
typedef struct onnxc_mapping {
  void *begin;
  size_t bytes;
} onnxc_mapping;

// An arena between two runs. Its size stands in its first bytes, so that taking
// it is one atomic exchange.
typedef struct onnxc_spare {
  uint64_t bytes;
} onnxc_spare;

typedef struct onnxc_block onnxc_block;

struct onnxc_loaded {
  const onnxc_model *model;
  const void *weights; // of a file beside the object, else null
  uint64_t code_bytes;
  onnxc_mapping image;        // an object: code and constants
  onnxc_mapping weights_file; // the file beside it
  void *library;              // a shared library: its handle
  _Atomic(onnxc_spare *) spare;
  _Atomic(onnxc_block *) blocks; // that the last call asked for, and may again
};

// Blocks of one call: those it asked for, and what the call before left.
typedef struct onnxc_blocks {
  onnxc_loaded *loaded;
  onnxc_block *used, *spare;
} onnxc_blocks;

// Blocks.c: the `alloc` of a call whose `user` is an onnxc_blocks. Null where
// there is no memory.
void *onnxc_allocate_block(void *user, uint64_t bytes, uint32_t align);

// Ends a call. Blocks that became outputs are the caller's from now on, unless
// the call failed; the model keeps the others, and frees what was left over.
void onnxc_release_blocks(onnxc_blocks *blocks, const onnxc_call *call,
                          bool failed);

void onnxc_free_blocks(onnxc_block *blocks);

// aligned_alloc of any size.
void *onnxc_aligned(uint64_t bytes, uint64_t align);

// Where the symbol of a descriptor was found, and what it may refer to: all of
// [begin, begin + bytes) is readable, code lies in [code, code + code_bytes).
typedef struct onnxc_extent {
  const char *begin;
  uint64_t bytes;
  const char *code;
  uint64_t code_bytes;
} onnxc_extent;

// Fills in the message and returns the status.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int32_t onnxc_fail(onnxc_message *message, int32_t status, const char *format,
                   ...);

// Checks a descriptor: version, features of this CPU, and, where `extent` is
// not null, that every offset stays inside.
int32_t onnxc_check_model(const onnxc_model *model, const onnxc_extent *extent,
                          onnxc_message *message);

// Name of the first feature in `required` that this CPU lacks, or null.
const char *onnxc_missing_feature(uint64_t required);

// The number of ELF's machine that this code runs on, or ONNXC_MACHINE_ANY.
uint32_t onnxc_this_machine(void);

// Object.c: maps and relocates an ELF object. `file` is its descriptor or -1
// where the bytes come from memory.
int32_t onnxc_map_object(const void *bytes, uint64_t size, int file,
                         onnxc_loaded *loaded, onnxc_message *message);

// Object.c: the name of the descriptor that a shared library exports, inside
// the bytes of its file; null where there is none. Counts its code bytes.
const char *onnxc_exported_model(const void *bytes, uint64_t size,
                                 uint64_t *code_bytes);

// Relocate.c: applies one relocation. `place` is where the bytes lie now and at
// run time, with `room` bytes behind it; `target` is S + A. False where the
// type is unknown or the value does not fit.
bool onnxc_relocate(uint32_t machine, uint32_t type, char *place, uint64_t room,
                    uint64_t target);

#endif // ONNXC_SRC_LOADED_H
