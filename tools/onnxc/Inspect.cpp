// The runtime reads descriptors of this machine only, once they are at their
// final address. Here they are read where they lie in the file, for any machine
// and without running anything: a reference is a relocation where the object
// has one, else the distance that stands in the field.

#include "Inspect.h"
#include "compiler/Input.h"
#include "runtime/include/onnxc/model.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace llvm::object;

namespace onnxc {
namespace {

// A byte of the file, as its section and the offset in there.
struct Location {
  StringRef bytes; // of the section
  uint64_t section = 0;
  uint64_t address = 0; // of the section
  uint64_t offset = 0;

  Location at(uint64_t distance) const {
    Location moved = *this;
    moved.offset += distance;
    return moved;
  }
};

class Reader {
public:
  explicit Reader(const ObjectFile &file) : file(file) {
    width = file.getBytesInAddress();
    for (const SectionRef &section : file.sections())
      readRelocations(section);
  }

  std::optional<Location> findModel() const;
  std::optional<uint64_t> integer(Location at, unsigned bytes) const;
  // What the offset at a place refers to; none where it is absent or broken.
  std::optional<Location> follow(Location at) const;
  std::string text(Location at) const;

  unsigned width; // of an offset, in bytes

private:
  void readRelocations(const SectionRef &section);
  std::optional<Location> locate(const SymbolRef &symbol) const;
  std::optional<Location> locateAddress(uint64_t address) const;
  Location begin(const SectionRef &section) const;

  const ObjectFile &file;
  // Target of the relocation at an offset of a section.
  std::map<std::pair<uint64_t, uint64_t>, Location> relocations;
};

Location Reader::begin(const SectionRef &section) const {
  Location location;
  location.section = section.getIndex();
  location.address = section.getAddress();
  if (Expected<StringRef> contents = section.getContents())
    location.bytes = *contents;
  else
    consumeError(contents.takeError());
  return location;
}

std::optional<Location> Reader::locate(const SymbolRef &symbol) const {
  Expected<section_iterator> section = symbol.getSection();
  Expected<uint64_t> value = symbol.getValue();
  if (!section || !value || *section == file.section_end()) {
    consumeError(section.takeError());
    consumeError(value.takeError());
    return std::nullopt;
  }
  Location location = begin(**section);
  return location.at(*value -
                     (file.isRelocatableObject() ? 0 : location.address));
}

std::optional<Location> Reader::locateAddress(uint64_t address) const {
  for (const SectionRef &section : file.sections())
    if (section.getAddress() && address >= section.getAddress() &&
        address - section.getAddress() < section.getSize())
      return begin(section).at(address - section.getAddress());
  return std::nullopt;
}

void Reader::readRelocations(const SectionRef &section) {
  Expected<section_iterator> target = section.getRelocatedSection();
  if (!target || *target == file.section_end())
    return consumeError(target.takeError());
  Location place = begin(**target);
  for (const RelocationRef &relocation : section.relocations()) {
    symbol_iterator symbol = relocation.getSymbol();
    std::optional<Location> location;
    if (symbol != file.symbol_end())
      location = locate(*symbol);
    if (!location)
      continue;
    uint64_t offset = relocation.getOffset();
    Expected<int64_t> addend = ELFRelocationRef(relocation).getAddend();
    int64_t distance = 0;
    if (addend) {
      distance = *addend;
    } else { // without an entry for it, the addend stands in the field
      consumeError(addend.takeError());
      distance = int32_t(uint32_t(integer(place.at(offset), 4).value_or(0)));
    }
    relocations[{place.section, offset}] = location->at(distance);
  }
}

std::optional<uint64_t> Reader::integer(Location at, unsigned bytes) const {
  if (at.offset > at.bytes.size() || bytes > at.bytes.size() - at.offset)
    return std::nullopt;
  uint64_t value = 0;
  for (unsigned i = bytes; i-- > 0;)
    value = value << 8 | uint8_t(at.bytes[at.offset + i]);
  return value;
}

std::optional<Location> Reader::follow(Location at) const {
  auto found = relocations.find({at.section, at.offset});
  if (found != relocations.end())
    return found->second;
  std::optional<uint64_t> value = integer(at, width);
  if (!value || *value == 0)
    return std::nullopt;
  int64_t distance = width == 4 ? int32_t(*value) : int64_t(*value);
  if (file.isRelocatableObject())
    return at.at(distance);
  return locateAddress(at.address + at.offset + distance);
}

std::string Reader::text(Location at) const {
  std::optional<Location> begin = follow(at);
  if (!begin || begin->offset >= begin->bytes.size())
    return "";
  return begin->bytes.substr(begin->offset).split('\0').first.str();
}

std::optional<Location> Reader::findModel() const {
  auto isModel = [this](const SymbolRef &symbol) -> std::optional<Location> {
    Expected<StringRef> name = symbol.getName();
    if (!name) {
      consumeError(name.takeError());
      return std::nullopt;
    }
    std::optional<Location> location = locate(symbol);
    if (name->ends_with("_model") && location &&
        integer(*location, 4) == ONNXC_MAGIC)
      return location;
    return std::nullopt;
  };
  for (const SymbolRef &symbol : file.symbols())
    if (std::optional<Location> location = isModel(symbol))
      return location;
  if (auto *elf = dyn_cast<ELFObjectFileBase>(&file))
    for (const ELFSymbolRef &symbol : elf->getDynamicSymbolIterators())
      if (std::optional<Location> location = isModel(symbol))
        return location;
  return std::nullopt;
}

StringRef typeName(uint32_t type) {
  static const StringRef names[] = {
      "undefined",      "float32",    "uint8",
      "int8",           "uint16",     "int16",
      "int32",          "int64",      "string",
      "bool",           "float16",    "float64",
      "uint32",         "uint64",     "complex64",
      "complex128",     "bfloat16",   "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",          "int4",       "float4e2m1",
      "float8e8m0",     "uint2",      "int2"};
  return type < std::size(names) ? names[type] : "unknown type";
}

StringRef machineName(uint32_t machine) {
  switch (machine) {
  case ONNXC_MACHINE_ARM:
    return "ARM";
  case ONNXC_MACHINE_X86_64:
    return "x86-64";
  case ONNXC_MACHINE_AARCH64:
    return "AArch64";
  case ONNXC_MACHINE_RISCV:
    return "RISC-V";
  default:
    return "any machine";
  }
}

std::string featureNames(uint32_t machine, uint64_t mask) {
  std::string names;
  auto add = [&](unsigned bit, StringRef name) {
    if (mask >> bit & 1)
      names += (names.empty() ? "" : " ") + name.str();
  };
#define ADD(bit, name) add(bit, name);
  if (machine == ONNXC_MACHINE_X86_64) {
    ONNXC_X86_FEATURES(ADD)
  } else if (machine == ONNXC_MACHINE_AARCH64) {
    ONNXC_AARCH64_FEATURES(ADD)
  }
#undef ADD
  return names.empty() ? "none beyond the baseline" : names;
}

// Positions in the structs of model.h. Their 32-bit form differs in the width
// of the offsets only, which come last.
class Printer {
public:
  Printer(const Reader &reader, Location model)
      : reader(reader), model(model) {}

  void print(StringRef path);

private:
  uint64_t word(Location at, unsigned offset) const {
    return reader.integer(at.at(offset), 4).value_or(0);
  }
  int64_t wide(Location at, unsigned offset) const {
    return reader.integer(at.at(offset), 8).value_or(0);
  }
  // Offset number `index` of the model.
  Location field(unsigned index) const {
    return model.at(offsetof(onnxc_model, name) + index * reader.width);
  }
  std::string symbolName(uint32_t index) const;
  std::string shape(Location value) const;
  void printValues(StringRef title, unsigned fieldIndex, unsigned count) const;
  void printSizes() const;

  const Reader &reader;
  Location model;
};

// Numbers of the offsets in onnxc_model.
enum { Name, Producer, Inputs, Outputs, Symbols, Call, Run, ArenaBytesOf };
enum { WeightsFile = 10, WorkerBytesOf };

std::string Printer::symbolName(uint32_t index) const {
  std::optional<Location> table = reader.follow(field(Symbols));
  unsigned size = 16 + 2 * reader.width;
  return table ? reader.text(table->at(index * size + 16)) : "?";
}

std::string Printer::shape(Location value) const {
  unsigned rank = word(value, offsetof(onnxc_value, rank));
  std::optional<Location> dims =
      reader.follow(value.at(offsetof(onnxc_value, name) + reader.width));
  std::string text;
  for (unsigned i = 0; dims && i < std::min(rank, ONNXC_MAX_RANK); ++i) {
    Location dim = dims->at(i * sizeof(onnxc_dim));
    int64_t extent = wide(dim, 0), bound = wide(dim, 8);
    auto symbol = int32_t(word(dim, 16));
    text += i ? "x" : "";
    text += extent >= 0   ? std::to_string(extent)
            : symbol >= 0 ? symbolName(symbol)
            : bound >= 0  ? "<=" + std::to_string(bound)
                          : "?";
  }
  return rank ? text : "scalar";
}

void Printer::printValues(StringRef title, unsigned fieldIndex,
                          unsigned count) const {
  std::optional<Location> table = reader.follow(field(fieldIndex));
  for (unsigned i = 0; table && i < count; ++i) {
    Location value = table->at(i * (16 + 4 * reader.width));
    if (value.offset >= value.bytes.size())
      return;
    outs() << "  " << left_justify(i ? "" : title, 10)
           << reader.text(value.at(16)) << ": "
           << typeName(word(value, offsetof(onnxc_value, type))) << ' '
           << shape(value) << '\n';
  }
}

void Printer::printSizes() const {
  outs() << "  arena     ";
  if (word(model, offsetof(onnxc_model, symbol_count)) &&
      reader.follow(field(ArenaBytesOf)))
    outs() << "a formula of the symbols";
  else
    outs() << wide(model, offsetof(onnxc_model, arena_bytes)) << " bytes";
  if (reader.follow(field(WorkerBytesOf)))
    outs() << ", another one more for each worker";
  else if (int64_t worker = wide(model, offsetof(onnxc_model, worker_bytes)))
    outs() << ", " << worker << " more for each worker";
  outs() << "\n  weights   "
         << wide(model, offsetof(onnxc_model, weights_bytes)) << " bytes";
  std::string file = reader.text(field(WeightsFile));
  if (!file.empty())
    outs() << " in '" << file << "'";
  outs() << '\n';
}

void Printer::print(StringRef path) {
  uint32_t machine = word(model, offsetof(onnxc_model, machine));
  outs() << path << ": " << reader.text(field(Name)) << " for "
         << machineName(machine) << ", by " << reader.text(field(Producer))
         << ", interface " << word(model, offsetof(onnxc_model, abi_version))
         << '\n';
  printValues("inputs", Inputs,
              word(model, offsetof(onnxc_model, input_count)));
  printValues("outputs", Outputs,
              word(model, offsetof(onnxc_model, output_count)));
  unsigned symbols = word(model, offsetof(onnxc_model, symbol_count));
  for (unsigned i = 0; i < symbols && i < 64; ++i)
    outs() << (i ? " " : "  symbols   ") << symbolName(i)
           << (i + 1 == symbols ? "\n" : "");
  printSizes();
  outs() << "  features  "
         << featureNames(machine,
                         wide(model, offsetof(onnxc_model, cpu_features)))
         << '\n';
}

void printCode(const ObjectFile &file) {
  uint64_t bytes = 0;
  for (const SectionRef &section : file.sections())
    bytes += section.isText() ? section.getSize() : 0;
  outs() << "  code      " << bytes << " bytes\n";
}

bool inspectObject(StringRef path, const ObjectFile &file) {
  if (!file.isELF())
    return false;
  Reader reader(file);
  std::optional<Location> model = reader.findModel();
  if (!model)
    return false;
  Printer(reader, *model).print(path);
  printCode(file);
  return true;
}

bool inspectArchive(StringRef path, const Archive &archive) {
  bool found = false;
  Error error = Error::success();
  for (const Archive::Child &child : archive.children(error)) {
    Expected<std::unique_ptr<Binary>> member = child.getAsBinary();
    if (!member)
      consumeError(member.takeError());
    else if (auto *object = dyn_cast<ObjectFile>(member->get()))
      found |= inspectObject(path, *object);
  }
  consumeError(std::move(error));
  return found;
}

} // namespace

static Expected<bool> inspectFile(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> bytes = readInput(path.str());
  if (!bytes)
    return bytes.takeError();
  Expected<std::unique_ptr<Binary>> binary =
      createBinary((*bytes)->getMemBufferRef());
  if (!binary)
    return binary.takeError();
  if (auto *object = dyn_cast<ObjectFile>(binary->get()))
    return inspectObject(path, *object);
  if (auto *archive = dyn_cast<Archive>(binary->get()))
    return inspectArchive(path, *archive);
  return false;
}

int inspect(StringRef path) {
  Expected<bool> found = inspectFile(path);
  if (found && *found)
    return 0;
  errs() << path << ": error: "
         << (found ? "no compiled model in this file"
                   : toString(found.takeError()))
         << '\n';
  return 1;
}

} // namespace onnxc
