// Attributes, from protobuf's kinds to MLIR's.
#include "compiler/import/Graphs.h"
#include "compiler/import/Tensors.h"
#include "dialects/onnx/Shape.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using ::onnx::AttributeProto;

namespace onnxc {

// Models of IR 1 leave the type out: the field that is set tells it.
static AttributeProto::AttributeType kindOf(const AttributeProto &attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED)
    return attribute.type();
  if (attribute.has_f())
    return AttributeProto::FLOAT;
  if (attribute.has_i())
    return AttributeProto::INT;
  if (attribute.has_s())
    return AttributeProto::STRING;
  if (attribute.has_t())
    return AttributeProto::TENSOR;
  if (attribute.floats_size())
    return AttributeProto::FLOATS;
  if (attribute.ints_size())
    return AttributeProto::INTS;
  if (attribute.strings_size())
    return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

template <typename T, typename Range> static SmallVector<T> copyOf(Range &&r) {
  return SmallVector<T>(r.begin(), r.end());
}

static Attribute stringsAttr(Builder &builder, const AttributeProto &from) {
  return builder.getStrArrayAttr(copyOf<StringRef>(from.strings()));
}

FailureOr<Attribute>
GraphImporter::convertAttribute(const AttributeProto &attribute,
                                StringRef label, Location loc) {
  switch (kindOf(attribute)) {
  case AttributeProto::FLOAT:
    return Attribute(builder.getF32FloatAttr(attribute.f()));
  case AttributeProto::INT:
    return Attribute(builder.getI64IntegerAttr(attribute.i()));
  case AttributeProto::STRING:
    return Attribute(builder.getStringAttr(attribute.s()));
  case AttributeProto::FLOATS:
    return Attribute(
        builder.getDenseF32ArrayAttr(copyOf<float>(attribute.floats())));
  case AttributeProto::INTS:
    return Attribute(
        builder.getDenseI64ArrayAttr(copyOf<int64_t>(attribute.ints())));
  case AttributeProto::STRINGS:
    return stringsAttr(builder, attribute);
  case AttributeProto::TENSOR: {
    FailureOr<ElementsAttr> value =
        convertTensor(model, types, attribute.t(), label, loc);
    return failed(value) ? FailureOr<Attribute>() : Attribute(*value);
  }
  case AttributeProto::SPARSE_TENSOR: {
    FailureOr<ElementsAttr> value =
        convertSparse(model, types, attribute.sparse_tensor(), label, loc);
    return failed(value) ? FailureOr<Attribute>() : Attribute(*value);
  }
  default:
    return emitError(loc) << "the type of attribute '" << attribute.name()
                          << "' is not supported";
  }
}

FailureOr<Attribute>
GraphImporter::convertConstant(StringRef name, const AttributeProto &attribute,
                               StringRef label, Location loc) {
  Attribute value;
  if (name == "value" || name == "sparse_value")
    return convertAttribute(attribute, label, loc);
  auto dense = [&](auto numbers, Type element, bool scalar) {
    SmallVector<int64_t> shape;
    if (!scalar)
      shape.push_back(numbers.size());
    return DenseElementsAttr::get(RankedTensorType::get(shape, element),
                                  ArrayRef(numbers));
  };
  FailureOr<Type> string = Type();
  if (name.starts_with("value_string") &&
      failed(string = types.elementType(::onnx::TensorProto::STRING, loc)))
    return failure();
  if (name == "value_int")
    value = dense(SmallVector<int64_t>{attribute.i()}, int64(context), true);
  else if (name == "value_ints")
    value = dense(copyOf<int64_t>(attribute.ints()), int64(context), false);
  else if (name == "value_float")
    value =
        dense(SmallVector<float>{attribute.f()}, builder.getF32Type(), true);
  else if (name == "value_floats")
    value =
        dense(copyOf<float>(attribute.floats()), builder.getF32Type(), false);
  else if (name == "value_string")
    value = dense(SmallVector<StringRef>{attribute.s()}, *string, true);
  else if (name == "value_strings")
    value = dense(copyOf<StringRef>(attribute.strings()), *string, false);
  if (!value)
    return emitError(loc) << "Constant has no attribute '" << name << "'";
  return value;
}

const AttributeProto *GraphImporter::resolve(const AttributeProto &attribute,
                                             const Frame &frame) const {
  if (attribute.ref_attr_name().empty())
    return &attribute;
  return frame.attributes.lookup(attribute.ref_attr_name());
}

} // namespace onnxc
