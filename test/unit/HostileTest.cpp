// Opens objects that were damaged on purpose. The loader may refuse or accept
// them; it may not read or write outside of what it mapped. The bytes end at an
// unreadable page, so that one byte too many is a crash.

#include "Scale.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>

namespace {

std::vector<char> readModel(const char *name = "scale.o") {
  std::ifstream file(unitModel(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A buffer whose last byte is followed by an unreadable page.
class Guarded {
public:
  explicit Guarded(size_t size) {
    size_t page = sysconf(_SC_PAGESIZE);
    bytes = (size + page - 1) / page * page + page;
    base = static_cast<char *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + bytes - page, page, PROT_NONE);
    end = base + bytes - page;
  }
  ~Guarded() { munmap(base, bytes); }
  Guarded(const Guarded &) = delete;

  // The last `size` bytes.
  char *last(size_t size) { return end - size; }

private:
  char *base, *end;
  size_t bytes;
};

int32_t readAndClose(onnxc_loaded *loaded);

// Opens the object and, where that works, reads everything it describes.
int32_t openAndRead(const char *bytes, size_t size) {
  onnxc_loaded *loaded = nullptr;
  int32_t status = onnxc_open_memory(bytes, size, &loaded, nullptr);
  return status ? status : readAndClose(loaded);
}

int32_t readAndClose(onnxc_loaded *loaded) {
  const onnxc_model *model = onnxc_describe(loaded);
  size_t total = std::strlen(onnxc_model_name(model));
  for (uint32_t i = 0; i < model->input_count; ++i) {
    const onnxc_value *value = &onnxc_model_inputs(model)[i];
    total += std::strlen(onnxc_value_name(value));
    for (uint32_t dim = 0; dim < value->rank; ++dim)
      total += onnxc_value_dims(value)[dim].extent;
  }
  for (uint32_t i = 0; i < model->symbol_count; ++i)
    total += std::strlen(onnxc_symbol_name(&onnxc_model_symbols(model)[i]));
  const auto *weights =
      static_cast<const volatile char *>(onnxc_model_weights(model));
  if (weights && model->weights_bytes)
    total += weights[model->weights_bytes - 1];
  onnxc_close(loaded);
  return total == SIZE_MAX ? -1 : ONNXC_OK;
}

} // namespace

TEST_CASE("a truncated object is refused") {
  std::vector<char> model = readModel();
  Guarded guarded(model.size());
  for (size_t size = 0; size < model.size(); ++size) {
    char *bytes = guarded.last(size);
    std::memcpy(bytes, model.data(), size);
    REQUIRE(openAndRead(bytes, size) != ONNXC_OK);
  }
}

TEST_CASE("no damaged byte makes the loader leave its bounds") {
  std::vector<char> model = readModel();
  Guarded guarded(model.size());
  char *bytes = guarded.last(model.size());
  std::memcpy(bytes, model.data(), model.size());
  size_t refused = 0;
  for (size_t at = 0; at < model.size(); ++at) {
    for (unsigned char flip : {0x01, 0x80, 0x7f, 0xff}) {
      bytes[at] = static_cast<char>(model[at] ^ flip);
      refused += openAndRead(bytes, model.size()) != ONNXC_OK;
    }
    bytes[at] = model[at];
  }
  CHECK(refused > 0);
  CHECK(openAndRead(bytes, model.size()) == ONNXC_OK);
}

TEST_CASE("no damaged word makes the loader leave its bounds") {
  std::vector<char> model = readModel();
  Guarded guarded(model.size());
  char *bytes = guarded.last(model.size());
  std::memcpy(bytes, model.data(), model.size());
  for (size_t at = 0; at + 8 <= model.size(); at += 4) {
    for (uint64_t word :
         {uint64_t{0}, UINT64_MAX, uint64_t{1} << 63, uint64_t{INT64_MAX},
          uint64_t{model.size()}, ~uint64_t{4096}, uint64_t{1} << 40}) {
      std::memcpy(bytes + at, &word, sizeof word);
      openAndRead(bytes, model.size());
    }
    std::memcpy(bytes + at, model.data() + at, 8);
  }
  CHECK(openAndRead(bytes, model.size()) == ONNXC_OK);
}

// Where weights are mapped from the file, a damaged table must not map more
// than the file has.
TEST_CASE("no damaged table of sections maps beyond the file") {
  std::vector<char> model = readModel("large.o");
  std::string path = unitModel("damaged.o");
  auto write = [&](size_t at, char byte) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(at);
    file.put(byte);
  };
  std::ofstream(path, std::ios::binary).write(model.data(), model.size());
  uint64_t table;
  std::memcpy(&table, model.data() + 40, sizeof table); // e_shoff
  REQUIRE(table < model.size());
  for (size_t at = table; at < model.size(); ++at) {
    for (unsigned char flip : {0x01, 0xff}) {
      write(at, static_cast<char>(model[at] ^ flip));
      onnxc_loaded *loaded = nullptr;
      if (onnxc_open(path.c_str(), &loaded, nullptr) == ONNXC_OK)
        readAndClose(loaded);
    }
    write(at, model[at]);
  }
  onnxc_loaded *loaded = nullptr;
  CHECK(onnxc_open(path.c_str(), &loaded, nullptr) == ONNXC_OK);
  CHECK(readAndClose(loaded) == ONNXC_OK);
  unlink(path.c_str());
}
