// Superseded forms of the movement, contraction and window families.
include "dialects/onnx/OnnxBase.td"

def Concat1Op : LegacyOp<"Concat", [1]> {
  let arguments = (ins Variadic<Tensor>:$inputs, IntOr<"1">:$axis);
  let results = (outs Tensor:$concat_result);
  let formula = [{op<ConcatOp>(inputs, {{"axis", axis}})}];
}

def DepthToSpace1Op : LegacyOp<"DepthToSpace", [1]> {
  let arguments = (ins Tensor:$input, Int:$blocksize);
  let results = (outs Tensor:$output);
  let formula = [{op<DepthToSpaceOp>({input}, {{"blocksize", blocksize}})}];
}

def Gemm1Op : LegacyOp<"Gemm", [1, 6]> {
  let arguments = (ins NumberTensor:$a, NumberTensor:$b, NumberTensor:$c, FloatOr<"1.0f">:$alpha, FloatOr<"1.0f">:$beta,
                   IntOr<"0">:$broadcast, IntOr<"0">:$transA, IntOr<"0">:$transB);
  let results = (outs NumberTensor:$y);
  let formula = [{op<GemmOp>({a, b, c}, {{"alpha", alpha}, {"beta", beta}, {"transA", transA}, {"transB", transB}})}];
}

def GlobalLpPool1Op : LegacyOp<"GlobalLpPool", [1]> {
  let arguments = (ins FloatTensor:$x, FloatOr<"2.0f">:$p);
  let results = (outs FloatTensor:$y);
  let formula = "op<PowOp>({reduce<ReduceSumOp>(op<PowOp>({op<AbsOp>(x), p}), range(2, rankOf(x))), 1.0 / p})";
}

def LpPool1Op : LegacyOp<"LpPool", [1]> {
  let arguments = (ins FloatTensor:$x, AutoPad:$auto_pad, Ints:$kernel_shape, FloatOr<"2.0f">:$p,
                   OptionalAttr<Ints>:$pads, OptionalAttr<Ints>:$strides);
  let results = (outs FloatTensor:$y);
  let body = [{
    Attributes window = poolAttributes(auto_pad, std::nullopt, kernel_shape, pads, strides);
    window.push_back({"p", int64_t(p)});
    return {op<LpPoolOp>({x}, window)};
  }];
}

def Pad2Op : LegacyOp<"Pad", [2]> {
  let arguments = (ins Tensor:$data, OneOfOr<"constant", ["reflect", "edge"]>:$mode, Ints:$pads,
                   FloatOr<"0.0f">:$value);
  let results = (outs Tensor:$output);
  let formula = [{op<PadOp>({data, graph.ints(pads), constantLike(value, data)}, {{"mode", mode}})}];
}
def Pad1Op : LegacyOp<"Pad", [1]> {
  let arguments = (ins Tensor:$data, OneOfOr<"constant", ["reflect", "edge"]>:$mode, Ints:$paddings,
                   FloatOr<"0.0f">:$value);
  let results = (outs Tensor:$output);
  let formula = [{op<PadOp>({data, graph.ints(paddings), constantLike(value, data)}, {{"mode", mode}})}];
}

def Slice1Op : LegacyOp<"Slice", [1]> {
  let arguments = (ins Tensor:$data, OptionalAttr<Ints>:$axes, Ints:$ends, Ints:$starts);
  let results = (outs Tensor:$output);
  let formula = [{op<SliceOp>({data, graph.ints(starts), graph.ints(ends), axes ? graph.ints(*axes) : Node()})}];
}

def SpaceToDepth1Op : LegacyOp<"SpaceToDepth", [1, 13]> {
  let arguments = (ins Tensor:$input, Int:$blocksize);
  let results = (outs Tensor:$output);
  let formula = [{op<SpaceToDepthOp>({input}, {{"blocksize", blocksize}})}];
}

// With the parts as an attribute; version 1 has them as an operand as well.
def Split2Op : LegacyOp<"Split", [2, 11]> {
  let arguments = (ins Tensor:$input, IntOr<"0">:$axis, OptionalAttr<Ints>:$split, OptionalAttr<Int>:$result_count);
  let results = (outs Variadic<Tensor>:$outputs);
  let body = [{
    return graph.ops("onnx.Split", {input, split ? graph.ints(*split) : Node()}, {{"axis", axis}},
                     result_count.value_or(0));
  }];
}
def Split1Op : LegacyOp<"Split", [1]> {
  let arguments = (ins Tensor:$input, Optional<NumberTensor>:$split_input, IntOr<"0">:$axis, OptionalAttr<Ints>:$split,
                   OptionalAttr<Int>:$result_count);
  let results = (outs Variadic<Tensor>:$outputs);
  let body = [{
    Node parts = split ? graph.ints(*split) : split_input.given() ? cast(split_input, 7) : Node();
    return graph.ops("onnx.Split", {input, parts}, {{"axis", axis}}, result_count.value_or(0));
  }];
}

def Squeeze1Op : LegacyOp<"Squeeze", [1, 11]> {
  let arguments = (ins Tensor:$data, OptionalAttr<Ints>:$axes);
  let results = (outs Tensor:$squeezed);
  let formula = "op<SqueezeOp>({data, axes ? graph.ints(*axes) : Node()})";
}

def Unsqueeze1Op : LegacyOp<"Unsqueeze", [1, 11]> {
  let arguments = (ins Tensor:$data, Ints:$axes);
  let results = (outs Tensor:$expanded);
  let formula = "op<UnsqueezeOp>({data, graph.ints(axes)})";
}

// Resize before it chose how positions are mapped.
def Resize10Op : LegacyOp<"Resize", [10]> {
  let arguments = (ins Tensor:$x, FloatTensor:$scales, ResizeMode:$mode);
  let results = (outs Tensor:$y);
  let formula = [{op<ResizeOp>({x, Node(), scales}, {{"mode", mode},
      {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "ceil_where_smaller"}})}];
}

// Renamed ScatterElements.
def ScatterOp : LegacyOp<"Scatter", [9, 11]> {
  let arguments = (ins Tensor:$data, PositionTensor:$indices, Tensor:$updates, IntOr<"0">:$axis);
  let results = (outs Tensor:$output);
  let formula = [{op<ScatterElementsOp>({data, indices, updates}, {{"axis", axis}})}];
}

// Along one axis, which is an operand.
def Tile1Op : LegacyOp<"Tile", [1]> {
  let arguments = (ins Tensor:$input, NumberTensor:$tiles, NumberTensor:$axis);
  let results = (outs Tensor:$output);
  let body = [{
    Node every = graph.ints(range(0, rankOf(input))), at = scalar(cast(axis, 7));
    at = select(at < 0, at + rankOf(input), at);
    return {op<TileOp>({input, select(every == at, scalar(cast(tiles, 7)), 1)})};
  }];
}

def TopK1Op : LegacyOp<"TopK", [1]> {
  let arguments = (ins FloatTensor:$x, IntOr<"-1">:$axis, Int:$k);
  let results = (outs FloatTensor:$values, IntTensor:$indices);
  let body = [{ return graph.ops("onnx.TopK", {x, graph.ints({k})}, {{"axis", axis}}); }];
}
