// The compiler's own operations.
#ifndef ONNXC_OPS
#define ONNXC_OPS

include "dialects/onnxc/Kernel.td"
include "dialects/onnxc/OnnxcBase.td"
include "dialects/onnxc/Schedule.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CheckOp : OnnxcOp<"check", [MemoryEffects<[MemWrite]>]> {
  let summary = "Ends the call with a status unless a condition holds";
  let description = [{
    `status` is one of the codes of `onnxc/model.h`; `node` and `operand` are what the caller's `onnxc_error` will
    name. May stand in `@model` and in the regions of `scf` operations, never in a kernel: stage `llvm` turns it into
    a branch to the function's end.

    ```mlir
    onnxc.check %inside, 2, "node 'g' (Gather): index is out of range", "indices"
    ```
  }];
  let arguments = (ins I1:$condition, I32Attr:$status, StrAttr:$node, StrAttr:$operand);
  let assemblyFormat = "$condition `,` $status `,` $node `,` $operand attr-dict";
}

def WinogradFilterOp : OnnxcOp<"winograd_filter", [Pure]> {
  let summary = "The filter of a convolution that is stored in its Winograd form";
  let description = [{
    Like `linalg.unpack` of packed weights it says what the weights were and is never run: the kernel, whose schedule it
    carries, reads through it. `transformed` is [points][panels][groups of taps, input channels][columns of a panel],
    with 36 points of tiles of 4x4 outputs.

    ```mlir
    %w = onnxc.winograd_filter %u, <tile = 4, tile_rows = 2, product = <...>>
        : tensor<36x8x256x32xf32> -> tensor<256x256x3x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$transformed, WinogradAttr:$schedule);
  let results = (outs AnyRankedTensor:$filter);
  let assemblyFormat = "$transformed `,` $schedule attr-dict `:` type($transformed) `->` type($filter)";
}

def QuarteredMatrixOp : OnnxcOp<"quartered_matrix", [Pure]> {
  let summary = "The constant matrix of a product that is stored as Strassen's quarters";
  let description = [{
    Like `winograd_filter` it says what the weights were and is never run. `transformed` is [7][panels][half of the
    sum][columns of a panel], of the matrix divided by `scales`: one for each of its rows, then one for each column.

    ```mlir
    %w = onnxc.quartered_matrix %u, %s, <pairs = 64, product = <...>>
        : tensor<7x12x384x32xf32>, tensor<1536xf32> -> tensor<768x768xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$transformed, AnyRankedTensor:$scales, StrassenAttr:$schedule);
  let results = (outs AnyRankedTensor:$matrix);
  let assemblyFormat = [{
    $transformed `,` $scales `,` $schedule attr-dict `:` type($transformed) `,` type($scales) `->` type($matrix)
  }];
}

def CreepOp : OnnxcOp<"creep", [Pure, SameOperandsAndResultType] # ElementwiseMappable.traits> {
  let summary = "A position that advances by few elements";
  let description = [{
    The value itself. It comes from a table, and wherever a row of the table has one, the next row has the same or one
    that is greater by at most `step`: what the lanes of a vector read there lies within `step` vectors, which are
    loaded once. Of a table of the run that is `mostly` so: where it is not, lanes are read one by one.

    ```mlir
    %near = onnxc.creep %position by 2 : index
    %x = tensor.extract %image[%i, %near] : tensor<4x16xf32>
    ```
  }];
  let arguments = (ins SignlessIntegerOrIndexLike:$position,
      ConfinedAttr<DefaultValuedAttr<I64Attr, "1">, [IntPositive]>:$step, UnitAttr:$mostly);
  let results = (outs SignlessIntegerOrIndexLike:$result);
  let assemblyFormat = "$position (`by` $step^)? (`mostly` $mostly^)? attr-dict `:` type($result)";
}

def AllocateOp : OnnxcOp<"allocate"> {
  let summary = "Asks the caller for memory of a size that entry does not know";
  let description = [{
    Stage `llvm` calls `onnxc_call::alloc` with alignment 64; without an allocator, or when it gives none, the call
    ends with status 6, as it does where `bytes` is negative. The memory is the caller's: nothing frees it.

    ```mlir
    %memory = onnxc.allocate %bytes : memref<?xi8>
    ```
  }];
  let arguments = (ins Index:$bytes);
  let results = (outs Res<MemRefRankOf<[I8], [1]>, "", [MemAlloc]>:$memory);
  let assemblyFormat = "$bytes attr-dict `:` type($memory)";
}

def ResultOp : OnnxcOp<"result", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Hands over an output whose shape only the run knows";
  let description = [{
    Stage `llvm` writes the sizes to `outputs[index].dims` and the elements, row-major, to `outputs[index].data` when
    `capacity_bytes` suffices, else to memory of the caller's allocator (status 6 without one).

    ```mlir
    onnxc.result %indices, 1 : memref<?x2xi64>
    ```
  }];
  let arguments = (ins
    AnyTypeOf<[AnyRankedTensor, AnyRankedOrUnrankedMemRef]>:$value,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$index);
  let assemblyFormat = "$value `,` $index attr-dict `:` type($value)";
}

#endif
