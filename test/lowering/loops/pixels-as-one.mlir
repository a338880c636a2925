// RUN: onnxc-opt %s --expand-kernels --split-input-file | FileCheck %s

// Pixels of unknown number that lie side by side are rows of one loop; so are those of all images.
#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#image = affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w + j, c)>
#weight = affine_map<(n, h, w, f, i, j, c) -> (f, c, i, j)>
#result = affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>

// CHECK-LABEL: func.func private @k_
// CHECK-DAG: %[[N:.*]] = memref.dim %{{.*}}, %c0
// CHECK-DAG: %[[H:.*]] = memref.dim %{{.*}}, %c1
// CHECK-DAG: %[[W:.*]] = memref.dim %{{.*}}, %c2
// CHECK: %[[IMAGE:.*]] = arith.muli %[[H]], %[[W]]
// CHECK: %[[ALL:.*]] = arith.muli %[[N]], %[[IMAGE]]
// CHECK: %[[LAST:.*]] = arith.subi %[[ALL]], %c1
// CHECK: arith.addi %[[LAST]], %c4
// CHECK: arith.floordivsi %{{.*}}, %c6
func.func @dense(%X: memref<?x?x?x64xf32>, %W: memref<1x1x1x64x16xf32>, %Y: memref<?x?x?x16xf32>) {
  onnxc.kernel #tile ins(%X, %W : memref<?x?x?x64xf32>, memref<1x1x1x64x16xf32>) outs(%Y : memref<?x?x?x16xf32>) {
  ^bb0(%x: tensor<?x?x?x64xf32>, %w: tensor<1x1x1x64x16xf32>, %y: tensor<?x?x?x16xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x64x1x1xf32>
    %b = linalg.unpack %w outer_dims_perm = [0, 2, 3, 1] inner_dims_pos = [0] inner_tiles = [16] into %e
        : tensor<1x1x1x64x16xf32> -> tensor<16x64x1x1xf32>
    %start = linalg.fill ins(%zero : f32) outs(%y : tensor<?x?x?x16xf32>) -> tensor<?x?x?x16xf32>
    %sum = linalg.generic {indexing_maps = [#image, #weight, #result], iterator_types = ["parallel", "parallel",
        "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %b : tensor<?x?x?x64xf32>, tensor<16x64x1x1xf32>) outs(%start : tensor<?x?x?x16xf32>) {
    ^bb1(%l: f32, %r: f32, %s: f32):
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<?x?x?x16xf32>
    onnxc.yield %sum : tensor<?x?x?x16xf32>
  }
  return
}

// -----

// A part of a larger image is walked row by row.
#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#image = affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w + j, c)>
#weight = affine_map<(n, h, w, f, i, j, c) -> (f, c, i, j)>
#result = affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>

// CHECK-LABEL: func.func private @k_
// CHECK-NOT: arith.muli %{{.*}}, %dim
// CHECK: %[[W:.*]] = memref.dim %{{.*}}, %c2
// CHECK: %[[LAST:.*]] = arith.subi %[[W]], %c1
// CHECK: arith.addi %[[LAST]], %c4
// CHECK: arith.floordivsi %{{.*}}, %c6
func.func @part(%X: memref<?x?x?x64xf32, strided<[?, ?, 64, 1], offset: ?>>, %W: memref<1x1x1x64x16xf32>,
                %Y: memref<?x?x?x16xf32>) {
  onnxc.kernel #tile ins(%X, %W : memref<?x?x?x64xf32, strided<[?, ?, 64, 1], offset: ?>>, memref<1x1x1x64x16xf32>)
      outs(%Y : memref<?x?x?x16xf32>) {
  ^bb0(%x: tensor<?x?x?x64xf32>, %w: tensor<1x1x1x64x16xf32>, %y: tensor<?x?x?x16xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x64x1x1xf32>
    %b = linalg.unpack %w outer_dims_perm = [0, 2, 3, 1] inner_dims_pos = [0] inner_tiles = [16] into %e
        : tensor<1x1x1x64x16xf32> -> tensor<16x64x1x1xf32>
    %start = linalg.fill ins(%zero : f32) outs(%y : tensor<?x?x?x16xf32>) -> tensor<?x?x?x16xf32>
    %sum = linalg.generic {indexing_maps = [#image, #weight, #result], iterator_types = ["parallel", "parallel",
        "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %b : tensor<?x?x?x64xf32>, tensor<16x64x1x1xf32>) outs(%start : tensor<?x?x?x16xf32>) {
    ^bb1(%l: f32, %r: f32, %s: f32):
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<?x?x?x16xf32>
    onnxc.yield %sum : tensor<?x?x?x16xf32>
  }
  return
}

// -----

// Rows that are known to be many are better than a batch that may be one. The last tile overlaps the one before.
#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#x = affine_map<(s, n, f, k) -> (n, s, k)>
#w = affine_map<(s, n, f, k) -> (k, f)>
#y = affine_map<(s, n, f, k) -> (s, n, f)>

// CHECK-LABEL: func.func private @k_
// CHECK: %[[N:.*]] = memref.dim
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %c198{{.*}} step %c6
// CHECK: arith.minsi %{{.*}}, %c191
func.func @sequence_first(%X: memref<?x197x64xf32>, %W: memref<1x64x16xf32>, %Y: memref<197x?x16xf32>) {
  onnxc.kernel #tile ins(%X, %W : memref<?x197x64xf32>, memref<1x64x16xf32>) outs(%Y : memref<197x?x16xf32>) {
  ^bb0(%a: tensor<?x197x64xf32>, %w: tensor<1x64x16xf32>, %c: tensor<197x?x16xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x16xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
        : tensor<1x64x16xf32> -> tensor<64x16xf32>
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<197x?x16xf32>) -> tensor<197x?x16xf32>
    %sum = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x197x64xf32>, tensor<64x16xf32>) outs(%start : tensor<197x?x16xf32>) {
    ^bb1(%l: f32, %r: f32, %s: f32):
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<197x?x16xf32>
    onnxc.yield %sum : tensor<197x?x16xf32>
  }
  return
}

// -----

// Rows of known number that fill tiles of their own need no tile for what is left of a batch of any size.
#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#x = affine_map<(n, s, f, k) -> (n, s, k)>
#w = affine_map<(n, s, f, k) -> (k, f)>
#y = affine_map<(n, s, f, k) -> (n, s, f)>

// CHECK-LABEL: func.func @own_tiles
// CHECK: func.func private @k_
// CHECK: %[[N:.*]] = memref.dim
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %c48{{.*}} step %c6
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
func.func @own_tiles(%X: memref<?x48x64xf32>, %W: memref<1x64x16xf32>, %Y: memref<?x48x16xf32>) {
  onnxc.kernel #tile ins(%X, %W : memref<?x48x64xf32>, memref<1x64x16xf32>) outs(%Y : memref<?x48x16xf32>) {
  ^bb0(%a: tensor<?x48x64xf32>, %w: tensor<1x64x16xf32>, %c: tensor<?x48x16xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x16xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
        : tensor<1x64x16xf32> -> tensor<64x16xf32>
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x48x16xf32>) -> tensor<?x48x16xf32>
    %sum = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x48x64xf32>, tensor<64x16xf32>) outs(%start : tensor<?x48x16xf32>) {
    ^bb1(%l: f32, %r: f32, %s: f32):
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<?x48x16xf32>
    onnxc.yield %sum : tensor<?x48x16xf32>
  }
  return
}

// -----

// Fewer do not.
#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#x = affine_map<(n, s, f, k) -> (n, s, k)>
#w = affine_map<(n, s, f, k) -> (k, f)>
#y = affine_map<(n, s, f, k) -> (n, s, f)>

// CHECK-LABEL: func.func @few_rows
// CHECK: func.func private @k_
// CHECK: %[[N:.*]] = memref.dim
// CHECK: arith.muli %[[N]], %c9
func.func @few_rows(%X: memref<?x9x64xf32>, %W: memref<1x64x16xf32>, %Y: memref<?x9x16xf32>) {
  onnxc.kernel #tile ins(%X, %W : memref<?x9x64xf32>, memref<1x64x16xf32>) outs(%Y : memref<?x9x16xf32>) {
  ^bb0(%a: tensor<?x9x64xf32>, %w: tensor<1x64x16xf32>, %c: tensor<?x9x16xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x16xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
        : tensor<1x64x16xf32> -> tensor<64x16xf32>
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x9x16xf32>) -> tensor<?x9x16xf32>
    %sum = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x9x64xf32>, tensor<64x16xf32>) outs(%start : tensor<?x9x16xf32>) {
    ^bb1(%l: f32, %r: f32, %s: f32):
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<?x9x16xf32>
    onnxc.yield %sum : tensor<?x9x16xf32>
  }
  return
}
