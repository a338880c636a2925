#include "dialects/onnx/Record.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace onnxc {

static const OpRecord &recordOf(RegisteredOperationName name) {
  return name.getInterface<OnnxOpInterface>()->getRecord();
}

Registry::Registry(MLIRContext *context) {
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.hasInterface<OnnxOpInterface>())
      forms[recordOf(name).type].push_back(name);
  for (auto &entry : forms)
    llvm::sort(entry.second, [](auto a, auto b) { return recordOf(a).since[0] > recordOf(b).since[0]; });
}

std::optional<RegisteredOperationName> Registry::find(StringRef domain, StringRef type, int opset) const {
  for (RegisteredOperationName name : forms.lookup(type))
    if (recordOf(name).domain == domain && recordOf(name).since[0] <= opset)
      return name;
  return std::nullopt;
}

// Drops absent operands and counts what is left in each slot.
static LogicalResult fillSlots(Location loc, const OpRecord &record, ValueRange inputs, SmallVector<Value> &operands,
                               SmallVector<int32_t> &segments) {
  unsigned next = 0;
  for (const Slot &slot : record.operands) {
    unsigned begin = operands.size();
    do {
      if (next < inputs.size() && inputs[next])
        operands.push_back(inputs[next]);
      ++next;
    } while (slot.kind == Slot::Variadic && next < inputs.size());
    segments.push_back(operands.size() - begin);
    if (slot.kind == Slot::One && segments.back() == 0)
      return emitError(loc) << record.type << " needs input '" << slot.name << "'";
  }
  if (inputs.size() > next)
    return emitError(loc) << record.type << " takes " << next << " inputs, got " << inputs.size();
  return success();
}

FailureOr<Operation *> createOp(OpBuilder &builder, Location loc, RegisteredOperationName name, ValueRange inputs,
                                NamedAttrList attributes, NodeParts parts) {
  const OpRecord &record = recordOf(name);
  attributes.erase("consumed_inputs"); // a hint on memory, until opset 5
  if (parts.resultCount && llvm::is_contained(name.getAttributeNames(), "result_count"))
    attributes.set("result_count", builder.getI64IntegerAttr(parts.resultCount));
  if (parts.regions.size() != record.regions.size())
    return emitError(loc) << record.type << " needs " << record.regions.size() << " subgraphs, got "
                          << parts.regions.size();
  for (NamedAttribute attribute : attributes)
    if (!llvm::is_contained(name.getAttributeNames(), attribute.getName()))
      return emitError(loc) << record.type << " has no attribute '" << attribute.getName().getValue() << "'";
  for (StringRef required : record.requiredAttributes)
    if (!attributes.get(required))
      return emitError(loc) << record.type << " needs attribute '" << required << "'";
  SmallVector<Value> operands;
  SmallVector<int32_t> segments;
  if (failed(fillSlots(loc, record, inputs, operands, segments)))
    return failure();
  if (name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    attributes.set("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));

  // Inference reads properties, so they are built before the operation.
  auto emitErrorHere = [&] { return emitError(loc); };
  DictionaryAttr dictionary = attributes.getDictionary(builder.getContext());
  SmallVector<std::max_align_t> storage(name.getOpPropertyByteSize() / sizeof(std::max_align_t) + 1);
  OpaqueProperties properties(storage.data());
  name.initOpProperties(properties, nullptr);
  llvm::scope_exit destroy([&] { name.destroyOpProperties(properties); });
  NamedAttrList checked = attributes;
  if (failed(name.verifyInherentAttrs(checked, emitErrorHere)) ||
      (name.getOpPropertyByteSize() &&
       failed(name.setOpPropertiesFromAttribute(name, properties, dictionary, emitErrorHere))))
    return failure();
  SmallVector<Type> types;
  if (failed(name.getInterface<InferTypeOpInterface>()->inferReturnTypes(builder.getContext(), loc, operands,
                                                                         dictionary, properties, parts.regions, types)))
    return failure();
  OperationState state(loc, name);
  state.addOperands(operands);
  state.addAttributes(attributes);
  state.addTypes(types);
  state.addRegions(parts.regions);
  return builder.create(state);
}

StringRef nodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = nodeName(part); !name.empty())
        return name;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return nodeName(call.getCallee());
  return "";
}

} // namespace onnxc
