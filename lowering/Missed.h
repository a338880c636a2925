// What was not done and why, for --report. Costs nothing where nobody listens.
#pragma once
#include "dialects/onnx/NodeLocation.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace onnxc {

// missed(op, "fuse-elementwise") << "reason". `with` is the operation that it
// might have become one with.
inline mlir::remark::detail::InFlightRemark
missed(mlir::Operation *op, llvm::StringRef pass,
       mlir::Operation *with = nullptr) {
  auto remark = mlir::remark::missed(
      op->getLoc(), mlir::remark::RemarkOpts::name(pass).category(pass));
  if (remark && with)
    remark << mlir::remark::detail::Remark::Arg(
        "with", nodeOf(with->getLoc()).name.str());
  return remark;
}

} // namespace onnxc
