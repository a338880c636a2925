// RUN: onnxc-opt %s --expand-kernels --split-input-file --verify-diagnostics | FileCheck %s

#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#bias = affine_map<(m, n) -> (n)>

// Two equal kernels are one function; a column of 12 accumulators lives through the loop over k.
// CHECK-LABEL: func.func @equal_kernels_share_a_function
// CHECK-COUNT-2: call @k_
// CHECK-LABEL: func.func private @k_
// CHECK-SAME: no_inline
// CHECK: scf.for %{{.*}} iter_args(
// CHECK-COUNT-12: vector.fma {{.*}} : vector<8xf32>
// CHECK: scf.yield
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: vector.store {{.*}} : memref<192xf32{{.*}}>, vector<8xf32>
// CHECK-NOT: func.func
func.func @equal_kernels_share_a_function(%A: memref<12x64xf32>, %W: memref<1x64x16xf32>, %V: memref<1x64x16xf32>,
                                          %bias: memref<16xf32>, %C: memref<12x16xf32>, %D: memref<12x16xf32>) {
  onnxc.kernel #tile ins(%A, %W, %bias : memref<12x64xf32>, memref<1x64x16xf32>, memref<16xf32>)
      outs(%C : memref<12x16xf32>) {
  ^bb0(%a: tensor<12x64xf32>, %w: tensor<1x64x16xf32>, %v: tensor<16xf32>, %c: tensor<12x16xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x16xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
        : tensor<1x64x16xf32> -> tensor<64x16xf32>
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<12x16xf32>) -> tensor<12x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<12x64xf32>, tensor<64x16xf32>) outs(%start : tensor<12x16xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<12x16xf32>
    %r = linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %v : tensor<12x16xf32>, tensor<16xf32>) outs(%c : tensor<12x16xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
    } -> tensor<12x16xf32>
    onnxc.yield %r : tensor<12x16xf32>
  }
  onnxc.kernel #tile ins(%A, %V, %bias : memref<12x64xf32>, memref<1x64x16xf32>, memref<16xf32>)
      outs(%D : memref<12x16xf32>) {
  ^bb0(%a: tensor<12x64xf32>, %w: tensor<1x64x16xf32>, %v: tensor<16xf32>, %c: tensor<12x16xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x16xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
        : tensor<1x64x16xf32> -> tensor<64x16xf32>
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<12x16xf32>) -> tensor<12x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<12x64xf32>, tensor<64x16xf32>) outs(%start : tensor<12x16xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<12x16xf32>
    %r = linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %v : tensor<12x16xf32>, tensor<16xf32>) outs(%c : tensor<12x16xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
    } -> tensor<12x16xf32>
    onnxc.yield %r : tensor<12x16xf32>
  }
  return
}

// -----

func.func @no_contraction_in_the_body(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{expected one contraction in the body}}
  onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
      ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    onnxc.yield %a : tensor<4xf32>
  }
  return
}

// -----

// The last panel ends behind the source: its last columns are zeros.
// CHECK-LABEL: func.func @columns_become_vectors_of_panels
// CHECK: func.func private @k_
// CHECK: scf.for
// CHECK-COUNT-4: vector.load {{.*}} : memref<56xf32{{.*}}>, vector<4xf32>
// CHECK: vector.shuffle
// CHECK-COUNT-4: vector.store {{.*}} : memref<64xf32{{.*}}>, vector<4xf32>
// CHECK: arith.select {{.*}} : vector<4xf32>
func.func @columns_become_vectors_of_panels(%x: memref<7x8xf32>, %y: memref<2x8x4xf32>) {
  onnxc.kernel #onnxc.squares<4> ins(%x : memref<7x8xf32>) outs(%y : memref<2x8x4xf32>) {
  ^bb0(%a: tensor<7x8xf32>, %b: tensor<2x8x4xf32>):
    %zero = arith.constant 0.0 : f32
    %p = linalg.pack %a padding_value(%zero : f32) outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [4]
        into %b : tensor<7x8xf32> -> tensor<2x8x4xf32>
    onnxc.yield %p : tensor<2x8x4xf32>
  }
  return
}

// -----

// Columns whose length the run knows: the rest of one is read with a mask, and
// what lies behind its end is written to where the end itself comes last.
// CHECK-LABEL: func.func @columns_of_unknown_length
// CHECK: func.func private @k_
// CHECK: %[[REST:.*]] = arith.subi
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[REST]] : index to i32
// CHECK: %[[LANES:.*]] = vector.broadcast %[[COUNT]]
// CHECK: arith.cmpi slt, %{{.*}}, %[[LANES]] : vector<4xi32>
// CHECK: vector.maskedload
// CHECK: %[[LAST:.*]] = arith.minsi %{{.*}}, %{{.*}} : index
// CHECK: vector.store
func.func @columns_of_unknown_length(%x: memref<8x?xf32>, %y: memref<2x?x4xf32>) {
  onnxc.kernel #onnxc.squares<4> ins(%x : memref<8x?xf32>) outs(%y : memref<2x?x4xf32>) {
  ^bb0(%a: tensor<8x?xf32>, %b: tensor<2x?x4xf32>):
    %zero = arith.constant 0.0 : f32
    %p = linalg.pack %a padding_value(%zero : f32) outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [4]
        into %b : tensor<8x?xf32> -> tensor<2x?x4xf32>
    onnxc.yield %p : tensor<2x?x4xf32>
  }
  return
}

// -----

// Weights that one tile of rows reads once are asked for 8 KiB before they are
// read: 128 steps of 16 floats, 2048 elements.
// CHECK-LABEL: func.func @weights_are_a_stream
// CHECK: func.func private @k_
// CHECK: scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args
// CHECK: %[[AHEAD:.*]] = arith.constant 128 : index
// CHECK: arith.addi %[[K]], %[[AHEAD]]
// CHECK: memref.prefetch {{.*}} locality<3>
func.func @weights_are_a_stream(%A: memref<1x640xf32>, %W: memref<4x640x16xf32>, %C: memref<1x64xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 1, columns = 16, vector = 8, outer = panels>
      ins(%A, %W : memref<1x640xf32>, memref<4x640x16xf32>) outs(%C : memref<1x64xf32>) {
  ^bb0(%a: tensor<1x640xf32>, %w: tensor<4x640x16xf32>, %c: tensor<1x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<640x64xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
        : tensor<4x640x16xf32> -> tensor<640x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<1x64xf32>) -> tensor<1x64xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<1x640xf32>, tensor<640x64xf32>) outs(%start : tensor<1x64xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<1x64xf32>
    onnxc.yield %sum : tensor<1x64xf32>
  }
  return
}

// -----

// Tiles run along the rows, of which the last loop has one only.
#row = affine_map<(s, b, n) -> (s, b, n)>
#sum = affine_map<(s, b, n) -> (s, b)>
// CHECK-LABEL: func.func @rows_of_one_batch
// CHECK: func.func private @k_
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<4x1xf32>
// CHECK: scf.for {{.*}} = %c0{{.*}} to %c20{{.*}} step %c4
// CHECK: } {onnxc.inner, onnxc.step}
// CHECK: } {onnxc.step}
func.func @rows_of_one_batch(%x: memref<20x1x16xf32>, %y: memref<20x1x16xf32>) {
  onnxc.kernel #onnxc.rows<outer = 2, tile = 4> ins(%x : memref<20x1x16xf32>) outs(%y : memref<20x1x16xf32>) {
  ^bb0(%a: tensor<20x1x16xf32>, %c: tensor<20x1x16xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<20x1xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<20x1xf32>) -> tensor<20x1xf32>
    %s = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a : tensor<20x1x16xf32>) outs(%start : tensor<20x1xf32>) {
    ^bb1(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<20x1xf32>
    %d = linalg.generic {indexing_maps = [#row, #sum, #row], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%a, %s : tensor<20x1x16xf32>, tensor<20x1xf32>) outs(%c : tensor<20x1x16xf32>) {
    ^bb1(%p: f32, %q: f32, %r: f32):
      %t = arith.divf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<20x1x16xf32>
    onnxc.yield %d : tensor<20x1x16xf32>
  }
  return
}

// -----

// Stage loops leaves kernels of tensors; the views are known after planning.
#all = affine_map<(m, n) -> (m, n)>
func.func @not_yet(%x: tensor<4x16xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @below {{works on tensors: bufferize them first}}
  %0 = onnxc.kernel #onnxc.rows<outer = 1> ins(%x : tensor<4x16xf32>) outs(%y : tensor<4x16xf32>) {
  ^bb0(%a: tensor<4x16xf32>, %b: tensor<4x16xf32>):
    %1 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<4x16xf32>) outs(%b : tensor<4x16xf32>) {
    ^bb1(%p: f32, %q: f32):
      linalg.yield %p : f32
    } -> tensor<4x16xf32>
    onnxc.yield %1 : tensor<4x16xf32>
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// What follows the sums is long: the sums wait in the output, and a loop finishes a row of two vectors.
// CHECK-LABEL: func.func @long_epilogues_are_loops
// CHECK: func.func private @k_
// CHECK-COUNT-12: vector.fma
// CHECK: scf.yield
// CHECK-NOT: math.exp
// CHECK-COUNT-12: vector.store
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c6{{.*}} step %c1
// CHECK-COUNT-4: math.exp
// CHECK-NOT: math.exp
// CHECK: {onnxc.tile}
func.func @long_epilogues_are_loops(%A: memref<6x64xf32>, %W: memref<64x16xf32>, %C: memref<6x16xf32>) {
  onnxc.kernel #tile ins(%A, %W : memref<6x64xf32>, memref<64x16xf32>) outs(%C : memref<6x16xf32>) {
  ^bb0(%a: tensor<6x64xf32>, %b: tensor<64x16xf32>, %c: tensor<6x16xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<6x16xf32>) -> tensor<6x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<6x64xf32>, tensor<64x16xf32>) outs(%start : tensor<6x16xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<6x16xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum : tensor<6x16xf32>) outs(%c : tensor<6x16xf32>) {
    ^bb1(%x: f32, %s: f32):
      %t = math.exp %x : f32
      %u = math.exp %t : f32
      linalg.yield %u : f32
    } -> tensor<6x16xf32>
    onnxc.yield %r : tensor<6x16xf32>
  }
  return
}

// -----

#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// Where what follows the sums reads the output, they wait on the stack.
// CHECK-LABEL: func.func @outputs_that_are_read_keep_their_values
// CHECK: func.func private @k_
// CHECK: %[[WAITING:.*]] = memref.alloca() {{.*}} : memref<96xf32>
// CHECK: scf.yield
// CHECK-COUNT-12: vector.store %{{.*}}, %[[WAITING]]
// CHECK-NOT: vector.store
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c6{{.*}} step %c1
// CHECK: vector.load %[[WAITING]]
// CHECK-COUNT-4: math.exp
// CHECK-NOT: math.exp
// CHECK: {onnxc.tile}
func.func @outputs_that_are_read_keep_their_values(%A: memref<6x64xf32>, %W: memref<64x16xf32>, %C: memref<6x16xf32>) {
  onnxc.kernel #tile ins(%A, %W : memref<6x64xf32>, memref<64x16xf32>) outs(%C : memref<6x16xf32>) {
  ^bb0(%a: tensor<6x64xf32>, %b: tensor<64x16xf32>, %c: tensor<6x16xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x16xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<6x16xf32>) -> tensor<6x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<6x64xf32>, tensor<64x16xf32>) outs(%start : tensor<6x16xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<6x16xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum : tensor<6x16xf32>) outs(%c : tensor<6x16xf32>) {
    ^bb1(%x: f32, %s: f32):
      %t = math.exp %x : f32
      %u = math.exp %t : f32
      %v = arith.addf %u, %s : f32
      linalg.yield %v : f32
    } -> tensor<6x16xf32>
    onnxc.yield %r : tensor<6x16xf32>
  }
  return
}

// -----

#depthwise = #onnxc.contraction<rows = 4, columns = 8, vector = 8, outer = pixels>
#x = affine_map<(n, h, w, c, i, j) -> (n, h + i, w + j, c)>
#w = affine_map<(n, h, w, c, i, j) -> (i, j, c)>
#y = affine_map<(n, h, w, c, i, j) -> (n, h, w, c)>

// Of ten channels the last eight overlap the first: one loop, and no lane is masked.
// CHECK-LABEL: func.func @the_last_channels_overlap
// CHECK: func.func private @k_
// CHECK: scf.for %[[AT:[^ ]*]] = %c0{{[^ ]*}} to %c2{{[^ ]*}} step
// CHECK: %[[FIRST:.*]] = arith.muli %[[AT]], %c8{{.*}}
// CHECK: arith.minsi %[[FIRST]], %c2
// CHECK-NOT: vector.mask
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: vector.mask
func.func @the_last_channels_overlap(%X: memref<1x8x9x10xf32>, %W: memref<1x2x10xf32>, %Y: memref<1x8x8x10xf32>) {
  onnxc.kernel #depthwise ins(%X, %W : memref<1x8x9x10xf32>, memref<1x2x10xf32>) outs(%Y : memref<1x8x8x10xf32>) {
  ^bb0(%a: tensor<1x8x9x10xf32>, %b: tensor<1x2x10xf32>, %c: tensor<1x8x8x10xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<1x8x8x10xf32>) -> tensor<1x8x8x10xf32>
    %sum = linalg.generic {indexing_maps = [#x, #w, #y],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%a, %b : tensor<1x8x9x10xf32>, tensor<1x2x10xf32>) outs(%start : tensor<1x8x8x10xf32>) {
    ^bb1(%p: f32, %q: f32, %s: f32):
      %m = arith.mulf %p, %q : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
    } -> tensor<1x8x8x10xf32>
    onnxc.yield %sum : tensor<1x8x8x10xf32>
  }
  return
}

// -----

#blocked = #onnxc.contraction<rows = 2, columns = 16, vector = 8, outer = panels, block = 4>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Seven rows are tiles of 2, 2, 2 and 1: two blocks of the first three, each with both panels, then one of the last.
// CHECK-LABEL: func.func @blocks_of_rows
// CHECK: func.func private @k_
// CHECK: scf.for %[[AT:[^ ]*]] = %c0{{[^ ]*}} to %c4{{[^ ]*}} step
// CHECK: %[[BLOCK:.*]] = arith.floordivsi %[[AT]], %c2{{.*}}
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c4{{.*}}
// CHECK: %[[END:.*]] = arith.minsi %{{.*}}, %c6{{.*}}
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c2
// CHECK: vector.fma
// CHECK: scf.for %[[AT:[^ ]*]] = %c0{{[^ ]*}} to %c2{{[^ ]*}} step
// CHECK: vector.fma
func.func @blocks_of_rows(%A: memref<7x64xf32>, %B: memref<64x32xf32>, %C: memref<7x32xf32>) {
  onnxc.kernel #blocked ins(%A, %B : memref<7x64xf32>, memref<64x32xf32>) outs(%C : memref<7x32xf32>) {
  ^bb0(%a: tensor<7x64xf32>, %b: tensor<64x32xf32>, %c: tensor<7x32xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<7x32xf32>) -> tensor<7x32xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<7x64xf32>, tensor<64x32xf32>) outs(%start : tensor<7x32xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<7x32xf32>
    onnxc.yield %sum : tensor<7x32xf32>
  }
  return
}
