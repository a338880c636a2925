#include "compiler/SourceFile.h"
#include "compiler/Dump.h"
#include "compiler/Input.h"
#include "compiler/Pipeline.h"
#include "compiler/import/Importer.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace onnxc {

LogicalResult SourceFile::read() {
  auto opened = readInput(options.input);
  if (!opened)
    return diagnostics.error(llvm::toString(opened.takeError()));
  input = std::move(*opened);
  StringRef bytes = input->getBuffer();
  bool isText = StringRef(options.input).ends_with(".mlir");
  if (isText && !(options.shapes.empty() && options.dims.empty()))
    return diagnostics.error(
        "--shape and --dim fix the sizes of an ONNX model, "
        "not of a text, where they have had their effect",
        Exit::Usage);
  return isText ? readText(bytes) : readWire(bytes);
}

LogicalResult SourceFile::checkOverrides(const ::onnx::GraphProto &graph) {
  std::map<std::string, bool> inputs, symbols;
  for (const auto &given : graph.input()) {
    inputs[given.name()] = true;
    for (const auto &dim : given.type().tensor_type().shape().dim())
      symbols[dim.dim_param()] = true;
  }
  for (const auto &[name, shape] : options.shapes)
    if (!inputs.count(name))
      return diagnostics.error("--shape: no input is named '" + name + "'",
                               Exit::Usage);
  for (const auto &[name, size] : options.dims)
    if (!symbols.count(name))
      return diagnostics.error("--dim: no dimension is named '" + name + "'",
                               Exit::Usage);
  return success();
}

LogicalResult SourceFile::readWire(StringRef bytes) {
  auto parsed = readModel(options.input, bytes);
  if (!parsed)
    return diagnostics.error(llvm::toString(parsed.takeError()));
  model = std::move(*parsed);
  input.reset(); // the message holds its own copy
  if (failed(checkOverrides(model->proto.graph())))
    return failure();
  module = importModel(context, *model, options);
  return success(bool(module));
}

// A text says which stage it left; without a word it is a model in onnx
// operations.
LogicalResult SourceFile::readText(StringRef bytes) {
  ParserConfig config(context);
  module = parseSourceString<ModuleOp>(bytes, config, options.input);
  if (!module)
    return failure();
  auto attached = attachWeights(*module, options.input);
  if (failed(attached))
    return failure();
  weights = std::move(*attached);
  if (failed(checkText()))
    return failure();
  auto name = (*module)->getAttrOfType<StringAttr>(stageAttrName);
  std::optional<size_t> index = stageIndex(name ? name.getValue() : "import");
  if (!index || !pipeline()[*index].allows)
    return diagnostics.error("there is nothing to go on from after stage '" +
                             name.getValue() + "'");
  stage = *index;
  return verifyStage(pipeline()[stage], *module);
}

// That the text is a whole model: a person may have written it, or taken it
// from a dump, which leaves out the weights.
LogicalResult SourceFile::checkText() {
  auto function = (*module).lookupSymbol<FunctionOpInterface>("model");
  if (!function || function.isExternal())
    return diagnostics.error("expected a function @model with a body");
  bool elided = false;
  module->walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      attribute.getValue().walk([&](DenseResourceElementsAttr weight) {
        elided |= !weight.getRawHandle().getBlob();
      });
  });
  if (elided)
    return diagnostics.error("a weight has no data: --dump leaves weights out, "
                             "--stop-after keeps them");
  return success();
}

std::vector<std::string> SourceFile::files() const {
  std::vector<std::string> paths;
  if (options.input != "-")
    paths.push_back(options.input);
  if (model)
    for (auto &file : model->dataFiles)
      paths.push_back(model->folder + "/" + file.first().str());
  if (weights)
    paths.push_back(options.input + ".weights");
  return paths;
}

} // namespace onnxc
