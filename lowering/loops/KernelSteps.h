// What of a kernel its tasks divide among them.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace onnxc {

// A loop over tiles, or operations that do one tile.
struct Step {
  mlir::scf::ForOp loop;
  llvm::SmallVector<mlir::Operation *> tile;
  std::optional<int64_t> trips; // of a loop, where it is known
};

Step stepOf(mlir::scf::ForOp loop);

// One sequence: peeling leaves several loops over tiles in a row and single
// tiles between them. A loop around all others that may run but once, as over
// a batch of unknown size, is no step: the steps in it are, in each of its
// iterations.
struct KernelSteps {
  llvm::SmallVector<mlir::scf::ForOp> around; // all steps, outermost first
  llvm::SmallVector<Step> steps;
  // What bounds of loops are computed with, of the arguments alone, in order.
  llvm::SetVector<mlir::Operation *> early;

  // How many there are; nothing where the run alone knows.
  std::optional<int64_t> total() const;
  // The loops in steps that are marked as inner ones; none unless all that is
  // written is written in them, and for others.
  llvm::SmallVector<mlir::scf::ForOp> innerLoops() const;
};

// Nothing where the kernel cannot be divided. Drops loops of one iteration.
std::optional<KernelSteps> findSteps(mlir::func::FuncOp kernel);

} // namespace onnxc
