#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnx/Range.h"
#include "dialects/onnx/SizeNames.h"
#include "dialects/onnx/Sizes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include <array>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace onnxc {

Shape shapeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto names = dyn_cast_or_null<ArrayAttr>(tensor.getEncoding());
  Shape shape;
  for (auto [i, size] : llvm::enumerate(tensor.getShape())) {
    StringAttr name = names ? cast<StringAttr>(names[i]) : StringAttr();
    shape.push_back({size, name && !name.empty() ? name : StringAttr()});
  }
  return shape;
}

RankedTensorType tensorOf(ArrayRef<Dim> shape, Type element) {
  Builder builder(element.getContext());
  SmallVector<int64_t> sizes;
  SmallVector<Attribute> names;
  for (Dim dim : shape) {
    sizes.push_back(dim.size);
    names.push_back(dim.symbol && !dim.isStatic() ? dim.symbol
                                                  : builder.getStringAttr(""));
  }
  bool named = llvm::any_of(
      names, [](Attribute name) { return !cast<StringAttr>(name).empty(); });
  return RankedTensorType::get(
      sizes, element, named ? builder.getArrayAttr(names) : ArrayAttr());
}

SmallVector<Type> elementTypes(ValueRange values) {
  return llvm::map_to_vector(
      values.getTypes(), [](Type type) { return getElementTypeOrSelf(type); });
}

bool areCompatible(TypeRange inferred, TypeRange actual) {
  return succeeded(verifyCompatibleShapes(inferred, actual)) &&
         llvm::all_of(llvm::zip_equal(inferred, actual), [](auto pair) {
           return getElementTypeOrSelf(std::get<0>(pair)) ==
                  getElementTypeOrSelf(std::get<1>(pair));
         });
}

Dim joinedDim(Dim a, Dim b) {
  if (!a.symbol || !b.symbol)
    return {};
  std::string name = broadcastName(a.symbol.getValue(), b.symbol.getValue());
  return name.size() > longestName
             ? Dim()
             : Dim{ShapedType::kDynamic,
                   StringAttr::get(a.symbol.getContext(), name)};
}

// Ones give way; a known size wins over unknown ones, which must then be 1 or
// that size.
static FailureOr<Dim> broadcast(Dim a, Dim b) {
  if (a.isOne() || a.surelyEquals(b))
    return b;
  if (b.isOne())
    return a;
  if (a.isStatic() && b.isStatic())
    return failure();
  return a.isStatic() ? a : b.isStatic() ? b : joinedDim(a, b);
}

bool isRanked(Value value) { return isa<RankedTensorType>(value.getType()); }
int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

LogicalResult unknownRank(ArrayRef<Type> elements,
                          SmallVectorImpl<Type> &types) {
  for (Type element : elements)
    types.push_back(UnrankedTensorType::get(element));
  return success();
}

LogicalResult unknownRanks(ArrayRef<Type> elements, unsigned count,
                           SmallVectorImpl<Type> &types) {
  for (size_t i = 0; i < count; ++i)
    types.push_back(
        UnrankedTensorType::get(elements[std::min(i, elements.size() - 1)]));
  return success();
}

// Merges the dimensions of one operand into the result's.
static LogicalResult mergeShape(std::optional<Location> loc, int64_t operand,
                                ArrayRef<Dim> shape, int64_t first,
                                SharedBy block, Shape &result) {
  int64_t rank = shape.size(), resultRank = result.size();
  bool isOneElement = rank == 1 && shape[0].isOne(); // it fits anywhere
  if (isOneElement && first + rank > resultRank)
    return success();
  if (first < 0 || first + rank > resultRank)
    return emitOptionalError(loc, "operand ", operand,
                             " does not fit the result");
  for (auto [i, dim] : llvm::enumerate(shape)) {
    if (block(operand, i, rank) != 1)
      continue;
    FailureOr<Dim> merged = broadcast(result[first + i], dim);
    if (failed(merged))
      return emitOptionalError(loc, "cannot broadcast ", dim.size, " to ",
                               result[first + i].size);
    result[first + i] = *merged;
  }
  return success();
}

LogicalResult inferBroadcast(std::optional<Location> loc, ValueRange values,
                             FirstDim firstDim, SharedBy block,
                             ArrayRef<Type> elements,
                             SmallVectorImpl<Type> &types) {
  if (llvm::is_contained(elements, Type()))
    return emitOptionalError(loc, "the element type is not known");
  if (!llvm::all_of(values, isRanked))
    return unknownRank(elements, types);
  int64_t rank = 0;
  for (Value value : values)
    rank = std::max(rank, rankOf(value));
  Shape result(rank, Dim{1, {}});
  for (auto [operand, type] : llvm::enumerate(values.getTypes())) {
    Shape shape = shapeOf(type);
    int64_t first = shape.empty() ? 0 : firstDim(operand, shape.size(), rank);
    if (failed(mergeShape(loc, operand, shape, first, block, result)))
      return failure();
  }
  for (Type element : elements)
    types.push_back(tensorOf(result, element));
  return success();
}

// The number of axes is the length of their operand; which they are is not
// known.
static LogicalResult inferRunTimeAxes(ValueRange values, bool keepdims,
                                      Type element,
                                      SmallVectorImpl<Type> &types) {
  int64_t rank = rankOf(values[0]);
  if (keepdims) {
    types.push_back(tensorOf(Shape(rank), element));
    return success();
  }
  auto axes = dyn_cast<RankedTensorType>(values[1].getType());
  if (!axes || axes.getRank() != 1 || axes.isDynamicDim(0))
    return unknownRank(element, types);
  int64_t left = std::max<int64_t>(rank - axes.getDimSize(0), 0);
  types.push_back(tensorOf(Shape(left), element));
  return success();
}

LogicalResult inferReduction(std::optional<Location> loc, ValueRange values,
                             FailureOr<SmallVector<int64_t>> axes,
                             bool keepdims, Type element,
                             SmallVectorImpl<Type> &types) {
  if (failed(axes))
    return inferRunTimeAxes(values, keepdims, element, types);
  int64_t rank = rankOf(values[0]);
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    if (axis < 0 || axis >= rank)
      return emitOptionalError(loc, "axis ", axis < 0 ? axis - rank : axis,
                               " is outside [", -rank, ", ", rank, ")");
    if (i > 0 && axis == (*axes)[i - 1]) // they are sorted
      return emitOptionalError(loc, "axis ", axis, " is given twice");
  }
  Shape result;
  for (auto [i, dim] : llvm::enumerate(shapeOf(values[0].getType()))) {
    bool reduced = llvm::is_contained(*axes, int64_t(i));
    if (!reduced || keepdims)
      result.push_back(reduced ? Dim{1, {}} : dim);
  }
  types.push_back(tensorOf(result, element));
  return success();
}

// How many steps lead from one number to before another one.
static double exactSteps(ArrayRef<int64_t> range) {
  __int128 way = __int128(range[1]) - range[0], step = range[2];
  if ((way > 0) != (step > 0) || way == 0)
    return 0;
  return double((way - (step > 0 ? 1 : -1)) / step + 1);
}

// As many elements as lie between the bounds of a range that counts by ones,
// where that is a size: from 0 or from any other one to the sum of both.
static Dim countTo(ValueRange range) {
  Sizes bounds;
  for (Value value : range)
    if (std::optional<Sizes> known = knownElements(value);
        known && known->size() == 1)
      bounds.push_back(known->front());
  if (bounds.size() != 3 || !bounds[2].is(1))
    return Dim();
  Index count = bounds[1] - bounds[0];
  bool isSize = count.isKnown() ? count.get() >= 0 : isNamedSize(count);
  return isSize ? count.dim() : Dim();
}

LogicalResult inferRange(std::optional<Location> loc, ValueRange values,
                         SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> ints; // start, limit, delta
  SmallVector<double> reals;
  for (Value value : values) {
    std::optional<Sizes> known = knownElements(value);
    if (known && known->size() == 1 && known->front().isKnown())
      ints.push_back(known->front().get());
    else if (std::optional<SmallVector<double>> found = constantFloats(value))
      reals.append(*found);
  }
  Type element = getElementTypeOrSelf(values[0].getType());
  // Numbers beyond int64 are left to the run.
  if (element.isUnsignedInteger() &&
      llvm::any_of(ints, [](int64_t number) { return number < 0; }))
    ints.clear();
  Dim size = countTo(values);
  bool isKnown = ints.size() == 3 || reals.size() == 3;
  if (isKnown && (ints.size() == 3 ? ints[2] == 0 : reals[2] == 0))
    return emitOptionalError(loc, "the step of a range is zero");
  if (isKnown) {
    double count = ints.size() == 3
                       ? exactSteps(ints)
                       : std::ceil((reals[1] - reals[0]) / reals[2]);
    if (!(count <= double(mostRangeElements)))
      return emitOptionalError(
          loc, "a range has no number of elements that can be counted");
    size.size = std::max(0.0, count);
  }
  types.push_back(tensorOf(size, element));
  return success();
}

// Index is TensorProto.DataType.
constexpr StringRef dataNames[] = {"",
                                   "float",
                                   "uint8",
                                   "int8",
                                   "uint16",
                                   "int16",
                                   "int32",
                                   "int64",
                                   "string",
                                   "bool",
                                   "float16",
                                   "double",
                                   "uint32",
                                   "uint64",
                                   "complex64",
                                   "complex128",
                                   "bfloat16",
                                   "float8e4m3fn",
                                   "float8e4m3fnuz",
                                   "float8e5m2",
                                   "float8e5m2fnuz",
                                   "uint4",
                                   "int4",
                                   "float4e2m1",
                                   "float8e8m0",
                                   "uint2",
                                   "int2"};
static std::array<Type, std::size(dataNames)> dataTypes(MLIRContext *context) {
  Builder b(context);
  return {Type(),
          b.getF32Type(),
          b.getIntegerType(8, false),
          b.getI8Type(),
          b.getIntegerType(16, false),
          b.getI16Type(),
          b.getI32Type(),
          b.getI64Type(),
          StringType::get(context),
          b.getI1Type(),
          b.getF16Type(),
          b.getF64Type(),
          b.getIntegerType(32, false),
          b.getIntegerType(64, false),
          ComplexType::get(b.getF32Type()),
          ComplexType::get(b.getF64Type()),
          b.getBF16Type(),
          Float8E4M3FNType::get(context),
          Float8E4M3FNUZType::get(context),
          Float8E5M2Type::get(context),
          Float8E5M2FNUZType::get(context),
          b.getIntegerType(4, false),
          b.getIntegerType(4),
          Float4E2M1FNType::get(context),
          Float8E8M0FNUType::get(context),
          b.getIntegerType(2, false),
          b.getIntegerType(2)};
}
Type dataType(MLIRContext *context, int64_t number) {
  bool known = number > 0 && number < int64_t(std::size(dataNames));
  return known ? dataTypes(context)[number] : Type();
}
int64_t dataNumber(Type element) {
  auto types = dataTypes(element.getContext());
  auto *found = llvm::find(types, element);
  return found == types.end() ? 0 : found - types.begin();
}
int64_t dataNumber(StringRef name) {
  auto *found = llvm::find_if(dataNames, [&](StringRef known) {
    return !name.empty() && known.equals_insensitive(name);
  });
  return found == std::end(dataNames) ? 0 : found - dataNames;
}
StringRef dataName(int64_t number) {
  bool known = number > 0 && number < int64_t(std::size(dataNames));
  return known ? dataNames[number] : "an unknown type";
}

std::string describeType(Type type) {
  std::string text = dataName(dataNumber(getElementTypeOrSelf(type))).str();
  if (!isa<RankedTensorType>(type))
    return text;
  SmallVector<std::string> sizes;
  for (Dim dim : shapeOf(type)) {
    sizes.push_back(dim.isStatic() ? std::to_string(dim.size)
                    : dim.symbol   ? dim.symbol.str()
                                   : "?");
  }
  return text + "[" + llvm::join(sizes, ",") + "]";
}

Type boolean(MLIRContext *context) { return IntegerType::get(context, 1); }
Type int64(MLIRContext *context) { return IntegerType::get(context, 64); }

SmallVector<int64_t> range(int64_t begin, int64_t end) {
  SmallVector<int64_t> numbers(std::max<int64_t>(end - begin, 0));
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
}

FailureOr<SmallVector<int64_t>> constantAxes(Value axes, int64_t rank,
                                             bool noneIfEmpty) {
  std::optional<SmallVector<int64_t>> given = SmallVector<int64_t>();
  auto type =
      axes ? dyn_cast<RankedTensorType>(axes.getType()) : RankedTensorType();
  if (axes && !(type && type.hasStaticShape() && type.getNumElements() == 0))
    given = constantInts(axes);
  if (!given)
    return failure();
  if (given->empty() && !noneIfEmpty)
    return range(0, rank);
  for (int64_t &axis : *given)
    axis = wrap(axis, rank);
  llvm::sort(*given);
  return *given;
}

} // namespace onnxc
