// RNN, GRU and LSTM. Shapes are in Irregular.cpp.
include "dialects/onnx/OnnxBase.td"

// R is (directions, gates * hidden, hidden).
class RecurrentOp<string type> : SizedOp<type, [1, 7, 14, 22]> {
  let family = "irregular";
  let extraClassDefinition = record # inferSized # [{
llvm::FailureOr<Shapes> $cppClass::shapes(Report report, GenericAdaptor<llvm::ArrayRef<Input>> op) {
  if (Input state = op.getInitialH(); state.given() && state.rank() != 3)
    return report("expected a state of rank 3, got ", state.rank());
  return recurrentShapes(report, op.getX(), op.getR(), op.getDirection(), op.getLayout(), }] # !size(results) # [{);
}
}];
}

def RNNOp : RecurrentOp<"RNN"> {
  let arguments = (ins FloatTensor:$x, FloatTensor:$w, FloatTensor:$r, Optional<FloatTensor>:$b,
                   Optional<PositionTensor>:$sequence_lens, Optional<FloatTensor>:$initial_h,
                   OptionalAttr<Floats>:$activation_alpha, OptionalAttr<Floats>:$activation_beta,
                   OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<Float>:$clip, StringOr<"forward">:$direction,
                   OptionalAttr<Int>:$hidden_size, IntOr<"0">:$layout, OptionalAttr<Int>:$output_sequence);
  let results = (outs FloatTensor:$y, FloatTensor:$y_h);
}

def GRUOp : RecurrentOp<"GRU"> {
  let since = [1, 3, 7, 14, 22];
  let arguments = (ins FloatTensor:$x, FloatTensor:$w, FloatTensor:$r, Optional<FloatTensor>:$b,
                   Optional<PositionTensor>:$sequence_lens, Optional<FloatTensor>:$initial_h,
                   OptionalAttr<Floats>:$activation_alpha, OptionalAttr<Floats>:$activation_beta,
                   OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<Float>:$clip, StringOr<"forward">:$direction,
                   OptionalAttr<Int>:$hidden_size, IntOr<"0">:$layout, IntOr<"0">:$linear_before_reset,
                   OptionalAttr<Int>:$output_sequence);
  let results = (outs FloatTensor:$y, FloatTensor:$y_h);
}

def LSTMOp : RecurrentOp<"LSTM"> {
  let arguments = (ins FloatTensor:$x, FloatTensor:$w, FloatTensor:$r, Optional<FloatTensor>:$b,
                   Optional<PositionTensor>:$sequence_lens, Optional<FloatTensor>:$initial_h,
                   Optional<FloatTensor>:$initial_c, Optional<FloatTensor>:$p,
                   OptionalAttr<Floats>:$activation_alpha, OptionalAttr<Floats>:$activation_beta,
                   OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<Float>:$clip, StringOr<"forward">:$direction,
                   OptionalAttr<Int>:$hidden_size, IntOr<"0">:$input_forget, IntOr<"0">:$layout,
                   OptionalAttr<Int>:$output_sequence);
  let results = (outs FloatTensor:$y, FloatTensor:$y_h, FloatTensor:$y_c);
}
