// Memory that an object asks for during a call, where only the run knows the
// sizes. What does not become an output waits for the next call: fresh memory
// costs a page fault for every page.

#include "Loaded.h"

#include <stdlib.h>

struct onnxc_block {
  onnxc_block *next;
  void *data;
  uint64_t bytes;
  uint32_t align;
};

void *onnxc_aligned(uint64_t bytes, uint64_t align) {
  if (align < sizeof(void *))
    align = sizeof(void *);
  if (bytes > SIZE_MAX - align)
    return NULL;
  uint64_t rounded = (bytes + align - 1) / align * align;
  return aligned_alloc(align, rounded ? rounded : align);
}

// Takes the first of `blocks` that serves and is not mostly too large. They lie
// in the order of the last call, so that one that repeats it looks at one.
static onnxc_block *take(onnxc_block **blocks, uint64_t bytes, uint32_t align) {
  enum { most = 32 };
  onnxc_block **at = blocks;
  for (int tried = 0; *at && tried < most; ++tried, at = &(*at)->next) {
    onnxc_block *block = *at;
    if (block->bytes < bytes || block->bytes / 2 > bytes ||
        block->align < align)
      continue;
    *at = block->next;
    return block;
  }
  return NULL;
}

static onnxc_block *create(uint64_t bytes, uint32_t align) {
  onnxc_block *block = malloc(sizeof *block);
  void *data = block ? onnxc_aligned(bytes, align) : NULL;
  if (!data) {
    free(block);
    return NULL;
  }
  *block = (onnxc_block){NULL, data, bytes, align};
  return block;
}

void onnxc_free_blocks(onnxc_block *blocks) {
  while (blocks) {
    onnxc_block *next = blocks->next;
    free(blocks->data);
    free(blocks);
    blocks = next;
  }
}

void *onnxc_allocate_block(void *user, uint64_t bytes, uint32_t align) {
  onnxc_blocks *blocks = user;
  if (!blocks->used && !blocks->spare)
    blocks->spare = atomic_exchange(&blocks->loaded->blocks, NULL);
  onnxc_block *block = take(&blocks->spare, bytes, align);
  if (!block)
    block = create(bytes, align);
  if (!block)
    return NULL;
  block->next = blocks->used;
  blocks->used = block;
  return block->data;
}

static onnxc_tensor *output_in(const onnxc_block *block,
                               const onnxc_call *call) {
  for (uint32_t i = 0; i < call->output_count; ++i)
    if (call->outputs[i].data == block->data)
      return &call->outputs[i];
  return NULL;
}

void onnxc_release_blocks(onnxc_blocks *blocks, const onnxc_call *call,
                          bool failed) {
  if (!blocks->used && !blocks->spare)
    return;
  onnxc_block *kept = NULL;
  for (onnxc_block *block = blocks->used, *next; block; block = next) {
    next = block->next;
    onnxc_tensor *output = output_in(block, call);
    if (failed && output)
      output->data = NULL;
    if (output && !failed) {
      free(block);
    } else {
      block->next = kept;
      kept = block;
    }
  }
  onnxc_free_blocks(blocks->spare);
  onnxc_free_blocks(atomic_exchange(&blocks->loaded->blocks, kept));
}
