// Which register tile a contraction gets, from facts of the target alone.
#pragma once
#include "lowering/loops/ContractionShape.h"

namespace onnxc {

// Of a tile whose rows may be all that there are, so that all smaller ones are
// worth their code.
inline constexpr int64_t mostExactRows = 8;

ContractionAttr chooseSchedule(mlir::MLIRContext *context, TargetAttr target,
                               const ContractionShape &shape);

// How many panels of packed weights the tile of this schedule has side by side.
int64_t panelsOfTile(ContractionAttr schedule, TargetAttr target,
                     const ContractionShape &shape);

// The schedule of a product to few columns, with a constant, whose lanes had
// better lie along its last reduction: most of a vector of columns would stay
// empty. Null where it is none.
ContractionAttr chooseAlongSum(mlir::linalg::GenericOp root,
                               const LoopRoles &roles, TargetAttr target);

// The same with the loops outside of the tiles blocked for L2, where what is
// multiplied does not stay there: rows of a product, or one panel of weights of
// a window over many channels. Only an output that `holdsPartialSums` lets
// the reduction be cut into pieces.
ContractionAttr blockedForCache(ContractionAttr schedule, TargetAttr target,
                                const ContractionShape &shape,
                                bool holdsPartialSums);

} // namespace onnxc
