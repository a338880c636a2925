// Why two regions of stage memory are not one, where no pass has said so.
#pragma once
#include "mlir/IR/Operation.h"

namespace onnxc {

// `made` is the memory as `maker` writes it, `read` as `reader` reads it: the
// same value, or two views of one place. `hasOthers`: another region reads it,
// too.
const char *whyApart(mlir::Operation *maker, mlir::Value made,
                     mlir::Operation *reader, mlir::Value read, bool hasOthers);

} // namespace onnxc
