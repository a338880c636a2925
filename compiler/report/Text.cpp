// The report as a table for a terminal.
#include "compiler/report/Report.h"
#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace onnxc {
namespace {

std::string withUnit(double number, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T"};
  size_t step = 0;
  for (; number >= 1000 && step + 1 < std::size(prefixes); ++step)
    number /= 1000;
  return fmt::format("{:.{}f} {}{}", number, number < 10 && step ? 2 : 0,
                     prefixes[step], unit);
}

std::string shortened(const std::string &text, size_t width) {
  return text.size() <= width ? text
                              : "..." + text.substr(text.size() - width + 3);
}

std::string time(const ModelReport &report, const ReportRegion &region) {
  std::string text = fmt::format("{:9.3f}", report.predictedMs(region) * 1000);
  if (region.measuredMs)
    text += fmt::format(" {:9.3f}", *region.measuredMs * 1000);
  return text;
}

// Of what it touches in the arena.
std::string warmth(const ReportRegion &region) {
  return region.arenaBytes ? fmt::format("{:.0f} %", 100. * region.warmBytes /
                                                         region.arenaBytes)
                           : "";
}

void summarize(const ModelReport &report, std::string &text) {
  const ReportMachine &machine = report.machine;
  double predicted = 0;
  for (const ReportRegion &region : report.regions)
    predicted += report.predictedMs(region);
  text += fmt::format(
      "{} for {} ({} bit vectors, {} multiply-adds a cycle, L1 "
      "{} KiB, L2 {} KiB{})\n",
      report.model, machine.cpu, machine.vectorBits, machine.fmaPerCycle,
      machine.l1Bytes >> 10, machine.l2Bytes >> 10,
      machine.l3Bytes ? fmt::format(", L3 {} MiB", machine.l3Bytes >> 20) : "");
  text += fmt::format(
      "{} regions of {} nodes, {} folded, {}, weights {}, arena {}\n",
      report.regions.size(), report.nodeCount(), report.folded.size(),
      withUnit(report.flops(), "FLOP"), withUnit(report.weightsBytes, "B"),
      report.arenaBytes ? withUnit(*report.arenaBytes, "B") : "known at entry");
  text += fmt::format("values of known place take {} at once",
                      withUnit(report.liveBytes(), "B"));
  if (std::string warmth = report.warmth(); !warmth.empty())
    text += "; " + warmth;
  text += "\n";
  if (std::string sizes = report.assumedSizes(); !sizes.empty())
    text += sizes + "\n";
  text += fmt::format("roofline at {} {:.2f} GHz: {:.3f} ms",
                      report.measuredMs ? "measured" : "assumed",
                      machine.clockGhz, predicted);
  if (report.measuredMs)
    text += fmt::format(", measured: {:.3f} ms", *report.measuredMs);
  text += "\n\n";
}

void listNodes(const char *title, const std::vector<ReportNode> &nodes,
               std::string &text) {
  text += title;
  for (const ReportNode &node : nodes)
    text += fmt::format(" {} ({})", node.name, node.type);
  text += "\n";
}

void listRegions(const ModelReport &report, std::string &text) {
  text += fmt::format(
      "{:>4} {:<28} {:<24} {:<44} {:<20} {:>6} {:>10} {:>9} {:>5} {:>9}{}\n",
      "", "region", "algorithm", "schedule", "output", "vector", "FLOP",
      "bytes", "warm", "us", report.measuredMs ? "  measured" : "");
  for (auto [number, region] : llvm::enumerate(report.regions)) {
    int64_t bytes = region.bytesRead + region.bytesWritten + region.weightBytes;
    text += fmt::format(
        "{:>4} {:<28} {:<24} {:<44} {:<20} {:>6} {:>10} {:>9} {:>5} {}\n",
        number, shortened(region.name, 28), region.algorithm, region.schedule,
        shortened(region.output, 20), region.vectorBits,
        withUnit(region.flops, ""), withUnit(bytes, "B"), warmth(region),
        time(report, region));
    if (region.nodes.size() > 1)
      listNodes("       nodes:", region.nodes, text);
  }
}

void listBuffers(const ModelReport &report, std::string &text) {
  text += fmt::format("\n{:>12} {:>12} {:>6} {:>5}  arena\n", "offset", "bytes",
                      "first", "last");
  for (const ReportBuffer &buffer : report.buffers)
    text += fmt::format("{:>12} {:>12} {:>6} {:>5}  {}\n",
                        buffer.offset ? fmt::format("{}", *buffer.offset)
                                      : "at entry",
                        buffer.bytes, buffer.first, buffer.last,
                        report.regions[buffer.first].name);
}

void listMissed(const ModelReport &report, std::string &text) {
  if (report.missed.empty())
    return;
  text += "\nnot done, and why\n";
  for (const ReportMissed &missed : report.missed)
    text += fmt::format(
        "  {} ({}): {}{}: {}\n", missed.node, missed.type, missed.pass,
        missed.with.empty() ? "" : " with " + missed.with, missed.reason);
}

} // namespace

std::string renderText(const ModelReport &report) {
  std::string text;
  summarize(report, text);
  listRegions(report, text);
  if (!report.folded.empty())
    listNodes("\nin no region, for they are constants, views or parts of "
              "others:",
              report.folded, text);
  listBuffers(report, text);
  listMissed(report, text);
  return text;
}

} // namespace onnxc
