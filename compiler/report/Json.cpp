// The report as JSON and back: one line per field and direction.
#include "compiler/report/Report.h"

using namespace llvm;

namespace onnxc {

// Names come from the model and may be any bytes.
static json::Value text(StringRef bytes) { return json::fixUTF8(bytes); }

static json::Value toJSON(const ReportNode &node) {
  return json::Object{{"name", text(node.name)}, {"type", text(node.type)}};
}
static bool fromJSON(const json::Value &value, ReportNode &node,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", node.name) && map.map("type", node.type);
}

static json::Value toJSON(const ReportEdge &edge) {
  return json::Object{{"from", edge.from}, {"bytes", edge.bytes}};
}
static bool fromJSON(const json::Value &value, ReportEdge &edge,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("from", edge.from) && map.map("bytes", edge.bytes);
}

template <typename T> static json::Array arrayOf(const std::vector<T> &items) {
  json::Array array;
  for (const T &item : items)
    array.push_back(toJSON(item));
  return array;
}

static json::Value toJSON(const ReportRegion &region) {
  return json::Object{{"name", text(region.name)},
                      {"nodes", arrayOf(region.nodes)},
                      {"algorithm", region.algorithm},
                      {"schedule", region.schedule},
                      {"output", region.output},
                      {"layout", region.layout},
                      {"vector_bits", region.vectorBits},
                      {"scalar", region.scalar},
                      {"runs", region.runs},
                      {"flops", region.flops},
                      {"executed_flops", region.executedFlops},
                      {"bytes_read", region.bytesRead},
                      {"bytes_written", region.bytesWritten},
                      {"weight_bytes", region.weightBytes},
                      {"arena_bytes", region.arenaBytes},
                      {"warm_bytes", region.warmBytes},
                      {"predicted_cycles", region.predictedCycles},
                      {"bound", region.bound},
                      {"inputs", arrayOf(region.inputs)},
                      {"measured_ms", region.measuredMs}};
}
static bool fromJSON(const json::Value &value, ReportRegion &region,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", region.name) &&
         map.map("nodes", region.nodes) &&
         map.map("algorithm", region.algorithm) &&
         map.map("schedule", region.schedule) &&
         map.map("output", region.output) && map.map("layout", region.layout) &&
         map.map("vector_bits", region.vectorBits) &&
         map.map("scalar", region.scalar) && map.map("runs", region.runs) &&
         map.map("flops", region.flops) &&
         map.map("executed_flops", region.executedFlops) &&
         map.map("bytes_read", region.bytesRead) &&
         map.map("bytes_written", region.bytesWritten) &&
         map.map("weight_bytes", region.weightBytes) &&
         map.map("arena_bytes", region.arenaBytes) &&
         map.map("warm_bytes", region.warmBytes) &&
         map.map("predicted_cycles", region.predictedCycles) &&
         map.map("bound", region.bound) && map.map("inputs", region.inputs) &&
         map.map("measured_ms", region.measuredMs);
}

static json::Value toJSON(const ReportBuffer &buffer) {
  return json::Object{{"offset", buffer.offset},
                      {"bytes", buffer.bytes},
                      {"first", buffer.first},
                      {"last", buffer.last}};
}
static bool fromJSON(const json::Value &value, ReportBuffer &buffer,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("offset", buffer.offset) &&
         map.map("bytes", buffer.bytes) && map.map("first", buffer.first) &&
         map.map("last", buffer.last);
}

static json::Value toJSON(const ReportMissed &missed) {
  return json::Object{{"region", missed.region},   {"pass", missed.pass},
                      {"node", text(missed.node)}, {"type", text(missed.type)},
                      {"with", text(missed.with)}, {"reason", missed.reason}};
}
static bool fromJSON(const json::Value &value, ReportMissed &missed,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("region", missed.region) &&
         map.map("pass", missed.pass) && map.map("node", missed.node) &&
         map.map("type", missed.type) && map.map("with", missed.with) &&
         map.map("reason", missed.reason);
}

static json::Value toJSON(const ReportMachine &machine) {
  return json::Object{{"triple", machine.triple},
                      {"cpu", machine.cpu},
                      {"vector_bits", machine.vectorBits},
                      {"fma_per_cycle", machine.fmaPerCycle},
                      {"l1_bytes", machine.l1Bytes},
                      {"l2_bytes", machine.l2Bytes},
                      {"l3_bytes", machine.l3Bytes},
                      {"l1_bytes_per_cycle", machine.l1BytesPerCycle},
                      {"l2_bytes_per_cycle", machine.l2BytesPerCycle},
                      {"l3_bytes_per_cycle", machine.l3BytesPerCycle},
                      {"far_bytes_per_cycle", machine.farBytesPerCycle},
                      {"clock_ghz", machine.clockGhz}};
}
static bool fromJSON(const json::Value &value, ReportMachine &machine,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("triple", machine.triple) &&
         map.map("cpu", machine.cpu) &&
         map.map("vector_bits", machine.vectorBits) &&
         map.map("fma_per_cycle", machine.fmaPerCycle) &&
         map.map("l1_bytes", machine.l1Bytes) &&
         map.map("l2_bytes", machine.l2Bytes) &&
         map.map("l3_bytes", machine.l3Bytes) &&
         map.map("l1_bytes_per_cycle", machine.l1BytesPerCycle) &&
         map.map("l2_bytes_per_cycle", machine.l2BytesPerCycle) &&
         map.map("l3_bytes_per_cycle", machine.l3BytesPerCycle) &&
         map.map("far_bytes_per_cycle", machine.farBytesPerCycle) &&
         map.map("clock_ghz", machine.clockGhz);
}

static json::Object dimsOf(const ModelReport &report) {
  json::Object dims;
  for (const auto &[name, size] : report.dims)
    dims[json::fixUTF8(name)] = size;
  return dims;
}

json::Value toJSON(const ModelReport &report) {
  return json::Object{{"model", text(report.model)},
                      {"machine", toJSON(report.machine)},
                      {"dims", dimsOf(report)},
                      {"symbol_hint", report.symbolHint},
                      {"assumed_sizes", text(report.assumedSizes())},
                      {"nodes", report.nodeCount()},
                      {"arena_bytes", report.arenaBytes},
                      {"live_bytes", report.liveBytes()},
                      {"warmth", report.warmth()},
                      {"weights_bytes", report.weightsBytes},
                      {"flops", report.flops()},
                      {"regions", arrayOf(report.regions)},
                      {"folded", arrayOf(report.folded)},
                      {"buffers", arrayOf(report.buffers)},
                      {"missed", arrayOf(report.missed)},
                      {"measured_ms", report.measuredMs}};
}
static bool fromJSON(const json::Value &value, ModelReport &report,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("model", report.model) &&
         map.map("machine", report.machine) && map.map("dims", report.dims) &&
         map.map("symbol_hint", report.symbolHint) &&
         map.map("arena_bytes", report.arenaBytes) &&
         map.map("weights_bytes", report.weightsBytes) &&
         map.map("regions", report.regions) &&
         map.map("folded", report.folded) &&
         map.map("buffers", report.buffers) &&
         map.map("missed", report.missed) &&
         map.map("measured_ms", report.measuredMs);
}

Expected<ModelReport> readReport(StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  ModelReport report;
  json::Path::Root root("report");
  if (!fromJSON(*value, report, root))
    return root.getError();
  return report;
}

} // namespace onnxc
