// Records of the domain com.microsoft.
#ifndef ONNX_MICROSOFT
#define ONNX_MICROSOFT
include "dialects/onnx/OnnxElementwise.td"

class MsComposite<string type> : CompositeOp<type, [1]> {
  let opName = "ms." # type;
  let domain = "com.microsoft";
}
class MsElementwise<string type> : ElementwiseOp<type, [1]> {
  let opName = "ms." # type;
  let domain = "com.microsoft";
}

#endif
