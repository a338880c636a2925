// Operators that fold a window that slides over the image. Shapes are in Windows.cpp.
include "dialects/onnx/OnnxBase.td"

def AveragePoolOp : PoolOp<"AveragePool", [1, 7, 10, 11, 19, 22]> {
  let arguments = (ins FloatTensor:$x, AutoPad:$auto_pad, IntOr<"0">:$ceil_mode,
                   IntOr<"0">:$count_include_pad, OptionalAttr<Ints>:$dilations, Ints:$kernel_shape,
                   OptionalAttr<Ints>:$pads, OptionalAttr<Ints>:$strides);
  let results = (outs FloatTensor:$y);
  let combine = "acc + x";
  let finish = "acc / count";
  let countsPadding = "getCountIncludePad() != 0";
}

// Without padding the mean of the image; all dimensions from the third on are one window.
foreach pool = [["Average", "Mean"], ["Max", "Max"]] in
  def "Global" # pool[0] # "PoolOp" : CompositeOp<"Global" # pool[0] # "Pool", [1, 22]> {
    let arguments = (ins FloatTensor:$x);
    let results = (outs FloatTensor:$y);
    let formula = "reduce<Reduce" # pool[1] # "Op>(x, range(2, rankOf(x)))";
  }

def GlobalLpPoolOp : CompositeOp<"GlobalLpPool", [2, 22]> {
  let arguments = (ins FloatTensor:$x, IntOr<"2">:$p);
  let results = (outs FloatTensor:$y);
  let formula = "op<PowOp>({reduce<ReduceSumOp>(op<PowOp>({op<AbsOp>(x), double(p)}), range(2, rankOf(x))), 1.0 / p})";
}

def LpPoolOp : PoolOp<"LpPool", [2, 11, 18, 22]> {
  let arguments = (ins FloatTensor:$x, AutoPad:$auto_pad, IntOr<"0">:$ceil_mode,
                   OptionalAttr<Ints>:$dilations, Ints:$kernel_shape, IntOr<"2">:$p, OptionalAttr<Ints>:$pads,
                   OptionalAttr<Ints>:$strides);
  let results = (outs FloatTensor:$y);
  let element = "getP() == 1 ? abs(x) : getP() == 2 ? x * x : pow(abs(x), getP())";
  let combine = "acc + x";
  let finish = "getP() == 1 ? acc : getP() == 2 ? sqrt(acc) : pow(acc, 1.0 / getP())";
}

def MaxPoolOp : PoolOp<"MaxPool", [1, 8, 10, 11, 12, 22]> {
  let arguments = (ins Elements<realFloats # [I8, UI8]>:$x, AutoPad:$auto_pad, IntOr<"0">:$ceil_mode,
                   OptionalAttr<Ints>:$dilations, Ints:$kernel_shape, OptionalAttr<Ints>:$pads,
                   IntOr<"0">:$storage_order, OptionalAttr<Ints>:$strides);
  let results = (outs Elements<realFloats # [I8, UI8]>:$y, IntTensor:$indices);
  let elementType = "x, int64(context)";
  let identity = "-infinity";
  let combine = "greatest(acc, x)";
}

// The sum over neighbouring channels is a mean whose window slides along them.
def LRNOp : CompositeOp<"LRN", [1, 13]> {
  let arguments = (ins FloatTensor:$x, FloatOr<"0.0001f">:$alpha, FloatOr<"0.75f">:$beta, FloatOr<"1.0f">:$bias,
                   Int:$size);
  let results = (outs FloatTensor:$y);
  let body = [{
    using List = llvm::SmallVector<int64_t>;
    Node rows = unsqueeze(reshape(x * x, {0, 0, -1}), {1});
    Node mean = op<AveragePoolOp>({rows}, {{"kernel_shape", List{size, 1}}, {"count_include_pad", int64_t(1)},
                                           {"pads", List{(size - 1) / 2, 0, size / 2, 0}}});
    Node scale = op<PowOp>({reshapeTo(mean, shapeOf(x)) * alpha + bias, beta});
    return {x / scale};
  }];
}
