// RUN: onnxc-opt --keep-panels %s | FileCheck %s

#panels = #onnxc.contraction<rows = 2, columns = 16, vector = 8, outer = panels>
#lines = #onnxc.contraction<rows = 2, columns = 32, vector = 16, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
  fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, index_bits = 64, heap = true, has_f16 = true>

module attributes {onnxc.target = #target} {

// 64 rows of B, 256 bytes apart, share a fourth of the sets: a panel of 16 columns is copied.
// CHECK-LABEL: @rows_that_collide
// CHECK: %[[ROOM:.*]] = tensor.empty() : tensor<1024xf32>
// CHECK: onnxc.kernel {{.*}} outs(%{{.*}}, %[[ROOM]] : tensor<8x64xf32>, tensor<1024xf32>)
// CHECK: ^bb0(%{{.*}}, %{{.*}}, %{{.*}}, %[[INSIDE:.*]]: tensor<1024xf32>):
// CHECK: onnxc.yield %{{.*}}, %[[INSIDE]]
func.func @rows_that_collide(%A: tensor<8x64xf32>, %B: tensor<64x64xf32>) -> tensor<8x64xf32> {
  %C = tensor.empty() : tensor<8x64xf32>
  %r = onnxc.kernel #panels ins(%A, %B : tensor<8x64xf32>, tensor<64x64xf32>) outs(%C : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>, %b: tensor<64x64xf32>, %c: tensor<8x64xf32>):
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x64xf32>, tensor<64x64xf32>) outs(%c : tensor<8x64xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x64xf32>
    onnxc.yield %sum : tensor<8x64xf32>
  } -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// 512 rows of 333 columns lie in 167 pages, which vectors as long as a line would ask for again and again.
// CHECK-LABEL: @rows_in_many_pages
// CHECK: %[[ROOM:.*]] = tensor.empty() : tensor<16384xf32>
// CHECK: onnxc.kernel {{.*}} outs(%{{.*}}, %[[ROOM]] : tensor<8x333xf32>, tensor<16384xf32>)
func.func @rows_in_many_pages(%A: tensor<8x512xf32>, %B: tensor<512x333xf32>) -> tensor<8x333xf32> {
  %C = tensor.empty() : tensor<8x333xf32>
  %r = onnxc.kernel #lines ins(%A, %B : tensor<8x512xf32>, tensor<512x333xf32>) outs(%C : tensor<8x333xf32>) {
  ^bb0(%a: tensor<8x512xf32>, %b: tensor<512x333xf32>, %c: tensor<8x333xf32>):
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x512xf32>, tensor<512x333xf32>) outs(%c : tensor<8x333xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x333xf32>
    onnxc.yield %sum : tensor<8x333xf32>
  } -> tensor<8x333xf32>
  return %r : tensor<8x333xf32>
}

// Half as long vectors ask for one in a step, which tells where the panel does not stay in L1.
// CHECK-LABEL: @short_vectors
// CHECK: onnxc.kernel {{.*}} outs(%{{.*}}, %{{.*}} : tensor<8x333xf32>, tensor<8192xf32>)
func.func @short_vectors(%A: tensor<8x512xf32>, %B: tensor<512x333xf32>) -> tensor<8x333xf32> {
  %C = tensor.empty() : tensor<8x333xf32>
  %r = onnxc.kernel #panels ins(%A, %B : tensor<8x512xf32>, tensor<512x333xf32>) outs(%C : tensor<8x333xf32>) {
  ^bb0(%a: tensor<8x512xf32>, %b: tensor<512x333xf32>, %c: tensor<8x333xf32>):
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x512xf32>, tensor<512x333xf32>) outs(%c : tensor<8x333xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x333xf32>
    onnxc.yield %sum : tensor<8x333xf32>
  } -> tensor<8x333xf32>
  return %r : tensor<8x333xf32>
}

// CHECK-LABEL: @short_vectors_and_sums
// CHECK-NOT: tensor<1024xf32>
// CHECK: return
func.func @short_vectors_and_sums(%A: tensor<8x64xf32>, %B: tensor<64x2999xf32>) -> tensor<8x2999xf32> {
  %C = tensor.empty() : tensor<8x2999xf32>
  %r = onnxc.kernel #panels ins(%A, %B : tensor<8x64xf32>, tensor<64x2999xf32>) outs(%C : tensor<8x2999xf32>) {
  ^bb0(%a: tensor<8x64xf32>, %b: tensor<64x2999xf32>, %c: tensor<8x2999xf32>):
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x64xf32>, tensor<64x2999xf32>) outs(%c : tensor<8x2999xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x2999xf32>
    onnxc.yield %sum : tensor<8x2999xf32>
  } -> tensor<8x2999xf32>
  return %r : tensor<8x2999xf32>
}

// 300 rows lie in 98 pages.
// CHECK-LABEL: @rows_in_few_pages
// CHECK-NOT: tensor<9600xf32>
// CHECK: return
func.func @rows_in_few_pages(%A: tensor<8x300xf32>, %B: tensor<300x333xf32>) -> tensor<8x333xf32> {
  %C = tensor.empty() : tensor<8x333xf32>
  %r = onnxc.kernel #lines ins(%A, %B : tensor<8x300xf32>, tensor<300x333xf32>) outs(%C : tensor<8x333xf32>) {
  ^bb0(%a: tensor<8x300xf32>, %b: tensor<300x333xf32>, %c: tensor<8x333xf32>):
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x300xf32>, tensor<300x333xf32>) outs(%c : tensor<8x333xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x333xf32>
    onnxc.yield %sum : tensor<8x333xf32>
  } -> tensor<8x333xf32>
  return %r : tensor<8x333xf32>
}

// Rows of 72 columns do not; and six rows of A are three tiles only.
// CHECK-LABEL: @rows_apart
// CHECK-NOT: tensor<1024xf32>
// CHECK: return
func.func @rows_apart(%A: tensor<8x64xf32>, %B: tensor<64x72xf32>) -> tensor<8x72xf32> {
  %C = tensor.empty() : tensor<8x72xf32>
  %r = onnxc.kernel #panels ins(%A, %B : tensor<8x64xf32>, tensor<64x72xf32>) outs(%C : tensor<8x72xf32>) {
  ^bb0(%a: tensor<8x64xf32>, %b: tensor<64x72xf32>, %c: tensor<8x72xf32>):
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x64xf32>, tensor<64x72xf32>) outs(%c : tensor<8x72xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x72xf32>
    onnxc.yield %sum : tensor<8x72xf32>
  } -> tensor<8x72xf32>
  return %r : tensor<8x72xf32>
}

// CHECK-LABEL: @few_rows
// CHECK-NOT: tensor<1024xf32>
// CHECK: return
func.func @few_rows(%A: tensor<6x64xf32>, %B: tensor<64x64xf32>) -> tensor<6x64xf32> {
  %C = tensor.empty() : tensor<6x64xf32>
  %r = onnxc.kernel #panels ins(%A, %B : tensor<6x64xf32>, tensor<64x64xf32>) outs(%C : tensor<6x64xf32>) {
  ^bb0(%a: tensor<6x64xf32>, %b: tensor<64x64xf32>, %c: tensor<6x64xf32>):
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<6x64xf32>, tensor<64x64xf32>) outs(%c : tensor<6x64xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<6x64xf32>
    onnxc.yield %sum : tensor<6x64xf32>
  } -> tensor<6x64xf32>
  return %r : tensor<6x64xf32>
}

// Pixels of an image are columns of one matrix, and a tap of one is no loop.
// CHECK-LABEL: @image
// CHECK: onnxc.kernel {{.*}} outs(%{{.*}}, %{{.*}} : tensor<1x8x8x8xf32>, tensor<1024xf32>)
func.func @image(%A: tensor<8x64x1xf32>, %B: tensor<1x64x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %C = tensor.empty() : tensor<1x8x8x8xf32>
  %r = onnxc.kernel #panels ins(%A, %B : tensor<8x64x1xf32>, tensor<1x64x8x8xf32>) outs(%C : tensor<1x8x8x8xf32>) {
  ^bb0(%a: tensor<8x64x1xf32>, %b: tensor<1x64x8x8xf32>, %c: tensor<1x8x8x8xf32>):
    %sum = linalg.generic {indexing_maps = [affine_map<(n, f, h, w, k, t) -> (f, k, t)>,
                                            affine_map<(n, f, h, w, k, t) -> (n, k, h, w + t)>,
                                            affine_map<(n, f, h, w, k, t) -> (n, f, h, w)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%a, %b : tensor<8x64x1xf32>, tensor<1x64x8x8xf32>) outs(%c : tensor<1x8x8x8xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<1x8x8x8xf32>
    onnxc.yield %sum : tensor<1x8x8x8xf32>
  } -> tensor<1x8x8x8xf32>
  return %r : tensor<1x8x8x8xf32>
}
}
