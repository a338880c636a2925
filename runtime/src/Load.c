// Opens and closes models, wherever they come from.

#include "Loaded.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// A file, mapped read-only.
typedef struct mapped_file {
  int file;
  void *bytes;
  uint64_t size;
} mapped_file;

static int32_t map_file(const char *path, mapped_file *mapped,
                        onnxc_message *message) {
  struct stat status;
  mapped->bytes = MAP_FAILED;
  mapped->file = open(path, O_RDONLY | O_CLOEXEC);
  if (mapped->file < 0)
    return onnxc_fail(message, ONNXC_FILE, "cannot open '%.400s'", path);
  if (fstat(mapped->file, &status) || !S_ISREG(status.st_mode) ||
      status.st_size <= 0)
    return onnxc_fail(message, ONNXC_FILE, "'%.400s' is empty or no file",
                      path);
  mapped->size = (uint64_t)status.st_size;
  mapped->bytes =
      mmap(NULL, mapped->size, PROT_READ, MAP_PRIVATE, mapped->file, 0);
  if (mapped->bytes == MAP_FAILED)
    return onnxc_fail(message, ONNXC_FILE, "cannot map '%.400s'", path);
  return ONNXC_OK;
}

static void unmap_file(mapped_file *mapped) {
  if (mapped->bytes != MAP_FAILED)
    munmap(mapped->bytes, mapped->size);
  if (mapped->file >= 0)
    close(mapped->file);
}

// `name` in the folder of `path`; null without memory.
static char *beside(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
  size_t length = strlen(name) + 1;
  char *joined = malloc(folder + length);
  if (joined) {
    memcpy(joined, path, folder);
    memcpy(joined + folder, name, length);
  }
  return joined;
}

// Maps the weights that lie in a file beside the object. Its name is part of
// the object and may not lead out of the folder.
static int32_t map_weights(const char *path, onnxc_loaded *loaded,
                           onnxc_message *message) {
  const onnxc_model *model = loaded->model;
  const char *name = onnxc_model_weights_file(model);
  if (!name || model->weights || !model->weights_bytes)
    return ONNXC_OK;
  if (!path || strchr(name, '/') || !*name)
    return onnxc_fail(message, ONNXC_FORMAT, "weights file has no usable name");
  char *joined = beside(path, name);
  if (!joined)
    return onnxc_fail(message, ONNXC_MEMORY, "out of memory");
  mapped_file mapped;
  int32_t status = map_file(joined, &mapped, message);
  if (!status && mapped.size < model->weights_bytes)
    status = onnxc_fail(message, ONNXC_FILE, "'%.400s' is too short", joined);
  if (!status) {
    loaded->weights = mapped.bytes;
    loaded->weights_file.begin = mapped.bytes;
    loaded->weights_file.bytes = mapped.size;
    mapped.bytes = MAP_FAILED; // stays mapped
  }
  unmap_file(&mapped);
  free(joined);
  return status;
}

static bool is_shared_library(const mapped_file *mapped) {
  // e_type, two bytes, of a little-endian ELF file.
  const unsigned char *bytes = mapped->bytes;
  return mapped->size > 18 && !memcmp(bytes, "\177ELF", 4) && bytes[16] == 3;
}

static int32_t open_library(const char *path, const mapped_file *mapped,
                            onnxc_loaded *loaded, onnxc_message *message) {
  const char *symbol =
      onnxc_exported_model(mapped->bytes, mapped->size, &loaded->code_bytes);
  if (!symbol)
    return onnxc_fail(message, ONNXC_FORMAT, "library exports no model");
  // Without a slash dlopen would search elsewhere.
  char *local = strchr(path, '/') ? NULL : beside("./", path);
  loaded->library = dlopen(local ? local : path, RTLD_NOW | RTLD_LOCAL);
  free(local);
  if (!loaded->library)
    return onnxc_fail(message, ONNXC_FORMAT, "%.500s", dlerror());
  loaded->model = dlsym(loaded->library, symbol);
  return onnxc_check_model(loaded->model, NULL, message);
}

// Either hands the model over or closes what was opened of it.
static int32_t finish(onnxc_loaded *loaded, int32_t status,
                      onnxc_loaded **model) {
  *model = status ? NULL : loaded;
  if (status)
    onnxc_close(loaded);
  return status;
}

static onnxc_loaded *begin(onnxc_loaded **model, onnxc_message *message) {
  *model = NULL;
  onnxc_fail(message, ONNXC_OK, "%s", "");
  onnxc_loaded *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    onnxc_fail(message, ONNXC_MEMORY, "out of memory");
  return loaded;
}

int32_t onnxc_open(const char *path, onnxc_loaded **model,
                   onnxc_message *message) {
  onnxc_loaded *loaded = begin(model, message);
  if (!loaded)
    return ONNXC_MEMORY;
  mapped_file mapped;
  int32_t status = map_file(path, &mapped, message);
  if (!status)
    status = is_shared_library(&mapped)
                 ? open_library(path, &mapped, loaded, message)
                 : onnxc_map_object(mapped.bytes, mapped.size, mapped.file,
                                    loaded, message);
  unmap_file(&mapped);
  if (!status)
    status = map_weights(path, loaded, message);
  return finish(loaded, status, model);
}

int32_t onnxc_open_memory(const void *bytes, uint64_t size,
                          onnxc_loaded **model, onnxc_message *message) {
  onnxc_loaded *loaded = begin(model, message);
  if (!loaded)
    return ONNXC_MEMORY;
  int32_t status = onnxc_map_object(bytes, size, -1, loaded, message);
  if (!status)
    status = map_weights(NULL, loaded, message);
  return finish(loaded, status, model);
}

int32_t onnxc_open_linked(const onnxc_model *descriptor, onnxc_loaded **model,
                          onnxc_message *message) {
  onnxc_loaded *loaded = begin(model, message);
  if (!loaded)
    return ONNXC_MEMORY;
  loaded->model = descriptor;
  int32_t status = onnxc_check_model(descriptor, NULL, message);
  if (!status)
    status = map_weights(NULL, loaded, message);
  return finish(loaded, status, model);
}

void onnxc_close(onnxc_loaded *model) {
  if (!model)
    return;
  free(atomic_load(&model->spare));
  onnxc_free_blocks(atomic_load(&model->blocks));
  if (model->image.begin)
    munmap(model->image.begin, model->image.bytes);
  if (model->weights_file.begin)
    munmap(model->weights_file.begin, model->weights_file.bytes);
  if (model->library)
    dlclose(model->library);
  free(model);
}

const onnxc_model *onnxc_describe(const onnxc_loaded *model) {
  return model->model;
}

uint64_t onnxc_code_bytes(const onnxc_loaded *model) {
  return model->code_bytes;
}
