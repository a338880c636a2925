// The loops of a contraction kernel over buffers: roles, sizes, accesses.
#pragma once
#include "lowering/loops/Contraction.h"
#include "lowering/loops/TileValues.h"

namespace onnxc {

struct ContractionNest {
  mlir::linalg::GenericOp root;
  ContractionAttr schedule;
  LoopRoles roles;
  llvm::SmallVector<mlir::OpFoldResult> sizes;  // per loop of the root
  llvm::SmallVector<mlir::OpFoldResult> begins; // of the part to be computed
  // Outer loops in order; `row`, where there is one, is none of them.
  llvm::SmallVector<unsigned> batches, pixels;
  std::optional<unsigned> row;
  // Batches and pixels as the result has them, `row` innermost.
  bool inOrderOfResult = false;
  bool isRest = false; // see LoopRanges

  struct SizedBorder : Border {
    mlir::OpFoldResult size;  // of the dimension without its padding
    mlir::OpFoldResult front; // `low`, as the run has it
    // What is padded, elements between neighbours there, and with what; null
    // where rows beside the image cannot be read as padding.
    mlir::Value padded;
    mlir::OpFoldResult pitch;
    mlir::Attribute padding;
    int64_t high = 0; // of it behind the image, dynamic where not known here
  };
  llvm::SmallVector<SizedBorder> windows;

  mlir::Value room; // for copies of panels; null where they are read in place

  // Over pixels of what the tiles compute. Tasks divide none of these loops.
  struct Fold {
    mlir::linalg::GenericOp op;
    mlir::AffineMap inputPosition, position;
    mlir::BlockArgument output;
    llvm::SmallVector<unsigned> loops;
  };
  std::optional<Fold> fold;

  // The vector of the init, of the inputs and of each output is read here.
  mlir::AffineMap outputPosition;
  llvm::SmallVector<mlir::AffineMap> yieldedPositions;

  const SizedBorder *windowOf(unsigned tap) const;
  const SizedBorder *rowWindow() const;
  bool folds(unsigned loop) const;
};

// Where the elements of `tensor` lie in the space of the root's loops, found by
// going from the kernel's result back to the root.
mlir::FailureOr<mlir::AffineMap>
positionOfYielded(mlir::Value tensor, mlir::linalg::GenericOp root);

// Whether a dense buffer, read or written at `position`, has these loops as
// neighbouring dimensions, or none of them; null has none.
bool areNeighbours(mlir::Value buffer, mlir::AffineMap position,
                   llvm::ArrayRef<unsigned> loops);

// The part of a contraction that is to be computed: `size` iterations of some
// loops, from `begin` on. Partial tensors hold that part only, which begins so
// many elements behind what the first iteration would have.
struct LoopRanges {
  struct Range {
    unsigned loop;
    mlir::OpFoldResult begin, size;
  };
  llvm::SmallVector<Range> ranges;
  llvm::MapVector<mlir::Value, int64_t> partial;
  // What is left of rows of unknown number: its code is short rather than fast.
  bool isRest = false;
};

mlir::FailureOr<ContractionNest>
buildContractionNest(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                     mlir::ValueRange arguments, TileValues &values,
                     mlir::linalg::GenericOp root, LoopRoles roles,
                     const LoopRanges &ranges);

} // namespace onnxc
