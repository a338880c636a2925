// RNN, GRU and LSTM. Shapes are in Irregular.cpp.
include "dialects/onnx/OnnxBase.td"

// GRU-1 misspelled its default.
def Direction : OneOfOr<"forward", ["reverse", "bidirectional", "foward"]>;

defvar operandsDeclaration = [{
    static onnxc::RecurrentOperands operandsOf(GenericAdaptor<llvm::ArrayRef<onnxc::Input>> op);
}];

// com.microsoft's has transposed weights of bytes, with scales and zero points for a direction or each of its columns.
def MsDynamicQuantizeLSTMOp : SizedOp<"DynamicQuantizeLSTM", [1]> {
  let summary = "LSTM whose inputs and states are quantized before every product";
  let opName = "ms.DynamicQuantizeLSTM";
  let domain = "com.microsoft";
  let family = "irregular";
  let alike = [["x", "b", "initial_h", "initial_c", "p"]];
  let arguments = (ins SingleTensor:$x, ByteTensor:$w, ByteTensor:$r, Optional<SingleTensor>:$b,
                   Optional<PositionTensor>:$sequence_lens, Optional<SingleTensor>:$initial_h,
                   Optional<SingleTensor>:$initial_c, Optional<SingleTensor>:$p, SingleTensor:$w_scale,
                   ByteTensor:$w_zero_point, SingleTensor:$r_scale, ByteTensor:$r_zero_point,
                   OptionalAttr<Floats>:$activation_alpha, OptionalAttr<Floats>:$activation_beta,
                   OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<Float>:$clip, Direction:$direction,
                   OptionalAttr<Int>:$hidden_size, IntOr<"0">:$input_forget);
  let results = (outs SingleTensor:$y, SingleTensor:$y_h, SingleTensor:$y_c);
  let extraClassDeclaration = !strconcat(shapesDeclaration, operandsDeclaration);
}

// R is (directions, gates * hidden, hidden).
class RecurrentOp<string type, int gates> : SizedOp<type, [1, 7, 14, 22]> {
  let family = "irregular";
  string cellOperands = "{}, {}";
  let extraClassDeclaration = !strconcat(shapesDeclaration, operandsDeclaration);
  let extraClassDefinition = record # inferSized # [{
RecurrentOperands $cppClass::operandsOf(GenericAdaptor<llvm::ArrayRef<Input>> op) {
  return {op.getX(), op.getW(), op.getR(), op.getB(), op.getSequenceLens(), op.getInitialH(),
          }] # cellOperands # ", " # gates # [{, op.getLayout(), op.getDirection(), op.getActivations(),
          op.getHiddenSize()};
}
llvm::FailureOr<Shapes> $cppClass::shapes(Report report, GenericAdaptor<llvm::ArrayRef<Input>> op) {
  return recurrentShapes(report, operandsOf(op), }] # !size(results) # [{);
}
}];
}

def RNNOp : RecurrentOp<"RNN", 1> {
  let alike = [["x", "w", "r", "b", "initial_h"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$w, FloatTensor:$r, Optional<FloatTensor>:$b,
                   Optional<PositionTensor>:$sequence_lens, Optional<FloatTensor>:$initial_h,
                   OptionalAttr<Floats>:$activation_alpha, OptionalAttr<Floats>:$activation_beta,
                   OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<Float>:$clip, Direction:$direction,
                   OptionalAttr<Int>:$hidden_size, IntOr<"0">:$layout, OptionalAttr<Int>:$output_sequence);
  let results = (outs FloatTensor:$y, FloatTensor:$y_h);
}

def GRUOp : RecurrentOp<"GRU", 3> {
  let since = [1, 3, 7, 14, 22];
  let alike = [["x", "w", "r", "b", "initial_h"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$w, FloatTensor:$r, Optional<FloatTensor>:$b,
                   Optional<PositionTensor>:$sequence_lens, Optional<FloatTensor>:$initial_h,
                   OptionalAttr<Floats>:$activation_alpha, OptionalAttr<Floats>:$activation_beta,
                   OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<Float>:$clip, Direction:$direction,
                   OptionalAttr<Int>:$hidden_size, IntOr<"0">:$layout, IntOr<"0">:$linear_before_reset,
                   OptionalAttr<Int>:$output_sequence);
  let results = (outs FloatTensor:$y, FloatTensor:$y_h);
}

def LSTMOp : RecurrentOp<"LSTM", 4> {
  let cellOperands = "op.getInitialC(), op.getP()";
  let alike = [["x", "w", "r", "b", "initial_h", "initial_c", "p"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$w, FloatTensor:$r, Optional<FloatTensor>:$b,
                   Optional<PositionTensor>:$sequence_lens, Optional<FloatTensor>:$initial_h,
                   Optional<FloatTensor>:$initial_c, Optional<FloatTensor>:$p,
                   OptionalAttr<Floats>:$activation_alpha, OptionalAttr<Floats>:$activation_beta,
                   OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<Float>:$clip, Direction:$direction,
                   OptionalAttr<Int>:$hidden_size, IntOr<"0">:$input_forget, IntOr<"0">:$layout,
                   OptionalAttr<Int>:$output_sequence);
  let results = (outs FloatTensor:$y, FloatTensor:$y_h, FloatTensor:$y_c);
}
