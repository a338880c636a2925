#include "compiler/import/Model.h"
#include "compiler/Input.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

using namespace llvm;

namespace onnxc {

// Messages inside messages. A subgraph in a subgraph costs three, so this
// allows for 1000 of them; protobuf's own limit of 100 refuses 34 nested Ifs.
static constexpr int deepestMessage = 3000;

namespace {
// protobuf would print to standard error.
struct FirstError : google::protobuf::io::ErrorCollector {
  void AddError(int line, int column, const std::string &text) override {
    if (message.empty())
      message = formatv("line {0}: {1}", line + 1, text);
  }
  std::string message;
};
} // namespace

static Error parseText(StringRef bytes, ::onnx::ModelProto &proto) {
  FirstError firstError;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&firstError);
  parser.SetRecursionLimit(deepestMessage);
  if (!parser.ParseFromString(bytes.str(), &proto))
    return createStringError("is no text form of a model: " +
                             firstError.message);
  return Error::success();
}

static Error parseWire(StringRef bytes, ::onnx::ModelProto &proto) {
  google::protobuf::SetLogHandler(nullptr);
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t *>(bytes.data()), int(bytes.size()));
  stream.SetRecursionLimit(deepestMessage);
  if (!proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return createStringError("is no ONNX model, or is cut short");
  return Error::success();
}

Expected<std::unique_ptr<Model>> readModel(StringRef file, StringRef bytes) {
  auto model = std::make_unique<Model>();
  if (file != "-")
    model->folder = sys::path::parent_path(file).str();
  if (model->folder.empty())
    model->folder = ".";
  if (bytes.size() > largestMessageBytes)
    return createStringError("a model file may not exceed 2 GB; keep the "
                             "weights in external data");
  Error error = file.ends_with(".textproto") ? parseText(bytes, model->proto)
                                             : parseWire(bytes, model->proto);
  if (error)
    return std::move(error);
  if (!model->proto.has_graph())
    return createStringError("is no ONNX model: it has no graph");
  return std::move(model);
}

} // namespace onnxc
