// The words of `body` and `formula`: arithmetic on whole tensors, each step one
// onnx operation.
#pragma once
#include "dialects/onnx/Record.h"
#include "dialects/onnx/Status.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <concepts>
#include <variant>

namespace onnxc {

class Graph;

// A tensor, a number that takes the type of what it meets, or an absent
// operand.
struct Node {
  Node() = default;
  Node(double number) : literal(number) {}
  Node(std::integral auto number) : literal(double(number)) {}
  Node(Graph &graph, mlir::Value value) : graph(&graph), value(value) {}
  bool given() const { return value || literal; }

  Graph *graph = nullptr;
  mlir::Value value;
  std::optional<double> literal;
};

using Number =
    std::variant<int64_t, double, llvm::StringRef, llvm::SmallVector<int64_t>>;
struct NamedNumber {
  llvm::StringRef name;
  Number value;
};
using Attributes = llvm::SmallVector<NamedNumber>;

class Graph {
public:
  Graph(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}
  Node ints(llvm::ArrayRef<int64_t> values);
  Node floats(llvm::ArrayRef<float> values);
  Node doubles(llvm::ArrayRef<double> values, llvm::ArrayRef<int64_t> shape);
  Node constant(mlir::ElementsAttr value);
  // Copies of the subgraph's operations, and its outputs.
  llvm::SmallVector<Node> inlined(mlir::Region &subgraph,
                                  llvm::ArrayRef<Node> inputs);
  // A Scan along the first dimension of `sequences`; `step` gets the states and
  // a slice of each and gives the next states and what is stacked. A sequence
  // is walked from its end where `reversed` says 1.
  llvm::SmallVector<Node>
  scan(llvm::ArrayRef<Node> states, llvm::ArrayRef<Node> sequences,
       llvm::ArrayRef<int64_t> reversed,
       llvm::function_ref<llvm::SmallVector<Node>(llvm::ArrayRef<Node>)> step);
  Node op(llvm::StringRef name, llvm::ArrayRef<Node> operands,
          llvm::ArrayRef<NamedNumber> attributes = {});
  // All results; `count` for operators that have as many as the model asks for.
  llvm::SmallVector<Node> ops(llvm::StringRef name,
                              llvm::ArrayRef<Node> operands,
                              llvm::ArrayRef<NamedNumber> attributes = {},
                              unsigned count = 0);
  // Reports an error at the composite.
  llvm::SmallVector<Node> fail(const llvm::Twine &message);
  Node splat(double number, mlir::Type element);
  // Whether formulas are to be computed as they are written.
  bool isStrict() const;
  bool failed = false; // and the error is out

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

inline Graph &graphOf(llvm::ArrayRef<Node> nodes) {
  return *llvm::find_if(nodes, [](const Node &node) {
            return node.graph;
          })->graph;
}
template <typename Op>
Node op(llvm::ArrayRef<Node> operands,
        llvm::ArrayRef<NamedNumber> attributes = {}) {
  return graphOf(operands).op(Op::getOperationName(), operands, attributes);
}
template <typename Op> Node reduce(Node x, llvm::ArrayRef<int64_t> axes) {
  return op<Op>({x, x.graph->ints(axes)});
}

template <typename Op>
llvm::SmallVector<Node> ops(llvm::ArrayRef<Node> operands,
                            llvm::ArrayRef<NamedNumber> attributes = {},
                            unsigned count = 0) {
  return graphOf(operands).ops(Op::getOperationName(), operands, attributes,
                               count);
}

Node operator+(Node a, Node b);
Node operator-(Node a, Node b);
Node operator-(Node x);
Node operator*(Node a, Node b);
Node operator/(Node a, Node b);
Node operator==(Node a, Node b);
Node operator<(Node a, Node b);
Node operator<=(Node a, Node b);
Node operator>(Node a, Node b);
Node operator>=(Node a, Node b);
Node operator&&(Node a, Node b);
Node operator||(Node a, Node b);
Node operator!(Node x);
Node select(Node condition, Node yes, Node no);
Node exp(Node x);
Node sqrt(Node x);

Node cast(Node x, int64_t dataType);
Node castLike(Node x, Node like);
Node wide(Node x); // integers and floats below 32 bits as f32
Node constantLike(double number, Node like);

// Products of x - zero with weights - weightsZero: a zero point for all, or one
// for each row of x and each channel of the weights. Exact sums, in i32 or,
// where that holds them as well, in f32.
struct IntegerProduct {
  Node x, zero, weights, weightsZero, bias;
  int64_t channel = 0; // the dimension of the weights that the result keeps
};
Node integerConvolution(IntegerProduct in,
                        llvm::ArrayRef<NamedNumber> attributes);
Node integerMatMul(IntegerProduct in);
using OptionalInts = std::optional<llvm::ArrayRef<int64_t>>;
// What convolutions take over from their quantized forms.
Attributes windowAttributes(llvm::StringRef autoPad, OptionalInts dilations,
                            int64_t group, OptionalInts kernelShape,
                            OptionalInts pads, OptionalInts strides);
// The same without groups, which no pool has.
Attributes poolAttributes(llvm::StringRef autoPad, OptionalInts dilations,
                          OptionalInts kernelShape, OptionalInts pads,
                          OptionalInts strides);

// Shapes. In `reshape`, 0 keeps a size and -1 takes what is left.
Node alignAt(
    Node x, int64_t axis,
    int64_t rank); // appends ones, so that dimension 0 of x meets `axis`
Node reshape(Node x, llvm::ArrayRef<int64_t> sizes);
Node reshapeTo(Node x, Node sizes);
Node shapeOf(Node x);
Node sizeOf(Node x, int64_t dim); // a tensor of one element
Node unsqueeze(Node x, llvm::ArrayRef<int64_t> axes);
Node squeeze(Node x, llvm::ArrayRef<int64_t> axes);
Node transpose(Node x, llvm::ArrayRef<int64_t> permutation);
Node slice(Node x, int64_t axis, int64_t begin, int64_t end);
Node slice(Node x, int64_t axis, Node begin, Node end);
Node concat(llvm::ArrayRef<Node> parts, int64_t axis);
Node expand(Node x, Node sizes);
Node gather(Node x, Node indices, int64_t axis);
Node matmul(Node a, Node b);
Node range(Node begin, Node end, Node step); // of scalars
Node position(Node x, int64_t axis);         // of every element, along `axis`
Node scalar(Node x); // one element as a tensor of rank 0
// The same, in a run that ends with the fault unless all of the conditions
// hold: of what the result depends on `x`.
struct Fault {
  Status status;
  llvm::StringRef operand, message;
};
Node require(Node x, Node conditions, Fault fault);
int64_t rankOf(Node x);
// `axis` counted from the front; an error of the composite where x has no such
// dimension.
int64_t axisOf(Node x, int64_t axis);
int64_t staticSize(Node x, int64_t dim); // negative where unknown
llvm::SmallVector<Node> nodesOf(Graph &graph, mlir::ValueRange values);

using Expand =
    llvm::function_ref<llvm::SmallVector<Node>(Graph &, llvm::ArrayRef<Node>)>;
// Types of a composite: those of its expansion, built in a scratch block and
// thrown away.
llvm::LogicalResult inferByExpanding(mlir::MLIRContext *context,
                                     std::optional<mlir::Location> loc,
                                     mlir::ValueRange values, Expand expand,
                                     llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace onnxc
