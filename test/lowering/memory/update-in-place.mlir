// RUN: onnxc-opt --split-input-file --update-in-place %s | FileCheck %s

#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>

// The sums are stored over the residual, which the body reads from its output.
// CHECK-LABEL: func.func @model
// CHECK-SAME: %{{.*}}: f32, %[[A:[^:]*]]: memref<16x16xf32>, %[[W:[^:]*]]: memref<16x16xf32>, %[[Z:[^:]*]]:
// CHECK: %[[R:.*]] = memref.alloc()
// CHECK-NOT: memref.alloc
// CHECK: onnxc.kernel {{.*}} ins(%[[A]], %[[W]] : {{.*}}) outs(%[[R]] : memref<16x16xf32>)
// CHECK: ^bb0(%{{.*}}: tensor<16x16xf32>, %{{.*}}: tensor<16x16xf32>, %[[C:.*]]: tensor<16x16xf32>):
// CHECK: ins(%{{.*}}, %[[C]] : tensor<16x16xf32>, tensor<16x16xf32>)
// CHECK: memref.copy %[[R]], %[[Z]]
func.func @model(%s: f32, %A: memref<16x16xf32>, %W: memref<16x16xf32>, %Z: memref<16x16xf32>) {
  %R = memref.alloc() : memref<16x16xf32>
  linalg.fill ins(%s : f32) outs(%R : memref<16x16xf32>)
  %Y = memref.alloc() : memref<16x16xf32>
  onnxc.kernel #tile ins(%A, %W, %R : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
      outs(%Y : memref<16x16xf32>) {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %r: tensor<16x16xf32>, %c: tensor<16x16xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%start : tensor<16x16xf32>) {
    ^bb1(%x: f32, %y: f32, %t: f32):
      %p = arith.mulf %x, %y : f32
      %u = arith.addf %t, %p : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    %e = tensor.empty() : tensor<16x16xf32>
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %r : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb1(%x: f32, %z: f32, %t: f32):
      %u = arith.addf %x, %z : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    onnxc.yield %y : tensor<16x16xf32>
  }
  memref.copy %Y, %Z : memref<16x16xf32> to memref<16x16xf32>
  return
}

// -----

#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>

// Not where it is read later.
// CHECK-LABEL: func.func @model
// CHECK: onnxc.kernel {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}})
func.func @model(%s: f32, %A: memref<16x16xf32>, %W: memref<16x16xf32>, %Z: memref<16x16xf32>) {
  %R = memref.alloc() : memref<16x16xf32>
  linalg.fill ins(%s : f32) outs(%R : memref<16x16xf32>)
  %Y = memref.alloc() : memref<16x16xf32>
  onnxc.kernel #tile ins(%A, %W, %R : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
      outs(%Y : memref<16x16xf32>) {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %r: tensor<16x16xf32>, %c: tensor<16x16xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%start : tensor<16x16xf32>) {
    ^bb1(%x: f32, %y: f32, %t: f32):
      %p = arith.mulf %x, %y : f32
      %u = arith.addf %t, %p : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    %e = tensor.empty() : tensor<16x16xf32>
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %r : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb1(%x: f32, %z: f32, %t: f32):
      %u = arith.addf %x, %z : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    onnxc.yield %y : tensor<16x16xf32>
  }
  memref.copy %R, %A : memref<16x16xf32> to memref<16x16xf32>
  memref.copy %Y, %Z : memref<16x16xf32> to memref<16x16xf32>
  return
}

// -----

#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>

// Not where the product reads it, too.
// CHECK-LABEL: func.func @model
// CHECK: onnxc.kernel {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}})
func.func @model(%s: f32, %A: memref<16x16xf32>, %W: memref<16x16xf32>, %Z: memref<16x16xf32>) {
  %R = memref.alloc() : memref<16x16xf32>
  linalg.fill ins(%s : f32) outs(%R : memref<16x16xf32>)
  %Y = memref.alloc() : memref<16x16xf32>
  onnxc.kernel #tile ins(%R, %W, %R : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
      outs(%Y : memref<16x16xf32>) {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %r: tensor<16x16xf32>, %c: tensor<16x16xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%start : tensor<16x16xf32>) {
    ^bb1(%x: f32, %y: f32, %t: f32):
      %p = arith.mulf %x, %y : f32
      %u = arith.addf %t, %p : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    %e = tensor.empty() : tensor<16x16xf32>
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %r : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb1(%x: f32, %z: f32, %t: f32):
      %u = arith.addf %x, %z : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    onnxc.yield %y : tensor<16x16xf32>
  }
  memref.copy %Y, %Z : memref<16x16xf32> to memref<16x16xf32>
  return
}

// -----

#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>

// Not where the sums get other elements of it.
// CHECK-LABEL: func.func @model
// CHECK: onnxc.kernel {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}})
func.func @model(%s: f32, %A: memref<16x16xf32>, %W: memref<16x16xf32>, %Z: memref<16x16xf32>) {
  %R = memref.alloc() : memref<16x16xf32>
  linalg.fill ins(%s : f32) outs(%R : memref<16x16xf32>)
  %Y = memref.alloc() : memref<16x16xf32>
  onnxc.kernel #tile ins(%A, %W, %R : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
      outs(%Y : memref<16x16xf32>) {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %r: tensor<16x16xf32>, %c: tensor<16x16xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%start : tensor<16x16xf32>) {
    ^bb1(%x: f32, %y: f32, %t: f32):
      %p = arith.mulf %x, %y : f32
      %u = arith.addf %t, %p : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    %e = tensor.empty() : tensor<16x16xf32>
    %y = linalg.generic {indexing_maps = [#id, #turned, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %r : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb1(%x: f32, %z: f32, %t: f32):
      %u = arith.addf %x, %z : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    onnxc.yield %y : tensor<16x16xf32>
  }
  memref.copy %Y, %Z : memref<16x16xf32> to memref<16x16xf32>
  return
}

// -----

#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, depth = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>

// Not where partial sums lie in the output.
// CHECK-LABEL: func.func @model
// CHECK: onnxc.kernel {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}})
func.func @model(%s: f32, %A: memref<16x16xf32>, %W: memref<16x16xf32>, %Z: memref<16x16xf32>) {
  %R = memref.alloc() : memref<16x16xf32>
  linalg.fill ins(%s : f32) outs(%R : memref<16x16xf32>)
  %Y = memref.alloc() : memref<16x16xf32>
  onnxc.kernel #tile ins(%A, %W, %R : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
      outs(%Y : memref<16x16xf32>) {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %r: tensor<16x16xf32>, %c: tensor<16x16xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%start : tensor<16x16xf32>) {
    ^bb1(%x: f32, %y: f32, %t: f32):
      %p = arith.mulf %x, %y : f32
      %u = arith.addf %t, %p : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    %e = tensor.empty() : tensor<16x16xf32>
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %r : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb1(%x: f32, %z: f32, %t: f32):
      %u = arith.addf %x, %z : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    onnxc.yield %y : tensor<16x16xf32>
  }
  memref.copy %Y, %Z : memref<16x16xf32> to memref<16x16xf32>
  return
}

// -----

#tile = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>

// Not where the residual is the caller's.
// CHECK-LABEL: func.func @model
// CHECK: onnxc.kernel {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}})
func.func @model(%s: f32, %A: memref<16x16xf32>, %W: memref<16x16xf32>, %Z: memref<16x16xf32>, %R: memref<16x16xf32>) {
  %Y = memref.alloc() : memref<16x16xf32>
  onnxc.kernel #tile ins(%A, %W, %R : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
      outs(%Y : memref<16x16xf32>) {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %r: tensor<16x16xf32>, %c: tensor<16x16xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%start : tensor<16x16xf32>) {
    ^bb1(%x: f32, %y: f32, %t: f32):
      %p = arith.mulf %x, %y : f32
      %u = arith.addf %t, %p : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    %e = tensor.empty() : tensor<16x16xf32>
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %r : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb1(%x: f32, %z: f32, %t: f32):
      %u = arith.addf %x, %z : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32>
    onnxc.yield %y : tensor<16x16xf32>
  }
  memref.copy %Y, %Z : memref<16x16xf32> to memref<16x16xf32>
  return
}
