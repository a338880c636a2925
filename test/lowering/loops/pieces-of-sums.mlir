// RUN: onnxc-opt %s --expand-kernels --cse | FileCheck %s

#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, depth = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// One code does all pieces of a sum: it begins with zeros or with what is in the output, and ends with the epilogue or
// leaves its sums there.
// CHECK-LABEL: func.func private @k_
// CHECK: scf.for %[[FROM:.*]] = %c0{{.*}} to %c20
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[FROM]], %c0
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[FROM]], %c16
// CHECK: scf.for
// CHECK: scf.if %[[FIRST]]
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.if %[[LAST]]
// CHECK: math.absf
// CHECK: } else {
// CHECK-NOT: math.absf
// CHECK-NOT: vector.fma
// CHECK: return
func.func @f(%A: memref<12x20xf32>, %W: memref<20x16xf32>, %Y: memref<12x16xf32>) {
  onnxc.kernel #tile ins(%A, %W : memref<12x20xf32>, memref<20x16xf32>) outs(%Y : memref<12x16xf32>) {
  ^bb0(%a: tensor<12x20xf32>, %b: tensor<20x16xf32>, %c: tensor<12x16xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<12x16xf32>) -> tensor<12x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<12x20xf32>, tensor<20x16xf32>) outs(%start : tensor<12x16xf32>) {
    ^bb1(%x: f32, %y: f32, %t: f32):
      %p = arith.mulf %x, %y : f32
      %u = arith.addf %t, %p : f32
      linalg.yield %u : f32
    } -> tensor<12x16xf32>
    %e = tensor.empty() : tensor<12x16xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum : tensor<12x16xf32>) outs(%e : tensor<12x16xf32>) {
    ^bb1(%x: f32, %t: f32):
      %u = math.absf %x : f32
      linalg.yield %u : f32
    } -> tensor<12x16xf32>
    onnxc.yield %y : tensor<12x16xf32>
  }
  return
}
