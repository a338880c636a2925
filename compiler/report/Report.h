// What one compilation made of a model, for a person: its regions, what they
// cost, where their results lie, and what was not done. Collected from the IR,
// written as text, JSON or a page; onnxc-run adds measured times.
#pragma once
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace onnxc {

struct ReportNode {
  std::string name, type;
};

// A value that a region reads from an earlier one.
struct ReportEdge {
  int64_t from = 0, bytes = 0;
};

// What runs as a piece; see lowering/memory/Regions.h. Numbers are of one run.
struct ReportRegion {
  std::string name;
  std::vector<ReportNode> nodes;
  std::string algorithm; // "direct convolution"
  std::string schedule;  // "8x32 tile, panels outermost"; empty: none
  std::string output;    // "1x56x56x64 f32"
  std::string layout;    // "channels last"
  int64_t vectorBits = 0;
  std::string scalar; // why there are no vectors
  int64_t runs = 1;   // of a loop around; 0: not known
  // Arithmetic of the formulas, and what the algorithm does instead of it.
  int64_t flops = 0, executedFlops = 0;
  int64_t bytesRead = 0, bytesWritten = 0, weightBytes = 0;
  // Of these, what lies in the arena, and what of that L1 and L2 still hold
  // from the regions before.
  int64_t arenaBytes = 0, warmBytes = 0;
  double predictedCycles = 0;
  std::string bound; // "arithmetic", "L1", "L2", "L3" or "memory"
  std::vector<ReportEdge> inputs;
  std::optional<double> measuredMs;
};

// Bytes of the arena from its first to its last region, both inclusive.
struct ReportBuffer {
  std::optional<int64_t> offset; // none: known at entry
  int64_t bytes = 0, first = 0, last = 0;
};

struct ReportMissed {
  std::string pass, node, type, with, reason;
  int64_t region = 0;
};

struct ReportMachine {
  std::string triple, cpu;
  int64_t vectorBits = 0, fmaPerCycle = 0, l1Bytes = 0, l2Bytes = 0,
          l3Bytes = 0; // 0: not known
  double l1BytesPerCycle = 0, l2BytesPerCycle = 0, l3BytesPerCycle = 0,
         farBytesPerCycle = 0;
  double clockGhz = 0; // assumed, or measured with the regions
};

struct ModelReport {
  std::string model;
  ReportMachine machine;
  // What symbolic dimensions were taken for, and other unknown sizes; 0 where
  // there are none.
  std::map<std::string, int64_t> dims;
  int64_t symbolHint = 0;
  std::optional<int64_t> arenaBytes;
  int64_t weightsBytes = 0;
  std::vector<ReportRegion> regions;
  std::vector<ReportNode> folded; // in no region
  std::vector<ReportBuffer> buffers;
  std::vector<ReportMissed> missed;
  std::optional<double> measuredMs; // the whole call

  double flops() const;
  int64_t nodeCount() const; // each once
  // The most that values of known place take at once: no arena is smaller.
  int64_t liveBytes() const;
  // "88 % of the bytes touched in it are warm"; empty where caches are not
  // known.
  std::string warmth() const;
  // "unknown sizes are taken for 64, batch for 8"; empty where there are none.
  std::string assumedSizes() const;
  double predictedMs(const ReportRegion &region) const;
};

llvm::json::Value toJSON(const ModelReport &report);
llvm::Expected<ModelReport> readReport(llvm::StringRef json);

// Adds what an object that was compiled with --profile measured:
// "MS GHZ TICKS..." with the milliseconds of a call, the clock of the core
// meanwhile (0: not known), the ticks of each region and of the call.
llvm::Error addMeasured(ModelReport &report, llvm::StringRef text);

// The form that the name of a file asks for; none for an unknown one.
std::optional<std::string> renderFor(llvm::StringRef path,
                                     const ModelReport &report);
bool isReportName(llvm::StringRef path);

std::string renderText(const ModelReport &report);
std::string renderPage(const ModelReport &report);

} // namespace onnxc
