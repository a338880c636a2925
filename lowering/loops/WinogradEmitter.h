// Shared by the two files that write a Winograd convolution: EmitWinograd.cpp
// the steps, WinogradLoops.cpp the loops around a tile.
#pragma once
#include "lowering/loops/EmitWinograd.h"
#include "lowering/loops/RowTiles.h"
#include "lowering/loops/TileValues.h"
#include "lowering/loops/WindowFolds.h"
#include "lowering/loops/Winograd.h"
#include "lowering/loops/WinogradTransforms.h"

namespace onnxc::winograd {

// Neighbouring tiles of a row of which the same columns [low, high) exist, and
// what of them is compared with the image's sizes.
struct Span {
  int64_t start, count, low, high;
  enum { Nothing, Rows, Everything } checks = Rows;
};

class WinogradEmitter {
public:
  WinogradEmitter(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                  mlir::ValueRange arguments, const FilteredConvolution &conv,
                  TransformPart part)
      : b(b), kernel(kernel), arguments(arguments), conv(conv), part(part),
        schedule(cast<WinogradAttr>(kernel.getSchedule())),
        tile(schedule.getTile()), down(conv.rows.outputs(tile)),
        across(conv.columns.outputs(tile)), pointsDown(conv.rows.points(tile)),
        pointsAcross(conv.columns.points(tile)),
        lanes(schedule.getProduct().getVector()),
        type(mlir::VectorType::get({lanes}, b.getF32Type())),
        image(b, arguments, 8, conv.input, lanes, lanes),
        output(b, arguments, 8, conv.output, lanes, lanes),
        transforms(b, type, tile) {
    mlir::ValueRange scratch = arguments.take_back(2);
    transformed = scratch[0];
    products = scratch[1];
  }

  llvm::LogicalResult emit();

private:
  llvm::LogicalResult trace();
  llvm::LogicalResult traceResult();
  llvm::LogicalResult traceWindows();
  mlir::OpFoldResult sizeOf(mlir::Value argument, unsigned dimension);
  mlir::OpFoldResult sizeOfLoop(unsigned loop);
  void forEachBlock(mlir::OpFoldResult from, mlir::OpFoldResult to,
                    int64_t step,
                    llvm::function_ref<void(mlir::OpFoldResult)> body);
  void forEachGroup(mlir::OpFoldResult batch, llvm::ArrayRef<RowTiles> groups);
  void block(mlir::OpFoldResult batch, mlir::OpFoldResult first,
             mlir::OpFoldResult count, llvm::function_ref<void()> products);
  // The pixels that a tile looks at in a direction, some of them in front of
  // its own, and how many there are.
  struct Reach {
    int64_t before, elements, stride, pitch;
    mlir::OpFoldResult size;
  };
  Reach reachOf(const FilteredDirection &direction, int64_t group,
                mlir::OpFoldResult size) {
    return {direction.beforeImage(tile, group), direction.points(tile),
            direction.stride, direction.pitch(), size};
  }
  Reach reachOfOutputs(const FilteredDirection &direction,
                       mlir::OpFoldResult size) {
    return {0, direction.outputs(tile), 1, direction.dilation, size};
  }
  // Taps that are filtered together, in each direction.
  struct Group {
    int64_t row, column;
  };
  void transformInputs(mlir::OpFoldResult batch, mlir::OpFoldResult first,
                       mlir::OpFoldResult count);
  mlir::OpFoldResult tapOf(const FilteredDirection &direction, int64_t group,
                           mlir::OpFoldResult element);
  void transformGroup(Group group, mlir::OpFoldResult batch,
                      mlir::OpFoldResult first, mlir::OpFoldResult count);
  void transformInput(Group group, llvm::ArrayRef<mlir::OpFoldResult> loops,
                      Span span, mlir::OpFoldResult at, Cell cell);
  bool areRowsAlways(Span span, const Reach &reach);
  llvm::SmallVector<mlir::Value>
  patchRow(Group group, llvm::ArrayRef<mlir::OpFoldResult> loops, Span span,
           mlir::OpFoldResult row, Cell cell);
  llvm::SmallVector<mlir::Value>
  patchColumn(Group group, llvm::ArrayRef<mlir::OpFoldResult> loops, Span span,
              Cell cell);
  mlir::OpFoldResult tilesOf(const FilteredDirection &direction,
                             mlir::OpFoldResult size);
  mlir::OpFoldResult startOf(const FilteredDirection &direction,
                             mlir::OpFoldResult index);
  struct Point {
    mlir::OpFoldResult row, column;
  };
  llvm::SmallVector<mlir::Value> placeOf(Point point, mlir::Value offset);
  mlir::Value loadPoint(mlir::Value memory, Point point,
                        mlir::Value offset = {});
  void storePoint(mlir::Value memory, Point point, mlir::Value offset,
                  mlir::Value value, mlir::Value mask = {});
  mlir::OpFoldResult wholeProducts(mlir::OpFoldResult tiles);
  void multiply(mlir::OpFoldResult tiles);
  void transformOutputs(mlir::OpFoldResult batch, mlir::OpFoldResult first,
                        mlir::OpFoldResult count);
  void transformOutput(llvm::ArrayRef<mlir::OpFoldResult> loops, Span span,
                       mlir::OpFoldResult at, Cell cell);
  llvm::SmallVector<mlir::Value> sumsOfLine(mlir::Value offset);
  using Sums = llvm::function_ref<llvm::SmallVector<mlir::Value>(int64_t)>;
  void finishRows(llvm::ArrayRef<mlir::OpFoldResult> loops, Span span,
                  mlir::OpFoldResult first, Sums sums, Cell cell);
  llvm::SmallVector<mlir::Value>
  finishRow(llvm::ArrayRef<mlir::OpFoldResult> loops, Span span,
            mlir::OpFoldResult row,
            llvm::function_ref<llvm::SmallVector<mlir::Value>()> sums,
            Cell cell);
  llvm::SmallVector<mlir::Value>
  storeRow(llvm::ArrayRef<mlir::OpFoldResult> first, Span span,
           llvm::ArrayRef<mlir::Value> sums, Cell cell);
  mlir::Value storePixel(llvm::ArrayRef<mlir::OpFoldResult> at, mlir::Value sum,
                         Cell cell);
  void foldWindows(llvm::ArrayRef<mlir::OpFoldResult> loops, Span span,
                   mlir::OpFoldResult first,
                   llvm::ArrayRef<llvm::SmallVector<mlir::Value>> pixels,
                   Cell cell);
  mlir::Value startOfWindow(llvm::ArrayRef<mlir::OpFoldResult> at, Cell cell,
                            mlir::OpFoldResult folded);
  void storeWindow(llvm::ArrayRef<mlir::OpFoldResult> at,
                   llvm::ArrayRef<mlir::Value> elements, Cell cell,
                   mlir::OpFoldResult folded);

  void forEach(mlir::OpFoldResult from, mlir::OpFoldResult to, int64_t step,
               llvm::function_ref<void(mlir::OpFoldResult)> body);
  using TileBody = llvm::function_ref<void(llvm::ArrayRef<mlir::OpFoldResult>,
                                           Span, mlir::OpFoldResult, Cell)>;
  void forEachTile(llvm::ArrayRef<Span> spans, mlir::OpFoldResult batch,
                   mlir::OpFoldResult firstRow, mlir::OpFoldResult rows,
                   unsigned channel, TileBody body);
  void forEachTileOfRun(const Reach &down, const Reach &across,
                        mlir::OpFoldResult batch, mlir::OpFoldResult first,
                        mlir::OpFoldResult count, unsigned channel,
                        TileBody body);
  void forEachVector(llvm::MutableArrayRef<mlir::OpFoldResult> loops, Span span,
                     mlir::OpFoldResult at, unsigned channel, TileBody body);
  bool mayLackColumns(Span span) const {
    return span.checks == Span::Everything && !conv.isLine();
  }
  mlir::Value isBelow(mlir::OpFoldResult index, mlir::OpFoldResult end);
  mlir::Value isInside(mlir::OpFoldResult at, const Reach &reach);
  llvm::SmallVector<mlir::Value>
  ifInside(mlir::Value inside, unsigned results,
           llvm::function_ref<llvm::SmallVector<mlir::Value>()> body);

  mlir::ImplicitLocOpBuilder &b;
  KernelOp kernel;
  llvm::SmallVector<mlir::Value> arguments;
  FilteredConvolution conv;
  TransformPart part;
  WinogradAttr schedule;
  int64_t tile;
  int64_t down, across; // outputs of a tile
  int64_t pointsDown, pointsAcross, lanes;
  mlir::VectorType type;
  TileValues image, output;
  WinogradTransforms transforms;
  mlir::Value transformed, products, zero;
  mlir::Value grid; // one vector for each point of a tile, on the stack
  mlir::AffineMap outputPosition;
  // Of the convolution, or of windows of it.
  struct Result {
    mlir::Value value;
    mlir::AffineMap position;
    mlir::BlockArgument output; // null where nobody else reads it
  };
  Result result;
  struct Windows : WindowFold {
    TileValues values;
    Result result;
  };
  std::optional<Windows> windows;
  // Whether an output may be computed a second time: nothing is read where it
  // is stored.
  bool isRepeatable = false;
  mlir::OpFoldResult height, width; // of the image
  mlir::OpFoldResult rows, columns; // of the result
  mlir::OpFoldResult tileColumns;
};

} // namespace onnxc::winograd
