// Operators of ai.onnx.ml.
include "dialects/onnx/OnnxElementwise.td"

def MlArrayFeatureExtractorOp : CompositeOp<"ArrayFeatureExtractor", [1]> {
  let opName = "ml.ArrayFeatureExtractor";
  let domain = "ai.onnx.ml";
  let arguments = (ins Tensor:$x, IntTensor:$y);
  let results = (outs Tensor:$z);
  let body = [{
    Node picked = gather(x, reshape(y, {-1}), rankOf(x) - 1);
    return {rankOf(x) == 1 ? unsqueeze(picked, {0}) : picked};
  }];
}

def MlBinarizerOp : ElementwiseOp<"Binarizer", [1]> {
  let opName = "ml.Binarizer";
  let domain = "ai.onnx.ml";
  let arguments = (ins NumberTensor:$x, FloatOr<"0.0f">:$threshold);
  let results = (outs NumberTensor:$y);
  let scalar = "select(real(x) > threshold, 1, 0)";
}
