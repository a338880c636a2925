// #onnxc.weight: one constant of the model and where it lies in the weights.
#ifndef ONNXC_WEIGHT
#define ONNXC_WEIGHT

include "dialects/onnxc/OnnxcBase.td"
include "mlir/IR/AttrTypeBase.td"

def WeightAttr : AttrDef<OnnxcDialect, "Weight"> {
  let mnemonic = "weight";
  let summary = "The bytes of a constant at an offset into the weights";
  let description = [{
    `embed-weights` leaves a list of these in the module attribute `onnxc.weights`,
    in order of their offsets, which are multiples of 64; no two overlap, gaps
    are zero. The bytes are those of `value`, row-major, as they are in memory: an
    element of less than 8 bits is an i8 here. A large constant stays a resource
    that nobody copied. Only `object` reads the bytes.

    ```mlir
    #onnxc.weight<128, dense_resource<conv1> : tensor<64x3x7x7xf32>>
    ```
  }];
  let parameters = (ins "int64_t":$offset, "::mlir::ElementsAttr":$value);
  let assemblyFormat = "`<` $offset `,` $value `>`";
}

#endif
