// Shared by the files that write a contraction: EmitContraction.cpp the loops
// around the tiles, WalkRows.cpp those along their rows, EmitTile.cpp the tile.
#pragma once
#include "lowering/loops/ContractionNest.h"
#include "lowering/loops/RowTiles.h"

namespace onnxc::contraction {

// Of a tile.
struct Rows {
  int64_t begin, end;
};

struct Tile {
  llvm::SmallVector<mlir::OpFoldResult> loops; // at the tile's first element
  int64_t rows = 1, vectors = 1;
  mlir::Value mask; // of the last vector's lanes; null where all exist
  // How the row's window is handled: every tap is inside, the live taps of
  // each row are known here, or the rows restrict the taps' range and those
  // that lie beside the image read padding.
  enum { Inside, Unrolled, Clamped } border = Inside;
  int64_t firstRow = 0; // where Unrolled
  // Of a blocked product: the rows of a block, the panels of a group, and a
  // piece of the reduction with whether it is the first and the last one.
  mlir::OpFoldResult blockBegin, blockEnd, firstPanel, lastPanel, from, to;
  mlir::Value isFirst, isLast;
  bool ends = true;        // the sums
  bool leaves = false;     // a copy of the panel that it reads
  bool isCutShort = false; // the sum along lanes ends within this step
  bool isAll = false;      // of the rows
  int64_t least = 1;       // rows that there are
  int64_t together = 1;    // panels of a group
  bool asksOnce = false;   // for a line of weights in two steps

  bool isPiece() const { return bool(isLast); }
};

// Of the function that code is written to.
mlir::ModuleOp moduleOf(mlir::OpBuilder &b);

// How weights that are read once are asked for: each line, or one of a few.
struct Ahead {
  int64_t bytes, every;
  TileValues::Cache cache;
};

class ContractionEmitter {
public:
  ContractionEmitter(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                     TileValues &values, const ContractionNest &nest,
                     mlir::Value backwards)
      : b(b), kernel(kernel), values(values), nest(nest), root(nest.root),
        lanes(nest.schedule.getVector()), backwards(backwards),
        panels(nest.room ? inputOfPanels(root, nest.roles) : nullptr) {
    if (nest.schedule.getPartial())
      alongSum.emplace(values.along(nest.roles.reductions.back()));
  }

  void emit();

private:
  // Else the number of a loop.
  enum Step {
    Panels = -1,
    RowTilesStep = -2,
    Blocks = -3,
    Groups = -4,
    PanelsOfGroup = -5
  };

  void walk(llvm::ArrayRef<int> steps, Tile tile);
  bool overlapsAtEnd();
  std::pair<mlir::OpFoldResult, mlir::OpFoldResult>
  panelsInside(mlir::OpFoldResult whole);
  void withoutEdges(llvm::function_ref<void()> body);
  mlir::OpFoldResult ifBackwards(mlir::OpFoldResult then,
                                 mlir::OpFoldResult otherwise);
  // So many columns, the last vector masked.
  void takeColumns(Tile &tile, int64_t count);
  void walkPanels(llvm::ArrayRef<int> steps, Tile tile);
  void walkPanel(llvm::ArrayRef<int> steps, Tile &tile);
  int64_t panelsOfShortTile(llvm::ArrayRef<int> steps, const Tile &tile);
  void walkBlocks(llvm::ArrayRef<int> steps, Tile tile);
  void walkBlocksOf(RowTiles tiles, llvm::ArrayRef<int> steps, Tile tile);
  mlir::OpFoldResult panelsOfGroup();
  void walkGroups(llvm::ArrayRef<int> steps, Tile tile);
  void walkPieces(llvm::ArrayRef<int> steps, Tile tile);
  void walkPanelsOfGroup(llvm::ArrayRef<int> steps, Tile tile);
  bool isWorthCopying(mlir::OpOperand *input);
  void copyPanel(mlir::OpOperand *input, Tile tile, Access &scratch);
  void walkRows(llvm::ArrayRef<int> steps, Tile tile);
  int64_t panelsTogether(const Tile &tile, int64_t rows, bool inGroup);
  void walkTogether(llvm::ArrayRef<int> steps, Tile tile, int64_t panels);
  void walkFewRows(llvm::ArrayRef<int> steps, Tile tile);
  Access accessOfRoom(const Tile &tile);
  void walkCopied(Tile &tile, llvm::function_ref<void()> first,
                  llvm::function_ref<void()> others);
  void walkRowsOfBlock(llvm::ArrayRef<int> steps, Tile tile);
  void walkTiles(llvm::ArrayRef<int> steps, Tile tile, RowTiles group);
  mlir::BlockArgument room() {
    return kernel.getBodyBlock()->getArguments().back();
  }
  void walkStaticRows(llvm::ArrayRef<int> steps, Tile tile, int64_t extent);
  void walkDynamicRows(llvm::ArrayRef<int> steps, Tile tile);
  int64_t bytesOfPanels();
  bool readsSeveralPlaces();
  bool readsFarPanels();
  bool readsFarMemory();
  void walkExactRows(llvm::ArrayRef<int> steps, Tile tile,
                     mlir::OpFoldResult begin, mlir::OpFoldResult end);
  void walkRowRange(llvm::ArrayRef<int> steps, Tile tile,
                    mlir::OpFoldResult begin, mlir::OpFoldResult end);
  void walkWhereInside(llvm::ArrayRef<int> steps, Tile tile);
  bool readsBeside(const ContractionNest::SizedBorder &window);
  bool mayRepeatRows();
  std::pair<mlir::OpFoldResult, mlir::OpFoldResult>
  rowsInside(const ContractionNest::SizedBorder &window);
  // `walked` is what the loop goes along.
  void forEach(mlir::OpFoldResult begin, mlir::OpFoldResult end,
               mlir::OpFoldResult step,
               llvm::function_ref<void(mlir::OpFoldResult)> body,
               std::optional<int> walked = {});
  void forEach(mlir::OpFoldResult begin, mlir::OpFoldResult end, int64_t step,
               llvm::function_ref<void(mlir::OpFoldResult)> body,
               std::optional<int> walked = {}) {
    forEach(begin, end, number(b, step), body, walked);
  }
  void forEachPanel(mlir::OpFoldResult begin, mlir::OpFoldResult end,
                    llvm::function_ref<void(mlir::OpFoldResult)> body);
  void forEachStep(mlir::OpFoldResult begin, mlir::OpFoldResult end,
                   int64_t step,
                   llvm::function_ref<void(mlir::OpFoldResult)> body);

  using Accumulators = llvm::SmallVector<mlir::Value>;
  void emitTile(Tile &tile);
  Accumulators beginSums(const Tile &tile);
  void finishSums(const Tile &tile, Accumulators &sums);
  int64_t rowsTogether(const Tile &tile);
  void finishRows(const Tile &tile, int64_t first,
                  llvm::ArrayRef<mlir::Value> sums, Accumulators &folded);
  void foldRow(const Tile &tile, Cell at, Accumulators &folded);
  mlir::Value heldByFold(const Tile &tile, Cell at);
  void storeFold(const Tile &tile, llvm::ArrayRef<mlir::Value> folded);
  bool finishesInLoop(const Tile &tile);
  void finishInLoop(const Tile &tile);
  mlir::Value onStack(int64_t elements, mlir::Type element);
  bool waitsInOutput(const Tile &tile);
  void putAside(const Tile &tile, llvm::ArrayRef<mlir::Value> sums);
  Accumulators takeBack(const Tile &tile, mlir::Value first, int64_t rows);
  Cell cell(const Tile &tile, int64_t row, int64_t vector) {
    return {row, vector * lanes,
            vector + 1 == tile.vectors ? tile.mask : mlir::Value()};
  }
  void reduce(llvm::ArrayRef<unsigned> loops, Tile &tile, Rows live,
              Accumulators &sums);
  void reduceInLoop(llvm::ArrayRef<unsigned> loops, Tile &tile, Rows live,
                    Accumulators &sums);
  void reduceSteps(unsigned loop, Tile &tile, Rows live, Accumulators &sums,
                   int64_t steps, llvm::function_ref<void(int64_t)> goTo);
  int64_t tapsTogether(llvm::ArrayRef<unsigned> loops, const Tile &tile);
  void reduceTaps(llvm::ArrayRef<unsigned> loops, Tile &tile, Rows live,
                  Accumulators &sums, mlir::OpFoldResult begin,
                  mlir::OpFoldResult end, int64_t together);
  mlir::OpFoldResult indexOf(const Tile &tile, int64_t row);
  mlir::Value isWithin(mlir::OpFoldResult from, mlir::OpFoldResult to);
  void reduceWhere(mlir::Value condition, Accumulators &sums,
                   llvm::function_ref<void()> then,
                   llvm::function_ref<void()> otherwise);
  int64_t rowsBeside(const Tile &tile);
  void reduceTap(llvm::ArrayRef<unsigned> loops, Tile &tile, Rows live,
                 Accumulators &sums);
  bool rowsShareElements();
  bool isUnrolledInVain(const Tile &tile, size_t sums);
  bool isOfRest(const Tile &tile);
  void reduceUnrolled(llvm::ArrayRef<unsigned> loops, Tile &tile, Rows live,
                      Accumulators &sums, int64_t extent);
  void endTap();
  bool fitRegisters(int64_t vectors);
  bool tapsShareVectors(const Tile &tile, int64_t taps);
  std::pair<int64_t, int64_t> stepsAlong(unsigned tap);
  struct Turn {
    mlir::OpFoldResult count, number;
    int64_t taken = 1; // of them by the tile
  };
  Turn turnOf(const Tile &tile, bool ofRows);
  // What each of them asks for of the next panel.
  mlir::OpFoldResult elementsPerStep(const Turn &turn);
  void moveToNextPanel(Tile &tile);
  mlir::OpFoldResult elementsToNextPanel(const Tile &tile);
  // What a step of a tile asks for: elements behind where the next panel
  // begins, and how many; each further line so many elements away from where
  // the columns of the tile have it.
  struct Slice {
    mlir::OpFoldResult begin, elements, apart;
  };
  Slice sliceOf(const Tile &tile, Turn turn, std::optional<int64_t> ahead,
                int64_t panelColumns, int64_t back);
  int64_t panelColumnsOf(mlir::OpOperand *input);
  void prefetchSlice(mlir::OpOperand *input, const Tile &tile, Slice slice,
                     TileValues::Cache cache, int64_t perLine);
  std::optional<Ahead> aheadOfTile(mlir::OpOperand *input, const Tile &tile,
                                   int64_t perLine);
  void prefetchStream(mlir::OpOperand *input, const Tile &tile, Ahead ahead,
                      int64_t perLine);
  void prefetchWeights(const Tile &tile);
  mlir::OpOperand *packedWeights();
  mlir::OpFoldResult askedPerStep(mlir::OpOperand *weights, const Tile &tile);
  bool mayAskOnce(llvm::ArrayRef<unsigned> loops, const Tile &tile);
  void reduceInPairs(llvm::ArrayRef<unsigned> loops, Tile &tile, Rows live,
                     Accumulators &sums, mlir::OpFoldResult begin,
                     mlir::OpFoldResult end);
  // How far a row's element lies from one that exists, and the lanes to read:
  // all or none.
  struct Beside {
    mlir::Value shift, lanes;
  };
  Beside beside(const Tile &tile, int64_t row);
  mlir::Value read(TileValues &values, mlir::OpOperand *input, const Tile &tile,
                   Cell at, Beside beside);
  void accumulateAlongSum(Tile &tile, int64_t row, Accumulators &sums);
  void addPartialSums(Tile &tile, Accumulators &sums);
  // Vectors of sums that a row of the tile has.
  int64_t sumsOfRow(const Tile &tile) const {
    return alongSum ? nest.schedule.getPartial() : tile.vectors;
  }
  // Iterations of a reduction's loop that are done at once.
  int64_t stepOf(unsigned loop) const {
    return alongSum && loop == nest.roles.reductions.back() ? lanes : 1;
  }
  void forgetLoads() {
    values.forgetLoads();
    if (alongSum)
      alongSum->forgetLoads();
  }
  void accumulate(Tile &tile, int64_t row, Accumulators &sums);
  bool isUnrolled(llvm::ArrayRef<unsigned> loops, const Tile &tile);
  bool isBlock(llvm::ArrayRef<unsigned> loops, const Tile &tile);
  Rows liveRows(const Tile &tile, unsigned tap, int64_t at, Rows live);
  std::pair<mlir::OpFoldResult, mlir::OpFoldResult>
  tapRange(const ContractionNest::SizedBorder &window, const Tile &tile);
  std::optional<RowWindow> staticRowWindow();
  RowBorders bordersOfRows();
  bool isInGroups() const {
    return nest.schedule.getGroup() > 1 || nest.schedule.getDepth();
  }
  bool isInBlocks() const {
    return nest.schedule.getBlock() && nest.pixels.empty() && nest.row;
  }
  int firstLongLoop() const;
  bool sharesRows();

  mlir::ImplicitLocOpBuilder &b;
  KernelOp kernel;
  TileValues &values;
  std::optional<TileValues>
      alongSum;          // where lanes lie along the last reduction
  mlir::Value restOfSum; // the lanes of its last step; null where that is whole
  const ContractionNest &nest;
  mlir::linalg::GenericOp root;
  int64_t lanes;
  mlir::Value backwards;    // whether panels are walked so; may be null
  mlir::OpFoldResult group; // panels of one
  std::optional<int> inner; // the step whose loops are marked as inner ones
  mlir::OpOperand *panels;  // what is copied into nest.room; may be null
  bool isFolding = false;   // inside of loops that the fold goes over
  mlir::Value waiting;      // sums of a tile, on the stack
};

} // namespace onnxc::contraction
