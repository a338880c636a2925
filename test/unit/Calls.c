// Calls as the runtime makes them, of a model that asks for memory. In C, for
// the runtime's own header is.
#include "runtime/src/Loaded.h"

#include <stdlib.h>

// Two calls ask for so many bytes each, the first of two blocks becomes an
// output if `hands_over`. How many of the first call's blocks the second gets.
int blocks_of_next_call(const uint64_t first[2], const uint64_t second[2],
                        bool hands_over, bool fails) {
  onnxc_loaded loaded = {0};
  void *given[2], *again[2];
  onnxc_tensor output = {0};
  onnxc_call call = {
      .size = sizeof call, .output_count = 1, .outputs = &output};
  onnxc_blocks blocks = {.loaded = &loaded};
  for (int i = 0; i < 2; ++i)
    given[i] = onnxc_allocate_block(&blocks, first[i], ONNXC_ARENA_ALIGN);
  if (hands_over)
    output.data = given[0];
  onnxc_release_blocks(&blocks, &call, fails);
  void *kept = output.data;
  output.data = NULL;
  blocks = (onnxc_blocks){.loaded = &loaded};
  int same = 0;
  for (int i = 0; i < 2; ++i) {
    again[i] = onnxc_allocate_block(&blocks, second[i], ONNXC_ARENA_ALIGN);
    bool isAligned = (uintptr_t)again[i] % ONNXC_ARENA_ALIGN == 0;
    same += isAligned && (again[i] == given[0] || again[i] == given[1]) &&
            again[i] != kept;
  }
  onnxc_release_blocks(&blocks, &call, false);
  onnxc_free_blocks(atomic_load(&loaded.blocks));
  free(kept);
  return same;
}
