#include "compiler/import/ExternalData.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
namespace path = llvm::sys::path;
namespace fs = llvm::sys::fs;

namespace onnxc {
namespace {

struct Place {
  StringRef location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

FailureOr<Place> placeOf(const ::onnx::TensorProto &tensor, Location loc) {
  Place place;
  for (const auto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    uint64_t number = 0;
    if (key == "location")
      place.location = value;
    if (key != "offset" && key != "length")
      continue;
    if (value.getAsInteger(10, number))
      return emitError(loc) << "external data: '" << key << "' is no number: '"
                            << value << "'";
    if (key == "offset")
      place.offset = number;
    else
      place.length = number;
  }
  if (place.location.empty())
    return emitError(loc) << "external data has no location";
  return place;
}

// The path to open; nothing that leads out of `folder` gets one.
FailureOr<std::string> containedPath(StringRef folder, StringRef location,
                                     Location loc) {
  auto refuse = [&](StringRef why) {
    return emitError(loc) << "external data '" << location << "' " << why;
  };
  if (path::is_absolute(location) || location.contains('\0'))
    return refuse("is no relative path");
  if (llvm::is_contained(
          llvm::make_range(path::begin(location), path::end(location)), ".."))
    return refuse("leads out of the model's folder");
  SmallString<256> joined(folder), real, realFolder;
  path::append(joined, location);
  if (fs::real_path(folder, realFolder) || fs::real_path(joined, real))
    return refuse("cannot be opened");
  if (!real.str().starts_with(realFolder) ||
      (realFolder != "/" &&
       !real.str().drop_front(realFolder.size()).starts_with("/")))
    return refuse("leads out of the model's folder");
  fs::file_status status;
  if (fs::status(real, status) || status.type() != fs::file_type::regular_file)
    return refuse("is no regular file");
  if (status.getLinkCount() > 1)
    return refuse("is a hard link; copy the file");
  return std::string(real);
}

FailureOr<StringRef> mappedFile(Model &model, StringRef location,
                                Location loc) {
  std::unique_ptr<llvm::MemoryBuffer> &file = model.dataFiles[location];
  if (file)
    return file->getBuffer();
  FailureOr<std::string> path = containedPath(model.folder, location, loc);
  if (failed(path))
    return failure();
  auto opened = llvm::MemoryBuffer::getFile(*path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!opened)
    return emitError(loc) << "external data '" << location
                          << "': " << opened.getError().message();
  file = std::move(*opened);
  return file->getBuffer();
}

} // namespace

FailureOr<ArrayRef<char>> externalBytes(Model &model,
                                        const ::onnx::TensorProto &tensor,
                                        uint64_t wanted, Location loc) {
  FailureOr<Place> place = placeOf(tensor, loc);
  if (failed(place))
    return failure();
  if (place->length && *place->length != wanted)
    return emitError(loc) << "expected " << wanted
                          << " bytes of external data, got " << *place->length;
  FailureOr<StringRef> bytes = mappedFile(model, place->location, loc);
  if (failed(bytes))
    return failure();
  if (place->offset > bytes->size() || bytes->size() - place->offset < wanted)
    return emitError(loc) << "external data '" << place->location
                          << "' ends before offset " << place->offset << " + "
                          << wanted << " bytes";
  return ArrayRef<char>(bytes->data() + place->offset, wanted);
}

} // namespace onnxc
