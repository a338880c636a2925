// TfIdfVectorizer: every window of a row is compared with every n-gram of its
// length.
#include "dialects/onnx/Composite.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {
namespace {

constexpr int64_t floatType = 1, int64Type = 7;

// The pool's n-grams of one length, one after another.
ArrayRef<int64_t> gramsOf(const NGrams &grams, int64_t length) {
  if (length > int64_t(grams.begins.size()))
    return {};
  int64_t size = grams.pool.size(), begin = grams.begins[length - 1];
  int64_t end =
      length < int64_t(grams.begins.size()) ? grams.begins[length] : size;
  if (begin < 0 || end > size || begin > end)
    return {};
  return grams.pool.slice(begin, (end - begin) / length * length);
}

// [rows, grams]: in how many windows the elements `distance` apart are a gram.
Node occurrences(Node x, ArrayRef<int64_t> pool, int64_t length,
                 int64_t distance) {
  Graph &graph = *x.graph;
  int64_t windows = staticSize(x, 1) - (length - 1) * distance;
  Node all;
  for (int64_t i = 0; i < length; ++i) {
    SmallVector<int64_t> wanted;
    for (size_t gram = i; gram < pool.size(); gram += length)
      wanted.push_back(pool[gram]);
    Node part = slice(x, 1, i * distance, i * distance + windows);
    Node hit = unsqueeze(part, {2}) == graph.ints(wanted);
    all = all.given() ? all && hit : hit;
  }
  return op<ReduceSumOp>({cast(all, floatType), graph.ints({1})},
                         {{"keepdims", 0}});
}

// [rows, 1]: n-grams that nobody counts.
Node noOccurrences(Node x) {
  return op<ReduceSumOp>(
      {cast(slice(x, 1, 0, 0), floatType), x.graph->ints({1})});
}

// [rows, grams of this length], over all distances that count.
Node countsOf(const NGrams &grams, Node x, int64_t length) {
  ArrayRef<int64_t> pool = gramsOf(grams, length);
  int64_t count = pool.size() / length;
  SmallVector<double> zeros(count, 0);
  Node sum =
      noOccurrences(x) + cast(x.graph->doubles(zeros, {count}), floatType);
  // Skipping makes no difference to single elements.
  int64_t most = length == 1 ? 1 : grams.mostSkipped + 1;
  for (int64_t distance = 1; distance <= most; ++distance)
    if (staticSize(x, 1) > (length - 1) * distance)
      sum = sum + occurrences(x, pool, length, distance);
  return sum;
}

} // namespace

SmallVector<Node> countNGrams(Graph &graph, Node x, NGrams grams) {
  bool isRow = rankOf(x) == 1;
  Node rows = cast(isRow ? unsqueeze(x, {0}) : x, int64Type);
  if (rankOf(rows) != 2 || staticSize(rows, 1) < 0)
    return graph.fail("is not supported for rows of unknown length");
  if (!llvm::is_contained({"TF", "IDF", "TFIDF"}, grams.mode) ||
      grams.shortest < 1 || grams.mostSkipped < 0)
    return graph.fail("mode '" + grams.mode + "' or lengths are unknown");
  // Which n-gram, in the order of the pool, a column of the result counts.
  int64_t width = 0, next = 0, used = 0;
  for (int64_t column : grams.columns)
    width = std::max(width, column + 1);
  SmallVector<int64_t> source(width, -1);
  SmallVector<Node> counts;
  for (int64_t length = 1; length <= int64_t(grams.begins.size()); ++length) {
    int64_t count = gramsOf(grams, length).size() / length;
    bool counted = length >= grams.shortest && length <= grams.longest;
    if (next + count > int64_t(grams.columns.size()))
      return graph.fail("'ngram_indexes' has too few elements");
    for (int64_t i = 0; counted && i < count; ++i) {
      int64_t column = grams.columns[next + i];
      if (column < 0 || source[column] >= 0)
        return graph.fail("'ngram_indexes' with a repeated or negative "
                          "element is not supported");
      source[column] = used++;
    }
    next += count;
    if (counted && count)
      counts.push_back(countsOf(grams, rows, length));
  }
  counts.push_back(noOccurrences(rows));
  for (int64_t &column : source)
    column = column < 0 ? used : column;
  Node y = gather(concat(counts, 1), graph.ints(source), 1);
  if (grams.mode == "IDF")
    y = cast(y > 0, floatType);
  if (grams.mode != "TF" && !grams.weights.empty()) {
    if (int64_t(grams.weights.size()) < width)
      return graph.fail("'weights' has too few elements");
    SmallVector<double> weights(grams.weights.take_front(width));
    y = y * cast(graph.doubles(weights, {width}), floatType);
  }
  return {isRow ? squeeze(y, {0}) : y};
}

} // namespace onnxc
