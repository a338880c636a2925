// The optimizers of ai.onnx.preview.training: operands and results come in groups, all X, then all G, and so on.
include "dialects/onnx/OnnxBase.td"

class Optimizer<string type> : CompositeOp<type, [1]> {
  let opName = "preview." # type;
  let domain = "ai.onnx.preview.training";
  let results = (outs Variadic<FloatTensor>:$outputs);
}

def AdagradOp : Optimizer<"Adagrad"> {
  let arguments = (ins FloatTensor:$r, IntTensor:$t, Variadic<FloatTensor>:$inputs, FloatOr<"0.0f">:$decay_factor,
                   FloatOr<"1e-6f">:$epsilon, FloatOr<"0.0f">:$norm_coefficient);
  let body = [{
    return optimize(graph, inputs, 3, [&](llvm::ArrayRef<Node> in) -> llvm::SmallVector<Node> {
      Node x = in[0], gradient = norm_coefficient * x + in[1];
      Node rate = castLike(r, x) / (1 + castLike(t, x) * decay_factor);
      Node h = in[2] + gradient * gradient;
      return {x - rate * gradient / (sqrt(h) + epsilon), h};
    });
  }];
}

def AdamOp : Optimizer<"Adam"> {
  let arguments = (ins FloatTensor:$r, IntTensor:$t, Variadic<FloatTensor>:$inputs, FloatOr<"0.9f">:$alpha,
                   FloatOr<"0.999f">:$beta, FloatOr<"1e-6f">:$epsilon, FloatOr<"0.0f">:$norm_coefficient,
                   FloatOr<"0.0f">:$norm_coefficient_post);
  let body = [{
    return optimize(graph, inputs, 4, [&](llvm::ArrayRef<Node> in) -> llvm::SmallVector<Node> {
      Node x = in[0], gradient = norm_coefficient * x + in[1], step = castLike(t, x), rate = castLike(r, x);
      Node v = alpha * in[2] + (1 - alpha) * gradient;
      Node h = beta * in[3] + (1 - beta) * gradient * gradient;
      auto left = [&](double factor) { return 1 - op<PowOp>({constantLike(factor, x), step}); };
      Node warm = select(t > 0, rate * sqrt(left(beta)) / left(alpha), rate);
      Node moved = x - warm * v / (sqrt(h) + epsilon);
      return {(1 - norm_coefficient_post) * moved, v, h};
    });
  }];
}

def MomentumOp : Optimizer<"Momentum"> {
  let arguments = (ins FloatTensor:$r, IntTensor:$t, Variadic<FloatTensor>:$inputs, Float:$alpha, Float:$beta,
                   OneOf<["standard", "nesterov"]>:$mode, Float:$norm_coefficient);
  let body = [{
    return optimize(graph, inputs, 3, [&](llvm::ArrayRef<Node> in) -> llvm::SmallVector<Node> {
      Node x = in[0], gradient = norm_coefficient * x + in[1], rate = castLike(r, x);
      Node share = select(t > 0, constantLike(beta, x), constantLike(1, x));
      Node v = alpha * in[2] + share * gradient;
      return {x - rate * (mode == "nesterov" ? gradient + alpha * v : v), v};
    });
  }];
}
