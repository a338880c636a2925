// A model as it was read: the message and the files its weights lie in. The
// weights of the imported module point into it, so it outlives the module.
#pragma once
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include "onnx.pb.h"

namespace onnxc {

struct Model {
  ::onnx::ModelProto proto;
  std::string folder; // of the model's file, where external data must lie
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> dataFiles;
};

// Parses the wire format, or protobuf's text where `file` ends in .textproto.
// The error is a phrase without the file's name.
llvm::Expected<std::unique_ptr<Model>> readModel(llvm::StringRef file,
                                                 llvm::StringRef bytes);

} // namespace onnxc
