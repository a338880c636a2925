// Operators whose results are copies of elements of their operands. Shapes and source maps are in Movement.cpp.
include "dialects/onnx/OnnxBase.td"

def ConcatOp : MovementOp<"Concat", [4, 11, 13]> {
  let alike = [["inputs"]];
  let arguments = (ins Variadic<Tensor>:$inputs, Int:$axis);
  let results = (outs Tensor:$concat_result);
}

def ExpandOp : MovementOp<"Expand", [8, 13]> {
  let arguments = (ins Tensor:$input, IntTensor:$shape);
  let results = (outs Tensor:$output);
}

def FlattenOp : MovementOp<"Flatten", [1, 9, 11, 13, 21, 23, 24, 25]> {
  let arguments = (ins Tensor:$input, IntOr<"1">:$axis);
  let results = (outs Tensor:$output);
}

def GatherOp : MovementOp<"Gather", [1, 11, 13]> {
  let arguments = (ins Tensor:$data, PositionTensor:$indices, IntOr<"0">:$axis);
  let results = (outs Tensor:$output);
}

def GatherElementsOp : MovementOp<"GatherElements", [11, 13]> {
  let arguments = (ins Tensor:$data, PositionTensor:$indices, IntOr<"0">:$axis);
  let results = (outs Tensor:$output);
}

def GatherNDOp : MovementOp<"GatherND", [11, 12, 13]> {
  let arguments = (ins Tensor:$data, IntTensor:$indices, IntOr<"0">:$batch_dims);
  let results = (outs Tensor:$output);
}

def IdentityOp : MovementOp<"Identity", [1, 13, 14, 16, 19, 21, 23, 24, 25]> {
  let arguments = (ins Tensor:$input);
  let results = (outs Tensor:$output);
  let sizes = "input.sizes";
}

def PadOp : MovementOp<"Pad", [11, 13, 18, 19, 21, 23, 24, 25]> {
  let alike = [["data", "constant_value"]];
  let arguments = (ins Tensor:$data, IntTensor:$pads, Optional<Tensor>:$constant_value, Optional<PositionTensor>:$axes,
                   OneOfOr<"constant", ["reflect", "edge", "wrap"]>:$mode);
  let results = (outs Tensor:$output);
  let extraClassDeclaration = shapesDeclaration # [{
    onnxc::Padding padding(llvm::ArrayRef<onnxc::Input> inputs);
    // Which of `size` elements stands at a position that may be outside of
    // them, in a mode that repeats elements.
    onnxc::Index repeated(onnxc::Index position, onnxc::Index size);
  }];
}

def ReshapeOp : MovementOp<"Reshape", [5, 13, 14, 19, 21, 23, 24, 25]> {
  let arguments = (ins Tensor:$data, IntTensor:$shape, IntOr<"0">:$allowzero);
  let results = (outs Tensor:$reshaped);
}

def ReverseSequenceOp : MovementOp<"ReverseSequence", [10, 28]> {
  let arguments = (ins Tensor:$input, IntTensor:$sequence_lens, IntOr<"1">:$batch_axis, IntOr<"0">:$time_axis);
  let results = (outs Tensor:$output);
  let sizes = "input.sizes";
}

def SliceOp : MovementOp<"Slice", [10, 11, 13]> {
  let alike = [["starts", "ends", "axes", "steps"]];
  let arguments = (ins Tensor:$data, PositionTensor:$starts, PositionTensor:$ends, Optional<PositionTensor>:$axes,
                   Optional<PositionTensor>:$steps);
  let results = (outs Tensor:$output);
  let extraClassDeclaration = shapesDeclaration # "onnxc::SliceRange slice(llvm::ArrayRef<onnxc::Input> inputs);";
}

def SplitOp : MovementOp<"Split", [13, 18]> {
  let arguments = (ins Tensor:$input, Optional<IntTensor>:$split, IntOr<"0">:$axis, OptionalAttr<Int>:$num_outputs,
                   OptionalAttr<Int>:$result_count);
  let results = (outs Variadic<Tensor>:$outputs);
  let resultCount = "size_t(result_count.value_or(1))";
}

def SqueezeOp : MovementOp<"Squeeze", [13, 21, 23, 24, 25]> {
  let arguments = (ins Tensor:$data, Optional<IntTensor>:$axes);
  let results = (outs Tensor:$squeezed);
}

def TileOp : MovementOp<"Tile", [6, 13]> {
  let arguments = (ins Tensor:$input, IntTensor:$repeats);
  let results = (outs Tensor:$output);
}

def TransposeOp : MovementOp<"Transpose", [1, 13, 21, 23, 24, 25]> {
  let arguments = (ins Tensor:$data, OptionalAttr<Ints>:$perm);
  let results = (outs Tensor:$transposed);
  let extraClassDeclaration = shapesDeclaration # "llvm::SmallVector<int64_t> permutation();";
}

def TriluOp : MovementOp<"Trilu", [14]> {
  let arguments = (ins Tensor:$input, Optional<IntTensor>:$k, IntOr<"1">:$upper);
  let results = (outs Tensor:$output);
  let sizes = "input.sizes";
}

def UnsqueezeOp : MovementOp<"Unsqueeze", [13, 21, 23, 24, 25]> {
  let arguments = (ins Tensor:$data, IntTensor:$axes);
  let results = (outs Tensor:$expanded);
}

// Blocks of channels become blocks of the image, by three views.
def DepthToSpaceOp : CompositeOp<"DepthToSpace", [11, 13, 28]> {
  let arguments = (ins Tensor:$input, Int:$blocksize, OneOfOr<"DCR", ["CRD"]>:$mode);
  let results = (outs Tensor:$output);
  let body = [{
    int64_t b = blocksize;
    Node depth = op<DivOp>({sizeOf(input, 1), graph.ints({b * b})});
    Node rows = sizeOf(input, 2), columns = sizeOf(input, 3), batch = sizeOf(input, 0), block = graph.ints({b});
    bool depthFirst = mode == "DCR";
    Node apart = reshapeTo(input, depthFirst ? concat({batch, block, block, depth, rows, columns}, 0)
                                             : concat({batch, depth, block, block, rows, columns}, 0));
    Node moved = transpose(apart, depthFirst ? llvm::ArrayRef<int64_t>({0, 3, 4, 1, 5, 2})
                                             : llvm::ArrayRef<int64_t>({0, 1, 4, 2, 5, 3}));
    return {reshapeTo(moved, concat({batch, depth, rows * block, columns * block}, 0))};
  }];
}

def SpaceToDepthOp : CompositeOp<"SpaceToDepth", [28]> {
  let arguments = (ins Tensor:$input, Int:$blocksize, OneOfOr<"DCR", ["CRD"]>:$mode);
  let results = (outs Tensor:$output);
  let body = [{
    Node block = graph.ints({blocksize}), batch = sizeOf(input, 0), depth = sizeOf(input, 1);
    Node rows = sizeOf(input, 2) / block, columns = sizeOf(input, 3) / block;
    Node apart = reshapeTo(input, concat({batch, depth, rows, block, columns, block}, 0));
    Node moved = transpose(apart, mode == "DCR" ? llvm::ArrayRef<int64_t>({0, 3, 5, 1, 2, 4})
                                                : llvm::ArrayRef<int64_t>({0, 1, 3, 5, 2, 4}));
    return {reshapeTo(moved, concat({batch, depth * (block * block), rows, columns}, 0))};
  }];
}

def CenterCropPadOp : MovementOp<"CenterCropPad", [18]> {
  let arguments = (ins Tensor:$input_data, PositionTensor:$shape, OptionalAttr<Ints>:$axes);
  let results = (outs Tensor:$output_data);
}
