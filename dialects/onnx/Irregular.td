// Operators that fit no family: shapes and lowering are written by hand.
include "dialects/onnx/OnnxBase.td"

def ConstantOp : IrregularOp<"Constant", [1, 9, 11, 12, 13, 19, 21, 23, 24, 25], [ConstantLike]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Tensor:$output);
  let hasFolder = 1;
}

def ConstantOfShapeOp : SizedOp<"ConstantOfShape", [9, 20, 21, 23, 24, 25]> {
  let family = "irregular";
  let arguments = (ins IntTensor:$input, OptionalAttr<ElementsAttr>:$value);
  let results = (outs Tensor:$output);
  let elementType = "value ? value->getElementType() : mlir::Float32Type::get(context)";
}

// Which position of the image an index of the result stands for.
def PositionMapping : OneOfOr<"half_pixel", ["half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                             "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"]>;

// The last one is that of Resize before opset 11.
def NearestMode : OneOfOr<"round_prefer_floor", ["round_prefer_ceil", "floor", "ceil", "ceil_where_smaller"]>;

def ResizeOp : SizedOp<"Resize", [11, 13, 18, 19]> {
  let family = "irregular";
  let arguments = (ins Tensor:$x, Optional<FloatTensor>:$roi, Optional<FloatTensor>:$scales, Optional<IntTensor>:$sizes,
                   IntOr<"0">:$antialias, OptionalAttr<Ints>:$axes,
                   PositionMapping:$coordinate_transformation_mode,
                   FloatOr<"-0.75f">:$cubic_coeff_a, IntOr<"0">:$exclude_outside, FloatOr<"0.0f">:$extrapolation_value,
                   OneOfOr<"stretch", ["not_larger", "not_smaller"]>:$keep_aspect_ratio_policy, ResizeMode:$mode,
                   NearestMode:$nearest_mode);
  let results = (outs Tensor:$y);
}

def ShapeOp : SizedOp<"Shape", [1, 13, 15, 19, 21, 23, 24, 25]> {
  let family = "irregular";
  let arguments = (ins Tensor:$data, OptionalAttr<Int>:$end, IntOr<"0">:$start);
  let results = (outs IntTensor:$shape);
  let elementType = "int64(context)";
  let extraClassDeclaration = shapesDeclaration # "onnxc::Sizes elements(llvm::ArrayRef<onnxc::Index> sizes);";
}

def SizeOp : SizedOp<"Size", [1, 13, 19, 21, 23, 24, 25]> {
  let family = "irregular";
  let arguments = (ins Tensor:$data);
  let results = (outs IntTensor:$size);
  let elementType = "int64(context)";
  let sizes = "Sizes()";
}

// Adds up, or multiplies, along an axis.
foreach scan = [["Sum", "[11, 14]"], ["Prod", "[26]"]] in
  def "Cum" # scan[0] # "Op" : SizedOp<"Cum" # scan[0], !if(!eq(scan[0], "Sum"), [11, 14], [26]),
                                       [DeclareOpInterfaceMethods<ScanningOpInterface>]> {
    let family = "irregular";
    let arguments = (ins NumberTensor:$x, PositionTensor:$axis, IntOr<"0">:$exclusive, IntOr<"0">:$reverse);
    let results = (outs NumberTensor:$y);
    let sizes = "x.sizes";
    let extraClassDefinition = record # inferSized # givenSizes # [{
Scalar $cppClass::identity() { return }] # !if(!eq(scan[0], "Sum"), "0", "1") # [{; }
Scalar $cppClass::combine(Scalar acc, Scalar x) { return acc }] # !if(!eq(scan[0], "Sum"), "+", "*") # [{ x; }
bool $cppClass::isExclusive() { return getExclusive() != 0; }
bool $cppClass::isReversed() { return getReverse() != 0; }
}];
  }

def CompressOp : SizedOp<"Compress", [9, 11, 28]> {
  let family = "irregular";
  let arguments = (ins Tensor:$input, BoolTensor:$condition, OptionalAttr<Int>:$axis);
  let results = (outs Tensor:$output);
}

def NonZeroOp : SizedOp<"NonZero", [9, 13]> {
  let family = "irregular";
  let arguments = (ins Tensor:$x);
  let results = (outs IntTensor:$y);
  let elementType = "int64(context)";
  let sizes = "Sizes{x.rank(), Index()}";
}

def ScatterElementsOp : SizedOp<"ScatterElements", [11, 13, 16, 18]> {
  let family = "irregular";
  let alike = [["data", "updates"]];
  let arguments = (ins Tensor:$data, PositionTensor:$indices, Tensor:$updates, IntOr<"0">:$axis,
                   ScatterReduction:$reduction);
  let results = (outs Tensor:$output);
}

def ScatterNDOp : SizedOp<"ScatterND", [11, 13, 16, 18]> {
  let family = "irregular";
  let alike = [["data", "updates"]];
  let arguments = (ins Tensor:$data, IntTensor:$indices, Tensor:$updates, ScatterReduction:$reduction);
  let results = (outs Tensor:$output);
  let extraClassDeclaration = shapesDeclaration # "static int64_t depth(llvm::ArrayRef<onnxc::Input> inputs);";
}

def TensorScatterOp : SizedOp<"TensorScatter", [24]> {
  let family = "irregular";
  let alike = [["past_cache", "update"]];
  let arguments = (ins Tensor:$past_cache, Tensor:$update, Optional<IntTensor>:$write_indices, IntOr<"-2">:$axis,
                   OneOfOr<"linear", ["circular"]>:$mode);
  let results = (outs Tensor:$present_cache);
}

def TopKOp : SizedOp<"TopK", [10, 11, 24]> {
  let family = "irregular";
  let arguments = (ins NumberTensor:$x, IntTensor:$k, IntOr<"-1">:$axis, IntOr<"1">:$largest, IntOr<"1">:$sorted);
  let results = (outs NumberTensor:$values, IntTensor:$indices);
  let elementType = "x, int64(context)";
}

def GridSampleOp : SizedOp<"GridSample", [16, 20, 22]> {
  let family = "irregular";
  let arguments = (ins Tensor:$x, FloatTensor:$grid, IntOr<"0">:$align_corners,
                   OneOfOr<"linear", ["nearest", "cubic", "bilinear", "bicubic"]>:$mode,
                   OneOfOr<"zeros", ["border", "reflection"]>:$padding_mode);
  let results = (outs Tensor:$y);
}

def Col2ImOp : SizedOp<"Col2Im", [18]> {
  let summary = "Adds up blocks of an image where they lay in it";
  let family = "irregular";
  let arguments = (ins NumberTensor:$input, IntTensor:$image_shape, IntTensor:$block_shape,
                   OptionalAttr<Ints>:$dilations, OptionalAttr<Ints>:$pads, OptionalAttr<Ints>:$strides);
  let results = (outs NumberTensor:$output);
  let extraClassDeclaration = shapesDeclaration # [{
    // The blocks slide over the image of the result.
    llvm::FailureOr<onnxc::Window> window(llvm::ArrayRef<onnxc::Input> inputs);
    static llvm::FailureOr<onnxc::Window> windowOf(onnxc::Report report,
                                                   GenericAdaptor<llvm::ArrayRef<onnxc::Input>> op);
  }];
}

def DetOp : SizedOp<"Det", [11, 22]> {
  let summary = "Determinants of square matrices";
  let family = "irregular";
  let arguments = (ins FloatTensor:$x);
  let results = (outs FloatTensor:$y);
}

def DropoutOp : SizedOp<"Dropout", [12, 13, 22]> {
  let summary = "The identity, as in inference; a run in training mode ends with an error";
  let family = "irregular";
  let arguments = (ins FloatOrByteFloatTensor:$data, Optional<FloatOrByteFloatTensor>:$ratio,
                   Optional<BoolTensor>:$training_mode, OptionalAttr<Int>:$seed);
  let results = (outs FloatOrByteFloatTensor:$output, BoolTensor:$mask);
  let elementType = "data, boolean(context)";
  let sizes = "data.sizes, data.sizes";
}

def MaxUnpoolOp : SizedOp<"MaxUnpool", [9, 11, 22]> {
  let summary = "Puts what MaxPool took where it was";
  let family = "irregular";
  let arguments = (ins FloatTensor:$x, IntTensor:$i, Optional<IntTensor>:$output_shape, Ints:$kernel_shape,
                   OptionalAttr<Ints>:$pads, OptionalAttr<Ints>:$strides);
  let results = (outs FloatTensor:$output);
  let extraClassDeclaration = shapesDeclaration # [{
    // The shape that the pool read, which the indices count in.
    static llvm::FailureOr<onnxc::Sizes> pooledSizes(onnxc::Report report,
                                                     GenericAdaptor<llvm::ArrayRef<onnxc::Input>> op);
  }];
}

def UniqueOp : SizedOp<"Unique", [11, 28]> {
  let summary = "Each element, or slice along an axis, once";
  let family = "irregular";
  let arguments = (ins Tensor:$x, OptionalAttr<Int>:$axis, IntOr<"1">:$sorted);
  let results = (outs Tensor:$y, IntTensor:$indices, IntTensor:$inverse_indices, IntTensor:$counts);
  let elementType = "x, int64(context)";
}
