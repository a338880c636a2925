// Experimental operators of ai.onnx that the standard dropped again. Converters of 2017 and 2018 wrote them.
include "dialects/onnx/OnnxElementwise.td"

def AffineOp : ElementwiseOp<"Affine", [1]> {
  let arguments = (ins FloatTensor:$x, FloatOr<"1.0f">:$alpha, FloatOr<"0.0f">:$beta);
  let results = (outs FloatTensor:$y);
  let scalar = "alpha * x + beta";
}

def CropOp : CompositeOp<"Crop", [1]> {
  let summary = "An image without its border: left, top, right, bottom; or of size `scale` from left and top";
  let arguments = (ins FloatTensor:$x, Ints:$border, OptionalAttr<Ints>:$scale);
  let results = (outs FloatTensor:$y);
  let body = [{
    if (border.size() != 4 || rankOf(x) != 4 || (scale && scale->size() != 2))
      return graph.fail("expected an image of rank 4, four borders and two sizes");
    auto end = [&](int64_t dim, int64_t begin, int64_t margin) {
      return scale ? graph.ints(begin + (*scale)[dim - 2]) : sizeOf(x, dim) - margin;
    };
    Node rows = slice(x, 2, graph.ints(border[1]), end(2, border[1], border[3]));
    return {slice(rows, 3, graph.ints(border[0]), end(3, border[0], border[2]))};
  }];
}

def ImageScalerOp : CompositeOp<"ImageScaler", [1]> {
  let arguments = (ins FloatTensor:$x, OptionalAttr<Floats>:$bias, FloatOr<"1.0f">:$scale);
  let results = (outs FloatTensor:$y);
  let body = [{
    Node scaled = scale == 1 ? x : x * scale;
    if (!bias)
      return {scaled};
    return {scaled + castLike(alignAt(graph.floats(*bias), 1, rankOf(x)), x)};
  }];
}

def ParametricSoftplusOp : ElementwiseOp<"ParametricSoftplus", [1]> {
  let arguments = (ins FloatTensor:$x, FloatOr<"1.0f">:$alpha, FloatOr<"1.0f">:$beta);
  let results = (outs FloatTensor:$y);
  let scalar = "alpha * log(exp(beta * x) + 1)";
}

def ScaledTanhOp : ElementwiseOp<"ScaledTanh", [1]> {
  let arguments = (ins FloatTensor:$x, FloatOr<"1.0f">:$alpha, FloatOr<"1.0f">:$beta);
  let results = (outs FloatTensor:$y);
  let scalar = "alpha * tanh(beta * x)";
}
