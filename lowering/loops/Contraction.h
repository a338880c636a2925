// What the loops of a contraction are for. Matrix products of any rank,
// convolutions of any shape, depthwise and grouped ones are told apart by the
// indexing maps alone: no pass asks which ONNX operator it was.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace onnxc {

// How long a row of an image is taken for that only the run knows.
inline constexpr int64_t usualRow = 256;

// lane floordiv maps * channels + within: a channel of the group that a lane is
// in, where vectors hold several groups of `maps` lanes. Without `within` a
// group has one channel.
struct GroupIndex {
  unsigned lane;
  std::optional<unsigned> within;
  int64_t maps, channels;
};
std::optional<GroupIndex> groupIndex(mlir::AffineExpr index);
// The loop over the elements of a group, of which lanes take one.
std::optional<unsigned> loopWithinGroup(mlir::linalg::GenericOp root);

// The roles of the loops of `root`. A register tile is `row` by `vector`.
struct LoopRoles {
  // Parallel loops but for `vector`, outermost first: those that every input
  // read along the vectors depends on (batches) and those that leave such an
  // input alone (pixels). The last pixel loop is the one that tiles go down,
  // which of an image of few columns is that over its rows.
  llvm::SmallVector<unsigned> batches, pixels;
  // The loop along the vectors: the innermost one of the output.
  unsigned vector;
  llvm::SmallVector<unsigned> reductions;
};

// Fails unless every iteration is an elementwise update of one output element
// and the inputs are read at sums of multiples of the loops, or innermost at
// the group of the vector's lane.
mlir::FailureOr<LoopRoles> inferLoopRoles(mlir::linalg::GenericOp root);

// One padded dimension of an input, read at
// scale * pixel + dilation * tap - low: what lies outside [0, size) changes
// nothing and need not be computed.
struct Border {
  std::optional<unsigned> pixel;
  unsigned tap;
  int64_t scale, dilation, low; // `low` may be dynamic
  unsigned dimension;
};

// The padded dimensions of `pad` when `map` reads its result, but for one that
// vectors walk along by one or two elements: lanes outside are masked. Fails
// unless each such dimension has one tap that walks over it, and what is padded
// in front is known here where vectors do or the window begins further inside.
mlir::FailureOr<llvm::SmallVector<Border>> inferBorders(mlir::tensor::PadOp pad,
                                                        mlir::AffineMap map,
                                                        const LoopRoles &roles);

// The coefficient of a loop in a sum of multiples.
int64_t coefficient(mlir::AffineExpr sum, unsigned loop);

// So many taps of a window below each other are worth a tile of several rows of
// a plane: with two, Granite Rapids took 1.3 times as long.
inline constexpr int64_t leastTapsDown = 3;

// Whether several rows of a plane had better be one tile. 3x2 and 3x1 took 1.08
// to 1.13 times as long as row after row, and 3x3 over long rows of images that
// L2 does not hold, where a tile waits for as many lines at a time, 1.03
// to 1.35.
bool areWorthSharing(double taps, double pixelsOfRow, double pixels);

// Whether all that is read is read along the vectors: depthwise convolutions
// and pools; or all but a number for each tap, where vectors lie along the rows
// of planes that several rows of a tile share.
bool isDepthwise(mlir::linalg::GenericOp root, const LoopRoles &roles);

// Whether a tap of a window is so much work that each may be asked whether it
// lies inside of the image.
bool isWorthAsking(mlir::linalg::GenericOp root, const LoopRoles &roles,
                   unsigned tap);

// Elements of a panel that is copied onto the stack.
inline constexpr int64_t mostCopied = 1 << 13;

// How many copies of a row of taps, in tiles at the ends of the image, cost
// less in instructions than the border's zeros cost in multiplications.
int64_t mostBorderCopies(mlir::linalg::GenericOp root, const LoopRoles &roles);

// `map` where loops of `root` that run once are zero.
mlir::AffineMap withoutUnitLoops(mlir::linalg::GenericOp root,
                                 mlir::AffineMap map);

// What a sum of multiples is at loop zero.
int64_t constantTerm(mlir::AffineExpr sum);

// Rows of a contraction's tiles; dynamic where only the run knows.
int64_t rowsOf(mlir::linalg::GenericOp root, const LoopRoles &roles);

// Whether a copy of a computed operand into panels pays for so many rows; for
// fewer it is to stay near the core.
bool isWorthPacking(mlir::RankedTensorType operand, int64_t rows,
                    TargetAttr target);

// Whether vectors had better lie along a sum than along outputs: what they read
// lies apart there and is shared by few rows of a tile or none, but it lies
// side by side along the sum. On Zen 5, two and three rows took 0.5 to 0.9 of
// the time so, four 1.5 to 2 times as long as by a copy, and up to eight 0.4 to
// 0.6 of the time where there is none. `rows` are those of a tile.
bool sumsAlongVectors(mlir::linalg::GenericOp root, const LoopRoles &roles,
                      int64_t rows, TargetAttr target);

// Whether every iteration reads an element of its own and all inputs move with
// every loop of the output: there is no row for a tile to share anything with,
// and one that walks along the sum would leave the order of memory.
bool sharesNothing(mlir::linalg::GenericOp root, const LoopRoles &roles);

// The input whose vectors all rows of a tile are multiplied with; null where
// there is none or more than one.
mlir::OpOperand *inputOfPanels(mlir::linalg::GenericOp root,
                               const LoopRoles &roles);

// The dimensions of an operand that `map` reads in the order of panels:
// batches, columns, reductions.
llvm::SmallVector<int64_t> panelOrder(mlir::AffineMap map,
                                      const LoopRoles &roles);

// Whether the elements of a column of `input`, which `sum` walks, share so few
// sets of L2 that they do not stay there.
bool rowsCollide(mlir::linalg::GenericOp root, mlir::OpOperand *input,
                 unsigned sum, TargetAttr target);

// Whether the scalar operations of the body also exist on vectors.
bool hasVectorForm(mlir::linalg::GenericOp op);

// A generic of parallel loops that writes one tensor elementwise.
bool isElementwise(mlir::linalg::GenericOp op);

} // namespace onnxc
