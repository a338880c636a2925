#include "compiler/report/Report.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
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
  return region.predictedCycles * region.runs / (machine.clockGhz * 1e6);
}

int64_t ModelReport::nodeCount() const {
  StringSet<> names;
  for (const ReportRegion &region : regions)
    for (const ReportNode &node : region.nodes)
      names.insert(node.name);
  return names.size();
}

int64_t ModelReport::liveBytes() const {
  std::vector<int64_t> live(regions.size());
  for (const ReportBuffer &buffer : buffers)
    for (int64_t at = buffer.first; buffer.offset && at <= buffer.last; ++at)
      live[at] += buffer.bytes;
  return live.empty() ? 0 : *llvm::max_element(live);
}

std::string ModelReport::warmth() const {
  double touched = 0, warm = 0;
  for (const ReportRegion &region : regions) {
    touched += region.arenaBytes;
    warm += region.warmBytes;
  }
  if (!touched || !machine.l2Bytes)
    return "";
  return formatv("{0:f0} % of the bytes touched in it are warm in L2",
                 100 * warm / touched);
}

std::string ModelReport::assumedSizes() const {
  if (!symbolHint)
    return "";
  std::string text = formatv("unknown sizes are taken for {0}", symbolHint);
  for (const auto &[name, size] : dims)
    text += formatv(", {0} for {1}", name, size);
  return text;
}

Error addMeasured(ModelReport &report, StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  double ms, ghz;
  auto wrong = [] {
    return createStringError("the measured times do not belong to this report");
  };
  if (words.size() != report.regions.size() + 3 || words[0].getAsDouble(ms) ||
      words[1].getAsDouble(ghz))
    return wrong();
  std::vector<double> ticks;
  for (StringRef word : ArrayRef(words).drop_front(2))
    if (word.trim().getAsDouble(ticks.emplace_back()))
      return wrong();
  double all = std::max(ticks.back(), 1.0);
  report.measuredMs = ms;
  for (auto [region, taken] : zip(report.regions, ticks))
    region.measuredMs = ms * taken / all;
  if (ghz > 0)
    report.machine.clockGhz = ghz;
  return Error::success();
}

bool isReportName(StringRef path) {
  StringRef extension = sys::path::extension(path);
  return extension == ".txt" || extension == ".json" || extension == ".html";
}

std::optional<std::string> renderFor(StringRef path,
                                     const ModelReport &report) {
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
