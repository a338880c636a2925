// onnxc.kernel: a fused group of computations that becomes one function of vector code.
#ifndef ONNXC_KERNEL
#define ONNXC_KERNEL

include "dialects/onnxc/OnnxcBase.td"
include "dialects/onnxc/Schedule.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def KernelOp : OnnxcOp<"kernel", [
    AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
      "getAliasingValues", "bufferize"]>]> {
  let summary = "A group of linalg operations that runs as one kernel";
  let description = [{
    The body says on tensors what the kernel computes; the schedule says how. The operands are tensors up to
    bufferization and buffers from then on, the body stays as it was: bufferization and planning see one
    destination-passing operation, and `expand-kernels` still finds the specification to make vector code from.

    (C1) The block's arguments are the inputs, then the outputs: shaped ones as tensors of the same shape and element
         type, others (index, f32) as they are.
    (C2) The terminator yields one tensor per output, of the output's type.
    (C3) Outputs are all tensors, each with its result, or all buffers, without results.

    ```mlir
    %y = onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, outer = panels>
        ins(%x, %w : tensor<128x768xf32>, tensor<48x768x16xf32>) outs(%e : tensor<128x768xf32>) {
    ^bb0(%a: tensor<128x768xf32>, %b: tensor<48x768x16xf32>, %c: tensor<128x768xf32>):
      ...
      onnxc.yield %r : tensor<128x768xf32>
    } -> tensor<128x768xf32>
    ```
  }];
  let arguments = (ins AnyAttr:$schedule, Variadic<AnyType>:$inputs, Variadic<AnyShaped>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $schedule (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outputs `:` type($outputs) `)`
    attr-dict-with-keyword $body (`->` type($results)^)?
  }];
  let builders = [
    // Tensor form; the block gets its arguments and no operations.
    OpBuilder<(ins "mlir::Attribute":$schedule, "mlir::ValueRange":$inputs, "mlir::ValueRange":$outputs)>
  ];
  let extraClassDeclaration = [{
    mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    mlir::Block *getBodyBlock() { return &getBody().front(); }
    mlir::BlockArgument getBlockArgument(mlir::OpOperand &operand) {
      return getBodyBlock()->getArgument(operand.getOperandNumber());
    }
    // The yielded tensors, one per output.
    mlir::OperandRange getYielded();
    // Whether the output is memory that the kernel alone uses: it is yielded as it came.
    bool isScratch(mlir::OpOperand &output);
    // False where the body only overwrites the output.
    bool readsOutput(mlir::OpOperand &output);
  }];
  let hasVerifier = 1;
}

def KernelYieldOp : OnnxcOp<"yield", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "Ends a kernel's body";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
