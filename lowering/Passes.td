// Every pass, in the order of the pipeline.
#ifndef ONNXC_PASSES
#define ONNXC_PASSES

include "mlir/Pass/PassBase.td"

//===-- graph ---------------------------------------------------------------------------------------------------===//

def InferShapes : Pass<"infer-shapes", "mlir::ModuleOp"> {
  let summary = "Infers types again, with what constant folding has found out";
  let description = [{
    ```mlir
    // before
    %1 = "onnx.Reshape"(%x, %shape) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    // after, with %shape = dense<[3, -1]>
    %1 = "onnx.Reshape"(%x, %shape) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<3x4xf32>
    ```
    Sizes of which nothing is known get a name.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def SpecializeRanks : Pass<"specialize-ranks", "mlir::ModuleOp"> {
  let summary = "Moves what follows an If whose branches differ in rank into the branches";
  let description = [{
    Exporters write a squeeze of what may be one as `If(size == 1, Squeeze(x), x)`. Behind it nobody knows a rank; in a
    copy of the rest of the graph for each branch everybody does.

    ```mlir
    %1 = "onnx.If"(%c) ({ onnx.Yield %a : tensor<3xf32> }, { onnx.Yield %b : tensor<1x3xf32> }) : tensor<*xf32>
    %2 = "onnx.Unsqueeze"(%1, %axes) : tensor<*xf32>
    // becomes
    %2 = "onnx.If"(%c) ({ %3 = "onnx.Unsqueeze"(%a, %axes) onnx.Yield %3 }, { ... })
    ```
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def FixLengths : Pass<"fix-lengths", "mlir::ModuleOp"> {
  let summary = "Gives lists whose length only the run knows the length that the ranks ask for";
  let description = [{
    The run checks it. Axes and what belongs to them, of which there may be any number, become lists for all axes.

    ```mlir
    %1, %2 = "onnx.TopK"(%x, %k) : (tensor<9xf32>, tensor<?xi64>) -> (tensor<?xf32>, tensor<?xi64>)
    // becomes
    %n = "onnx.Size"(%k) : (tensor<?xi64>) -> tensor<i64>
    %fits = "onnx.Equal"(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %checked = "onnx.x.Require"(%k, %fits) : (tensor<?xi64>, tensor<i1>) -> tensor<?xi64>
    %fixed = "onnx.Reshape"(%checked, %one_element) : (tensor<?xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1, %2 = "onnx.TopK"(%x, %fixed) : (tensor<9xf32>, tensor<1xi64>) -> (tensor<?xf32>, tensor<?xi64>)
    ```
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def ExpandComposite : Pass<"expand-composite", "mlir::ModuleOp"> {
  let summary = "Replaces composite operators by their bodies";
  let description = [{
    So it does with a Col2Im of blocks of known size: cut into pieces as long as a stride, they are added up as whole
    tensors, each piece with those that neighbouring blocks have in its place. A label that one factor of an Einsum alone
    has is summed in front of the product; not with strict numerics. A TopK of one, the largest of each row, is a
    ReduceMax and an ArgMax.
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def QuantizeToInteger : Pass<"quantize-to-integer", "mlir::ModuleOp"> {
  let summary = "Computes in integers what stands between DequantizeLinear and QuantizeLinear";
  let description = [{
    A sum of products of dequantized numbers is that of the integers, scaled once: without the roundings that decide
    between two neighbours where the exact result lies halfway.

    ```mlir
    %3 = "onnx.Conv"(dequantized %x, dequantized %w, dequantized %b)
    %4 = "onnx.QuantizeLinear"(%3, %y_scale, %y_zero)
    // becomes
    %4 = "onnx.QLinearConv"(%x, %x_scale, %x_zero, %w, %w_scale, %w_zero, %y_scale, %y_zero, %b)
    ```
    MatMul and Gemm likewise. A Relu in between becomes a maximum with the zero point.
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def FoldAffine : Pass<"fold-affine", "mlir::ModuleOp"> {
  let summary = "Merges constant scales and offsets per channel into convolutions";
  let description = [{
    `Mul(Conv(x, W, b), k)` is `Conv(x, W * k, b * k)`, `Add(Conv(x, W, b), k)` is `Conv(x, W, b + k)`; inference-mode
    BatchNormalization with constant statistics is one Mul and one Add.
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def OrderHeads : Pass<"order-heads", "mlir::ModuleOp"> {
  let summary = "Puts the weights of projections in order, so that heads have their channels side by side";
  let description = [{
    Where an attention counts channels through the heads first, the columns of the projections in front of it and the rows
    of the one behind it change places. Not with strict numerics.

    ```mlir
    %p = "onnx.MatMul"(%x, %w) : tensor<1x512x128xf32>
    %q = "onnx.Reshape"(%p, ...) : tensor<1x512x32x4xf32>
    %t = "onnx.Transpose"(%q) {perm = [0, 3, 1, 2]} : tensor<1x4x512x32xf32>
    // becomes, with other columns of %w:
    %q = "onnx.Reshape"(%p, ...) : tensor<1x512x4x32xf32>
    %t = "onnx.Transpose"(%q) {perm = [0, 2, 1, 3]} : tensor<1x4x512x32xf32>
    ```
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def SinkExpands : Pass<"sink-expands", "mlir::ModuleOp"> {
  let summary = "Computes once what is repeated along a batch";
  let description = [{
    ```mlir
    %q = "onnx.Expand"(%queries, %sizes) : (tensor<1x100x256xf32>, tensor<3xi64>) -> tensor<?x100x256xf32>
    %y = "onnx.MatMul"(%q, %w)
    // becomes
    %y = "onnx.Expand"("onnx.MatMul"(%queries, %w), %sizes) // the last of which is 1 now
    ```
    Below elementwise operations whose other operands are not longer along what is repeated, products with matrices,
    Einsum and Transpose. What is made of constants is folded then.
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def ScaleBehindProducts : Pass<"scale-behind-products", "mlir::ModuleOp"> {
  let summary = "Scales scores instead of queries that are a part of one product's result";
  let description = [{
    `MatMul(Mul(Split(x), c), k)` is `Mul(MatMul(Split(x), k), c)` for a number `c`: a softmax reads the scores element by
    element, but a part of a result has no epilogue. Not with strict numerics.
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def FoldConstants : Pass<"fold-constants", "mlir::ModuleOp"> {
  let summary = "Computes what depends on constants only";
  let description = [{
    The constant part of `@model` is made a model of its own, or several of a few hundred operations that share nothing,
    and handed to an evaluator, which the compiler supplies: it compiles and runs it. Without one (in onnxc-opt) the pass
    does nothing. A result stays where it is more than 1 MiB larger than its operands; with a heap and without -Os where it
    is more than 16 times as large as well, if it is no product and does not only repeat its operand. So does everything
    beyond `cap-megabytes`.
  }];
  let options = [Option<"capMegabytes", "cap-megabytes", "int64_t", "2048", "memory that all results may take">];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def MergeSiblings : Pass<"merge-siblings", "mlir::ModuleOp"> {
  let summary = "Makes one convolution of several that leave lanes of their vectors empty";
  let description = [{
    Convolutions of the same image with the same windows, 8 and 20 maps say, are one of 28: two vectors of 16 where there
    were three. The image is read once, too.

    ```mlir
    %y = "onnx.Conv"(%x, %w0)
    %z = "onnx.Conv"(%x, %w1)
    // becomes
    %w = "onnx.Concat"(%w0, %w1) {axis = 0}
    %yz = "onnx.Conv"(%x, %w)
    %y = "onnx.Slice"(%yz, ...)
    %z = "onnx.Slice"(%yz, ...)
    ```
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def SliceBoxes : Pass<"slice-boxes", "mlir::ModuleOp"> {
  let summary = "Makes slices of indices that name a box";
  let description = [{
    Exporters write `x[:, 1:] += y` with a tensor of indices, put together from ranges. Where each of their components
    surely counts along one dimension, ScatterND, GatherND and Gather are slices of the data.

    ```mlir
    %i = "onnx.Constant"() <{value = dense<[[0, 2], [0, 3], [0, 4]]> : tensor<3x2xi64>}>
    %y = "onnx.ScatterND"(%x, %i, %u) <{reduction = "add"}> : (tensor<1x5xf32>, tensor<3x2xi64>, tensor<3xf32>)
    // becomes
    %s = "onnx.Slice"(%x, ...) : tensor<1x3xf32>
    %v = "onnx.Unsqueeze"(%u, ...) : tensor<1x3xf32>
    %t = "onnx.Add"(%s, %v)
    %y = "x.WriteSlice"(%x, %t) <{starts = array<i64: 0, 2>, steps = array<i64: 1, 1>}>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "onnxc::OnnxDialect"];
}

//===-- tensor --------------------------------------------------------------------------------------------------===//

def WidenColumns : Pass<"widen-columns", "mlir::ModuleOp"> {
  let summary = "Takes several rows for one where a Softmax goes down a few columns";
  let description = [{
    Three columns fill three lanes of a vector. Five rows of them are one row of 15: what goes down the columns of that
    is folded once more, over five, and spread again. Not of what queries make of keys, which `turn-products` writes
    with the rows innermost.

    ```mlir
    %y = "onnx.Softmax"(%x) {axis = 1} : tensor<64x1000x3xf32>
    // becomes, here its maximum:
    %w = "onnx.Reshape"(%x, ...) : tensor<64x200x15xf32>
    %m = "onnx.ReduceMax"(%w, 1) : tensor<64x1x15xf32>
    %f = "onnx.Reshape"(%m, ...) : tensor<64x5x3xf32>
    %n = "onnx.ReduceMax"(%f, 1) : tensor<64x1x3xf32>
    %s = "onnx.Expand"(%n, ...) : tensor<64x5x3xf32>
    %t = "onnx.Reshape"(%s, ...) : tensor<64x1x15xf32>
    ```
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def PropagateStrides : Pass<"propagate-strides", "mlir::ModuleOp"> {
  let summary = "Computes only those pixels of an image that are read";
  let description = [{
    A 1x1 convolution of stride 2 reads every second pixel. Where no reader of an image needs more, the convolutions and
    pools that make it stride instead, through elementwise operations; an operand of these that others need in full, the
    residual, is sliced. A window of 3x3 that strides costs no more than its transform for all pixels (Winograd).

    ```mlir
    %a = "onnx.Conv"(%x, %v) : tensor<1x64x56x56xf32>
    %b = "onnx.Add"(%a, %r) : tensor<1x64x56x56xf32>
    %y = "onnx.Conv"(%b, %w) <{strides = array<i64: 2, 2>}> : tensor<1x64x28x28xf32>
    // becomes
    %a = "onnx.Conv"(%x, %v) <{strides = array<i64: 2, 2>}> : tensor<1x64x28x28xf32>
    %s = "onnx.Slice"(%r, ...) : tensor<1x64x28x28xf32>
    %b = "onnx.Add"(%a, %s) : tensor<1x64x28x28xf32>
    %y = "onnx.Conv"(%b, %w) <{strides = array<i64: 1, 1>}> : tensor<1x64x28x28xf32>
    ```
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def UngroupChannels : Pass<"ungroup-channels", "mlir::ModuleOp"> {
  let summary = "Normalizes groups of channels without a view that joins them";
  let description = [{
    A group norm is written on a view whose rows are groups. Channels stay innermost in memory where each is folded by
    itself first, then those of a group; what holds for a group is repeated for its channels. Not with strict numerics.

    ```mlir
    %g = "onnx.Reshape"(%x, ...) : tensor<1x8x32768xf32>
    %m = "onnx.ReduceMean"(%g, 2) : tensor<1x8x1xf32>
    %c = "onnx.Sub"(%g, %m)
    %y = "onnx.Reshape"(%c, ...) : tensor<1x64x64x64xf32>
    // becomes
    %p = "onnx.ReduceMean"(%x, 2, 3) : tensor<1x64x1x1xf32>
    %g = "onnx.Reshape"(%p, ...) : tensor<1x8x8xf32>
    %m = "onnx.ReduceMean"(%g, 2) : tensor<1x8x1xf32>
    %e = "onnx.Expand"(%m, ...) : tensor<1x8x8xf32>
    %r = "onnx.Reshape"(%e, ...) : tensor<1x64x1x1xf32>
    %y = "onnx.Sub"(%x, %r)
    ```
  }];
  let dependentDialects = ["onnxc::OnnxDialect"];
}

def OnnxToLinalg : Pass<"onnx-to-linalg", "mlir::ModuleOp"> {
  let summary = "Lowers every onnx operation to linalg on tensors, one pattern per family";
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::math::MathDialect",
                           "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect", "mlir::vector::VectorDialect",
                           "onnxc::OnnxcDialect"];
}

def PackBorders : Pass<"pack-borders", "mlir::ModuleOp"> {
  let summary = "Unpacks inputs of 4 and 2 bits per element and packs such outputs";
  let description = [{
    Only the border of the model is packed. Its arguments and results become bytes; `onnxc.element` keeps the type
    with its shape.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def LowerControlFlow : Pass<"lower-control-flow", "mlir::ModuleOp"> {
  let summary = "Lowers If, Loop and Scan to scf";
  let description = [{
    Runs after `onnx-to-linalg`, which gives these operations the types of values in memory. Carried values of fixed
    shape are copied into the buffer that carries them; scan outputs are inserted into a destination that has its
    size from the start where the count and the slice are known, and grows otherwise.

    ```mlir
    %y = "onnx.If"(%cond) ({ ... onnx.Yield %a }, { ... onnx.Yield %b })
    // becomes
    %y = scf.if %true { ... scf.yield %a } else { ... scf.yield %b }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect",
                           "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect", "onnxc::OnnxcDialect"];
}

def TurnNarrowConvolutions : Pass<"turn-narrow-convolutions", "mlir::ModuleOp"> {
  let summary = "Runs convolutions to a few channels along the rows of the image";
  let description = [{
    Where vectors of output channels would be mostly empty, the image is read in NCHW and vectors lie along the
    innermost loop over pixels: for windows that move by one there and results of less than a vector of channels,
    if lanes cannot lie along the sum and a count of cycles finds that the moves are worth it.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def PropagateLayouts : Pass<"propagate-layouts", "mlir::ModuleOp"> {
  let summary = "Moves transposes down until they cancel, so that the graph runs in NHWC";
  let description = [{
    Convolutions and pools are built in NHWC between two transposes. Elementwise generics, padding, slices, concatenations
    and branches let a transpose pass when all their full operands have it; where those of elementwise generics differ,
    connected ones take the layout that moves the fewest tensors. Reductions and contractions read through it, but for
    convolutions that would fetch each of many channels, or channels that share few sets of the first cache, from another
    line, and those whose lanes can lie along the sum without it; constants are reordered. Reshapes and the model's border
    stop it.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def TurnLoneWindows : Pass<"turn-lone-windows", "mlir::ModuleOp"> {
  let summary = "Leaves pools and depthwise convolutions alone in NCHW";
  let description = [{
    After `propagate-layouts`. Where a transpose stands before such an operation and one behind it, they would take longer
    than it does: it runs along the rows of NCHW instead. `propagate-layouts` then finds that the transposes cancel.
    Several rows are one tile where windows move by one, with weights if their length is known and they have nine taps and
    more, three of them below each other (decision 0017). Others of unknown length are taken for long ones, but for those
    that become tiles by themselves.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def TurnLoneConvolutions : Pass<"turn-lone-convolutions", "mlir::ModuleOp"> {
  let summary = "Leaves convolutions alone in NCHW";
  let description = [{
    After `propagate-layouts`. A convolution of an image that is NCHW and whose result is wanted so, or split into phases
    of a larger image, runs along the rows of NCHW where a count of cycles finds that faster than with channels last and a
    transpose behind it. Where windows leap along a row, that is only of one row, of whose panels the kernel makes copies,
    each for all channels. Not where Winograd's filtering is for it.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def TurnLoneGroups : Pass<"turn-lone-groups", "mlir::ModuleOp"> {
  let summary = "Leaves convolutions of small groups alone in NCHW";
  let description = [{
    After `propagate-layouts`. A convolution whose groups share vectors of channels, of an image that is NCHW and whose
    result is wanted so, runs along the rows of NCHW where a count of cycles finds that faster than two transposes and what
    is between them: the maps of a group are the rows of a tile.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def InterleavePlanes : Pass<"interleave-planes", "mlir::ModuleOp"> {
  let summary = "Lays the rows of all channels side by side where a convolution reads planes that were moved for it";
  let description = [{
    ```mlir
    %p = linalg.transpose ins(%x : tensor<1x32x32x64xf32>) permutation = [0, 3, 1, 2] // of which windows slide along rows
    // becomes
    %p = linalg.transpose ins(%x : tensor<1x32x32x64xf32>) permutation = [0, 1, 3, 2]
    ```
    Planes of a multiple of a page share sets of the caches, and a sum over channels reads all of them. An image that is
    NCHW by itself stays as it is.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def TurnProducts : Pass<"turn-products", "mlir::ModuleOp"> {
  let summary = "Writes products transposed whose vectors would be mostly empty or gathered";
  let description = [{
    ```mlir
    %y = linalg.generic ins(%x, %w : tensor<32x207x6xf32>, tensor<207x207xf32>) // (c, v, l), (v, w) -> (c, w, l)
    // becomes
    %t = linalg.generic ins(%x, %w) // (c, v, l), (v, w) -> (c, l, w)
    %y = linalg.transpose ins(%t) permutation = [0, 2, 1]
    ```
    Vectors along the few columns would be mostly empty; along the rows they are full. Of convolutions to one map of each
    group, or along a batch, they would be gathered. Where a count of cycles finds it worth the moves, and lanes cannot
    lie along the sum; vectors never leave a batch of unknown size for another loop of unknown size.
    Attention's second product never has vectors across the rows of its softmax, all of which would be kept, where its
    channels fill vectors. After `propagate-layouts`, which knows better for what stands between convolutions.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def SplitBatches : Pass<"split-batches", "mlir::ModuleOp"> {
  let summary = "Joins batch and heads behind the products of an attention, not in front";
  let description = [{
    ```mlir
    %q = tensor.collapse_shape %queries [[0, 1], [2], [3]] // 2x8x256x64 to 16x256x64
    %k = tensor.collapse_shape %keys [[0, 1], [2], [3]]
    %s = linalg.generic ins(%q, %k) // 16x256x256
    // becomes
    %t = linalg.generic ins(%queries, %keys) // 2x8x256x256
    %s = tensor.collapse_shape %t [[0, 1], [2], [3]]
    ```
    What is computed of such products element by element or row by row follows, so that the join meets the reshape that
    parts them again. A product of joined matrices whose result is parted is parted itself. A product of batches of
    computed matrices whose result is transposed is written so, for a softmax behind it goes along its rows then.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def SinkReshapes : Pass<"sink-reshapes", "mlir::ModuleOp"> {
  let summary = "Makes reshapes behind what could be the epilogue of a product";
  let description = [{
    ```mlir
    %a = linalg.generic // a product with a bias, 64x3072
    %r = tensor.expand_shape %a [[0, 1], [2]] output_shape [1, 64, 3072]
    %y = linalg.generic ins(%r) // an activation, 1x64x3072
    // becomes
    %b = linalg.generic ins(%a) // 64x3072
    %y = tensor.expand_shape %b [[0, 1], [2]] output_shape [1, 64, 3072]
    ```
    Also where a residual of all elements is added. What reads elements per row or column that are computed keeps its
    dimensions, so that norms stay together. Behind a convolution whose groups are joined to channels, biases and
    residuals are told apart by groups instead.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def ShareConstants : Pass<"share-constants", "mlir::ModuleOp"> {
  let summary = "Lets large constants of equal bytes be one";
  let description = [{
    Layers that share weights often have a copy each: exporters store one for every use, folding makes one for every
    node. What is packed of one constant in one way is one as well, and so are the kernels that read it.
  }];
}

def FoldFrames : Pass<"fold-frames", "mlir::ModuleOp"> {
  let summary = "Makes convolutions of images of those of frames, for Winograd's filtering";
  let description = [{
    A window of 1x3x3 slides over frames that do not meet: they are images of a larger batch. One of kx3x3 slides over
    images that have the channels of k frames, which are copied side by side; one of kx1x1 over images whose columns are
    all pixels of a frame. Where `transform-filters` will choose Winograd's filtering for them.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def TransformFilters : Pass<"transform-filters", "mlir::ModuleOp"> {
  let summary = "Stores the filters of convolutions in Winograd's form where that is faster";
  let description = [{
    For constant filters that are no splat, of 8 channels or more, 16 where windows have one direction, and of no fewer
    than a vector has lanes. Of 3x3 taps F(4x4) takes a quarter, F(2x2) 4/9 of the multiplications, but their filters
    are 4 and 1.8 times as large; of three taps in a line F(4) takes a half, and its filters are twice as large. Six
    points make 5, 4 or 3 outputs of 2, 3 or 4 taps; more taps are groups of these, and so are those that a stride sets
    apart, whose products are summed as those of channels are. Tiles of taps that lie apart lie in one another. A count
    of cycles and of bytes chooses, for what images of 96, 224 and 448 rows and columns become where only the run knows
    the size. The points are 0, +-3/4 and +-3/2, whose error is a fourth of that of 0, +-1 and +-2; the filters are
    transformed in double. Not with strict numerics, and not for small code (-Os).
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "onnxc::OnnxcDialect"];
}

def QuarterMatrices : Pass<"quarter-matrices", "mlir::ModuleOp"> {
  let summary = "Stores constant matrices as the quarters that Strassen's products read where that is faster";
  let description = [{
    A product of many rows with a constant matrix takes seven products of quarters instead of eight (Strassen, 1969), but
    sums of rows in front and of products behind them, and the matrix takes 7/4 of the bytes: a count of cycles chooses.
    Where only the run knows how many rows there are, few of them read four of the quarters. An infinity in a row
    makes NaN of its results. Not with strict numerics, for small code (-Os), or without a heap (decision 0015).
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "onnxc::OnnxcDialect"];
}

def OrderRows : Pass<"order-rows", "mlir::ModuleOp"> {
  let summary = "Lets norms over the channels of an image walk it pixel by pixel";
  let description = [{
    A reduction of the innermost dimensions loops over them last, and what elementwise operations make of it does not keep
    a dimension of size one between those of the pixel: `form-row-kernels` then finds the channels of a pixel to be a row.

    ```mlir
    %mean = linalg.generic ["parallel", "reduction", "parallel", "parallel"] (%x by (n, c, h, w) -> (n, h, w, c))
    %kept = linalg.generic (%mean) -> tensor<1x1x56x56xf32>
    // becomes
    %mean = linalg.generic ["parallel", "parallel", "parallel", "reduction"] (%x by (n, h, w, c) -> (n, h, w, c))
    %kept = linalg.generic (%mean) -> tensor<1x56x56xf32>
    ```
  }];
}

def DropSmallFactors : Pass<"drop-small-factors", "mlir::ModuleOp"> {
  let summary = "Makes zero of what is too small to count in a product";
  let description = [{
    A masked score of -100 has a share of 4e-44. That is a subnormal number, and a multiplication with one takes Intel's
    cores some 150 cycles. Shares that would be subnormal beside the largest are zero, as are ONNX Runtime's below e^-88.4.
    So are subnormal weights, which training leaves where it lets a channel die, and subnormal powers of e that only
    sums see, of products or of themselves, as the bells of a radial basis; not where a quotient, a logarithm or a huge
    multiple of such a sum tells how small it is. Not with strict numerics.

    The powers of shares are marked as those of numbers below zero, which need no bound from above. A NaN in a row is in
    the sum of its powers: where nobody else reads the largest element, its fold is marked as one that may leave NaN out.

    ```mlir
    %max = arith.maximumf %s, %out : f32 // of the row
    %e = math.exp %x : f32
    // becomes
    %max = arith.maximumf %s, %out {onnxc.leaves_nan_out} : f32
    %tiny = arith.cmpf olt, %x, %c-86.98 : f32
    %power = math.exp %x {onnxc.at_most_zero} : f32
    %e = arith.select %tiny, %zero, %power : f32
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def PackLayouts : Pass<"pack-layouts", "mlir::ModuleOp"> {
  let summary = "Stores constant operands of contractions as the panels that kernels read";
  let description = [{
    Weights become [panel][reduction loops][columns of the register tile], the last panel filled up with zeros; a
    splat stays a splat. `linalg.unpack` says what the weights were, and is never run: the kernel reads through it.
    Where columns are so few that lanes lie along the sum, its last loop becomes the innermost dimension instead. Few
    rows behind a mesh read several panels of a cache line each at once (decision 0014).
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "onnxc::OnnxcDialect"];
}

def ScaleFilters : Pass<"scale-filters", "mlir::ModuleOp"> {
  let summary = "Multiplies filters where channels of their image would be multiplied";
  let description = [{
    Where a squeeze and excitation's factors, one for each channel, are for a 1x1 convolution alone and its filters are
    a fourth of the image at most. Not with strict numerics: products are rounded in another order.

    ```mlir
    %z = linalg.generic ... ins(%y, %s : tensor<1x56x56x96xf32>, tensor<1x1x1x96xf32>) // y * s
    %c = linalg.generic ... ins(%z, %unpacked : tensor<1x56x56x96xf32>, tensor<24x96x1x1xf32>)
    // becomes
    %v = linalg.generic ... ins(%panels, %s : tensor<1x96x1x1x32xf32>, tensor<1x1x1x96xf32>) // panels * s
    %c = linalg.generic ... ins(%y, %unpacked_of_v : tensor<1x56x56x96xf32>, tensor<24x96x1x1xf32>)
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

//===-- loops ---------------------------------------------------------------------------------------------------===//

def ChooseSingleRows : Pass<"choose-single-rows", "mlir::ModuleOp"> {
  let summary = "Lets the run choose how a single row is multiplied";
  let description = [{
    A matrix of a run whose columns lie apart, as the keys of an attention, is copied into panels for many rows, and read
    where it is by a single one. Where an input's size says how many there are, what the rows go through up to the next
    product stands there for one and for all other numbers. Rows that are as many as columns, as in an encoder, have one
    form only.

    ```mlir
    %scores = linalg.generic ... ins(%q, %k : tensor<?x64xf32>, tensor<?x64xf32>)
    // becomes
    %scores = scf.if %is_one {
      %single = linalg.generic ... ins(%q1, %k : tensor<1x64xf32>, tensor<?x64xf32>)
      ...
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"chosen", "chosen-rows", "products that have a form for a single row">];
}

def FormKernels : Pass<"form-kernels", "mlir::ModuleOp"> {
  let summary = "Groups contractions with their paddings, start values and epilogues into kernels";
  let description = [{
    The group and its schedule are chosen here, on tensors; `expand-kernels` makes code of it after planning. So
    bufferization and planning see one operation per kernel. An epilogue ends before it would read a second tensor that
    another contraction is still to make, whose own epilogue goes on from there.

    A fold over pixels of the result, as the mean of a squeeze and excitation, joins where their number is known: tiles
    fold their rows while they hold them, and the result is stored only if something else reads it. What tasks share is
    not folded: where that is rows of the image, as in all Winograd convolutions, the kernel yields a sum for each row. A
    pool behind one of these joins where its windows lie side by side and divide the tiles.

    An operand whose columns lie apart (the keys of an attention) is copied into panels first, by a kernel
    `#onnxc.squares<n>` of one `linalg.pack`: n by n elements are turned in registers. Two or three rows, or more where a
    copy does not pay, sum along vectors instead and are no kernel. One that all columns are multiplied with and whose
    sums walk across rows that share few sets of the cache is transposed first, and so is one whose innermost elements
    belong to several products, as heads that lie innermost.
  }];
  let dependentDialects = ["onnxc::OnnxcDialect", "mlir::tensor::TensorDialect"];
}

def FormLineKernels : Pass<"form-line-kernels", "mlir::ModuleOp"> {
  let summary = "Groups a convolution and the pool that alone reads it into one kernel";
  let description = [{
    In a kernel `#onnxc.lines` a row of the pool follows the rows of the convolution that its windows have, which are in
    the cache then; they lie in a line buffer, and the convolution's result never exists as a whole. Rows that two windows
    share are kept. What tasks begin with they compute by themselves. A depthwise convolution is taken for a pool where
    L2 does not hold its image and all behind L2 is far, and on bare machines where that saves memory.

    ```mlir
    %c = onnxc.kernel #onnxc.contraction<...> ins(%x, %w : ...) outs(%e : tensor<1x112x112x64xf32>) { ... }
    %y = onnxc.kernel #onnxc.contraction<...> ins(%c : tensor<1x112x112x64xf32>) outs(%f : tensor<1x56x56x64xf32>) { ... }
    // becomes
    %y:2 = onnxc.kernel #onnxc.lines ins(%x, %w : ...) outs(%f, %s : tensor<1x56x56x64xf32>, tensor<21568xf32>) { ... }
    ```
  }];
  let dependentDialects = ["mlir::tensor::TensorDialect", "onnxc::OnnxcDialect"];
}

def FuseElementwise : Pass<"fuse-elementwise", "mlir::ModuleOp"> {
  let summary = "Makes one loop of elementwise chains and of reductions with their producers";
  let description = [{
    A producer moves into its only consumer where each element is read once. One with several consumers is repeated in
    them when it is a few instructions on one tensor: `x - mean` of a normalization, which would be stored and read
    twice otherwise; or on two, where rows are of unknown length, for which no kernel has room. What a convolution makes
    stays apart from a fold over its pixels, which `form-kernels` does in the tiles. Two sums that each add to what a
    contraction makes stay apart, too: in a sum over twenty layers each of them adds its own in its epilogue, and no
    twenty results wait for the last one. What only repeats its input, as the keys that heads share, is read there by
    everybody.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect"];
}

def FormRowKernels : Pass<"form-row-kernels", "mlir::ModuleOp"> {
  let summary = "Groups reductions with what surrounds them into kernels that run row by row";
  let description = [{
    Softmax and normalizations are reductions and elementwise loops that share their outer dimensions. In a kernel
    `#onnxc.rows<outer = n>`, n being the number of outer loops, one row goes through all of them while it is in the L1
    cache, and what only the row's next loop reads lies in a buffer of one row, or in the output.

    The kernels of products that make such rows or read them, as the two of an attention do, join where what all rows
    read of their other operand stays in L2, or where that is computed and less than the rows are. `tile` rows go through
    the body together then: in the latter case so many that multiplying takes longer than fetching. A computed operand
    whose rows share few sets of the cache is copied into panels in front of the kernel. Outer loops that all operands
    walk as one, as batch and sequence, are one loop of rows when `expand-kernels` writes it, and what is left of rows of
    unknown number is in tiles of fewer rows, at most 8 and half of larger tiles, for each number of which there is code.
    `tile` divides the rows of an image where only the number of images is unknown, if nearly as many do: nothing is left.

    Rows of 1024 bytes at most go through a body without products together, too, as many as fill a quarter of L1 but no
    more than 64: each operation takes all of them, with lanes across those that are shorter than a vector. Longer ones
    do where a root or a logarithm is taken of their sums and four of them fit half of L1. Behind a mesh, rows of 512
    bytes and more that half of L2 does not hold are taken one after another, and each asks for the next one.

    ```mlir
    %max = linalg.generic ... // 12x128x128 -> 12x128
    %exp = linalg.generic ... // 12x128x128
    %sum = linalg.generic ... // 12x128
    %y = linalg.generic ...   // 12x128x128
    // becomes
    %y = onnxc.kernel #onnxc.rows<outer = 2> ins(%x : ...) outs(%e : ...) { ... }
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "onnxc::OnnxcDialect"];
}

def KeepPanels : Pass<"keep-panels", "mlir::ModuleOp"> {
  let summary = "Gives products of two computed matrices room for panels of the second one";
  let description = [{
    Rows of a panel of columns lie as far apart as rows of the matrix: each in a page of its own, more of them than a core
    remembers, or all in the same few sets of the caches. The first tile of rows that meets a panel leaves a dense copy of
    it in scratch, a second output that the kernel yields as it got it, for all tiles that follow.

    ```mlir
    %y = onnxc.kernel #onnxc.contraction<rows = 6, columns = 64, vector = 16, outer = panels>
        ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) { ... }
    // becomes
    %y:2 = onnxc.kernel ... outs(%e, %s : tensor<512x512xf32>, tensor<32768xf32>) { ... }
    ```
    After `form-row-kernels`: a tile of rows that goes through several operations together is too few rows.
  }];
  let dependentDialects = ["mlir::tensor::TensorDialect", "onnxc::OnnxcDialect"];
}

def OutlineLoops : Pass<"outline-loops", "mlir::ModuleOp"> {
  let summary = "Gives what is in no kernel functions of its own";
  let description = [{
    One private function per distinct operation on buffers. The time that LLVM takes grows faster than a function does:
    a model of thousands of small operations would not compile in reasonable time as one function. Operations that may
    end the call with a status, and those of a few iterations, stay.
  }];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::memref::MemRefDialect"];
}

def ExpandVectorLoops : Pass<"expand-vector-loops", "mlir::ModuleOp"> {
  let summary = "Writes vector loops for linalg operations on buffers";
  let description = [{
    One loop runs along the lanes of `#onnxc.target`'s vectors: the one that most operands walk with unit stride. Loops
    that all operands walk as one are merged, what lies across the lanes is turned in registers, accumulators stay in
    registers: over all rows, or over eight at a time where a row has more columns than a few vectors. Where two to
    four elements that lie side by side are folded, their neighbours fill the lanes, shuffled from whole vectors.
    Operations whose indices are not linear stay for scalar loops.

    ```mlir
    linalg.generic {...} ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>) {...}
    // becomes
    scf.for %i = %c0 to %c32 step %c8 {
      %a = vector.load %flat_x[%i] : memref<32xf32, ...>, vector<8xf32>
      ...
      vector.store %b, %flat_y[%i] : memref<32xf32, ...>, vector<8xf32>
    }
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def ExpandMath : Pass<"expand-math", "mlir::ModuleOp"> {
  let summary = "Replaces elementary functions by arithmetic, on scalars and vectors";
  let description = [{
    An object has no undefined symbol, so nothing may become a call of the C library. Each function is a formula of
    `loops/math`, to 4 units in the last place (tanh and erf 5). Where the target has no vectors, rounding is replaced
    too, and a fused multiply-add where it has none. Quotients of vectors of i64 by a number are products with its
    reciprocal.

    ```mlir
    %y = math.rsqrt %x : vector<8xf32>
    // becomes
    %r = math.sqrt %x : vector<8xf32>
    %y = arith.divf %one, %r fastmath<contract> : vector<8xf32>
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::func::FuncDialect",
                           "mlir::math::MathDialect", "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def InterleaveChains : Pass<"interleave-chains", "mlir::ModuleOp"> {
  let summary = "Writes long chains of operations on vectors side by side";
  let description = [{
    What a tile's row of sums goes through, an exponential in each of its vectors, are chains that do not depend on each
    other. A core that meets one after the other has few of them under way. Among operations that write nothing, the same
    steps of two or three such chains follow each other; sums that take turns already stay as they are.

    ```mlir
    %a1 = ... %a0
    %a2 = ... %a1
    %b1 = ... %b0
    %b2 = ... %b1
    // becomes
    %a1 = ... %a0
    %b1 = ... %b0
    %a2 = ... %a1
    %b2 = ... %b1
    ```
  }];
}

//===-- memory --------------------------------------------------------------------------------------------------===//

def HoistSizes : Pass<"hoist-sizes", "mlir::ModuleOp"> {
  let summary = "Computes at entry every size that follows from the inputs' sizes";
  let description = [{
    Dimensions of the same name in `onnxc.dims` become one value, read from the first input that has it, and
    `tensor.dim` of an intermediate value becomes a formula of such values at the start of `@model`; what a loop carries
    has the size that it began with, if no iteration changes that. So equal sizes are visibly equal, and sizes that are
    still read from values are known to the run alone. Checks move up to what they need: by now, what is checked may be
    computed as if it had the size that is asked for. It runs before kernels are formed, which compare sizes, and again
    when there are no more tensors to come.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"sizesAtEntry", "sizes-at-entry", "sizes that became formulas of the inputs' sizes">];
}

def OrderRegions : Pass<"order-regions", "mlir::ModuleOp"> {
  let summary = "Runs what is left of the graph in the order that needs least memory";
  let description = [{
    A graph may list all branches of a block layer by layer: each layer's results wait for the next one, all at once. Two
    orders are tried, from the results back through the operand that takes most memory first, and by what is ready and
    leaves least behind, that which reads what was written last among equals. The better one replaces the graph's own
    where its peak and a plan of its buffers are less by a sixteenth at least. Unknown sizes count as `symbol-hint`. Parts
    of a concatenation are its memory and made in their turn, results are the caller's. What ends the call stays in front
    of what follows it, and what reads a value in front of what overwrites it.

    ```mlir
    %a = onnxc.kernel ... ins(%x)
    %b = onnxc.kernel ... ins(%x)
    %c = onnxc.kernel ... ins(%a) // much smaller
    %d = onnxc.kernel ... ins(%b)
    // becomes
    %a = onnxc.kernel ... ins(%x)
    %c = onnxc.kernel ... ins(%a)
    %b = onnxc.kernel ... ins(%x)
    %d = onnxc.kernel ... ins(%b)
    ```
  }];
  let options = [Option<"symbolHint", "symbol-hint", "int64_t", "64", "what symbols are taken for">];
  let statistics = [Statistic<"orderedBlocks", "ordered-blocks", "blocks with another order">];
}

def SetSignature : Pass<"set-signature", "mlir::ModuleOp"> {
  let summary = "Lets the caller lend outputs, arena and weights to the model";
  let description = [{
    Each result of `@model` whose size is known at entry becomes an argument
    `{onnxc.output = index}` that the value is materialized in; any other is handed
    over by `onnxc.result`. Then come the arena, the weights and the call. The module
    lists the symbols of the inputs in `onnxc.symbols`; `@model_output_dims` computes
    the dynamic sizes of the output arguments from them.

    ```mlir
    func.func @model(%x: tensor<4xf32>) -> (tensor<4xf32> {onnxc.name = "y"}) {
      ...
      return %y : tensor<4xf32>
    // becomes
    func.func @model(%x: tensor<4xf32>,
        %out: memref<4xf32> {onnxc.name = "y", onnxc.output = 0 : i64},
        %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
      ...
      bufferization.materialize_in_destination %y in restrict writable %out
      return
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::bufferization::BufferizationDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::memref::MemRefDialect", "onnxc::OnnxcDialect"];
}

def Bufferize : Pass<"bufferize", "mlir::ModuleOp"> {
  let summary = "Turns tensors into buffers, in place where the analysis allows";
  let description = [{
    One-shot bufferization with this project's rules: inputs are read-only, buffers at the border have the identity
    layout, loops may return what they allocate, nothing is freed, and what is inside a kernel stays on tensors.
    Empty-tensor elimination comes first: producers of an output or of a part of a concatenation write there.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::bufferization::BufferizationDialect", "mlir::memref::MemRefDialect"];
}

def ElideCopies : Pass<"elide-copies", "mlir::ModuleOp"> {
  let summary = "Lets values live where they would be copied to";
  let description = [{
    A buffer that is copied as a whole into a part of another, or into an output, becomes that part, where nobody else
    uses the place meanwhile: channel concatenation is a strided view. A part that is copied for readers only is read in
    place, where nobody writes it meanwhile. Copies that stay become loops and are counted;
    with `remarks`, each says its reason.

    ```mlir
    %a = memref.alloc() : memref<4x8xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<4x8xf32>)
    %part = memref.subview %y[0, 8] [4, 8] [1, 1] : memref<4x16xf32> to ...
    memref.copy %a, %part
    // becomes
    %part = memref.subview %y[0, 8] [4, 8] [1, 1] : memref<4x16xf32> to ...
    linalg.fill ins(%x : f32) outs(%part : ...)
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::memref::MemRefDialect"];
  let options = [Option<"remarks", "remarks", "bool", "false", "say why a copy stays">];
  let statistics = [Statistic<"elided", "elided-copies", "copies that became views">,
                    Statistic<"kept", "copies", "copies that stay">];
}

def UpdateInPlace : Pass<"update-in-place", "mlir::ModuleOp"> {
  let summary = "Stores results of kernels over operands that they read last";
  let description = [{
    A convolution or product that adds to its sums a buffer of the result's type, element by element, which nobody reads
    after it, stores its result there and reads its output instead.

    ```mlir
    %y = memref.alloc() : memref<196x1024xf32>
    onnxc.kernel #s ins(%a, %w, %residual : ...) outs(%y : memref<196x1024xf32>) {...}
    // becomes
    onnxc.kernel #s ins(%a, %w : ...) outs(%residual : memref<196x1024xf32>) {...}
    ```
  }];
  let statistics = [Statistic<"updated", "updated", "results that took the place of an operand">];
}

def EmbedWeights : Pass<"embed-weights", "mlir::ModuleOp"> {
  let summary = "Gives every constant an offset into the weights";
  let description = [{
    Constants become views of `%weights`, which is 64-byte aligned. The module
    attribute `onnxc.weights` lists them as `#onnxc.weight<offset, value>` in order of their offsets; equal ones appear
    once. Resources are passed on by handle, never read or copied.

    A large constant of equal elements is one row with stride 0 between the rows; a user that does not take such a
    layout gets a buffer that is filled when the model runs, so this pass comes before `plan-arena`.

    ```mlir
    memref.global constant @c : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
    %c = memref.get_global @c : memref<4xf32>
    // becomes, with onnxc.weights = [#onnxc.weight<0, dense<[...]> : tensor<4xf32>>]
    %c = memref.view %weights[%c0][] : memref<?xi8> to memref<4xf32>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect", "onnxc::OnnxcDialect"];
}

//===-- llvm ----------------------------------------------------------------------------------------------------===//

def ProfileRegions : Pass<"profile-regions", "mlir::ModuleOp"> {
  let summary = "Measures how long each region of the model takes";
  let description = [{
    Only with `onnxc.profile` (`--profile`). A region is a kernel, or an operation in none. The model gets one more output,
    `onnxc.profile`: for each region the ticks of the machine's clock that it took, and for the whole call as the last
    element. Regions in loops add up.

    ```mlir
    onnxc.kernel ... outs(%y : memref<8xf32>)
    // becomes
    %begin = call @onnxc_ticks() : () -> i64
    onnxc.kernel ... outs(%y : memref<8xf32>)
    %end = call @onnxc_ticks() : () -> i64
    %ticks = arith.subi %end, %begin : i64
    ...
    memref.store %sum, %profile[%c0] : memref<2xi64>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::memref::MemRefDialect"];
}

def ExpandKernels : Pass<"expand-kernels", "mlir::ModuleOp"> {
  let summary = "Turns kernels over buffers into functions of vector code";
  let description = [{
    One private function per distinct (body, schedule, buffer types), called where the kernels stood. After planning,
    because the strides of views and the constants among them are known only then. A Winograd kernel of a single block
    becomes three, one for each step, so that tasks can share all of them.

    Rows of unknown number are cut into whole tiles and what is left into halves of one; up to eight rows by weights
    that are far away are one tile. Known rows in a batch of any size, 42 of them or more, have tiles of their own.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::func::FuncDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def EmitModelDescriptor : Pass<"emit-model-descriptor", "mlir::ModuleOp"> {
  let summary = "Writes the entries and the descriptor that onnxc/model.h declares";
  let description = [{
    Reads the interface from the arguments of `@model`, which becomes private and returns a status. Adds
    `@model_call`, `@model_run` where every output has a buffer, `@model_arena_bytes` where there are symbols, and
    the constant `@model_model`. codegen puts the prefix in place of "model".
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect",
                           "mlir::memref::MemRefDialect"];
}

def LowerLoops : Pass<"lower-loops", "mlir::ModuleOp"> {
  let summary = "Turns structured loops into branches, the last one first";
  let description = [{
    MLIR's own patterns in the order in which a chain of loops is lowered in linear time.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect"];
}

def LowerChecks : Pass<"lower-checks", "mlir::ModuleOp"> {
  let summary = "Turns run-time conditions into branches to the end of the call";
  let description = [{
    `onnxc.check`, `onnxc.allocate` and `onnxc.result` may end the call with a status. Structured loops around them
    have become branches; a region that cannot be left is an error.

    ```mlir
    onnxc.check %inside, 2, "node 'g' (Gather): index is out of range", "indices"
    // becomes
    cf.cond_br %inside, ^next, ^failed
    ...
    ^failed:
      %status = call @onnxc_fail(%call, %c2, %node, %operand)
      return %status
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect",
                           "mlir::memref::MemRefDialect"];
}

def LowerViews : Pass<"lower-views", "mlir::ModuleOp"> {
  let summary = "Computes the strides of expanded views from the sizes that they name";
  let description = [{
    Only where a group has several unknown sizes; MLIR's `expand-strided-metadata` does the others.

    ```mlir
    %y = memref.expand_shape %x [[0, 1]] output_shape [%a, %b] : memref<?xf32> into memref<?x?xf32>
    // becomes
    %y = memref.reinterpret_cast %base to offset: [0], sizes: [%a, %b], strides: [%b, 1] : ...
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def LowerMath : Pass<"lower-math", "mlir::ModuleOp"> {
  let summary = "Leaves only math that needs no libm";
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::func::FuncDialect",
                           "mlir::math::MathDialect", "mlir::vector::VectorDialect"];
}

def LowerToLlvm : Pass<"lower-to-llvm", "mlir::ModuleOp"> {
  let summary = "Turns arith, cf, func, math, memref and vector into the LLVM dialect";
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def SplitKernels : Pass<"split-kernels", "mlir::ModuleOp"> {
  let summary = "Lets tasks do shares of a kernel's outermost loops";
  let description = [{
    A function of a kernel, or of loops that write their own elements only, gets three more arguments: the number of a
    worker, of a task, and of all tasks. It does that share of its outermost loops; calls pass 0, 0 and how many tasks
    there should be: a constant of the function, or a formula of the sizes of its operands where these are not known. A
    loop of unknown size around all others, as over a batch, is divided together with those in it. No iteration reads
    what another one writes, so every division gives the same bytes.

    Work is counted in cycles of one core, the longer one of calculating (two vectors of operations a cycle) and of
    moving all operands (16 bytes a cycle). A task has at least 2^13 of them, about 2.5 us; a function of less than two
    tasks is not divided, none into more than 64. Outermost loops of less than 8 iterations are divided once more along
    loops that are marked `onnxc.inner`, if nothing is written outside of those. Of 8 iterations and more, such loops
    are divided instead of the outermost ones where they are marked `onnxc.shared_first`, too: rows of images whose
    weights are little, for kernels before and behind have their rows shared by the same workers. A loop marked
    `onnxc.tile` is a part of the tile that it stands in.

    Scratch (`onnxc.scratch`) becomes a place in the arena that depends on the worker; `onnxc.worker_bytes` says how much
    each worker after the first one needs before the arena, `@model_worker_bytes` where sizes are formulas.

    ```mlir
    func.func private @k(%y: memref<640x8xf32>) {
      scf.for %i = %c0 to %c640 step %c1 { ... }
    // becomes
    func.func private @k(%y: memref<640x8xf32>, %worker: index, %task: index, %tasks: index)
        attributes {onnxc.tasks} {
      scf.for %i = %begin to %end step %c1 { ... }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

def MergeKernels : Pass<"merge-kernels", "mlir::ModuleOp"> {
  let summary = "Gives functions that differ in whole numbers one body, which is told them";
  let description = [{
    Layers of a network often differ in how many channels they sum up, or in how far apart the rows lie that they read.
    Functions of such kernels with the same operations become one with more arguments, in front of the others; numbers
    that are multiples of one another are told once. A number in an innermost loop stays known, as do bounds of short
    loops: LLVM makes addresses without registers of it. Only where a model has more than `most-operations` (one is six
    bytes of code or so), or comes before speed in size, are those told too, what saves most first. What loops divide
    by is never told, and functions that others than `@model` call stay as they are.

    ```mlir
    llvm.func @a(%x: !llvm.ptr) { ... llvm.icmp "slt" %i, %c256 ... }
    llvm.func @b(%x: !llvm.ptr) { ... llvm.icmp "slt" %i, %c288 ... }
    llvm.call @b(%p) : (!llvm.ptr) -> ()
    // becomes
    llvm.func @a(%n: i64, %x: !llvm.ptr) { ... llvm.icmp "slt" %i, %n ... }
    llvm.call @a(%c288, %p) : (i64, !llvm.ptr) -> ()
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
  let options = [Option<"mostOperations", "most-operations", "int64_t", "44000", "code that needs no merging at work">];
}

def StreamStores : Pass<"stream-stores", "mlir::ModuleOp"> {
  let summary = "Lets stores go past the caches only where lines begin and nothing is overwritten that was read";
  let description = [{
    `expand-vector-loops` marks stores of results that no cache keeps: a line that is written whole need not be read
    before. Such stores need buffers that begin where a line does, which a caller's may not; and a line that was read a
    moment ago is in a cache anyway. A function that has some looks at its pointers first, and calls a copy of itself
    without them where it must not use them. They are in no order with other stores, so a fence follows.

    ```mlir
    llvm.store %v, %p {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def RunTasks : Pass<"run-tasks", "mlir::ModuleOp"> {
  let summary = "Gives divisible kernels to the caller's parallel-for";
  let description = [{
    A call of a function with `onnxc.tasks` goes by way of the support library, which chooses at run time:
    `onnxc_call.parallel` runs the tasks; without one, one task does all of the work. Tasks find their number and what
    they use of the call's arguments in a struct on the caller's stack.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def PlanArena : Pass<"plan-arena", "mlir::ModuleOp"> {
  let summary = "Gives every buffer a place in one arena";
  let description = [{
    Bare-metal targets have no heap. Lifetimes are known, so buffers that never live together share bytes, and among
    plans of equal size a buffer gets the bytes that died last, which are still in the cache.

    Buffers of symbolic size lie above those of static size that live at the same time, each at the highest end of the
    buffers below it that do: offset(i) = max of offset(j) + size(j), computed at entry. Which of symbolic size lie below
    which was planned with every symbol at `symbol-hint`. `@model_arena_bytes` gives the size of the arena, the largest
    index on overflow; the module attribute `onnxc.arena_bytes` says it where it is a constant. `@model_worker_bytes` is the
    scratch of the kernel that has most, where the size of some is a formula.

    A buffer whose size only the run knows, or that a loop carries into the iteration that allocates it anew, comes from
    `onnxc.allocate`.

    ```mlir
    %a = memref.alloc() : memref<16xf32>
    // becomes
    %c64 = arith.constant 64 : index
    %a = memref.view %arena[%c64][] : memref<?xi8> to memref<16xf32>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect", "onnxc::OnnxcDialect"];
  let options = [Option<"symbolHint", "symbol-hint", "int64_t", "64", "what symbols are taken for when planning">];
  let statistics = [Statistic<"fixedBuffers", "fixed-buffers", "buffers with a constant offset">,
                    Statistic<"symbolicBuffers", "symbolic-buffers", "buffers whose offset is computed at entry">,
                    Statistic<"unboundedBuffers", "unbounded-buffers", "buffers of the caller's allocator">];
}

#endif
