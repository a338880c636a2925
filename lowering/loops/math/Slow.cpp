// Rare cases that need a loop or a table: one scalar function each, made in the
// module when it is first wanted and called for every lane.
#include "lowering/loops/math/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace onnxc::elementary {
namespace {

//===-- Calls -------------------------------------------------------------===//

using Body =
    llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, ValueRange)>;

// In the module of `user`: the operations that are being built are in none yet.
func::FuncOp helperFunction(ImplicitLocOpBuilder &b, Value user, StringRef name,
                            TypeRange arguments, TypeRange results, Body body) {
  Operation *parent = user.getParentRegion()->getParentOp();
  auto module = parent->getParentOfType<ModuleOp>();
  if (auto found = module.lookupSymbol<func::FuncOp>(name))
    return found;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  auto function =
      func::FuncOp::create(b, name, b.getFunctionType(arguments, results));
  function.setPrivate();
  function->setAttr("passthrough", b.getStrArrayAttr({"noinline", "cold"}));
  b.setInsertionPointToStart(function.addEntryBlock());
  func::ReturnOp::create(b, body(b, function.getArguments()));
  return function;
}

// A function of vectors that calls the scalar one on every lane.
func::FuncOp ofVectors(ImplicitLocOpBuilder &b, func::FuncOp function,
                       ValueRange arguments, TypeRange results) {
  int64_t lanes = cast<VectorType>(arguments[0].getType()).getNumElements();
  std::string name = llvm::formatv("{0}_x{1}", function.getName(), lanes);
  auto ofEach = [&](ImplicitLocOpBuilder &b, ValueRange vectors) {
    SmallVector<Value> gathered;
    for (Type type : results)
      gathered.push_back(arith::ConstantOp::create(b, b.getZeroAttr(type)));
    for (int64_t lane = 0; lane < lanes; ++lane) {
      SmallVector<Value> scalars;
      for (Value vector : vectors)
        scalars.push_back(vector::ExtractOp::create(b, vector, lane));
      auto call = func::CallOp::create(b, function, scalars);
      for (auto [all, one] : llvm::zip(gathered, call.getResults()))
        all = vector::InsertOp::create(b, one, all, lane);
    }
    return gathered;
  };
  return helperFunction(b, arguments[0], name, arguments.getTypes(), results,
                        ofEach);
}

// Calls a scalar function on every lane. Where there are lanes, that is much
// code for each of many vectors.
SmallVector<Value> callEach(ImplicitLocOpBuilder &b, func::FuncOp function,
                            ValueRange arguments, TypeRange results) {
  if (isa<VectorType>(arguments[0].getType()))
    function = ofVectors(b, function, arguments, results);
  return SmallVector<Value>(
      func::CallOp::create(b, function, arguments)->getResults());
}

//===-- Integers ----------------------------------------------------------===//

Bits widen(Bits x) {
  Type type = x.builder->getIntegerType(64);
  return {x.builder, arith::ExtUIOp::create(*x.builder, type, x.value)};
}
Bits narrow(Bits x) {
  Type type = x.builder->getIntegerType(32);
  return {x.builder, arith::TruncIOp::create(*x.builder, type, x.value)};
}
Bits left(Bits x, Bits places) {
  return {x.builder, arith::ShLIOp::create(*x.builder, x.value, places.value)};
}
Bits right(Bits x, Bits places) {
  return {x.builder, arith::ShRUIOp::create(*x.builder, x.value, places.value)};
}
// The upper word of x:next << places, places < width.
Bits funnel(Bits x, Bits next, Bits places) {
  Bits rest = places.constant(places.width() - 1) - places;
  return left(x, places) | right(logicalShiftRight(next, 1), rest);
}
Bits upperProduct(Bits a, Bits b) {
  auto both = arith::MulUIExtendedOp::create(*a.builder, a.value, b.value);
  return {a.builder, both.getHigh()};
}
Real converted(Bits x, Real like) {
  Type type = like.value.getType();
  return {x.builder, arith::SIToFPOp::create(*x.builder, type, x.value)};
}
Value toIndex(Bits x) {
  Type type = x.builder->getIndexType();
  return arith::IndexCastOp::create(*x.builder, type, x.value);
}

// The words of 2 / pi from `first` on, after a word of zeros.
template <typename Word>
Bits wordOf(ArrayRef<Word> words, Bits first, int64_t offset) {
  ImplicitLocOpBuilder &b = *first.builder;
  Type element = b.getIntegerType(8 * sizeof(Word));
  auto type = VectorType::get(words.size(), element);
  Value all = arith::ConstantOp::create(b, DenseElementsAttr::get(type, words));
  Value index = toIndex(first + offset);
  return {&b, vector::ExtractOp::create(b, all, OpFoldResult(index))};
}

//===-- Payne and Hanek's reduction ---------------------------------------===//

constexpr uint32_t words32[] = {0x00000000, 0xa2f9836e, 0x4e441529,
                                0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                0x3c439041, 0xfe5163ab, 0xdebbc561};
constexpr uint64_t words64[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
    0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

constexpr double halfPi = 1.5707963267948966;

struct Integral {
  Bits mantissa, exponent; // x = mantissa * 2^exponent
};
Integral integral(Real x) {
  int64_t implicit = int64_t(1) << x.mantissa();
  Bits bits = bitsOf(x);
  Bits field = logicalShiftRight(bits, x.mantissa());
  return {(bits & (implicit - 1)) | bits.constant(implicit),
          field - (x.bias() + x.mantissa())};
}

// Bits of 2 / pi that stand for multiples of 4 are dropped; 64 bits behind
// them, 2 before the point, and 32 more give the quotient modulo 4.
Quadrant reduceF32(Real x) {
  ImplicitLocOpBuilder &b = *x.builder;
  auto [m, e] = integral(x);
  Bits at = e + 30, word = at >> 5, places = widen(at & 31);
  auto pair = [&](int64_t offset) {
    Bits upper = widen(wordOf(ArrayRef(words32), word, offset));
    Bits lower = widen(wordOf(ArrayRef(words32), word, offset + 1));
    return (upper << 32) | lower;
  };
  Bits high = pair(0), low = pair(2), wide = widen(m);
  Bits quotient =
      wide * funnel(high, low, places) +
      logicalShiftRight(wide * logicalShiftRight(left(low, places), 32), 32);
  Bits n = logicalShiftRight(quotient + (int64_t(1) << 61), 62);
  Bits fraction = quotient - (n << 62);
  // To a float without the conversion of 64 bits, a library call on small
  // machines: the upper 24 bits and their place.
  Bits sign = fraction >> 63, magnitude = (fraction ^ sign) - sign;
  Bits zeros = {&b, math::CountLeadingZerosOp::create(b, magnitude.value)};
  Bits top = logicalShiftRight(left(magnitude, zeros), 40);
  Bits place = narrow(zeros.constant(-22) - zeros);
  Real r = converted(narrow((top ^ sign) - sign), x) * powerOfTwo(place, x);
  return {select(x == x.infinity(), x.nan(), r * halfPi), narrow(n)};
}

Quadrant reduceF64(Real x) {
  auto [m, e] = integral(x);
  Bits at = e + 62, word = at >> 6, places = at & 63;
  auto window = [&](int64_t offset) {
    return funnel(wordOf(ArrayRef(words64), word, offset),
                  wordOf(ArrayRef(words64), word, offset + 1), places);
  };
  Bits first = window(0), second = window(1), third = window(2);
  Bits carried = upperProduct(m, third), low = m * second + carried;
  Bits zero = low.constant(0);
  Bits carry = select(isBelow(low, carried), low.constant(1), zero);
  Bits quotient = m * first + upperProduct(m, second) + carry;
  Bits n = logicalShiftRight(quotient + (int64_t(1) << 61), 62);
  Real upper = converted(quotient - (n << 62), x) * 0x1p-62;
  Real lower = converted(logicalShiftRight(low, 1), x) * 0x1p-125;
  return {select(x == x.infinity(), x.nan(), (upper + lower) * halfPi), n};
}

//===-- Remainder ---------------------------------------------------------===//

// As on paper, one binary digit of the quotient at a time.
Real remainderByDigits(Real x, Real y) {
  ImplicitLocOpBuilder &b = *x.builder;
  auto split = [](Real magnitude) -> Integral {
    auto [m, e] = integral(magnitude);
    int64_t implicit = int64_t(1) << magnitude.mantissa();
    Bits bits = bitsOf(magnitude);
    Mask isDenormal = isBelow(bits, bits.constant(implicit));
    return {select(isDenormal, bits, m), select(isDenormal, e + 1, e)};
  };
  Real magnitude = abs(x), size = abs(y);
  auto [mx, ex] = split(magnitude);
  auto [my, ey] = split(size);
  my = select(my == 0, my.constant(1), my);
  Value start = arith::RemUIOp::create(b, mx.value, my.value);
  Bits digits = select(magnitude < size, ex.constant(0), ex - ey);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto step = [&](OpBuilder &, Location, Value, ValueRange rest) {
    Bits twice = Bits{&b, rest[0]} << 1;
    Bits next = select(isBelow(twice, my), twice, twice - my);
    scf::YieldOp::create(b, next.value);
  };
  auto loop = scf::ForOp::create(b, zero, toIndex(digits), one, start, step);
  Real exact = scale(converted({&b, loop.getResult(0)}, x), ey);
  Real result = select(magnitude < size, x, copySign(exact, x));
  Mask hasNoValue =
      isNan(x) | isNan(y) | (magnitude == x.infinity()) | (size == 0.0);
  return select(hasNoValue, x.nan(), result);
}

} // namespace

Quadrant quadrantSlow(Real x) {
  ImplicitLocOpBuilder &b = *x.builder;
  bool isDouble = x.isDouble();
  Type real = x.value.getType(), whole = bitsOf(x).value.getType();
  Type scalar[] = {getElementTypeOrSelf(real), getElementTypeOrSelf(whole)};
  StringRef name = isDouble ? "reduce_half_pi_f64" : "reduce_half_pi_f32";
  auto body = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
    Real x = {&b, arguments[0]};
    auto [r, n] = isDouble ? reduceF64(x) : reduceF32(x);
    return SmallVector<Value>{r.value, n.value};
  };
  auto function = helperFunction(b, x.value, name, scalar[0], scalar, body);
  SmallVector<Value> all = callEach(b, function, x.value, {real, whole});
  return {{&b, all[0]}, {&b, all[1]}};
}

Real remainderSlow(Real x, Real y) {
  ImplicitLocOpBuilder &b = *x.builder;
  Type type = x.value.getType(), scalar = getElementTypeOrSelf(type);
  StringRef name = x.isDouble() ? "remainder_f64" : "remainder_f32";
  auto body = [](ImplicitLocOpBuilder &b, ValueRange arguments) {
    Real result = remainderByDigits({&b, arguments[0]}, {&b, arguments[1]});
    return SmallVector<Value>{result.value};
  };
  auto function =
      helperFunction(b, x.value, name, {scalar, scalar}, scalar, body);
  return {&b, callEach(b, function, {x.value, y.value}, type)[0]};
}

} // namespace onnxc::elementary
