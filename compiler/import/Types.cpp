#include "compiler/import/Types.h"
#include "dialects/onnx/Index.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace onnxc {

LogicalResult checkSize(ArrayRef<int64_t> sizes, Type element, Location loc) {
  int64_t bytes = 16; // the widest element; exactness does not matter here
  bool empty = llvm::is_contained(sizes, 0);
  for (int64_t size : sizes)
    if (!empty && !ShapedType::isDynamic(size) &&
        (llvm::MulOverflow(bytes, size, bytes) || bytes >> 58))
      return emitError(loc)
             << "a tensor of "
             << describeType(RankedTensorType::get(sizes, element))
             << " is too large";
  return success();
}

// Some exporters write the same mark for every size that they do not know.
static StringRef nameOf(const ::onnx::TensorShapeProto::Dimension &dim) {
  StringRef name = dim.dim_param();
  return llvm::is_contained({"?", "-1", "None"}, name) ? "" : name;
}

void Types::bindSymbols(const ::onnx::GraphProto &graph) {
  for (const ::onnx::ValueInfoProto &input : graph.input()) {
    auto given = shapes.find(input.name());
    const auto &declared = input.type().tensor_type().shape().dim();
    if (given == shapes.end() ||
        size_t(declared.size()) != given->second.size())
      continue;
    for (auto [dim, size] : llvm::zip(declared, given->second))
      if (StringRef name = nameOf(dim); !name.empty())
        dims.emplace(name.str(), size);
  }
}

FailureOr<Type> Types::elementType(int32_t number, Location loc) {
  if (Type element = dataType(context, number))
    return element;
  if (!::onnx::TensorProto::DataType_IsValid(number) || number == 0)
    return emitError(loc) << "element type " << number << " is unknown";
  return emitError(loc) << "element type "
                        << ::onnx::TensorProto::DataType_Name(
                               ::onnx::TensorProto::DataType(number))
                        << " is not supported";
}

FailureOr<Type> Types::tensorType(const ::onnx::TypeProto::Tensor &tensor,
                                  StringRef input, Location loc) {
  FailureOr<Type> element = elementType(tensor.elem_type(), loc);
  if (failed(element))
    return failure();
  Shape shape;
  auto given = shapes.find(input.str());
  if (given != shapes.end()) {
    for (int64_t size : given->second)
      shape.push_back({size, {}});
  } else if (!tensor.has_shape()) {
    return emitError(loc) << "input '" << input
                          << "' has no shape; give one with --shape " << input
                          << ":...";
  } else {
    for (const auto &dim : tensor.shape().dim()) {
      StringRef name = nameOf(dim);
      auto bound = dims.find(dim.dim_param());
      if (dim.dim_value() < -1) // exporters write -1 for a size they don't know
        return emitError(loc)
               << "input '" << input << "' has a size of " << dim.dim_value();
      if (dim.has_dim_value() && dim.dim_value() >= 0)
        shape.push_back({dim.dim_value(), {}});
      else if (!dim.dim_param().empty() && bound != dims.end())
        shape.push_back({bound->second, {}});
      else
        shape.push_back(
            {ShapedType::kDynamic,
             StringAttr::get(context, name.empty() ? "?" + Twine(unnamed++)
                                                   : quotedName(name))});
    }
  }
  RankedTensorType type = tensorOf(shape, *element);
  if (failed(checkSize(type.getShape(), *element, loc)))
    return failure();
  return Type(type);
}

FailureOr<Type> Types::inputType(const ::onnx::ValueInfoProto &input,
                                 Location loc) {
  const ::onnx::TypeProto &type = input.type();
  if (type.has_tensor_type())
    return tensorType(type.tensor_type(), input.name(), loc);
  if (type.value_case() == ::onnx::TypeProto::VALUE_NOT_SET)
    return emitError(loc) << "input '" << input.name() << "' has no type";
  return emitError(loc) << "input '" << input.name()
                        << "' is no tensor, which is not supported";
}

LogicalResult Types::checkElement(const ::onnx::ValueInfoProto &declared,
                                  Type type, Location loc) {
  int64_t number = declared.type().tensor_type().elem_type();
  int64_t actual = dataNumber(getElementTypeOrSelf(type));
  if (number == 0 || number == actual || !isa<TensorType>(type))
    return success();
  return emitError(loc) << "output '" << declared.name()
                        << "' is declared to be of " << dataName(number)
                        << ", but is of " << dataName(actual);
}

// A shape that is declared is a bound: what is known of the value must fit.
LogicalResult Types::checkDeclared(const ::onnx::ValueInfoProto &declared,
                                   Type type, Location loc) {
  if (failed(checkElement(declared, type, loc)))
    return failure();
  const ::onnx::TypeProto::Tensor &tensor = declared.type().tensor_type();
  auto actual = dyn_cast<RankedTensorType>(type);
  if (!actual || !tensor.has_shape() || !shapes.empty())
    return success();
  if (tensor.shape().dim_size() != actual.getRank())
    return emitError(loc) << "output '" << declared.name()
                          << "' is declared to be of rank "
                          << tensor.shape().dim_size() << ", but is of rank "
                          << actual.getRank();
  for (auto [dim, size] : llvm::zip(tensor.shape().dim(), actual.getShape()))
    if (dim.dim_value() > 0 && !ShapedType::isDynamic(size) &&
        dim.dim_value() != size)
      return emitError(loc) << "output '" << declared.name()
                            << "' is declared to have a size of "
                            << dim.dim_value() << ", but it is " << size;
  return success();
}

} // namespace onnxc
