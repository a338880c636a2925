// RUN: onnxc-opt --onnx-to-linalg --canonicalize --drop-small-factors --split-input-file %s | FileCheck %s

// A NaN in a row is in the sum of its powers, and so in all its shares.
// CHECK-LABEL: @attention
// CHECK: arith.maximumf {{.*}} {onnxc.leaves_nan_out} : f32
// CHECK: %[[POWER:.*]] = math.exp %[[X:.*]] {onnxc.at_most_zero} : f32
// CHECK: %[[LIMIT:.*]] = arith.constant -86.98
// CHECK: %[[TINY:.*]] = arith.cmpf olt, %[[X]], %[[LIMIT]] : f32
// CHECK: arith.select %[[TINY]], %{{.*}}, %[[POWER]] : f32
func.func @attention(%s: tensor<4x8x16xf32>, %v: tensor<4x16x5xf32>) -> tensor<4x8x5xf32> {
  %axes = arith.constant dense<2> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%s, %axes) {keepdims = 1 : i64} : (tensor<4x8x16xf32>, tensor<1xi64>) -> tensor<4x8x1xf32>
  %x = "onnx.Sub"(%s, %max) : (tensor<4x8x16xf32>, tensor<4x8x1xf32>) -> tensor<4x8x16xf32>
  %e = "onnx.Exp"(%x) : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<4x8x16xf32>, tensor<1xi64>) -> tensor<4x8x1xf32>
  %p = "onnx.Div"(%e, %sum) : (tensor<4x8x16xf32>, tensor<4x8x1xf32>) -> tensor<4x8x16xf32>
  %y = "onnx.MatMul"(%p, %v) : (tensor<4x8x16xf32>, tensor<4x16x5xf32>) -> tensor<4x8x5xf32>
  return %y : tensor<4x8x5xf32>
}

// -----

// CHECK-LABEL: @shares_are_returned
// CHECK: arith.maximumf {{.*}} {onnxc.leaves_nan_out} : f32
// CHECK: math.exp
// CHECK: arith.select
// CHECK: return
func.func @shares_are_returned(%s: tensor<4x8x16xf32>, %v: tensor<4x16x5xf32>)
    -> (tensor<4x8x16xf32>, tensor<4x8x5xf32>) {
  %axes = arith.constant dense<2> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%s, %axes) {keepdims = 1 : i64} : (tensor<4x8x16xf32>, tensor<1xi64>) -> tensor<4x8x1xf32>
  %x = "onnx.Sub"(%s, %max) : (tensor<4x8x16xf32>, tensor<4x8x1xf32>) -> tensor<4x8x16xf32>
  %e = "onnx.Exp"(%x) : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<4x8x16xf32>, tensor<1xi64>) -> tensor<4x8x1xf32>
  %p = "onnx.Div"(%e, %sum) : (tensor<4x8x16xf32>, tensor<4x8x1xf32>) -> tensor<4x8x16xf32>
  %y = "onnx.MatMul"(%p, %v) : (tensor<4x8x16xf32>, tensor<4x16x5xf32>) -> tensor<4x8x5xf32>
  return %p, %y : tensor<4x8x16xf32>, tensor<4x8x5xf32>
}

// -----

// CHECK-LABEL: @logarithms
// CHECK: arith.maximumf {{.*}} {onnxc.leaves_nan_out} : f32
// CHECK: math.exp
// CHECK: arith.select
// CHECK: return
func.func @logarithms(%s: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  %axes = arith.constant dense<2> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%s, %axes) {keepdims = 1 : i64} : (tensor<4x8x16xf32>, tensor<1xi64>) -> tensor<4x8x1xf32>
  %x = "onnx.Sub"(%s, %max) : (tensor<4x8x16xf32>, tensor<4x8x1xf32>) -> tensor<4x8x16xf32>
  %e = "onnx.Exp"(%x) : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<4x8x16xf32>, tensor<1xi64>) -> tensor<4x8x1xf32>
  %log = "onnx.Log"(%sum) : (tensor<4x8x1xf32>) -> tensor<4x8x1xf32>
  %y = "onnx.Sub"(%x, %log) : (tensor<4x8x16xf32>, tensor<4x8x1xf32>) -> tensor<4x8x16xf32>
  return %y : tensor<4x8x16xf32>
}

// -----

// Long rows are summed in doubles.
// CHECK-LABEL: @long_rows
// CHECK: arith.maximumf {{.*}} {onnxc.leaves_nan_out} : f32
// CHECK: math.exp {{.*}} {onnxc.at_most_zero} : f32
// CHECK: arith.select
// CHECK: arith.extf
// CHECK: return
func.func @long_rows(%s: tensor<2x100000xf32>) -> tensor<2x100000xf32> {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%s, %axes) {keepdims = 1 : i64} : (tensor<2x100000xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %x = "onnx.Sub"(%s, %max) : (tensor<2x100000xf32>, tensor<2x1xf32>) -> tensor<2x100000xf32>
  %e = "onnx.Exp"(%x) : (tensor<2x100000xf32>) -> tensor<2x100000xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<2x100000xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %p = "onnx.Div"(%e, %sum) : (tensor<2x100000xf32>, tensor<2x1xf32>) -> tensor<2x100000xf32>
  return %p : tensor<2x100000xf32>
}

// -----

// Whoever else reads the largest element, or the distances from it, sees NaN.
// CHECK-LABEL: @maximum_is_returned
// CHECK-NOT: onnxc.leaves_nan_out
// CHECK: onnxc.at_most_zero
// CHECK-NOT: onnxc.leaves_nan_out
// CHECK: return
func.func @maximum_is_returned(%s: tensor<4x16xf32>) -> (tensor<4x1xf32>, tensor<4x16xf32>) {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%s, %axes) {keepdims = 1 : i64} : (tensor<4x16xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %x = "onnx.Sub"(%s, %max) : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %e = "onnx.Exp"(%x) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<4x16xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %p = "onnx.Div"(%e, %sum) : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  return %max, %p : tensor<4x1xf32>, tensor<4x16xf32>
}

// -----

// CHECK-LABEL: @distances_are_returned
// CHECK-NOT: onnxc.leaves_nan_out
// CHECK: onnxc.at_most_zero
// CHECK-NOT: onnxc.leaves_nan_out
// CHECK: return
func.func @distances_are_returned(%s: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%s, %axes) {keepdims = 1 : i64} : (tensor<4x16xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %x = "onnx.Sub"(%s, %max) : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  %e = "onnx.Exp"(%x) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<4x16xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %p = "onnx.Div"(%e, %sum) : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
  return %x, %p : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// The sums of a square matrix turned: a NaN would be in another row's shares.
// CHECK-LABEL: @sums_of_other_rows
// CHECK-NOT: onnxc.leaves_nan_out
// CHECK-NOT: arith.select
// CHECK: return
func.func @sums_of_other_rows(%s: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%s, %axes) {keepdims = 1 : i64} : (tensor<16x16xf32>, tensor<1xi64>) -> tensor<16x1xf32>
  %x = "onnx.Sub"(%s, %max) : (tensor<16x16xf32>, tensor<16x1xf32>) -> tensor<16x16xf32>
  %e = "onnx.Exp"(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 0 : i64} : (tensor<16x16xf32>, tensor<1xi64>) -> tensor<16xf32>
  %p = "onnx.Div"(%e, %sum) : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  return %p : tensor<16x16xf32>
}

// -----

// Powers of anything but the distance from the largest may be as small as they are.
// CHECK-LABEL: @powers_of_x
// CHECK: math.exp
// CHECK-NOT: arith.select
// CHECK: return
func.func @powers_of_x(%s: tensor<4x8x16xf32>, %v: tensor<4x16x5xf32>) -> tensor<4x8x5xf32> {
  %axes = arith.constant dense<2> : tensor<1xi64>
  %e = "onnx.Exp"(%s) : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<4x8x16xf32>, tensor<1xi64>) -> tensor<4x8x1xf32>
  %p = "onnx.Div"(%e, %sum) : (tensor<4x8x16xf32>, tensor<4x8x1xf32>) -> tensor<4x8x16xf32>
  %y = "onnx.MatMul"(%p, %v) : (tensor<4x8x16xf32>, tensor<4x16x5xf32>) -> tensor<4x8x5xf32>
  return %y : tensor<4x8x5xf32>
}

// -----

// The largest of a column, not of the row.
// CHECK-LABEL: @maximum_of_a_column
// CHECK: math.exp
// CHECK-NOT: arith.select
// CHECK: return
func.func @maximum_of_a_column(%s: tensor<16x16xf32>, %v: tensor<16x5xf32>) -> tensor<16x5xf32> {
  %columns = arith.constant dense<0> : tensor<1xi64>
  %axes = arith.constant dense<1> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%s, %columns) {keepdims = 0 : i64} : (tensor<16x16xf32>, tensor<1xi64>) -> tensor<16xf32>
  %turned = "onnx.Unsqueeze"(%max, %axes) : (tensor<16xf32>, tensor<1xi64>) -> tensor<16x1xf32>
  %x = "onnx.Sub"(%s, %turned) : (tensor<16x16xf32>, tensor<16x1xf32>) -> tensor<16x16xf32>
  %e = "onnx.Exp"(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<16x16xf32>, tensor<1xi64>) -> tensor<16x1xf32>
  %p = "onnx.Div"(%e, %sum) : (tensor<16x16xf32>, tensor<16x1xf32>) -> tensor<16x16xf32>
  %y = "onnx.MatMul"(%p, %v) : (tensor<16x16xf32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  return %y : tensor<16x5xf32>
}

// -----

// Rows may all lie far below the largest element of all.
// CHECK-LABEL: @maximum_of_all
// CHECK: math.exp
// CHECK-NOT: arith.select
// CHECK: return
func.func @maximum_of_all(%s: tensor<16x16xf32>, %v: tensor<16x5xf32>) -> tensor<16x5xf32> {
  %all = arith.constant dense<[0, 1]> : tensor<2xi64>
  %axes = arith.constant dense<1> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%s, %all) {keepdims = 1 : i64} : (tensor<16x16xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  %x = "onnx.Sub"(%s, %max) : (tensor<16x16xf32>, tensor<1x1xf32>) -> tensor<16x16xf32>
  %e = "onnx.Exp"(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<16x16xf32>, tensor<1xi64>) -> tensor<16x1xf32>
  %p = "onnx.Div"(%e, %sum) : (tensor<16x16xf32>, tensor<16x1xf32>) -> tensor<16x16xf32>
  %y = "onnx.MatMul"(%p, %v) : (tensor<16x16xf32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  return %y : tensor<16x5xf32>
}

// -----

// Powers that only products see, of which sums are made that end as they are: the bells of a radial basis.
// CHECK-LABEL: @bells
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.cmpf olt
// CHECK: arith.select
func.func @bells(%x: tensor<16x16xf32>, %w: tensor<16x5xf32>) -> tensor<16x5xf32> {
  %e = "onnx.Exp"(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %y = "onnx.MatMul"(%e, %w) : (tensor<16x16xf32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  return %y : tensor<16x5xf32>
}

// -----

// Differences of them, joined to something else, and a bias beside which nobody sees them whatever follows.
// CHECK-LABEL: @differences_of_bells
// CHECK: math.exp
// CHECK: arith.select
// CHECK: math.exp
// CHECK: arith.select
// CHECK: math.log
func.func @differences_of_bells(%a: tensor<1x2x8x8xf32>, %b: tensor<1x2x8x8xf32>, %c: tensor<1x3x8x8xf32>,
    %w: tensor<4x5x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %bias = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = "onnx.Exp"(%a) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %f = "onnx.Exp"(%b) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %d = "onnx.Sub"(%e, %f) : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %x = "onnx.Concat"(%d, %c) {axis = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x5x8x8xf32>
  %s = "onnx.Conv"(%x, %w, %bias) : (tensor<1x5x8x8xf32>, tensor<4x5x1x1xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %y = "onnx.Log"(%s) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// -----

// Sums of subnormal powers have a logarithm.
// CHECK-LABEL: @logarithm_of_sums
// CHECK: math.exp
// CHECK-NOT: arith.select
// CHECK: math.log
func.func @logarithm_of_sums(%x: tensor<16x16xf32>) -> tensor<16xf32> {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %e = "onnx.Exp"(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = "onnx.ReduceSum"(%e, %axes) {keepdims = 0 : i64} : (tensor<16x16xf32>, tensor<1xi64>) -> tensor<16xf32>
  %y = "onnx.Log"(%s) : (tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// -----

// And they have quotients: those of a kernel regression.
// CHECK-LABEL: @quotient_of_sums
// CHECK: math.exp
// CHECK-NOT: arith.select
// CHECK: return
func.func @quotient_of_sums(%x: tensor<16x16xf32>, %w: tensor<16x5xf32>) -> tensor<16x5xf32> {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %e = "onnx.Exp"(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<16x16xf32>, tensor<1xi64>) -> tensor<16x1xf32>
  %m = "onnx.MatMul"(%e, %w) : (tensor<16x16xf32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  %y = "onnx.Div"(%m, %s) : (tensor<16x5xf32>, tensor<16x1xf32>) -> tensor<16x5xf32>
  return %y : tensor<16x5xf32>
}

// -----

// A bias of zero hides nothing.
// CHECK-LABEL: @beside_zeros
// CHECK: math.exp
// CHECK-NOT: arith.select
// CHECK: math.log
func.func @beside_zeros(%x: tensor<16x16xf32>, %w: tensor<16x2xf32>) -> tensor<16x2xf32> {
  %bias = arith.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %e = "onnx.Exp"(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %m = "onnx.MatMul"(%e, %w) : (tensor<16x16xf32>, tensor<16x2xf32>) -> tensor<16x2xf32>
  %s = "onnx.Add"(%m, %bias) : (tensor<16x2xf32>, tensor<2xf32>) -> tensor<16x2xf32>
  %y = "onnx.Log"(%s) : (tensor<16x2xf32>) -> tensor<16x2xf32>
  return %y : tensor<16x2xf32>
}

// -----

// e^-95 * e^90 is no small number, as gated linear attention multiplies them.
// CHECK-LABEL: @huge_factors
// CHECK-COUNT-2: math.exp
// CHECK-NOT: arith.select
// CHECK: return
func.func @huge_factors(%a: tensor<16x16xf32>, %b: tensor<16x5xf32>, %q: tensor<16x5xf32>) -> tensor<16x5xf32> {
  %e = "onnx.Exp"(%a) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %f = "onnx.Exp"(%b) : (tensor<16x5xf32>) -> tensor<16x5xf32>
  %k = "onnx.Mul"(%f, %q) : (tensor<16x5xf32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  %y = "onnx.MatMul"(%e, %k) : (tensor<16x16xf32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  return %y : tensor<16x5xf32>
}

// -----

// Whoever calls sees the powers themselves.
// CHECK-LABEL: @powers_that_are_returned
// CHECK: math.exp
// CHECK-NOT: arith.select
// CHECK: return
func.func @powers_that_are_returned(%x: tensor<16x16xf32>, %w: tensor<16x5xf32>) -> (tensor<16x5xf32>, tensor<16x16xf32>) {
  %e = "onnx.Exp"(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %y = "onnx.MatMul"(%e, %w) : (tensor<16x16xf32>, tensor<16x5xf32>) -> tensor<16x5xf32>
  return %y, %e : tensor<16x5xf32>, tensor<16x16xf32>
}

// -----

// Weights that training has let die; 1.2e-38 is no subnormal number.
// CHECK-LABEL: @weights
// CHECK: arith.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00], [1.200000e-38, -2.000000e+00{{\]\]}}> : tensor<2x2xf32>
func.func @weights(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1.0, 1.0e-40], [1.2e-38, -2.0]]> : tensor<2x2xf32>
  %y = "onnx.MatMul"(%x, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: @weights_that_are_added
// CHECK: 9.999940e-41
func.func @weights_that_are_added(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense<[[1.0, 1.0e-40], [1.2e-38, -2.0]]> : tensor<2x2xf32>
  %y = "onnx.MatMul"(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = "onnx.Add"(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y, %z : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Groups of channels are multiplied as well.
// CHECK-LABEL: @weights_of_groups
// CHECK-NOT: {{[eE]}}-4
// CHECK: return
func.func @weights_of_groups(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %w = arith.constant dense<"0xC2160100C2160100C2160100C21601000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"> : tensor<8x4x1x1xf32>
  %y = "onnx.Conv"(%x, %w) {group = 2 : i64} : (tensor<1x8x4x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// -----

// CHECK-LABEL: @strict
// CHECK: math.exp
// CHECK-NOT: arith.select
// CHECK: return
module @strict attributes {onnxc.numerics = "strict"} {
func.func @model(%s: tensor<4x8x16xf32>, %v: tensor<4x16x5xf32>) -> tensor<4x8x5xf32> {
  %axes = arith.constant dense<2> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%s, %axes) {keepdims = 1 : i64} : (tensor<4x8x16xf32>, tensor<1xi64>) -> tensor<4x8x1xf32>
  %x = "onnx.Sub"(%s, %max) : (tensor<4x8x16xf32>, tensor<4x8x1xf32>) -> tensor<4x8x16xf32>
  %e = "onnx.Exp"(%x) : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %sum = "onnx.ReduceSum"(%e, %axes) {keepdims = 1 : i64} : (tensor<4x8x16xf32>, tensor<1xi64>) -> tensor<4x8x1xf32>
  %p = "onnx.Div"(%e, %sum) : (tensor<4x8x16xf32>, tensor<4x8x1xf32>) -> tensor<4x8x16xf32>
  %y = "onnx.MatMul"(%p, %v) : (tensor<4x8x16xf32>, tensor<4x16x5xf32>) -> tensor<4x8x5xf32>
  return %y : tensor<4x8x5xf32>
}
}
