// The values of a kernel's tensors, as vectors of one register tile.
//
// A kernel's body is a specification on tensors. Its code asks for the vector
// of a tensor at a place of the iteration space; arguments are loaded,
// elementwise operations are cloned onto vectors, and what the caller holds in
// registers (accumulators) is known. So an epilogue of any length, a start
// value and an operand converted on the fly are one mechanism.
#pragma once
#include "lowering/loops/Contraction.h"
#include "lowering/loops/IndexMath.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxc {

// A padded dimension that lanes walk along: at `index`, a sum of multiples of
// the loops; what is outside of [0, size) is `padding`. Neighbours lie `pitch`
// elements apart.
struct Edge {
  mlir::AffineExpr index;
  mlir::OpFoldResult size, pitch;
  mlir::Attribute padding;
};

// How one tensor of the body is addressed from the loops:
// buffer[offset + sum(strides[i] * loops[i])].
struct Access {
  mlir::Value buffer; // one-dimensional, unit stride
  mlir::OpFoldResult offset;
  llvm::SmallVector<mlir::OpFoldResult> strides;
  // Every lane wants this element of the group of elements that it is in; a
  // group's elements lie side by side.
  std::optional<GroupIndex> group = std::nullopt;
  std::optional<Edge> edge = std::nullopt;
  // Columns of a panel, where the tile has those of several, so far apart.
  int64_t panelColumns = 0;
  mlir::OpFoldResult panelPitch = {};
};

// Where a vector lies: at the loops' values, `row` and `column` further.
struct Cell {
  int64_t row = 0, column = 0;
  mlir::Value mask = {};  // of the lanes that exist; null where all do
  mlir::Value shift = {}; // elements from there to what is read; may be null
};

class TileValues {
public:
  // `arguments` are the buffers of the body's block arguments. There are
  // `loops` loops; `vector` runs along the lanes, `row` down the tile, and the
  // last one counts panels of `columns` elements of `vector`.
  TileValues(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange arguments,
             unsigned loops, unsigned vector, int64_t lanes, int64_t columns);

  // The same values as vectors along another loop.
  TileValues along(unsigned loop) const {
    TileValues other(*this);
    other.vector = loop;
    other.forgetLoads();
    return other;
  }

  unsigned panelLoop() const { return loopCount - 1; }
  void setRow(std::optional<unsigned> loop) { row = loop; }
  // From now on reads are so many iterations of the loop ahead of where it is.
  void lookAhead(unsigned loop, int64_t iterations) {
    ahead = {loop, iterations};
  }

  // Finds every argument that `tensor` is made of when it is read at `position`
  // (loops to indices). Fails where an operation has no vector form.
  llvm::LogicalResult trace(mlir::Value tensor, mlir::AffineMap position,
                            mlir::linalg::GenericOp root);

  // The vector of `tensor`, or an accumulator where `known` has it.
  mlir::Value at(mlir::Value tensor, mlir::AffineMap position,
                 llvm::ArrayRef<mlir::OpFoldResult> loops, Cell cell);
  void store(mlir::Value vector, mlir::BlockArgument argument,
             mlir::AffineMap position, llvm::ArrayRef<mlir::OpFoldResult> loops,
             Cell cell);

  // Elements between neighbours along a dimension of an argument that was
  // traced.
  mlir::OpFoldResult pitch(mlir::BlockArgument argument, unsigned dimension) {
    return flattened.find(argument)->second.second.strides[dimension];
  }

  // How much `pad` puts in front; null where the kernel itself computes that.
  mlir::OpFoldResult frontOf(mlir::tensor::PadOp pad, unsigned dimension);

  // Asks for the vector of `tensor`, which is in memory, to be in the first
  // cache soon, or in the second. No harm if it lies behind the buffer's end.
  enum class Cache { Second = 2, First = 3 };
  void prefetch(mlir::Value tensor, mlir::AffineMap position,
                llvm::ArrayRef<mlir::OpFoldResult> loops, Cell cell,
                Cache cache);

  // Vectors by tensor, for the cell that is being computed.
  llvm::DenseMap<mlir::Value, mlir::Value> known;
  // To be called whenever the insertion point enters or leaves a region.
  void forgetLoads();

  // Runs a body on vectors; `operands` are those of the block's arguments.
  mlir::Value call(mlir::Block *payload, llvm::ArrayRef<mlir::Value> operands);

  Access &access(mlir::Value tensor, mlir::AffineMap position);
  llvm::MapVector<std::pair<mlir::Value, mlir::AffineMap>, Access> accesses;

private:
  struct Address {
    mlir::Value moving; // may be null
    int64_t fixed = 0;
  };
  Address address(const Access &access, const void *key,
                  llvm::ArrayRef<mlir::OpFoldResult> loops, Cell cell);
  mlir::Value load(mlir::Value tensor, mlir::AffineMap position,
                   llvm::ArrayRef<mlir::OpFoldResult> loops, Cell cell);
  mlir::Value splat(mlir::Value scalar);
  mlir::Value index(Address address);
  mlir::AffineMap positionInSource(mlir::tensor::PadOp pad,
                                   mlir::AffineMap position);
  llvm::LogicalResult skipFront(mlir::tensor::PadOp pad,
                                mlir::AffineMap position);
  llvm::LogicalResult addEdge(mlir::tensor::PadOp pad,
                              mlir::AffineMap position);
  mlir::OpFoldResult edgeIndex(const Edge &edge,
                               llvm::ArrayRef<mlir::OpFoldResult> loops,
                               Cell cell);
  int64_t knownEdgeIndex(const Edge &edge,
                         llvm::ArrayRef<mlir::OpFoldResult> loops, Cell cell);
  mlir::Value inside(const Edge &edge, mlir::OpFoldResult first,
                     int64_t step = 1);
  mlir::Value loadPart(const Access &access, Address where, int64_t offset,
                       llvm::ArrayRef<mlir::OpFoldResult> loops, Cell cell);
  mlir::Value loadApart(const Access &access, Address where,
                        llvm::ArrayRef<mlir::OpFoldResult> loops, Cell cell);
  mlir::Value loadSide(const Access &access, mlir::Value at, mlir::Value mask);
  mlir::Value spread(mlir::Value vector, GroupIndex group,
                     llvm::ArrayRef<mlir::OpFoldResult> loops);
  mlir::OpFoldResult alongLanes(const Access &access, mlir::OpFoldResult lanes);
  Access makeAccess(mlir::BlockArgument argument, mlir::AffineMap position);
  Access makePackedAccess(mlir::linalg::UnPackOp unpack,
                          mlir::AffineMap position);

  mlir::ImplicitLocOpBuilder &b;
  llvm::SmallVector<mlir::Value> arguments;
  unsigned loopCount, vector;
  std::optional<unsigned> row;
  std::pair<unsigned, int64_t> ahead = {0, 0};
  int64_t lanes, columns;
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, Access>> flattened;
  llvm::DenseMap<const void *, mlir::Value> movingParts;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> shifted;
  llvm::DenseMap<
      std::tuple<const void *, mlir::Value, int64_t, int64_t, mlir::Value>,
      mlir::Value>
      loads;
};

} // namespace onnxc
