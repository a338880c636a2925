#include "dialects/onnx/Record.h"
#include "dialects/onnx/NodeAttributes.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

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
    llvm::sort(entry.second, [](auto a, auto b) {
      return recordOf(a).since[0] > recordOf(b).since[0];
    });
}

std::optional<RegisteredOperationName>
Registry::find(StringRef domain, StringRef type, int opset) const {
  for (RegisteredOperationName name : forms.lookup(type))
    if (recordOf(name).domain == domain && recordOf(name).since[0] <= opset)
      return name;
  return std::nullopt;
}

static std::string elementName(Type type) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  if (int64_t number = dataNumber(getElementTypeOrSelf(type)))
    stream << dataName(number);
  else
    stream << type;
  return name;
}

static LogicalResult checkElement(Location loc, const OpRecord &record,
                                  const Slot &slot, Type type) {
  if (!slot.accepts ||
      (isa<TensorType>(type) && slot.accepts(getElementTypeOrSelf(type))))
    return success();
  return emitError(loc) << record.type << " takes no " << elementName(type)
                        << " as input '" << slot.name << "'";
}

// The first operand of a group says what type the others have to have.
static LogicalResult checkAlike(Location loc, const OpRecord &record,
                                ValueRange operands,
                                ArrayRef<int32_t> segments) {
  for (ArrayRef<StringRef> group : record.alike) {
    Type first;
    StringRef firstName;
    unsigned begin = 0;
    for (auto [slot, count] : llvm::zip(record.operands, segments)) {
      bool isMember = llvm::is_contained(group, slot.name);
      for (Value operand : operands.slice(begin, isMember ? count : 0)) {
        Type element = getElementTypeOrSelf(operand.getType());
        if (first && element != first)
          return emitError(loc)
                 << "inputs '" << firstName << "' and '" << slot.name
                 << "' differ in type: " << elementName(first) << " and "
                 << elementName(element);
        first = element;
        firstName = slot.name;
      }
      begin += count;
    }
  }
  return success();
}

LogicalResult verifyAlike(Operation *op) {
  const OpRecord &record = recordOf(*op->getRegisteredInfo());
  if (record.alike.empty())
    return success();
  SmallVector<int32_t> segments(record.operands.size(), 1);
  if (auto sizes = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes"))
    segments.assign(sizes.asArrayRef().begin(), sizes.asArrayRef().end());
  else // at most one slot is optional or variadic
    for (auto [slot, count] : llvm::zip(record.operands, segments))
      if (slot.kind != Slot::One)
        count =
            int32_t(op->getNumOperands()) - int32_t(record.operands.size() - 1);
  return checkAlike(op->getLoc(), record, op->getOperands(), segments);
}

// Whether the attribute is of the record's type; says nothing.
static bool hasRightType(Location loc, RegisteredOperationName name,
                         NamedAttribute attribute) {
  ScopedDiagnosticHandler silent(loc.getContext(),
                                 [](Diagnostic &) { return success(); });
  NamedAttrList alone(attribute);
  return succeeded(
      name.verifyInherentAttrs(alone, [&] { return emitError(loc); }));
}

LogicalResult checkAttributes(Location loc, RegisteredOperationName name,
                              const NamedAttrList &given) {
  const OpRecord &record = recordOf(name);
  for (NamedAttribute attribute : given)
    if (!llvm::is_contained(name.getAttributeNames(), attribute.getName()))
      return emitError(loc) << record.type << " has no attribute '"
                            << attribute.getName().getValue() << "'";
  for (const AttributeSlot &slot : record.attributes) {
    Attribute value = given.get(slot.name);
    if (!value && slot.isRequired)
      return emitError(loc)
             << record.type << " needs attribute '" << slot.name << "'";
    auto word = dyn_cast_or_null<StringAttr>(value);
    if (word && !slot.words.empty() &&
        !llvm::is_contained(slot.words, word.getValue()))
      return emitError(loc) << "'" << slot.name << "' must be one of '"
                            << llvm::join(slot.words, "', '") << "', got '"
                            << word.getValue() << "'";
  }
  for (NamedAttribute attribute : given)
    if (!hasRightType(loc, name, attribute))
      return emitError(loc)
             << "attribute '" << attribute.getName().getValue()
             << "' is of another type than " << record.type << " takes";
  return success();
}

// Drops absent operands and counts what is left in each slot.
static LogicalResult fillSlots(Location loc, const OpRecord &record,
                               ValueRange inputs, SmallVector<Value> &operands,
                               SmallVector<int32_t> &segments) {
  unsigned next = 0;
  for (const Slot &slot : record.operands) {
    unsigned begin = operands.size();
    do {
      if (next < inputs.size() && inputs[next]) {
        if (failed(checkElement(loc, record, slot, inputs[next].getType())))
          return failure();
        operands.push_back(inputs[next]);
      }
      ++next;
    } while (slot.kind == Slot::Variadic && next < inputs.size());
    segments.push_back(operands.size() - begin);
    if (slot.kind == Slot::One && segments.back() == 0)
      return emitError(loc)
             << record.type << " needs input '" << slot.name << "'";
  }
  if (inputs.size() > next)
    return emitError(loc) << record.type << " takes " << next << " inputs, got "
                          << inputs.size();
  return checkAlike(loc, record, operands, segments);
}

FailureOr<Operation *> createOp(OpBuilder &builder, Location loc,
                                RegisteredOperationName name, ValueRange inputs,
                                NamedAttrList attributes, NodeParts parts) {
  const OpRecord &record = recordOf(name);
  attributes.erase("consumed_inputs"); // a hint on memory, until opset 5
  if (parts.resultCount &&
      llvm::is_contained(name.getAttributeNames(), "result_count"))
    attributes.set("result_count",
                   builder.getI64IntegerAttr(parts.resultCount));
  if (parts.regions.size() != record.regions.size())
    return emitError(loc) << record.type << " needs " << record.regions.size()
                          << " subgraphs, got " << parts.regions.size();
  if (failed(checkAttributes(loc, name, attributes)))
    return failure();
  SmallVector<Value> operands;
  SmallVector<int32_t> segments;
  if (failed(fillSlots(loc, record, inputs, operands, segments)))
    return failure();
  if (name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    attributes.set("operandSegmentSizes",
                   builder.getDenseI32ArrayAttr(segments));

  // Inference reads properties, so they are built before the operation.
  auto emitErrorHere = [&] { return emitError(loc); };
  DictionaryAttr dictionary = attributes.getDictionary(builder.getContext());
  SmallVector<std::max_align_t> storage(
      name.getOpPropertyByteSize() / sizeof(std::max_align_t) + 1);
  OpaqueProperties properties(storage.data());
  name.initOpProperties(properties, nullptr);
  llvm::scope_exit destroy([&] { name.destroyOpProperties(properties); });
  NamedAttrList checked = attributes;
  if (failed(name.verifyInherentAttrs(checked, emitErrorHere)) ||
      (name.getOpPropertyByteSize() &&
       failed(name.setOpPropertiesFromAttribute(name, properties, dictionary,
                                                emitErrorHere))))
    return failure();
  SmallVector<Type> types;
  if (failed(name.getInterface<InferTypeOpInterface>()->inferReturnTypes(
          builder.getContext(), loc, operands, dictionary, properties,
          parts.regions, types)))
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
