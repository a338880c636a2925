// The dialect, the attribute kinds of the standard and one class per family of operators. All clever TableGen of the
// project is in this file: a family class turns the expressions of a record into the bodies of interface methods.
#ifndef ONNX_BASE
#define ONNX_BASE

include "dialects/onnx/OnnxTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/onnx/OnnxInterfaces.td"

// Attributes, with accessors that an expression can use as they are.
def Float : FloatAttrBase<F32, "float"> {
  let returnType = "double";
  let convertFromStorage = "$_self.getValueAsDouble()";
  let constBuilderCall = "$_builder.getF32FloatAttr($0)";
}
def Int : SignlessIntegerAttrBase<I64, "int"> {
  let returnType = "int64_t";
  let convertFromStorage = "$_self.getInt()";
  let constBuilderCall = "$_builder.getI64IntegerAttr($0)";
}
def Ints : DenseArrayAttrBase<"DenseI64ArrayAttr", "int64_t", "ints">;
def Floats : DenseArrayAttrBase<"DenseF32ArrayAttr", "float", "floats">;
def String : StringBasedAttr<CPred<"::llvm::isa<::mlir::StringAttr>($_self)">, "string">;

class FloatOr<string value> : DefaultValuedAttr<Float, value>;
class IntOr<string value> : DefaultValuedAttr<Int, value>;
class IntsOr<string value> : DefaultValuedAttr<Ints, value>;
class StringOr<string value> : DefaultValuedStrAttr<String, value>;

// A word of a fixed set.
class OneOf<list<string> allowed>
    : StringBasedAttr<And<[CPred<"::llvm::isa<::mlir::StringAttr>($_self)">,
                           CPred<"::llvm::is_contained<::llvm::StringRef>({\"" # !interleave(allowed, "\", \"") #
                                 "\"}, ::llvm::cast<::mlir::StringAttr>($_self).getValue())">]>,
                      "one of '" # !interleave(allowed, "', '") # "'"> {
  list<string> words = allowed;
}
class OneOfOr<string value, list<string> others> : DefaultValuedStrAttr<OneOf<[value] # others>, value>;
def AutoPad : OneOfOr<"NOTSET", ["SAME_UPPER", "SAME_LOWER", "VALID", ""]>;
def RoundMode : OneOfOr<"up", ["down", "nearest"]>;
def ScatterReduction : OneOfOr<"none", ["add", "mul", "max", "min"]>;
def LossReduction : OneOfOr<"mean", ["sum", "none"]>;
def ResizeMode : OneOfOr<"nearest", ["linear", "cubic"]>;

// Tensors. uintN is unsigned, intN signless, bool is i1. Ranks may be unknown until stage `graph` has inferred them.
defvar tinyFloats = [F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FN];
defvar realFloats = [F16, BF16, F32, F64];
defvar signedInts = [I8, I16, I32, I64];
defvar unsignedInts = [UI8, UI16, UI32, UI64];
defvar narrowInts = [I<4>, UI<4>, I<2>, UI<2>];
defvar quantizedElements = tinyFloats # narrowInts # [I8, I16, UI8, UI16];
defvar numbers = realFloats # signedInts # unsignedInts;
def StringElement : Type<CPred<"::llvm::isa<::onnxc::StringType>($_self)">, "string">;
// `accepts` is a C++ expression of the element `type`, which the importer asks before anything is inferred.
class Elements<list<Type> types> : TensorOf<types> {
  string accepts = !interleave(!foreach(t, types, !subst("$_self", "type", !cast<CPred>(t.predicate).predExpr)),
                               " || ");
}
def FloatTensor : Elements<realFloats>;
def FloatOrByteFloatTensor : Elements<realFloats # [F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ]>;
def SingleTensor : Elements<[F32]>;
def BoolTensor : Elements<[I1]>;
def IntTensor : Elements<[I64]>;
def ScaleTensor : Elements<realFloats # [F8E8M0FNU]>;
def Int32Tensor : Elements<[I32]>;
def ByteTensor : Elements<[I8, UI8]>;
def PositionTensor : Elements<[I32, I64]>;
def IntegerTensor : Elements<signedInts # unsignedInts>;
def UnsignedTensor : Elements<unsignedInts>;
def SignedTensor : Elements<realFloats # signedInts>;
def RealOrInt32Tensor : Elements<realFloats # [I32]>;
def WideTensor : Elements<realFloats # [I32, I64, UI32, UI64]>; // what sums are formed of
def NumberTensor : Elements<numbers>;
def QuantizedTensor : Elements<quantizedElements>;
def QuantizedOrInt32Tensor : Elements<quantizedElements # [I32]>;
def AnyNumberTensor : Elements<numbers # tinyFloats # narrowInts>;
def NumberOrBoolTensor : Elements<numbers # [I1]>;
def StringTensor : Elements<[StringElement]>;
def BitsTensor : Elements<numbers # tinyFloats # narrowInts # [I1]>;
def Tensor : Elements<numbers # tinyFloats # narrowInts # [I1, StringElement]>;
// A tensor, a sequence or an optional.
def Anything : AnyTypeOf<[Tensor, SequenceType, OptionalType]>;

// "noop_with_empty_axes" -> "getNoopWithEmptyAxes", as ODS spells it.
class Getter<string n> {
  string name = "get" # !foldl("", !range(!size(n)), acc, i,
    !if(!eq(!substr(n, i, 1), "_"), acc,
    !if(!eq(i, 0), !toupper(!substr(n, i, 1)),
    !if(!eq(!substr(n, !sub(i, 1), 1), "_"),
        acc # !toupper(!substr(n, i, 1)), acc # !substr(n, i, 1)))));
}

// One local variable for each argument, of the same name: `auto x = adaptor.getX();`. The adaptor is generic: the same
// line binds an element type, a scalar, a graph node or a tensor. ODS supplies defaults and segments.
class Bindings<dag args> {
  string cpp = !foldl("", !range(!size(args)), acc, i,
    acc # "  [[maybe_unused]] auto " # !getdagname(args, i) # " = adaptor."
        # Getter<!getdagname(args, i)>.name # "();\n");
}

// Of one operand: `Slot::Optional, [](mlir::Type type) { return type.isF32(); }`.
class SlotKind<Constraint operand> {
  string kind = !if(!isa<Variadic>(operand), "Variadic", !if(!isa<Optional>(operand), "Optional", "One"));
  Constraint tensor = !if(!isa<Variadic>(operand), !cast<Variadic>(operand).baseType,
                      !if(!isa<Optional>(operand), !cast<Optional>(operand).baseType, operand));
  string accepts = !if(!isa<Elements>(tensor),
    "[]([[maybe_unused]] mlir::Type type) { return " # !cast<Elements>(tensor).accepts # "; }", "nullptr");
  string cpp = "Slot::" # kind # ", " # accepts;
}
// `{"x", Slot::One, ...}, {"min", Slot::Optional, ...}, `: the operands as the importer sees them.
class Slots<dag args> {
  string cpp = !foldl("", !range(!size(args)), acc, i,
    !if(!isa<AttrConstraint>(!getdagarg<Constraint>(args, i)), acc,
      acc # "{\"" # !getdagname(args, i) # "\", " # SlotKind<!getdagarg<Constraint>(args, i)>.cpp # "}, "));
}

// Of one attribute: whether it has to be given, and the words that it may be.
class AttributeKind<Constraint attribute> {
  bit isAttribute = !isa<Attr>(attribute);
  bit isRequired = !and(isAttribute, !not(!isa<OptionalAttr>(attribute)), !not(!isa<DefaultValuedAttr>(attribute)));
  Constraint base = !if(!isa<DefaultValuedAttr>(attribute), !cast<DefaultValuedAttr>(attribute).baseAttr, attribute);
  list<string> words = !if(!isa<OneOf>(base), !cast<OneOf>(base).words, []<string>);
  string cpp = !if(isRequired, "true", "false") # ", {" #
               !if(!empty(words), "", "\"" # !interleave(words, "\", \"") # "\"") # "}";
}
// `{"direction", true, {"LEFT", "RIGHT"}}, `. Inference must not run without the required ones.
class AttributeSlots<dag args> {
  string cpp = !foldl("", !range(!size(args)), acc, i,
    !if(!isa<Attr>(!getdagarg<Constraint>(args, i)),
        acc # "{\"" # !getdagname(args, i) # "\", " # AttributeKind<!getdagarg<Constraint>(args, i)>.cpp # "}, ", acc));
}

// `{"then_branch", false}, {"score_mod", true}, `: the graph attributes that are regions, and whether they may be absent.
class RegionSlots<dag args> {
  string cpp = !foldl("", !range(!size(args)), acc, i, acc # "{\"" # !getdagname(args, i) # "\", " #
    !if(!isa<MaxSizedRegion>(!getdagarg<Region>(args, i)), "true", "false") # "}, ");
}

// How many operands may be absent or repeated; from two on, ODS wants AttrSizedOperandSegments.
class LooseOperands<dag args> {
  int count = !foldl(0, !range(!size(args)), acc, i, !add(acc,
    !or(!isa<Variadic>(!getdagarg<Constraint>(args, i)), !isa<Optional>(!getdagarg<Constraint>(args, i)))));
}

// Common to all operators. `since` lists the opsets that changed the operator without leaving this record's form.
class OnnxOp<string type, list<int> versions, list<Trait> more = []> : Op<OnnxDialect, type> {
  string opType = type;
  string domain = "";
  list<int> since = versions;
  list<list<string>> alike = [];                // operands that have one element type
  string family = ?;
  let traits = [DeclareOpInterfaceMethods<OnnxOpInterface>,
                DeclareOpInterfaceMethods<InferTypeOpInterface>, Pure] # more #
               !if(!gt(LooseOperands<arguments>.count, 1), [AttrSizedOperandSegments], []<Trait>);
  string record = [{
const OpRecord &$cppClass::getRecord() {
  static const OpRecord record{"}] # opType # "\", \"" # domain # "\", {" # !interleave(since, ", ") # "}, {"
    # Slots<arguments>.cpp # "}, {" # AttributeSlots<arguments>.cpp # "}, {" # RegionSlots<regions>.cpp # "}, {"
    # !interleave(!foreach(group, alike, "{\"" # !interleave(group, "\", \"") # "\"}"), ", ") # [{}};
  return record;
}
bool $cppClass::isCompatibleReturnTypes(mlir::TypeRange inferred, mlir::TypeRange actual) {
  return onnxc::areCompatible(inferred, actual);
}
}];
  string inferSignature = [{
mlir::LogicalResult $cppClass::inferReturnTypes(
    mlir::MLIRContext *context, std::optional<mlir::Location> location,
    mlir::ValueRange values, mlir::DictionaryAttr attributes,
    mlir::OpaqueProperties properties, mlir::RegionRange regions,
    llvm::SmallVectorImpl<mlir::Type> &types) {
}];
  let extraClassDefinition = record;
  let skipDefaultBuilders = 1; // they end the program if inference fails; createOp() reports
  let builders = [OpBuilder<(ins "mlir::TypeRange":$types, "mlir::ValueRange":$values,
                                 "llvm::ArrayRef<mlir::NamedAttribute>":$attributes), [{
    $_state.addTypes(types);
    $_state.addOperands(values);
    $_state.addAttributes(attributes);
  }]>];
  let extraClassDeclaration =
    "static bool isCompatibleReturnTypes(mlir::TypeRange inferred, mlir::TypeRange actual);";
}

// y[i] = scalar(x[i], ...) with numpy's broadcasting. Result names are not bound; several results are a comma list.
// `at(-1)` is the position along the last dimension.
class ElementwiseOp<string type, list<int> versions, list<Trait> more = []>
    : OnnxOp<type, versions, [DeclareOpInterfaceMethods<ScalarOpInterface>] # more> {
  let family = "elementwise";
  string scalar = ?;
  string elementType = "elements.front()";      // of the results; operands are bound to their element types
  string firstDim = "rank - operandRank";       // the dimension of the result that dimension 0 of an operand meets
  string block = "1";                           // how many elements of the result share one of an operand, along `dim`
  let extraClassDefinition = record # inferSignature # [{
  llvm::SmallVector<mlir::Type> elements = elementTypes(values);
  if (elements.empty())
    return mlir::emitOptionalError(location, "expected an input");
  GenericAdaptor<llvm::ArrayRef<mlir::Type>> adaptor(elements, attributes, properties, regions);
}] # Bindings<arguments>.cpp # [{
  return inferBroadcast(location, values, [&](int64_t operand, int64_t operandRank, int64_t rank) -> int64_t {
    return }] # firstDim # [{;
  }, [&](int64_t operand, int64_t dim, int64_t rank) -> int64_t {
    return }] # block # [{;
  }, {}] # elementType # [{}, types);
}
llvm::SmallVector<Scalar> $cppClass::emitScalar(ScalarBuilder &builder, llvm::ArrayRef<Scalar> scalars) {
  GenericAdaptor<llvm::ArrayRef<Scalar>> adaptor(scalars, *this);
  [[maybe_unused]] auto at = [&](int64_t dim) {
    return positionOf(builder, wrap(dim, rankOf(getOperation()->getResult(0))));
  };
}] # Bindings<arguments>.cpp # "  return {" # scalar # [{};
}
int64_t $cppClass::firstDim(int64_t operand, int64_t operandRank, int64_t rank) {
  $cppClass adaptor = *this;
}] # Bindings<arguments>.cpp # "  return " # firstDim # [{;
}
int64_t $cppClass::block(int64_t operand, int64_t dim, int64_t rank) {
  $cppClass adaptor = *this;
}] # Bindings<arguments>.cpp # "  return " # block # [{;
}
}];
}

// Folds the elements along some axes. Accumulators have names; several of each are a comma list.
class ReductionOp<string type, list<int> versions>
    : OnnxOp<type, versions, [DeclareOpInterfaceMethods<ReductionOpInterface>]> {
  let family = "reduction";
  list<string> accumulators = ["acc"];
  string identity = ?;
  string combine = ?;                           // of the accumulators, x and index (along the first reduced axis)
  string finish = "acc";                        // of the accumulators and count
  string accumulatorTypes = "element";
  string elementType = "element";
  string reducedAxes = "constantAxes(axes, rank, noop_with_empty_axes)"; // fails where they are a run-time operand
  string allByDefault = "!noop_with_empty_axes";
  string bindAccumulators = !foldl("", !range(!size(accumulators)), acc, i, acc #
    "  [[maybe_unused]] Scalar " # accumulators[i] # " = partial[" # i # "];\n");
  let extraClassDefinition = record # inferSignature # [{
  GenericAdaptor<mlir::ValueRange> adaptor(values, attributes, properties, regions);
}] # Bindings<arguments>.cpp # [{
  [[maybe_unused]] mlir::Type element = mlir::getElementTypeOrSelf(values[0].getType());
  if (!isRanked(values[0]))
    return unknownRank({}] # elementType # [{}, types);
  [[maybe_unused]] int64_t rank = rankOf(values[0]);
  return inferReduction(location, values, }] # reducedAxes # ", keepdims, " # elementType # [{, types);
}
llvm::FailureOr<llvm::SmallVector<int64_t>> $cppClass::reducedAxes() {
  $cppClass adaptor = *this;
}] # Bindings<arguments>.cpp # [{
  [[maybe_unused]] int64_t rank = rankOf(getOperation()->getOperand(0));
  return }] # reducedAxes # [{;
}
bool $cppClass::keepsDims() { return getKeepdims(); }
bool $cppClass::reducesAllByDefault() {
  $cppClass adaptor = *this;
}] # Bindings<arguments>.cpp # "  return " # allByDefault # [{;
}
llvm::SmallVector<mlir::Type> $cppClass::accumulatorTypes(mlir::Type element) {
  return {}] # accumulatorTypes # [{};
}
llvm::SmallVector<Scalar> $cppClass::identity() { return {}] # identity # [{}; }
llvm::SmallVector<Scalar> $cppClass::combine(llvm::ArrayRef<Scalar> partial, Scalar x, Scalar index) {
  $cppClass adaptor = *this;
}] # Bindings<arguments>.cpp # bindAccumulators # "  return {" # combine # [{};
}
llvm::SmallVector<Scalar> $cppClass::finish(llvm::ArrayRef<Scalar> partial, Scalar count) {
  $cppClass adaptor = *this;
}] # Bindings<arguments>.cpp # bindAccumulators # "  return {" # finish # [{};
}
}];
}

// Replaced by other operators: `body` is C++ that ends in `return {...}`, or one expression in `formula`.
class CompositeOp<string type, list<int> versions, list<Trait> more = []>
    : OnnxOp<type, versions, [DeclareOpInterfaceMethods<CompositeOpInterface>] # more> {
  let family = "composite";
  string elementType = "elements.front()";      // of the results, while the rank of an operand is unknown
  string formula = "";
  string body = "return {" # formula # "};";
  let extraClassDefinition = record # [{
static llvm::SmallVector<Node> expand$cppClass(Graph &graph, $cppClass::GenericAdaptor<llvm::ArrayRef<Node>> adaptor) {
}] # Bindings<arguments>.cpp # body # [{
}
llvm::SmallVector<Node> $cppClass::expand(Graph &graph, llvm::ArrayRef<Node> nodes) {
  return expand$cppClass(graph, {nodes, *this});
}
}] # inferSignature # [{
  if (!llvm::all_of(values, isRanked)) {
    llvm::SmallVector<mlir::Type> elements = elementTypes(values);
    GenericAdaptor<llvm::ArrayRef<mlir::Type>> adaptor(elements, attributes, properties, regions);
}] # Bindings<arguments>.cpp # "    return unknownRanks({" # elementType # "}, " # !size(results) # [{, types);
  }
  return inferByExpanding(context, location, values, [&](Graph &graph, llvm::ArrayRef<Node> nodes) {
    return expand$cppClass(graph, {nodes, attributes, properties, regions});
  }, types);
}
}];
}

// A superseded form, written in today's operators. Named after its first opset: onnx.Clip.6.
class LegacyOp<string type, list<int> versions> : CompositeOp<type, versions> {
  let opName = type # "." # !head(versions);
  let family = "legacy";
}

// None of these: type inference and lowering are written in C++.
class IrregularOp<string type, list<int> versions, list<Trait> more = []> : OnnxOp<type, versions, more> {
  let family = "irregular";
}

// Result sizes by a formula of `Input`s: `sizes`, a list of shapes, or C++ beside the record, a static method `shapes`.
class SizedOp<string type, list<int> versions, list<Trait> more = []>
    : OnnxOp<type, versions, [DeclareOpInterfaceMethods<SizedOpInterface>] # more> {
  string elementType = "elements.front()";
  string sizes = "";
  string resultCount = "" # !size(results);     // where ranks are unknown; for variadic results from an attribute
  string shapesDeclaration = [{
    static bool isCompatibleReturnTypes(mlir::TypeRange inferred, mlir::TypeRange actual);
    static llvm::FailureOr<onnxc::Shapes> shapes(onnxc::Report report,
                                                 GenericAdaptor<llvm::ArrayRef<onnxc::Input>> adaptor);
  }];
  string inferSized = inferSignature # [{
  llvm::SmallVector<mlir::Type> elements = elementTypes(values);
  GenericAdaptor<llvm::ArrayRef<mlir::Type>> adaptor(elements, attributes, properties, regions);
}] # Bindings<arguments>.cpp # [{
  return inferSizes(location, values, [&](Report report, llvm::ArrayRef<Input> inputs) {
    return $cppClass::shapes(report, {inputs, attributes, properties, regions});
  }, {}] # elementType # "}, " # resultCount # [{, types);
}
llvm::FailureOr<Shapes> $cppClass::resultShapes(llvm::ArrayRef<Input> inputs) {
  return shapes(Report{getLoc()}, {inputs, *this});
}
}];
  string givenSizes = !if(!empty(sizes), "", [{
llvm::FailureOr<Shapes> $cppClass::shapes(Report report, GenericAdaptor<llvm::ArrayRef<Input>> adaptor) {
}] # Bindings<arguments>.cpp # "  return Shapes{" # sizes # "};\n}\n");
  let extraClassDeclaration = shapesDeclaration;
  let extraClassDefinition = record # inferSized # givenSizes;
}

// Every element of the results is a copy of one of the operands': C++ beside the record, a method `source`.
class MovementOp<string type, list<int> versions, list<Trait> more = []>
    : SizedOp<type, versions, [DeclareOpInterfaceMethods<MovementOpInterface>] # more> {
  let family = "movement";
}

// Folds the window that slides over the image `x`. Operators with one argument less than these have a constant for it.
class PoolOp<string type, list<int> versions>
    : SizedOp<type, versions, [DeclareOpInterfaceMethods<PoolOpInterface>]> {
  let family = "window";
  string identity = "0";
  string element = "x";                         // what is folded for x
  string combine = ?;                           // of acc and an element x, or another acc
  string finish = "acc";                        // of acc and count
  string countsPadding = "false";
  let extraClassDeclaration = shapesDeclaration # [{
    static llvm::FailureOr<onnxc::Window> windowOf(onnxc::Report report,
                                                   GenericAdaptor<llvm::ArrayRef<onnxc::Input>> adaptor);
  }];
  let extraClassDefinition = record # inferSized # [{
Scalar $cppClass::identity() { return }] # identity # [{; }
Scalar $cppClass::element(Scalar x) {
  return }] # element # [{;
}
Scalar $cppClass::combine(Scalar acc, Scalar x) {
  return }] # combine # [{;
}
Scalar $cppClass::finish(Scalar acc, Scalar count) {
  return }] # finish # [{;
}
bool $cppClass::countsPadding() { return }] # countsPadding # [{; }
llvm::FailureOr<Window> $cppClass::window(llvm::ArrayRef<Input> inputs) {
  return windowOf({}, {inputs, *this});
}
llvm::FailureOr<Window> $cppClass::windowOf(Report report, GenericAdaptor<llvm::ArrayRef<Input>> op) {
  Sizes kernel = sizesOf(op.getKernelShape());
  Input x = op.getX();
  llvm::ArrayRef<Index> image = x.sizes;
  return slidingWindow(report, image.drop_front(std::min<size_t>(2, image.size())), kernel,
                       {op.getAutoPad(), op.getDilations(), op.getPads(), op.getStrides(), /*mayBeEmpty=*/true,
                        op.getCeilMode() != 0});
}
llvm::FailureOr<Shapes> $cppClass::shapes(Report report, GenericAdaptor<llvm::ArrayRef<Input>> adaptor) {
  return pooledShapes(adaptor.getX(), windowOf(report, adaptor), }] # !size(results) # [{);
}
}];
}

#endif
