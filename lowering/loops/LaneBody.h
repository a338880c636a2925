// The body of a linalg.generic, run on one element or on a vector of lanes.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxc {

// How a reduction's output folds: acc = combiner(acc, value).
struct Combiner {
  mlir::Operation *op; // in the body
  mlir::Value folded;  // its operand that is not the accumulator
};

// Whether floats are summed in doubles.
bool sumsFloats(const Combiner &combiner);

// The combiner of an output, where folding in any order is known to be one.
std::optional<Combiner> combinerOf(mlir::linalg::GenericOp op, unsigned output);

// Whether vectors can run the body.
bool isVectorizable(mlir::linalg::GenericOp op);

// How a value changes from one iteration to the next.
enum class Change { None, ByOne, BackByOne, Any };

// What the values of a body do while some of its loops advance.
class Changes {
public:
  Changes(mlir::linalg::GenericOp op,
          llvm::function_ref<bool(unsigned operand)> moves,
          llvm::function_ref<Change(unsigned dim)> ofIndex);
  Change of(mlir::Value value) const;
  bool isSame(mlir::Value value) const { return of(value) == Change::None; }

private:
  llvm::DenseMap<mlir::Value, Change> changes;
};

// How LaneBody reads an element of a buffer at computed indices.
enum class LoadForm { Element, Vector, Window, EachLane };
LoadForm loadFormOf(mlir::memref::LoadOp load, int64_t lanes, bool permutes,
                    llvm::function_ref<Change(mlir::Value)> change);

// Bits of the widest element among the operands that `moves` and what changes.
unsigned widestElement(mlir::linalg::GenericOp op, const Changes &changes);
// An estimate of instructions per element, and of those of a function.
inline constexpr unsigned weightOfFunction = 16;
unsigned weightOf(mlir::linalg::GenericOp op);

// The position along a loop, and whether lanes count on from there.
struct LanePosition {
  mlir::Value first;
  bool countsUp = false;
};

class LaneBody {
public:
  // `lanes` = 0 runs on single elements; `mask` tells which lanes exist;
  // `permutes`: the machine takes lanes by a vector of indices.
  LaneBody(mlir::ImplicitLocOpBuilder &b, int64_t lanes, mlir::Value mask = {},
           bool permutes = false)
      : b(b), lanes(lanes), mask(mask), permutes(permutes) {}

  // Scalars are the same for all lanes; vectors have a value for each.
  void set(mlir::Value inBody, mlir::Value value) { values[inBody] = value; }
  mlir::Value get(mlir::Value inBody);
  // The value as a vector, where there are lanes.
  mlir::Value spread(mlir::Value value);
  // Runs all but the operations in `without` and those whose result is set;
  // `index` gives linalg.index.
  void run(mlir::Block *body,
           llvm::function_ref<LanePosition(unsigned dim)> index,
           llvm::ArrayRef<mlir::Operation *> without = {});
  // combiner(lhs, rhs)
  mlir::Value combine(const Combiner &combiner, mlir::Value lhs,
                      mlir::Value rhs);

private:
  // The first lane of what counts on from there, or back.
  struct Count {
    mlir::Value first;
    bool isBack = false;
  };
  Change changeOf(mlir::Value inBody) const;
  void runOperation(mlir::Operation &op);
  void runEachLane(mlir::Operation &op);
  bool runLoad(mlir::memref::LoadOp load);
  mlir::Value loadVector(mlir::memref::LoadOp load);
  mlir::Value loadBackwards(mlir::memref::LoadOp load);
  mlir::Value loadSide(mlir::memref::LoadOp load, mlir::Value first,
                       mlir::Value exists);
  mlir::Value loadWindow(mlir::memref::LoadOp load);
  mlir::Value loadIfWindow(mlir::memref::LoadOp load, mlir::Value positions,
                           int64_t parts);
  mlir::Value loadParts(mlir::memref::LoadOp load, mlir::Value positions,
                        int64_t parts);
  mlir::Value loadPart(mlir::memref::LoadOp load, mlir::Value first);
  mlir::Value loadAt(mlir::memref::LoadOp load, mlir::Value position);
  mlir::Value lengthOf(mlir::memref::LoadOp load);
  mlir::Value permuted(mlir::Value vector, mlir::Value places);

  mlir::ImplicitLocOpBuilder &b;
  int64_t lanes;
  mlir::Value mask;
  bool permutes;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, Count> counts;
};

} // namespace onnxc
