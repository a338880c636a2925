// Operators on signals. The bodies are in Signal.cpp; sums are those of f64.
include "dialects/onnx/OnnxBase.td"

def DFTOp : CompositeOp<"DFT", [20]> {
  let summary = "Discrete Fourier transform, as products with small matrices";
  let arguments = (ins FloatTensor:$input, Optional<PositionTensor>:$dft_length, Optional<IntTensor>:$axis,
                   IntOr<"0">:$inverse, IntOr<"0">:$onesided);
  let results = (outs FloatTensor:$output);
  let body = [{
    Node along = axis.given() ? axis : graph.ints({-2});
    return fourierTransform(graph, {input, dft_length, along, inverse != 0, onesided != 0});
  }];
}

def DFT17Op : LegacyOp<"DFT", [17]> {
  let arguments = (ins FloatTensor:$input, Optional<PositionTensor>:$dft_length, IntOr<"1">:$axis, IntOr<"0">:$inverse,
                   IntOr<"0">:$onesided);
  let results = (outs FloatTensor:$output);
  let formula = [{op<DFTOp>({input, dft_length, graph.ints({axis})}, {{"inverse", inverse}, {"onesided", onesided}})}];
}

def MelWeightMatrixOp : CompositeOp<"MelWeightMatrix", [17]> {
  let summary = "Triangular filters from the bins of a spectrum to those of the mel scale";
  let arguments = (ins PositionTensor:$num_mel_bins, PositionTensor:$dft_length, PositionTensor:$sample_rate,
                   FloatTensor:$lower_edge_hertz, FloatTensor:$upper_edge_hertz, IntOr<"1">:$output_datatype);
  let results = (outs NumberTensor:$output);
  let formula = [{melWeights({num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz},
                             output_datatype)}];
}

def STFTOp : CompositeOp<"STFT", [17]> {
  let summary = "Fourier transforms of the frames of a signal";
  let arguments = (ins FloatTensor:$signal, PositionTensor:$frame_step, Optional<FloatTensor>:$window,
                   Optional<PositionTensor>:$frame_length, IntOr<"1">:$onesided);
  let results = (outs FloatTensor:$output);
  let body = [{
    return shortTimeTransform(graph, {signal, frame_step, window, frame_length, onesided != 0});
  }];
}
