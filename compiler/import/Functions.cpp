// Functions that a model brings along are inlined where they are called: types
// are then inferred as if the body stood there, and nobody later knows of them.
#include "compiler/import/Graphs.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace onnxc {

const ::onnx::FunctionProto *
GraphImporter::findFunction(const ::onnx::NodeProto &node) const {
  if (functions.empty())
    return nullptr;
  return functions.lookup(node.domain() + "\n" + node.op_type() + "\n" +
                          node.overload());
}

// The body sees the call's attributes, else the function's defaults, and
// imports its own opsets.
Frame GraphImporter::enter(const ::onnx::FunctionProto &function,
                           const ::onnx::NodeProto &node, const Frame &frame,
                           Location loc) const {
  Frame inner;
  inner.opsets = opsetsOf(function.opset_import());
  for (const ::onnx::AttributeProto &fallback : function.attribute_proto())
    inner.attributes[fallback.name()] = &fallback;
  for (const ::onnx::AttributeProto &given : node.attribute())
    if (const ::onnx::AttributeProto *value = resolve(given, frame))
      inner.attributes[given.name()] = value;
  inner.function = &function;
  inner.caller = loc;
  inner.depth = frame.depth + 1;
  return inner;
}

LogicalResult
GraphImporter::inlineFunction(const ::onnx::FunctionProto &function,
                              const ::onnx::NodeProto &node, Scope &scope,
                              const Frame &frame, Location loc) {
  if (!active.insert(&function).second)
    return emitError(loc) << "function '" << function.name()
                          << "' calls itself";
  llvm::scope_exit leave([&] { active.erase(&function); });
  if (node.input_size() > function.input_size() ||
      node.output_size() > function.output_size())
    return emitError(loc) << "function '" << function.name() << "' has "
                          << function.input_size() << " inputs and "
                          << function.output_size() << " outputs, got "
                          << node.input_size() << " and " << node.output_size();
  if (readsUnknown(node, scope))
    return failure();
  FailureOr<SmallVector<Value>> inputs =
      readInputs(node, scope, loc, /*takesSequences=*/true);
  if (failed(inputs))
    return failure();
  Frame inner = enter(function, node, frame, loc);
  if (failed(checkOpsets(inner.opsets, loc)))
    return failure();
  Scope body;
  for (auto [name, value] : llvm::zip(function.input(), *inputs))
    if (value && failed(define(body, name, value, loc)))
      return failure();
  for (auto [inside, outside] : llvm::zip(function.input(), node.input()))
    if (const SmallVector<Value> *tensors = scope.findSequence(outside))
      body.sequences[inside] = *tensors;
  // What a call leaves out is absent in the body as well.
  for (const std::string &name : function.input())
    body.absent.insert(name);
  if (failed(importNodes(function.node(), body, inner)))
    return failure();
  for (auto [outside, inside] : llvm::zip(node.output(), function.output())) {
    Value value = body.find(inside);
    if (outside.empty())
      continue;
    if (!value && isUnknown(body, inside))
      return failure();
    if (const SmallVector<Value> *tensors = body.findSequence(inside)) {
      if (failed(defineSequence(scope, outside, *tensors, loc)))
        return failure();
      continue;
    }
    if (!value)
      return emitError(loc) << "no node of function '" << function.name()
                            << "' produces its output '" << inside << "'";
    if (failed(define(scope, outside, value, loc)))
      return failure();
  }
  return success();
}

} // namespace onnxc
