// RUN: onnxc-opt --split-input-file --bufferize --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: func.func @producer_writes_the_output(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: linalg.map { math.absf } ins(%[[X]] : {{.*}}) outs(%[[Y]] :
func.func @producer_writes_the_output(%x: tensor<4xf32>, %y: memref<4xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.absf } ins(%x : tensor<4xf32>)
      outs(%empty : tensor<4xf32>)
  bufferization.materialize_in_destination %a in restrict writable %y
      : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// What two concatenations begin with is in the memory of neither output.
// CHECK-LABEL: func.func @forks_do_not_share_an_output(
// CHECK-SAME: %[[X:.*]]: memref<1xf32>, %[[Y:.*]]: memref<1xf32>, %[[A:.*]]: memref<2xf32>, %[[B:.*]]: memref<2xf32>
// CHECK-NOT: memref.subview %[[A]]
// CHECK-NOT: memref.subview %[[B]]
// CHECK: return
func.func @forks_do_not_share_an_output(%x: tensor<1xf32>, %y: tensor<1xf32>, %a: memref<2xf32>, %b: memref<2xf32>) {
  %empty = tensor.empty() : tensor<2xf32>
  %begin = tensor.insert_slice %x into %empty[0] [1] [1] : tensor<1xf32> into tensor<2xf32>
  %one = tensor.insert_slice %x into %begin[1] [1] [1] : tensor<1xf32> into tensor<2xf32>
  %other = tensor.insert_slice %y into %begin[1] [1] [1] : tensor<1xf32> into tensor<2xf32>
  bufferization.materialize_in_destination %one in restrict writable %a : (tensor<2xf32>, memref<2xf32>) -> ()
  bufferization.materialize_in_destination %other in restrict writable %b : (tensor<2xf32>, memref<2xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @loops_that_begin_alike_do_not_share_an_output(
// CHECK-SAME: %[[X:.*]]: memref<2xf32>, %[[A:.*]]: memref<2xf32>, %[[B:.*]]: memref<2xf32>
// CHECK-NOT: outs(%[[A]]
// CHECK-NOT: outs(%[[B]]
// CHECK: return
func.func @loops_that_begin_alike_do_not_share_an_output(%x: tensor<2xf32>, %a: memref<2xf32>, %b: memref<2xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %first = arith.constant 1.0 : f32
  %second = arith.constant 2.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %begin = linalg.map { math.absf } ins(%x : tensor<2xf32>) outs(%empty : tensor<2xf32>)
  %ones = scf.for %i = %zero to %two step %one iter_args(%t = %begin) -> (tensor<2xf32>) {
    %u = tensor.insert %first into %t[%i] : tensor<2xf32>
    scf.yield %u : tensor<2xf32>
  }
  %twos = scf.for %i = %zero to %one step %one iter_args(%t = %begin) -> (tensor<2xf32>) {
    %u = tensor.insert %second into %t[%i] : tensor<2xf32>
    scf.yield %u : tensor<2xf32>
  }
  bufferization.materialize_in_destination %ones in restrict writable %a : (tensor<2xf32>, memref<2xf32>) -> ()
  bufferization.materialize_in_destination %twos in restrict writable %b : (tensor<2xf32>, memref<2xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @inputs_are_not_written(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>
// CHECK-NOT: outs(%[[X]]
// CHECK-NOT: memref.copy %{{.*}}, %[[X]]
// CHECK: return
func.func @inputs_are_not_written(%x: tensor<4xf32>, %y: memref<4xf32>) {
  %one = arith.constant 1.0 : f32
  %part = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %ones = linalg.fill ins(%one : f32) outs(%part : tensor<2xf32>)
      -> tensor<2xf32>
  %all = tensor.insert_slice %ones into %x[0] [2] [1]
      : tensor<2xf32> into tensor<4xf32>
  bufferization.materialize_in_destination %all in restrict writable %y
      : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @specification_stays_on_tensors(
// CHECK: onnxc.kernel "spec" ins({{.*}} : memref<4xf32>) outs({{.*}} : memref<4xf32>)
// CHECK: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>)
// CHECK: linalg.map { math.absf } ins(%{{.*}} : tensor<4xf32>)
func.func @specification_stays_on_tensors(%x: tensor<4xf32>, %y: memref<4xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %a = onnxc.kernel "spec" ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%in: tensor<4xf32>, %out: tensor<4xf32>):
    %abs = linalg.map { math.absf } ins(%in : tensor<4xf32>)
        outs(%out : tensor<4xf32>)
    onnxc.yield %abs : tensor<4xf32>
  } -> tensor<4xf32>
  bufferization.materialize_in_destination %a in restrict writable %y
      : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// What is padded goes between the zeros as a whole, so that elide-copies lets its producer write there. Zeros are
// written beside it only.
// CHECK-LABEL: func.func @pads_in_place(
// CHECK: linalg.map { math.absf } ins(%{{.*}}) outs(%[[A:.*]] :
// CHECK: %[[PADDED:.*]] = memref.alloc() {{.*}} : memref<6xf32>
// CHECK: %[[INNER:.*]] = memref.subview %[[PADDED]][1] [4] [1]
// CHECK: memref.copy %[[A]], %[[INNER]]
// CHECK: linalg.fill {{.*}} : memref<1xf32>)
// CHECK: memref.subview %[[PADDED]][0] [1] [1]
// CHECK: linalg.fill {{.*}} : memref<1xf32>)
// CHECK: memref.subview %[[PADDED]][5] [1] [1]
// CHECK-NOT: linalg.fill
// CHECK: return
func.func @pads_in_place(%x: tensor<4xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %a = linalg.map { math.absf } ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>)
  %p = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %p : tensor<6xf32>
}

// -----

// Parts of rooms of equal size are not one, although CSE makes one of them.
// CHECK-LABEL: func.func @rooms_of_two(
// CHECK-DAG: %[[A:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?x16xf32>
// CHECK-DAG: %[[B:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?x16xf32>
// CHECK-DAG: %[[ONE:.*]] = memref.subview %[[A]]
// CHECK-DAG: %[[OTHER:.*]] = memref.subview %[[B]]
// CHECK: linalg.generic {{.*}} outs(%[[OTHER]], %[[ONE]] :
func.func @rooms_of_two(%n: index, %x: tensor<?x9xf32>) -> (tensor<?x9xf32>, tensor<?x9xf32>) {
  %room = tensor.empty(%n) : tensor<?x16xf32>
  %part = tensor.extract_slice %room[0, 0] [%n, 9] [1, 1] : tensor<?x16xf32> to tensor<?x9xf32>
  %y:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x9xf32>) outs(%part, %part : tensor<?x9xf32>, tensor<?x9xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.addf %a, %a : f32
    linalg.yield %a, %d : f32, f32
  } -> (tensor<?x9xf32>, tensor<?x9xf32>)
  return %y#0, %y#1 : tensor<?x9xf32>, tensor<?x9xf32>
}

// -----

// What two products go on from is filled twice, not filled and copied.
// CHECK-LABEL: func.func @fills_of_two(
// CHECK-NOT: memref.copy
// CHECK: return
func.func @fills_of_two(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %ab = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%begin : tensor<4x4xf32>) -> tensor<4x4xf32>
  %ba = linalg.matmul ins(%b, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%begin : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %ab, %ba : tensor<4x4xf32>, tensor<4x4xf32>
}
