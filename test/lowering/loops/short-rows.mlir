// RUN: onnxc-opt %s --form-row-kernels --split-input-file | FileCheck %s --check-prefix=FORM
// RUN: onnxc-opt %s --expand-kernels --split-input-file | FileCheck %s --check-prefix=EXPAND

// As many short rows as fill a quarter of L1 go through the body together, long
// ones one by one, but where a root is taken of their sums.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {
// FORM-LABEL: @short
// FORM: onnxc.kernel #onnxc.rows<outer = 1, tile = 64>
func.func @short(%x: tensor<?x21xf32>, %e: tensor<?xf32>, %o: tensor<?x21xf32>) -> tensor<?x21xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x21xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x21xf32>, tensor<?xf32>) outs(%o : tensor<?x21xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %r = arith.divf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x21xf32>
  return %y : tensor<?x21xf32>
}

// FORM-LABEL: @roots
// FORM: onnxc.kernel #onnxc.rows<outer = 1, tile = 5>
func.func @roots(%x: tensor<?x768xf32>, %e: tensor<?xf32>, %o: tensor<?x768xf32>) -> tensor<?x768xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x768xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %root = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.sqrt %in : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %root : tensor<?x768xf32>, tensor<?xf32>) outs(%o : tensor<?x768xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %r = arith.divf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x768xf32>
  return %y : tensor<?x768xf32>
}

// FORM-LABEL: @long
// FORM: onnxc.kernel #onnxc.rows<outer = 1>
func.func @long(%x: tensor<?x768xf32>, %e: tensor<?xf32>, %o: tensor<?x768xf32>) -> tensor<?x768xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x768xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x768xf32>, tensor<?xf32>) outs(%o : tensor<?x768xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %r = arith.divf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x768xf32>
  return %y : tensor<?x768xf32>
}
}

// -----

// Lanes lie across rows that are shorter than a vector.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true,
    has_permute = true>} {
// EXPAND-LABEL: func.func private @k_
// EXPAND-NOT: vector.mask
// EXPAND: arith.addf {{.*}} : vector<16xf32>
// EXPAND-NOT: vector.mask
// EXPAND: arith.divf {{.*}} : vector<16xf32>
// EXPAND: return
func.func @pairs(%X: memref<96x2xf32>, %Y: memref<96x2xf32>) {
  onnxc.kernel #onnxc.rows<outer = 1, tile = 32> ins(%X : memref<96x2xf32>) outs(%Y : memref<96x2xf32>) {
  ^bb0(%x: tensor<96x2xf32>, %y: tensor<96x2xf32>):
    %zero = arith.constant 0.0 : f32
    %s = tensor.empty() : tensor<96xf32>
    %f = linalg.fill ins(%zero : f32) outs(%s : tensor<96xf32>) -> tensor<96xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<96x2xf32>) outs(%f : tensor<96xf32>) {
    ^bb1(%in: f32, %out: f32):
      %r = arith.addf %in, %out : f32
      linalg.yield %r : f32
    } -> tensor<96xf32>
    %share = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : tensor<96x2xf32>, tensor<96xf32>) outs(%y : tensor<96x2xf32>) {
    ^bb1(%in: f32, %l: f32, %out: f32):
      %r = arith.divf %in, %l : f32
      linalg.yield %r : f32
    } -> tensor<96x2xf32>
    onnxc.yield %share : tensor<96x2xf32>
  }
  return
}
}

// -----

// One logarithm for sixteen rows. What they keep meanwhile is stored without a
// mask; the result, whose rows lie side by side, is not.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {
// EXPAND-LABEL: func.func private @k_
// EXPAND: memref.alloca() {{.*}} : memref<16x32xf32>
// EXPAND: scf.for
// EXPAND-NOT: vector.maskedstore
// EXPAND: math.log {{.*}} : vector<16xf32>
// EXPAND: arith.subf {{.*}} : vector<16xf32>
// EXPAND: vector.maskedstore
// EXPAND: return
func.func @logarithms(%X: memref<96x21xf32>, %Y: memref<96x21xf32>) {
  onnxc.kernel #onnxc.rows<outer = 1, tile = 16> ins(%X : memref<96x21xf32>) outs(%Y : memref<96x21xf32>) {
  ^bb0(%x: tensor<96x21xf32>, %y: tensor<96x21xf32>):
    %zero = arith.constant 0.0 : f32
    %o = tensor.empty() : tensor<96x21xf32>
    %s = tensor.empty() : tensor<96xf32>
    %f = linalg.fill ins(%zero : f32) outs(%s : tensor<96xf32>) -> tensor<96xf32>
    %squares = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<96x21xf32>) outs(%o : tensor<96x21xf32>) {
    ^bb1(%in: f32, %out: f32):
      %r = arith.mulf %in, %in : f32
      linalg.yield %r : f32
    } -> tensor<96x21xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%squares : tensor<96x21xf32>) outs(%f : tensor<96xf32>) {
    ^bb1(%in: f32, %out: f32):
      %r = arith.addf %in, %out : f32
      linalg.yield %r : f32
    } -> tensor<96xf32>
    %log = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%sum : tensor<96xf32>) outs(%s : tensor<96xf32>) {
    ^bb1(%in: f32, %out: f32):
      %r = math.log %in : f32
      linalg.yield %r : f32
    } -> tensor<96xf32>
    %less = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%squares, %log : tensor<96x21xf32>, tensor<96xf32>) outs(%y : tensor<96x21xf32>) {
    ^bb1(%in: f32, %l: f32, %out: f32):
      %r = arith.subf %in, %l : f32
      linalg.yield %r : f32
    } -> tensor<96x21xf32>
    onnxc.yield %less : tensor<96x21xf32>
  }
  return
}
}
