// #onnxc.weight: one constant of the model and where it lies in the weights.
#ifndef ONNXC_WEIGHT
#define ONNXC_WEIGHT

include "dialects/onnxc/OnnxcBase.td"
include "dialects/onnxc/Schedule.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

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

def TransformedFilterAttr : AttrDef<OnnxcDialect, "TransformedFilter", [ElementsAttrInterface]> {
  let mnemonic = "transformed_filter";
  let summary = "A constant filter in its Winograd form";
  let description = [{
    The elements of `filter`, [output][input][taps...] in f32 of one or two dimensions of taps, as `schedule` reads them:
    [points][panels][groups of taps, input channels][columns], the last panel filled up with zeros (Lavin and Gray, Fast
    Algorithms for Convolutional Neural Networks, 2015). They take four times the bytes of a filter of 3x3
    taps, up to nine times those of others, so they are calculated, in f64, only as stage `object` writes them.

    ```mlir
    #onnxc.transformed_filter<dense_resource<conv1> : tensor<256x256x3x3xf32>, <tile = 4, tile_rows = 2, product = <...>>>
    ```
  }];
  let parameters = (ins "::mlir::ElementsAttr":$filter, "::onnxc::WinogradAttr":$schedule);
  let assemblyFormat = "`<` $filter `,` $schedule `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::mlir::ShapedType getType() const;
    // Gives `sink` the bytes, row-major, in pieces; fails where the filter has none.
    ::llvm::LogicalResult write(::llvm::function_ref<void(::llvm::ArrayRef<char>)> sink) const;
  }];
}

def QuarteredMatrixAttr : AttrDef<OnnxcDialect, "QuarteredMatrix", [ElementsAttrInterface]> {
  let mnemonic = "quartered_matrix";
  let summary = "A constant matrix as Strassen's seven products read it";
  let description = [{
    Sums and differences of the quarters of `matrix`, whose dimensions but `summed` and `columns` have size one, as
    `schedule` reads them: [7][panels][half of the sum][columns of a panel], filled up with zeros. They take 7/4 of the
    bytes, so they are calculated, in f64, only as stage `object` writes them. The matrix is divided by `scales` first,
    powers of two: one for each row, then one for each column of both halves.

    ```mlir
    // tensor<7x12x384x32xf32>
    #onnxc.quartered_matrix<dense_resource<w> : tensor<768x768xf32>, summed = 0, columns = 1,
    //   dense<...> : tensor<1536xf32>, <pairs = 64, product = <...>>>
    ```
  }];
  let parameters = (ins "::mlir::ElementsAttr":$matrix, "int64_t":$summed, "int64_t":$columns,
    "::mlir::ElementsAttr":$scales, "::onnxc::StrassenAttr":$schedule);
  let assemblyFormat = [{
    `<` $matrix `,` `summed` `=` $summed `,` `columns` `=` $columns `,` $scales `,` $schedule `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::mlir::ShapedType getType() const;
    // Of a matrix: powers of two next to the largest elements of its rows, then to those of the columns that this
    // leaves. Products with such scales lose no more of what is small than plain ones do (Ballard et al., Improving the
    // Numerical Stability of Fast Matrix Multiplication, 2016). Null where the matrix has no bytes.
    static ::mlir::ElementsAttr scalesOf(::mlir::ElementsAttr matrix, int64_t summed, int64_t columns,
                                         ::onnxc::StrassenAttr schedule);
    // Gives `sink` the bytes, row-major, in pieces; fails where the matrix has none.
    ::llvm::LogicalResult write(::llvm::function_ref<void(::llvm::ArrayRef<char>)> sink) const;
  }];
}

def PackedAttr : AttrDef<OnnxcDialect, "Packed", [ElementsAttrInterface]> {
  let mnemonic = "packed";
  let summary = "A constant as a linalg.pack would leave it";
  let description = [{
    The dimensions of `value` in the order `outer`, `tiled` counted in panels, then the columns of a panel, the last one
    filled up with zeros: what `linalg.unpack` with these `outer_dims_perm`, `inner_dims_pos` and `inner_tiles` takes.
    The elements are put there only as stage `object` writes them.

    ```mlir
    // tensor<24x768x32xf32>
    #onnxc.packed<dense_resource<w> : tensor<768x768xf32>, outer = [1, 0], tiled = 1, columns = 32>
    ```
  }];
  let parameters = (ins "::mlir::ElementsAttr":$value, ArrayRefParameter<"int64_t">:$outer, "int64_t":$tiled,
    "int64_t":$columns);
  let assemblyFormat = "`<` $value `,` `outer` `=` `[` $outer `]` `,` `tiled` `=` $tiled `,` `columns` `=` $columns `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::mlir::ShapedType getType() const;
    // The type that such a constant of type `value` has.
    static ::mlir::RankedTensorType typeOf(::mlir::ShapedType value, ::llvm::ArrayRef<int64_t> outer, int64_t tiled,
                                           int64_t columns);
    // Gives `sink` the bytes, row-major, in pieces; fails where the constant has none.
    ::llvm::LogicalResult write(::llvm::function_ref<void(::llvm::ArrayRef<char>)> sink) const;
  }];
}

#endif
