// A linalg.generic as a nest of loops over one-dimensional buffers: the form in
// which loops merge, and from which vector code is written. Every operand is a
// buffer and a stride per loop, so that broadcasting, transposes, windows and
// strided views are all the same.
#pragma once
#include "lowering/loops/IndexMath.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxc {

// A tensor in memory: element e lies at offset + sum(strides[i] * e[i]).
struct StridedBuffer {
  mlir::Value buffer; // one-dimensional, unit stride
  mlir::OpFoldResult offset;
  llvm::SmallVector<mlir::OpFoldResult> sizes, strides;
};

// Products that fold or are built once, so that equal ones are the same value.
class Products {
public:
  mlir::OpFoldResult of(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult lhs,
                        mlir::OpFoldResult rhs);

private:
  llvm::DenseMap<std::pair<void *, void *>, mlir::OpFoldResult> known;
};

struct NestOperand {
  mlir::Value scalar; // where the operand is no buffer
  mlir::Value buffer;
  mlir::OpFoldResult offset;
  llvm::SmallVector<mlir::OpFoldResult> strides; // one per loop
  // Nobody minds what is written behind its rows, up to a whole vector.
  bool isPadded = false;
  // Where set, each vector that is read asks for the one so far behind it.
  mlir::OpFoldResult ahead = {};
};

struct Loop {
  mlir::OpFoldResult size;
  bool folds = false; // a reduction
  unsigned dim = 0;   // of the generic; the innermost one of merged ones
};

struct Nest {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<Loop> loops;
  llvm::SmallVector<NestOperand> operands;
  // What linalg.index gives for dimensions that are no loop here.
  llvm::SmallDenseMap<unsigned, mlir::OpFoldResult> fixedDims;
  Products products;

  unsigned inputCount() { return op.getNumDpsInputs(); }
  std::optional<unsigned> loopOfDim(unsigned dim) const;
  // Runs `loop` at one place only.
  void fix(mlir::ImplicitLocOpBuilder &b, unsigned loop, mlir::OpFoldResult at);
};

StridedBuffer flatten(mlir::ImplicitLocOpBuilder &b, mlir::Value memref,
                      llvm::ArrayRef<mlir::OpFoldResult> sizes,
                      Products &products);

// `values` are the operands: memrefs or scalars. Fails where an index is not a
// sum of loops. `outer` are the sizes of the first loops, where an operand may
// be a buffer of a part of them.
llvm::FailureOr<Nest> makeNest(mlir::ImplicitLocOpBuilder &b,
                               mlir::linalg::GenericOp op,
                               mlir::ValueRange values,
                               llvm::ArrayRef<mlir::OpFoldResult> outer = {});

// Whether `outer` and the `inner` loop next to it are one for every operand.
bool canMerge(mlir::ImplicitLocOpBuilder &b, Nest &nest, unsigned outer,
              unsigned inner);

// Drops loops of one step and merges those that all operands walk as one.
void simplify(mlir::ImplicitLocOpBuilder &b, Nest &nest);

} // namespace onnxc
