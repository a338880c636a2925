// Operators that multiply and add up. Shapes are in Contractions.cpp.
include "dialects/onnx/OnnxBase.td"

class ContractionOp<string type, list<int> versions> : SizedOp<type, versions> {
  let family = "contraction";
}

// In i32 it is what the integer convolutions become.
def ConvOp : ContractionOp<"Conv", [1, 11, 22]> {
  let extraClassDeclaration = shapesDeclaration # [{
    llvm::FailureOr<onnxc::Window> window(llvm::ArrayRef<onnxc::Input> inputs);
    static llvm::FailureOr<onnxc::Window> windowOf(onnxc::Report report,
                                                   GenericAdaptor<llvm::ArrayRef<onnxc::Input>> op);
  }];
  let alike = [["x", "w", "b"]];
  let arguments = (ins RealOrInt32Tensor:$x, RealOrInt32Tensor:$w, Optional<RealOrInt32Tensor>:$b, AutoPad:$auto_pad,
                   OptionalAttr<Ints>:$dilations, IntOr<"1">:$group, OptionalAttr<Ints>:$kernel_shape,
                   OptionalAttr<Ints>:$pads, OptionalAttr<Ints>:$strides);
  let results = (outs RealOrInt32Tensor:$y);
}

// In integers, so that no product is rounded; padding is the zero point, which is 0 after it was taken off.
def ConvIntegerOp : CompositeOp<"ConvInteger", [10]> {
  let alike = [["x", "x_zero_point"], ["w", "w_zero_point"]];
  let arguments = (ins ByteTensor:$x, ByteTensor:$w, Optional<ByteTensor>:$x_zero_point,
                   Optional<ByteTensor>:$w_zero_point, AutoPad:$auto_pad, OptionalAttr<Ints>:$dilations,
                   IntOr<"1">:$group, OptionalAttr<Ints>:$kernel_shape, OptionalAttr<Ints>:$pads,
                   OptionalAttr<Ints>:$strides);
  let results = (outs Int32Tensor:$y);
  let body = [{
    return {cast(integerConvolution({x, x_zero_point, w, w_zero_point, Node()},
                                    windowAttributes(auto_pad, dilations, group, kernel_shape, pads, strides)), 6)};
  }];
}

def GemmOp : ContractionOp<"Gemm", [7, 9, 11, 13]> {
  let alike = [["a", "b", "c"]];
  let arguments = (ins WideTensor:$a, WideTensor:$b, Optional<WideTensor>:$c, FloatOr<"1.0f">:$alpha,
                   FloatOr<"1.0f">:$beta, IntOr<"0">:$transA, IntOr<"0">:$transB);
  let results = (outs WideTensor:$y);
}

def MatMulOp : ContractionOp<"MatMul", [1, 9, 13]> {
  let alike = [["a", "b"]];
  let arguments = (ins WideTensor:$a, WideTensor:$b);
  let results = (outs WideTensor:$y);
}

def MatMulIntegerOp : CompositeOp<"MatMulInteger", [10]> {
  let alike = [["a", "a_zero_point"], ["b", "b_zero_point"]];
  let arguments = (ins ByteTensor:$a, ByteTensor:$b, Optional<ByteTensor>:$a_zero_point,
                   Optional<ByteTensor>:$b_zero_point);
  let results = (outs Int32Tensor:$y);
  let formula = "cast(integerMatMul({a, a_zero_point, b, b_zero_point, Node()}), 6)";
}

def QLinearConvOp : CompositeOp<"QLinearConv", [10]> {
  let alike = [["x", "x_zero_point"], ["w", "w_zero_point"], ["x_scale", "w_scale", "y_scale"]];
  let arguments = (ins ByteTensor:$x, FloatTensor:$x_scale, ByteTensor:$x_zero_point, ByteTensor:$w,
                   FloatTensor:$w_scale, ByteTensor:$w_zero_point, FloatTensor:$y_scale, ByteTensor:$y_zero_point,
                   Optional<Int32Tensor>:$b, AutoPad:$auto_pad, OptionalAttr<Ints>:$dilations,
                   IntOr<"1">:$group, OptionalAttr<Ints>:$kernel_shape, OptionalAttr<Ints>:$pads,
                   OptionalAttr<Ints>:$strides);
  let results = (outs ByteTensor:$y);
  let body = [{
    Node sum = integerConvolution({x, x_zero_point, w, w_zero_point, b},
                                  windowAttributes(auto_pad, dilations, group, kernel_shape, pads, strides));
    Node scale = x_scale * alignAt(w_scale, 1, rankOf(x)) / y_scale;
    return {op<QuantizeLinearOp>({castLike(sum, scale) * scale, constantLike(1, scale), y_zero_point})};
  }];
}

def QLinearMatMulOp : CompositeOp<"QLinearMatMul", [10, 21]> {
  let alike = [["a", "a_zero_point"], ["b", "b_zero_point"], ["a_scale", "b_scale", "y_scale"]];
  let arguments = (ins QuantizedTensor:$a, FloatTensor:$a_scale, QuantizedTensor:$a_zero_point, QuantizedTensor:$b,
                   FloatTensor:$b_scale, QuantizedTensor:$b_zero_point, FloatTensor:$y_scale,
                   QuantizedTensor:$y_zero_point);
  let results = (outs QuantizedTensor:$y);
  let body = [{
    Node sum = integerMatMul({a, a_zero_point, b, b_zero_point, Node()});
    Node scale = alignAt(a_scale, rankOf(a) - 2, rankOf(a)) * alignAt(b_scale, rankOf(b) - 1, rankOf(b))
                 / y_scale;
    return {op<QuantizeLinearOp>({castLike(sum, scale) * scale, constantLike(1, scale), y_zero_point})};
  }];
}

// One convolution for each residue of the output position modulo the stride.
def ConvTransposeOp : CompositeOp<"ConvTranspose", [1, 11, 22]> {
  let alike = [["x", "w", "b"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$w, Optional<FloatTensor>:$b, AutoPad:$auto_pad,
                   OptionalAttr<Ints>:$dilations, IntOr<"1">:$group, OptionalAttr<Ints>:$kernel_shape,
                   OptionalAttr<Ints>:$output_padding, OptionalAttr<Ints>:$output_shape, OptionalAttr<Ints>:$pads,
                   OptionalAttr<Ints>:$strides);
  let results = (outs FloatTensor:$y);
  let body = [{
    return convTranspose(graph, x, w, b, {auto_pad, dilations, output_padding, output_shape, pads, strides, group});
  }];
}

def EinsumOp : ContractionOp<"Einsum", [12, 28]> {
  let alike = [["inputs"]];
  let arguments = (ins Variadic<NumberTensor>:$inputs, String:$equation);
  let results = (outs NumberTensor:$output);
}
