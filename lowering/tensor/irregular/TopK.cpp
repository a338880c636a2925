// TopK. The best so far lie sorted, best first. Most elements are no better
// than the last of them and cost one comparison; another one takes its place
// behind those that it does not beat, and every one behind it moves by one:
// stable. NaN is greater than all others, as in the standard's reference.
//
// Where the elements of a row lie side by side in memory and the best few fit
// into registers, a vector of elements is compared with the last of them at
// once; where the best are many, they are sorted. Where elements of several
// rows lie side by side, each row is a lane if the best are very few; else rows
// are transposed before and behind.
#include "dialects/onnx/Families.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/tensor/Transposed.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/SelectColumns.h"
#include "lowering/tensor/irregular/SelectRow.h"
#include "lowering/tensor/irregular/SortRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace onnxc {
namespace {

//===-- Element by element ------------------------------------------------===//

struct LowerTopK : OpConversionPattern<TopKOp> {
  using OpConversionPattern::OpConversionPattern;

  static Scalar beats(Scalar a, Scalar b, bool largest) {
    return largest ? a > b || (a != a && b == b) : a < b || (a == a && b != b);
  }

  LogicalResult
  matchAndRewrite(TopKOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    int64_t axis = wrap(op.getAxis(), inputs[0].rank());
    Index k = shapes->front()[axis];
    if (failed(require(builder, k >= 0 && k <= inputs[0].sizes[axis],
                       Status::Value, op, "is outside the axis", "K")))
      return failure();
    Input x = withOneBehind(builder, inputs[0], axis);
    Tensors found = isWorthTurning(op, x, {axis, k})
                        ? selectTurned(builder, op, x, {axis, k})
                        : selectRows(builder, op, x, {axis, k});
    Sizes sizes = x.sizes;
    sizes[axis] = k;
    for (auto [value, result] : llvm::zip_equal(found, op.getResults())) {
      value = reshaped(builder, value, sizes, shapes->front());
      value = castTo(builder, value,
                     getTypeConverter()->convertType(result.getType()));
    }
    rewriter.replaceOp(op, found);
    return success();
  }

  // The dimensions behind the axis as one, for vectors lie along the last.
  static Input withOneBehind(ImplicitLocOpBuilder &builder, Input x,
                             int64_t axis) {
    Sizes sizes(ArrayRef(x.sizes).take_front(axis + 1));
    if (sizes.size() < x.sizes.size())
      sizes.push_back(product(ArrayRef(x.sizes).drop_front(axis + 1)));
    x.lowered = reshaped(builder, x.lowered, x.sizes, sizes);
    x.sizes = sizes;
    return x;
  }

  struct Place {
    int64_t axis;
    Index k;
  };

  // With the axis and the last dimension in each other's place.
  static Input turnedSizes(Input x, int64_t axis) {
    std::swap(x.sizes[axis], x.sizes.back());
    return x;
  }

  // Whether rows that lie apart are better taken once they lie side by side.
  static bool isWorthTurning(TopKOp op, const Input &x, Place place) {
    int64_t last = x.rank() - 1;
    if (place.axis == last || lanesOfColumns(op, x, place.axis, place.k))
      return false;
    Input turned = turnedSizes(x, place.axis);
    return lanesOfSelection(op, turned, last, place.k) ||
           lanesOfSort(op, turned, last, place.k);
  }

  static Tensors selectTurned(ImplicitLocOpBuilder &builder, TopKOp op,
                              const Input &x, Place place) {
    auto order = llvm::to_vector(llvm::seq(x.rank()));
    std::swap(order[place.axis], order.back());
    auto turn = [&](Value value) {
      return transposed(builder, builder.getLoc(), value, order);
    };
    Input turned = turnedSizes(x, place.axis);
    turned.lowered = turn(x.lowered);
    Tensors found = selectRows(builder, op, turned, {x.rank() - 1, place.k});
    return llvm::map_to_vector(found, turn);
  }

  static Tensors selectRows(ImplicitLocOpBuilder &builder, TopKOp op,
                            const Input &x, Place place) {
    int64_t axis = place.axis;
    Sizes sizes = x.sizes;
    sizes[axis] = place.k;
    Tensors results{emptyOf(builder, sizes, x.element),
                    emptyOf(builder, sizes, builder.getI64Type())};
    if (int64_t lanes = lanesOfSelection(op, x, axis, place.k)) {
      Sizes rows = x.sizes;
      rows.back() = 1;
      return visit(builder, rows, results,
                   [&](ArrayRef<Index> row, Tensors into) {
                     return selectRow(builder, x, place.k.get(), lanes,
                                      op.getLargest(), row, std::move(into));
                   });
    }
    if (int64_t lanes = lanesOfSort(op, x, axis, place.k)) {
      Sizes rows = x.sizes;
      rows.back() = 1;
      results.append(memoryOfSort(builder, x, place.k.get(), lanes));
      results =
          visit(builder, rows, results, [&](ArrayRef<Index> row, Tensors into) {
            return sortRow(builder, x, place.k.get(), lanes, op.getLargest(),
                           row, std::move(into));
          });
      results.truncate(2);
      return results;
    }
    Condition isDone = place.k == 0;
    if (int64_t lanes = lanesOfColumns(op, x, axis, place.k)) {
      results = selectColumns(builder, x, axis, place.k.get(), lanes,
                              op.getLargest(), std::move(results));
      isDone = isDone || x.sizes.back() >= lanes;
      if (isDone.isTrue())
        return results;
    }
    // The axis innermost, whichever it is; nothing to look at for no result.
    Sizes every = x.sizes;
    every[axis] = onnxc::select(isDone, 0, every[axis]);
    std::swap(every[axis], every.back());
    auto offer = [&](ArrayRef<Index> position, Tensors best) {
      Sizes at(position);
      std::swap(at[axis], at.back());
      return offerOne(builder, op, place, x, at, best);
    };
    return visit(builder, every, results, offer);
  }

  // The element at `at` into the best ones of its row, if it is one of them.
  static Tensors offerOne(ImplicitLocOpBuilder &builder, TopKOp op, Place place,
                          const Input &x, ArrayRef<Index> at, Tensors best) {
    bool largest = op.getLargest();
    Value element = extract(builder, x.lowered, at);
    Index seen = at[place.axis];
    Sizes last(at);
    last[place.axis] = place.k - 1;
    ScalarBuilder scalars(builder, builder.getLoc(), x.element);
    Scalar here = load(scalars, element, x.element);
    Scalar worst = scalarAt(scalars, best[0], x.element, last);
    Condition enters =
        seen < place.k || Condition(builder, beats(here, worst, largest).value);
    auto insertOne = [&](Tensors into) {
      return insertAt(builder, place, at,
                      placeOf(builder, place, x, at, here, into[0], largest),
                      element, into);
    };
    return changeIf(builder, enters, best, insertOne);
  }

  // How many of those that were found an element does not beat.
  static Index placeOf(ImplicitLocOpBuilder &builder, Place place,
                       const Input &x, ArrayRef<Index> at, Scalar element,
                       Value values, bool largest) {
    Index seen = at[place.axis];
    auto count = [&](ArrayRef<Index> slot, Tensors carried) {
      Sizes there(at);
      there[place.axis] = slot[0];
      ScalarBuilder scalars(builder, builder.getLoc(), x.element);
      Scalar held = scalarAt(scalars, values, x.element, there);
      Scalar here(scalars, element.value, element.type);
      Condition stays = slot[0] < seen &&
                        !Condition(builder, beats(here, held, largest).value);
      return Tensors{
          (Index(builder, carried[0]) + select(stays, 1, 0)).in(builder)};
    };
    Value zero = Index(0).in(builder);
    return {builder, visit(builder, {place.k}, {zero}, count)[0]};
  }

  // Moves what lies behind a place by one; the last one of k goes.
  static Tensors insertAt(ImplicitLocOpBuilder &builder, Place place,
                          ArrayRef<Index> at, Index to, Value element,
                          Tensors into) {
    Index seen = at[place.axis], last = least(seen, place.k - 1);
    auto slot = [&](Index index) {
      Sizes there(at);
      there[place.axis] = index;
      return there;
    };
    auto move = [&](ArrayRef<Index> step, Tensors carried) {
      for (Value &tensor : carried)
        tensor =
            insert(builder, extract(builder, tensor, slot(last - 1 - step[0])),
                   tensor, slot(last - step[0]));
      return carried;
    };
    into = visit(builder, {last - to}, into, move);
    return {insert(builder, element, into[0], slot(to)),
            insert(builder, asInt64(builder, seen), into[1], slot(to))};
  }
};

} // namespace

void addTopKPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerTopK>(types, patterns.getContext());
}

} // namespace onnxc
