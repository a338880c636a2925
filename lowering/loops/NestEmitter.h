// How a nest of loops becomes code. Inside of emitNest only.
#pragma once
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/EmitNest.h"
#include "lowering/loops/LaneBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace onnxc::nests {

// A block of vectors keeps the machine as busy as many blocks in a row, which
// are only more code.
constexpr int64_t mostBlocksInFull = 16;
constexpr int64_t bitsOfLine = 8 * lineBytes;

// Where the loops stand, and every operand's offset there.
struct Place {
  // Null where the loop is not entered.
  llvm::SmallVector<mlir::OpFoldResult> iterations;
  llvm::SmallVector<mlir::OpFoldResult> offsets;
};

// How many elements a step takes.
struct Step {
  int64_t lanes = 0; // 0: one element
  mlir::Value mask;  // of the lanes that exist
};

// What a loop runs through, at `last` once more where steps go beyond.
struct Range {
  unsigned loop;
  mlir::OpFoldResult from, to;
  int64_t step;
  mlir::OpFoldResult last; // null where nothing is done twice
};

struct Tiling {
  int64_t lanes;
  llvm::SmallDenseMap<unsigned, int64_t> tile; // iterations of loops
  llvm::SmallVector<unsigned> turned; // inputs that change places in it
};

using Steps = llvm::function_ref<void(mlir::OpFoldResult at, Step step,
                                      unsigned vectors)>;

class NestEmitter {
public:
  NestEmitter(mlir::ImplicitLocOpBuilder &b, Nest &nest, Lanes machine);
  void emit();

private:
  // Choices.
  int64_t bytesOf(const NestOperand &operand);
  int64_t bytesRepeatedBy(unsigned loop);
  void readFarOperandsOnce();
  const char *whyNoVectors(Lanes machine);
  int64_t score(unsigned loop);
  int64_t scoreOfLoads(unsigned loop);
  unsigned elementAlong(unsigned loop);
  void chooseVectorLoop(Lanes machine);
  Changes changesAlong(llvm::ArrayRef<unsigned> loops);
  bool loadsEachLane();
  bool fitsMask(const Changes &changes);
  bool chooseTile(Lanes machine);
  bool chooseTileOfVectors();
  double costOfTiles();
  bool growTile(llvm::ArrayRef<unsigned> run);
  bool isTurned(unsigned input);
  bool isWhole(unsigned loop);
  bool fillsVectors(const NestOperand &operand);
  bool isArithmetic();
  bool mayRepeat();
  bool goesPastCaches(int64_t leastBytes);

  // Loops.
  void forEach(llvm::ArrayRef<unsigned> loops, const Place &place,
               llvm::function_ref<void(const Place &)> body);
  llvm::SmallVector<mlir::Value>
  fold(llvm::ArrayRef<unsigned> loops, const Place &place,
       mlir::ValueRange start,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(const Place &,
                                                         mlir::ValueRange)>
           body);
  bool overlapping(mlir::OpFoldResult from, mlir::OpFoldResult to, Steps steps);
  void alongLanes(mlir::OpFoldResult from, mlir::OpFoldResult to, Steps steps);
  Place enter(const Place &place, unsigned loop, mlir::OpFoldResult at);

  // Steps.
  void holdInvariant(const Place &place);
  void holdInBody(const Changes &changes, const Place &place);
  void parallelBlock(const Place &place, Step step, unsigned vectors);
  llvm::SmallVector<mlir::Value>
  inFloatBlocks(mlir::OpFoldResult from, mlir::OpFoldResult end, int64_t stride,
                mlir::ValueRange state,
                llvm::function_ref<llvm::SmallVector<mlir::Value>(
                    mlir::OpFoldResult, mlir::OpFoldResult, mlir::ValueRange)>
                    sweep);
  bool foldsInRuns();
  void inRuns(const Place &start);
  void foldLanes(const Place &place);
  bool isRowThatSpills(mlir::OpFoldResult vectors) const;
  bool foldsInPanels();
  void inPanels(const Place &place);
  void overPanels(const Place &place, mlir::OpFoldResult columns);
  void blocks(const Place &place, mlir::OpFoldResult columns);
  unsigned waysAcross();
  llvm::SmallVector<mlir::Value> foldAcross(const Place &place, Step step,
                                            llvm::ArrayRef<mlir::Value> start,
                                            unsigned ways);
  llvm::SmallVector<mlir::Value>
  runBody(const Place &place, Step step,
          llvm::ArrayRef<mlir::Value> accumulators,
          llvm::ArrayRef<mlir::Operation *> without = {});

  // Tiles.
  llvm::SmallVector<unsigned> aroundTiles();
  void turnTiles(const Place &start, llvm::ArrayRef<Tiling> ways);
  Range tilesAlong(unsigned loop);
  int64_t widthOfColumns(llvm::ArrayRef<Range> stepped);
  void walkTiles(llvm::ArrayRef<Range> stepped, const Place &place);
  void turnTile(const Place &corner, std::optional<unsigned> along);
  bool leavesL2();
  // The outermost loop; null where there is none.
  mlir::scf::ForOp over(llvm::ArrayRef<Range> ranges, const Place &place,
                        llvm::function_ref<void(const Place &)> body);
  llvm::SmallVector<unsigned> orderOf(const NestOperand &operand);
  llvm::SmallVector<int64_t> stepsTo(int64_t element,
                                     llvm::ArrayRef<unsigned> order);
  Place enterSteps(const Place &place, llvm::ArrayRef<int64_t> steps);
  int64_t elementsOf(llvm::ArrayRef<unsigned> order);
  llvm::SmallVector<int64_t>
  rearrangementOf(unsigned input, llvm::ArrayRef<unsigned> outputOrder);
  llvm::SmallVector<mlir::Value>
  loadTurned(unsigned input, const Place &corner,
             llvm::ArrayRef<unsigned> outputOrder);
  mlir::Value loadAlong(unsigned input, const Place &corner, int64_t first,
                        llvm::ArrayRef<unsigned> outputOrder);

  // Operands.
  // Where lanes lie a few elements apart, how many.
  std::optional<int64_t> fewApart(const NestOperand &operand, unsigned loop);
  // Of an input that is read by whole vectors although its lanes lie apart.
  std::optional<int64_t> strideOfShuffle(unsigned input, unsigned loop);
  mlir::Value loadApart(mlir::Value buffer, mlir::OpFoldResult from,
                        int64_t stride);
  void storeApart(mlir::Value value, mlir::Value buffer,
                  mlir::OpFoldResult from, int64_t stride);
  mlir::Value load(unsigned operand, const Place &place, Step step);
  void storeVector(mlir::Value value, mlir::Value buffer, mlir::Value at);
  void store(unsigned output, mlir::Value value, const Place &place, Step step);
  LanePosition position(unsigned dim, const Place &place);
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, value);
  }

  mlir::ImplicitLocOpBuilder &b;
  Nest &nest;
  std::optional<unsigned> vectorLoop;
  llvm::SmallVector<Tiling> tilings; // to be tried one after the other
  llvm::SmallDenseMap<unsigned, int64_t> tile;
  llvm::SmallVector<unsigned> turned;
  int64_t lanes = 0;
  bool masks = false, stepsBack = false, storesMasked, permutes, turns = false;
  bool streams = false; // stores go past the caches
  unsigned unroll = 1;
  int64_t registers = 0, l2Bytes = 0;
  bool isLong = false; // what a step does
  llvm::SmallVector<unsigned> outer, folded;
  llvm::SmallVector<Combiner> combiners;
  llvm::DenseMap<unsigned, mlir::Value> held; // operands that are in registers
  llvm::DenseMap<mlir::Value, mlir::Value>
      heldInBody; // what only they and outer loops decide
};

} // namespace onnxc::nests
