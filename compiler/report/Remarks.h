// Listens to what passes say that they did not do.
#pragma once
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include <string>
#include <vector>

namespace onnxc {

struct MissedRemark {
  std::string pass, node, type, with, reason;
  bool operator==(const MissedRemark &) const = default;
};

// `list` gets every remark from now on, each once, and outlives the context.
void listenToRemarks(mlir::MLIRContext &context,
                     std::vector<MissedRemark> &list);

} // namespace onnxc
