// RUN: onnxc-opt %s --split-input-file --bufferize | FileCheck %s

// Both branches make a dense buffer: nobody behind them reads one of any strides.
// CHECK-LABEL: @model
// CHECK: %[[Y:.*]] = scf.if %{{.*}} -> (memref<?x4xf32>) {
// CHECK: scf.yield %{{.*}} : memref<?x4xf32>
// CHECK: } else {
// CHECK: scf.yield %{{.*}} : memref<?x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : memref<?x4xf32>)
#all = affine_map<(i, j) -> (i, j)>
func.func @model(%c: i1, %n: index, %x: tensor<?x4xf32> {onnxc.name = "x"}) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %y = scf.if %c -> tensor<?x4xf32> {
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %f : tensor<?x4xf32>
  } else {
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %f = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %f : tensor<?x4xf32>
  }
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %z = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.tanh %a : f32
    linalg.yield %t : f32
  } -> tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}

// -----

// One branch has a part of an input, the other one a buffer: these differ.
// CHECK-LABEL: @model
// CHECK: scf.if %{{.*}} -> (memref<4xf32, strided<[?], offset: ?>>) {
func.func @model(%c: i1, %x: tensor<8x2xf32> {onnxc.name = "x"}, %i: index) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %y = scf.if %c -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  } else {
    %p = tensor.extract_slice %x[%i, 0] [4, 1] [1, 1] : tensor<8x2xf32> to tensor<4xf32>
    scf.yield %p : tensor<4xf32>
  }
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.exp ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// What goes to an output is copied there by the branch.
// CHECK-LABEL: @model
// CHECK: scf.if
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: linalg.fill {{.*}} outs(%[[A]]
// CHECK: memref.copy %[[A]], %arg2
// CHECK: } else {
// CHECK: %[[B:.*]] = memref.alloc
// CHECK: linalg.exp {{.*}} outs(%[[B]]
// CHECK: memref.copy %[[B]], %arg2
// CHECK-NOT: memref.copy
func.func @model(%c: i1, %x: tensor<4xf32> {onnxc.name = "x"}, %out: memref<4xf32> {onnxc.name = "y", onnxc.output = 0 : i64},
                 %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  %zero = arith.constant 0.0 : f32
  %y = scf.if %c -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  } else {
    %e = tensor.empty() : tensor<4xf32>
    %f = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  }
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
