#include "compiler/import/Types.h"
#include "dialects/onnx/Shape.h"
#include "mlir/IR/Diagnostics.h"
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
             << "a tensor of " << RankedTensorType::get(sizes, element)
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

// '|' joins the names of broadcast sizes, '?' begins those of unnamed ones.
static std::string symbolName(StringRef name) {
  std::string clean = name.str();
  std::replace(clean.begin(), clean.end(), '|', '_');
  if (clean.front() == '?')
    clean.front() = '_';
  return clean;
}

FailureOr<Type> Types::tensorType(const ::onnx::TypeProto::Tensor &tensor,
                                  StringRef name, Location loc) {
  FailureOr<Type> element = elementType(tensor.elem_type(), loc);
  if (failed(element))
    return failure();
  Shape shape;
  auto given = shapes.find(name.str());
  if (given != shapes.end()) {
    for (int64_t size : given->second)
      shape.push_back({size, {}});
  } else if (!tensor.has_shape()) {
    return emitError(loc) << "input '" << name
                          << "' has no shape; give one with --shape " << name
                          << ":...";
  } else {
    for (const auto &dim : tensor.shape().dim()) {
      StringRef name = nameOf(dim);
      auto bound = dims.find(dim.dim_param());
      if (dim.has_dim_value() && dim.dim_value() >= 0)
        shape.push_back({dim.dim_value(), {}});
      else if (!dim.dim_param().empty() && bound != dims.end())
        shape.push_back({bound->second, {}});
      else
        shape.push_back(
            {ShapedType::kDynamic,
             StringAttr::get(context, name.empty() ? "?" + Twine(unnamed++)
                                                   : symbolName(name))});
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

} // namespace onnxc
