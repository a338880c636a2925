// How a kernel runs. One attribute per kind of kernel; form-kernels, form-line-kernels and form-row-kernels choose,
// expand-kernels obeys.
#ifndef ONNXC_SCHEDULE
#define ONNXC_SCHEDULE

include "dialects/onnxc/OnnxcBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def LoopOrder : I32EnumAttr<"LoopOrder", "which tiles the outer loop walks", [
    I32EnumAttrCase<"Panels", 0, "panels">, I32EnumAttrCase<"Pixels", 1, "pixels">]> {
  let cppNamespace = "::onnxc";
}

def ContractionAttr : AttrDef<OnnxcDialect, "Contraction"> {
  let mnemonic = "contraction";
  let summary = "Register tile and loop order of a contraction";
  let description = [{
    `rows` accumulators of `columns` elements each are live at once. `columns` is a multiple of the vector length
    where that is more than one. `outer` names the outer loop: `panels` keeps a panel of weights warm, `pixels` a tile of
    activations. With panels outside, a `block` of rows (0: all) meets all panels before the next block does, so that it
    stays in L2. Or the reduction runs in pieces of `depth` (0: whole), in which `group` panels meet each tile of rows
    while it is warm, so that the pieces of a group's panels stay in L2; partial sums wait in the output. Of a depthwise
    window, `group` panels pass all pixels before the next ones do, so that their taps stay in L1.
    With `partial` columns, all that there are, lanes lie along the last reduction: a row has a vector of partial sums
    for each, which are folded at the end of the tile.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "int64_t":$vector, EnumParameter<LoopOrder>:$outer,
                        DefaultValuedParameter<"int64_t", "0">:$block, DefaultValuedParameter<"int64_t", "1">:$group,
                        DefaultValuedParameter<"int64_t", "0">:$depth, DefaultValuedParameter<"int64_t", "0">:$partial);
  let builders = [AttrBuilder<(ins "int64_t":$rows, "int64_t":$columns, "int64_t":$vector, "::onnxc::LoopOrder":$outer),
                              "return $_get($_ctxt, rows, columns, vector, outer, 0, 1, 0, 0);">];
  let assemblyFormat = "`<` struct(params) `>`";
}

def SquaresAttr : AttrDef<OnnxcDialect, "Squares"> {
  let mnemonic = "squares";
  let summary = "One linalg.pack that turns columns into panels";
  let description = [{
    Squares of `size` by `size` elements are turned in registers; zeros lie behind the end of the source.
  }];
  let parameters = (ins "int64_t":$size);
  let assemblyFormat = "`<` $size `>`";
}

def WinogradAttr : AttrDef<OnnxcDialect, "Winograd"> {
  let mnemonic = "winograd";
  let summary = "A convolution by Winograd's minimal filtering";
  let description = [{
    F(`tile`, r) in each direction in which windows have several taps: for 3x3 of them and tiles of 4, 36 matrix products
    with the schedule `product` on blocks of `tile_rows` rows of tiles (Lavin and Gray, Fast Algorithms for Convolutional
    Neural Networks, 2015). Where only the run knows the image, of so many tiles. Tiles of 2 have four points, so that r
    is 3; those of 3, 4 and 5 have six. More taps than r are groups of r, the last one filled up with zeros, that are
    summed like channels. So are the taps of a window of stride s that lie s apart.
  }];
  let parameters = (ins "int64_t":$tile, "int64_t":$tile_rows, DefaultValuedParameter<"int64_t", "1">:$row_stride,
      DefaultValuedParameter<"int64_t", "1">:$column_stride, "::onnxc::ContractionAttr":$product);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    static int64_t tapsOfGroup(int64_t tile) { return (tile == 2 ? 4 : 6) + 1 - tile; }
    // In a direction with so many taps: groups of them, outputs of a tile, and the points that they are made of.
    static int64_t groupsOf(int64_t tile, int64_t taps, int64_t stride) {
      return phasesOf(taps, stride) * ::llvm::divideCeil(::llvm::divideCeil(taps, stride), tapsOfGroup(tile));
    }
    static int64_t phasesOf(int64_t taps, int64_t stride) { return ::std::min(taps, stride); }
    // The first tap of a group; the others lie a stride apart.
    static int64_t tapOf(int64_t tile, int64_t taps, int64_t stride, int64_t group) {
      int64_t phases = phasesOf(taps, stride);
      return group / phases * tapsOfGroup(tile) * stride + group % phases;
    }
    static int64_t outputsOf(int64_t tile, int64_t taps) { return taps > 1 ? tile : 1; }
    static int64_t pointsOf(int64_t tile, int64_t taps) { return taps > 1 ? tile + tapsOfGroup(tile) - 1 : 1; }
  }];
}

def StrassenAttr : AttrDef<OnnxcDialect, "Strassen"> {
  let mnemonic = "strassen";
  let summary = "A product with a constant matrix in seven products of quarters of both";
  let description = [{
    Of two rows and two halves of the sum, with two halves of the columns: seven multiplications instead of eight
    (Strassen, Gaussian elimination is not optimal, 1969), by matrix products with the schedule `product` on blocks of
    `pairs` pairs of rows.
  }];
  let parameters = (ins "int64_t":$pairs, "::onnxc::ContractionAttr":$product);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    static constexpr int64_t points = 7;
    // So many of all columns are the first half: whole vectors of them.
    static int64_t halfOf(int64_t columns, int64_t vector) {
      return ::llvm::alignTo(::llvm::divideCeil(columns, 2), vector);
    }
    int64_t halfOfColumns(int64_t columns) const { return halfOf(columns, getProduct().getVector()); }
  }];
}

def LinesAttr : AttrDef<OnnxcDialect, "Lines"> {
  let mnemonic = "lines";
  let summary = "A convolution and the pool that reads it, by way of a line buffer";
  let description = [{
    The body is two kernels, of which only the second one's result is stored. Rows of the first one's result lie in
    scratch, as many as a window of the pool has; a row of the pool is computed as soon as they are there.
  }];
  let assemblyFormat = "";
}

def RowsAttr : AttrDef<OnnxcDialect, "Rows"> {
  let mnemonic = "rows";
  let summary = "Operations that run one after another on each row";
  let description = [{
    The first `outer` loops of all operations of the body are the same; a row is what their other loops walk. It lies in a
    buffer of one row, or in the output. `tile` rows go through the body together where there are products in it, or where
    rows are short.
  }];
  let parameters = (ins "int64_t":$outer, DefaultValuedParameter<"int64_t", "1">:$tile);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
