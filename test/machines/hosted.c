// Answers on a machine with an operating system: the object is opened by the
// runtime.
//
//   hosted MODEL.o HELDOUT.BIN TIMES

#include "answer.h"
#include "onnxc/runtime.h"

#include <stdio.h>
#include <stdlib.h>

enum { MEMORY_BYTES = 64 << 20 };

void put(const char *text) { fputs(text, stdout); }

int main(int argc, char **argv) {
  static unsigned char records[1 << 16];
  onnxc_loaded *model = NULL;
  onnxc_message message;
  FILE *file = argc == 4 ? fopen(argv[2], "rb") : NULL;
  if (!file) {
    fprintf(stderr, "usage: hosted MODEL.o HELDOUT.BIN TIMES\n");
    return 2;
  }
  uint32_t bytes = (uint32_t)fread(records, 1, sizeof records, file);
  fclose(file);
  if (onnxc_open(argv[1], &model, &message)) {
    fprintf(stderr, "%s: %s\n", argv[1], message.text);
    return 1;
  }
  char *memory = malloc(MEMORY_BYTES);
  int32_t status = ONNXC_MEMORY;
  if (memory)
    status = answer(onnxc_describe(model), records, bytes,
                    (uint32_t)atoi(argv[3]), memory, MEMORY_BYTES);
  free(memory);
  onnxc_close(model);
  if (status)
    fprintf(stderr, "%s: %s\n", argv[1], onnxc_status_text(status));
  return status != ONNXC_OK;
}
