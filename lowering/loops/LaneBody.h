// The body of a linalg.generic, run on one element or on a vector of lanes.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxc {

// How a reduction's output folds: acc = combiner(acc, value).
struct Combiner {
  mlir::Operation *op; // in the body
  mlir::Value folded;  // its operand that is not the accumulator
};

// The combiner of an output, where folding in any order is known to be one.
std::optional<Combiner> combinerOf(mlir::linalg::GenericOp op, unsigned output);

// Whether vectors can run the body.
bool isVectorizable(mlir::linalg::GenericOp op);
// Bits of the widest element that the body holds.
unsigned widestElement(mlir::linalg::GenericOp op);
// An estimate of instructions per element.
unsigned weightOf(mlir::linalg::GenericOp op);

class LaneBody {
public:
  // `lanes` = 0 runs on single elements.
  LaneBody(mlir::ImplicitLocOpBuilder &b, int64_t lanes) : b(b), lanes(lanes) {}

  // Scalars are the same for all lanes; vectors have a value for each.
  void set(mlir::Value inBody, mlir::Value value) { values[inBody] = value; }
  mlir::Value get(mlir::Value inBody);
  // The value as a vector, where there are lanes.
  mlir::Value spread(mlir::Value value);
  // Runs all but the operations in `without`; `index` gives linalg.index.
  void run(mlir::Block *body,
           llvm::function_ref<mlir::Value(unsigned dim)> index,
           llvm::ArrayRef<mlir::Operation *> without = {});
  // combiner(lhs, rhs)
  mlir::Value combine(const Combiner &combiner, mlir::Value lhs,
                      mlir::Value rhs);

private:
  void runOperation(mlir::Operation &op);
  void runEachLane(mlir::Operation &op);

  mlir::ImplicitLocOpBuilder &b;
  int64_t lanes;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
};

} // namespace onnxc
