// Parts of the attention operators.
#pragma once
#include "dialects/onnx/Graph.h"

namespace onnxc {

// The operands and attributes of Attention, as the standard names them.
struct AttentionInputs {
  Node q, k, v, mask, pastKey, pastValue, kvLength;
  bool causal;
  int64_t queryHeads, keyHeads, leftWindow, rightWindow, outputMode;
  std::optional<double> scale;
  double softcap;
  Node firstQuery = {}; // its position; by default behind the past
  Node sink = {};       // a logit for each head that takes a share of nothing
};
llvm::SmallVector<Node> attention(Graph &graph, AttentionInputs inputs);
// [batch, sequence, heads * size] as [batch, heads, sequence, size].
Node splitHeads(Node x, int64_t heads);

struct FlexAttention {
  Node q, k, v;
  std::optional<double> scale;
  std::optional<int64_t> precision;
  mlir::Region &scoreMod, &probMod; // without blocks where absent
};
llvm::SmallVector<Node> flexAttention(Graph &graph, FlexAttention in);

struct Rotation {
  Node x, cosines, sines, positions;
  int64_t heads, dims;
  bool interleaved;
};
llvm::SmallVector<Node> rotaryEmbedding(Graph &graph, Rotation rotation);

struct LinearAttentionInputs {
  Node query, key, value, past, decay, beta;
  int64_t queryHeads, keyHeads;
  double scale;
  llvm::StringRef rule;
};
llvm::SmallVector<Node> linearAttention(Graph &graph,
                                        LinearAttentionInputs inputs);

llvm::SmallVector<Node> causalConvolution(Graph &graph, Node input, Node weight,
                                          Node bias, Node past,
                                          llvm::StringRef activation);

// com.microsoft's: Attention projects its input to queries, keys and values
// first, GroupQueryAttention takes the number of valid keys as an operand.
struct ProjectedAttention {
  Node projected, mask, bias, past;
  OptionalInts widths; // of the three
  int64_t heads;
  bool causal;
  double filter; // what a mask adds where it hides
  std::optional<double> scale;
  bool wantsPresent;
};
llvm::SmallVector<Node> projectedAttention(Graph &graph,
                                           ProjectedAttention inputs);

struct MultiHeadInputs {
  Node query, key, value, inputBias, mask, bias, pastKey, pastValue;
  int64_t heads;
  bool causal;
  double filter;
  std::optional<double> scale;
};
llvm::SmallVector<Node> multiHeadAttention(Graph &graph,
                                           MultiHeadInputs inputs);

// Positions may be one number, that of the sequence's first element.
llvm::SmallVector<Node> microsoftRotation(Graph &graph, Rotation rotation);

struct GroupQueryInputs {
  Node query, key, value, pastKey, pastValue, lengths, total, cosines, sines,
      positions, bias, sink, queryNorm, keyNorm;
  double normEpsilon;
  int64_t heads, keyHeads, window;
  double scale, softcap;
  bool causal, rotates, interleaved, smooth;
};
llvm::SmallVector<Node> groupQueryAttention(Graph &graph,
                                            GroupQueryInputs inputs);

} // namespace onnxc
