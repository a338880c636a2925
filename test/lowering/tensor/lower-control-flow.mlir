// RUN: onnxc-opt --split-input-file --lower-control-flow %s | FileCheck %s

// CHECK-LABEL: func.func @branches_yield_what_holds_both(
// CHECK: %[[IF:.*]] = scf.if %{{.*}} -> (tensor<?xf32>) {
// CHECK: tensor.cast %{{.*}} : tensor<2xf32> to tensor<?xf32>
// CHECK: } else {
// CHECK: tensor.cast %{{.*}} : tensor<3xf32> to tensor<?xf32>
func.func @branches_yield_what_holds_both(%cond: tensor<i8>,
    %a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<?xf32> {
  %y = "onnx.If"(%cond) ({
    "onnx.Yield"(%a) : (tensor<2xf32>) -> ()
  }, {
    "onnx.Yield"(%b) : (tensor<3xf32>) -> ()
  }) : (tensor<i8>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// The state is written where it is carried, the slices into one destination.
// CHECK-LABEL: func.func @counted_loop(
// CHECK: %[[STACK:.*]] = tensor.empty() : tensor<5x4xf32>
// CHECK: scf.for {{.*}} iter_args(%[[STATE:.*]] = %{{.*}}, %[[SLICES:.*]] = %[[STACK]])
// CHECK: %[[NEXT:.*]] = linalg.map
// CHECK: %[[MORE:.*]] = tensor.insert_slice %{{.*}} into %[[SLICES]]
// CHECK: %[[WRITTEN:.*]] = linalg.copy ins(%{{.*}}) outs(%[[STATE]]
// CHECK: scf.yield %[[WRITTEN]], %[[MORE]]
func.func @counted_loop(%initial: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<?x4xf32>) {
  %count = arith.constant dense<5> : tensor<i64>
  %true = arith.constant dense<1> : tensor<i8>
  %last, %all = "onnx.Loop"(%count, %true, %initial) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i8>, %state: tensor<4xf32>):
    %empty = tensor.empty() : tensor<4xf32>
    %next = linalg.map { math.absf } ins(%state : tensor<4xf32>)
        outs(%empty : tensor<4xf32>)
    "onnx.Yield"(%cond, %next, %state)
        : (tensor<i8>, tensor<4xf32>, tensor<4xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 1, 1>}
      : (tensor<i64>, tensor<i8>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<?x4xf32>)
  return %last, %all : tensor<4xf32>, tensor<?x4xf32>
}

// -----

// Who knows how often: the destination grows.
// CHECK-LABEL: func.func @conditional_loop(
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: scf.if
// CHECK: tensor.empty
// CHECK: tensor.insert_slice
// CHECK: tensor.extract_slice
func.func @conditional_loop(%go: tensor<i8>) -> tensor<?xi64> {
  %all = "onnx.Loop"(%go) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i8>):
    %empty = tensor.empty() : tensor<i8>
    %zero = arith.constant 0 : i8
    %stop = linalg.fill ins(%zero : i8) outs(%empty : tensor<i8>) -> tensor<i8>
    "onnx.Yield"(%stop, %i) : (tensor<i8>, tensor<i64>) -> ()
  }) {operandSegmentSizes = array<i32: 0, 1, 0>}
      : (tensor<i8>) -> tensor<?xi64>
  return %all : tensor<?xi64>
}

// -----

// CHECK-LABEL: func.func @scan(
// CHECK: %[[COUNT:.*]] = arith.constant 3 : index
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[COUNT]]
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<2xf32>
// CHECK: tensor.insert_slice
func.func @scan(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = "onnx.Scan"(%x) <{num_scan_inputs = 1 : i64}> ({
  ^bb0(%slice: tensor<2xf32>):
    "onnx.Yield"(%slice) : (tensor<2xf32>) -> ()
  }) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: @scanned_inputs_must_be_equally_long
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: onnxc.check %[[SAME]]
// CHECK: scf.for
func.func @scanned_inputs_must_be_equally_long(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = "onnx.Scan"(%x, %y) <{num_scan_inputs = 2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "onnx.Yield"(%b) : (tensor<f32>) -> ()
  }) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
