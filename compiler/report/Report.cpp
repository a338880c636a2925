#include "compiler/report/Report.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace onnxc {

double ModelReport::flops() const {
  double sum = 0;
  for (const ReportRegion &region : regions)
    sum += double(region.flops) * std::max<int64_t>(region.runs, 1);
  return sum;
}

double ModelReport::predictedMs(const ReportRegion &region) const {
  return region.predictedCycles * std::max<int64_t>(region.runs, 1) /
         (machine.clockGhz * 1e6);
}

// A cycle counter's rate is the machine's clock; steady counters are slower.
static bool isClock(double ghz) { return ghz > 1 && ghz < 8; }

Error addMeasured(ModelReport &report, StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  double ms;
  auto wrong = [] {
    return createStringError("the measured times do not belong to this report");
  };
  if (words.size() != report.regions.size() + 2 || words[0].getAsDouble(ms))
    return wrong();
  std::vector<double> ticks;
  for (StringRef word : ArrayRef(words).drop_front())
    if (word.trim().getAsDouble(ticks.emplace_back()))
      return wrong();
  double all = std::max(ticks.back(), 1.0);
  report.measuredMs = ms;
  for (auto [region, taken] : zip(report.regions, ticks))
    region.measuredMs = ms * taken / all;
  if (double ghz = all / (ms * 1e6); isClock(ghz))
    report.machine.clockGhz = ghz;
  return Error::success();
}

bool isReportName(StringRef path) {
  StringRef extension = sys::path::extension(path);
  return extension == ".txt" || extension == ".json" || extension == ".html";
}

std::optional<std::string> renderFor(StringRef path, const ModelReport &report) {
  StringRef extension = sys::path::extension(path);
  if (extension == ".html")
    return renderPage(report);
  if (extension == ".txt")
    return renderText(report);
  if (extension != ".json")
    return std::nullopt;
  std::string text;
  raw_string_ostream stream(text);
  stream << formatv("{0:2}", toJSON(report)) << "\n";
  return text;
}

} // namespace onnxc
