// RUN: onnxc-opt --infer-shapes --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: @constant_shape_operand_gives_static_sizes
// CHECK-SAME: -> tensor<3x4xf32>
func.func @constant_shape_operand_gives_static_sizes(%x: tensor<2x6xf32>) -> tensor<?x?xf32> {
  %shape = "onnx.Constant"() {value = dense<[3, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  // CHECK: "onnx.Reshape"{{.*}} -> tensor<3x4xf32>
  %y = "onnx.Reshape"(%x, %shape) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @names_go_through_elementwise_operators
// CHECK-SAME: -> tensor<?x3xf32, ["N", ""]>
func.func @names_go_through_elementwise_operators(%x: tensor<?x3xf32, ["N", ""]>) -> tensor<*xf32> {
  %y = "onnx.Relu"(%x) : (tensor<?x3xf32, ["N", ""]>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @unknown_sizes_get_a_name
// CHECK-SAME: -> tensor<?x?xf32, ["?3", "?4"]>
func.func @unknown_sizes_get_a_name(%x: tensor<?x3xf32, ["?2", ""]>, %axes: tensor<1xi64>) -> tensor<*xf32> {
  // CHECK: "onnx.ReduceSum"{{.*}} -> tensor<?x?xf32, ["?3", "?4"]>
  %y = "onnx.ReduceSum"(%x, %axes) : (tensor<?x3xf32, ["?2", ""]>, tensor<1xi64>) -> tensor<*xf32>
  %z = "onnx.Add"(%y, %y) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

func.func @sizes_that_do_not_broadcast(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+2 {{cannot broadcast}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = "onnx.Add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @computed_shapes_become_constants
// CHECK: "onnx.Constant"() <{value = dense<[4, 6]> : tensor<2xi64>}>
func.func @computed_shapes_become_constants(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %two = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %shape = "onnx.Shape"(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
  %twice = "onnx.Mul"(%shape, %two) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  return %twice : tensor<2xi64>
}

// -----

// What was multiplied is divided again, in whatever order: heads are split off and joined.
// CHECK-LABEL: @products_are_divided
func.func @products_are_divided(%x: tensor<197x?x768xf32, ["", "n", ""]>) -> tensor<?x?x?xf32> {
  %heads = "onnx.Constant"() {value = dense<[197, -1, 64]> : tensor<3xi64>} : () -> tensor<3xi64>
  %images = "onnx.Constant"() {value = dense<[-1, 12, 197, 64]> : tensor<4xi64>} : () -> tensor<4xi64>
  %joined = "onnx.Constant"() {value = dense<[-1, 768]> : tensor<2xi64>} : () -> tensor<2xi64>
  %half = "onnx.Constant"() {value = dense<[-1, 2, 768]> : tensor<3xi64>} : () -> tensor<3xi64>
  // CHECK: "onnx.Reshape"{{.*}} -> tensor<197x?x64xf32, ["", "12*n", ""]>
  %a = "onnx.Reshape"(%x, %heads) : (tensor<197x?x768xf32, ["", "n", ""]>, tensor<3xi64>) -> tensor<?x?x?xf32>
  // CHECK: "onnx.Reshape"{{.*}} -> tensor<?x12x197x64xf32, ["n", "", "", ""]>
  %b = "onnx.Reshape"(%a, %images) : (tensor<?x?x?xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  // CHECK: "onnx.Reshape"{{.*}} -> tensor<?x768xf32, ["197*n", ""]>
  %c = "onnx.Reshape"(%b, %joined) : (tensor<?x?x?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: "onnx.Reshape"{{.*}} -> tensor<?x2x768xf32, ["(151296*n)/1536", "", ""]>
  %d = "onnx.Reshape"(%c, %half) : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return %d : tensor<?x?x?xf32>
}

// -----

// A range that counts to a size is as long, wherever it begins: positions of N tokens behind P others.
// CHECK-LABEL: @range_of_a_size
// CHECK: "onnx.Range"{{.*}} -> tensor<?xi64, ["N"]>
// CHECK: "onnx.Range"{{.*}} -> tensor<?xi64, ["N"]>
// CHECK: "onnx.Range"{{.*}} -> tensor<1xi64>
func.func @range_of_a_size(%x: tensor<?x?xf32, ["N", "P"]>) -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) {
  %zero = "onnx.Constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "onnx.Constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %shape = "onnx.Shape"(%x) <{start = 0 : i64}> : (tensor<?x?xf32, ["N", "P"]>) -> tensor<2xi64>
  %n = "onnx.Gather"(%shape, %zero) <{axis = 0 : i64}> : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %p = "onnx.Gather"(%shape, %one) <{axis = 0 : i64}> : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %all = "onnx.Add"(%n, %p) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %next = "onnx.Add"(%p, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %y = "onnx.Range"(%zero, %n, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %z = "onnx.Range"(%p, %all, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %t = "onnx.Range"(%p, %next, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %y, %z, %t : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
}

// -----

// What stride 2 halves and upsampling doubles is never 1: the other operand is the one that may be repeated.
// CHECK-LABEL: @sizes_that_are_never_1_win
// CHECK-SAME: -> tensor<?xf32, ["(H/2+1)*2"]>
func.func @sizes_that_are_never_1_win(%x: tensor<?xf32, ["H"]>, %y: tensor<?xf32, ["(H/2+1)*2"]>) -> tensor<*xf32> {
  %z = "onnx.Add"(%x, %y) : (tensor<?xf32, ["H"]>, tensor<?xf32, ["(H/2+1)*2"]>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

// CHECK-LABEL: @halved_sizes_have_one_name
// CHECK: "onnx.Conv"{{.*}} -> tensor<1x4x?xf32, ["", "", "(H-1)/2+1"]>
// CHECK: "onnx.Conv"{{.*}} -> tensor<1x4x?xf32, ["", "", "(H-1)/4+1"]>
func.func @halved_sizes_have_one_name(%x: tensor<1x4x?xf32, ["", "", "H"]>, %w: tensor<4x4x3xf32>) -> tensor<*xf32> {
  %y = "onnx.Conv"(%x, %w) {strides = array<i64: 2>, pads = array<i64: 1, 1>, group = 1 : i64}
      : (tensor<1x4x?xf32, ["", "", "H"]>, tensor<4x4x3xf32>) -> tensor<*xf32>
  %z = "onnx.Conv"(%y, %w) {strides = array<i64: 2>, pads = array<i64: 1, 1>, group = 1 : i64}
      : (tensor<*xf32>, tensor<4x4x3xf32>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

// CHECK-LABEL: @factors_cancel
// CHECK: "onnx.Reshape"{{.*}} -> tensor<8x48x?xf32, ["", "", "H*W"]>
func.func @factors_cancel(%x: tensor<384x?x?xf32, ["", "H", "W"]>) -> tensor<*xf32> {
  %rest = "onnx.Constant"() {value = dense<[-1, 48]> : tensor<2xi64>} : () -> tensor<2xi64>
  %h = "onnx.Shape"(%x) {start = 1 : i64, end = 2 : i64} : (tensor<384x?x?xf32, ["", "H", "W"]>) -> tensor<1xi64>
  %w = "onnx.Shape"(%x) {start = 2 : i64, end = 3 : i64} : (tensor<384x?x?xf32, ["", "H", "W"]>) -> tensor<1xi64>
  %hw = "onnx.Mul"(%h, %w) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %shape = "onnx.Concat"(%rest, %hw) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %y = "onnx.Reshape"(%x, %shape) : (tensor<384x?x?xf32, ["", "H", "W"]>, tensor<3xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Folded lists of sizes are formulas: batches by heads as TensorFlow multiplies them.
// CHECK-LABEL: @folded_sizes
func.func @folded_sizes(%x: tensor<?x4x?x64xf32, ["B", "", "L", ""]>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %axis = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %rest = "onnx.Constant"() {value = dense<[-1, 64]> : tensor<2xi64>} : () -> tensor<2xi64>
  %row = "onnx.Constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %first = "onnx.Shape"(%x) {start = 0 : i64, end = 2 : i64} : (tensor<?x4x?x64xf32, ["B", "", "L", ""]>) -> tensor<2xi64>
  %n = "onnx.ReduceProd"(%first, %axis) {keepdims = 1 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %shape = "onnx.Concat"(%n, %rest) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  // CHECK: "onnx.Reshape"{{.*}} -> tensor<?x?x64xf32, ["4*B", "L", ""]>
  %y = "onnx.Reshape"(%x, %shape) : (tensor<?x4x?x64xf32, ["B", "", "L", ""]>, tensor<3xi64>) -> tensor<*xf32>
  %sum = "onnx.ReduceSum"(%first, %axis) {keepdims = 1 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  // CHECK: "onnx.Expand"{{.*}} -> tensor<?xf32, ["B+4"]>
  %z = "onnx.Expand"(%row, %sum) : (tensor<1xf32>, tensor<1xi64>) -> tensor<*xf32>
  // What is folded along one of two axes stays a list of unknown sizes.
  %both = "onnx.Constant"() {value = dense<[[1], [2]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %table = "onnx.Mul"(%both, %first) : (tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x2xi64>
  %list = "onnx.ReduceProd"(%table, %axis) {keepdims = 0 : i64} : (tensor<2x2xi64>, tensor<1xi64>) -> tensor<2xi64>
  // CHECK: "onnx.Expand"{{.*}} -> tensor<?x?xf32, ["?0", "?1"]>
  %t = "onnx.Expand"(%row, %list) : (tensor<1xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %y, %z, %t : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Exporters divide sizes as floats: as many windows of 4 by steps of 2 as cover all.
// CHECK-LABEL: @sizes_by_way_of_floats
// CHECK: "onnx.Pad"{{.*}} -> tensor<1x8x?xf32, ["", "", "2*((L+1)/2)+2"]>
// CHECK: "onnx.Conv"{{.*}} -> tensor<1x8x?xf32, ["", "", "(L+1)/2"]>
func.func @sizes_by_way_of_floats(%x: tensor<1x8x?xf32, ["", "", "L"]>, %w: tensor<8x8x4xf32>) -> tensor<*xf32> {
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %step = "onnx.Constant"() {value = dense<2.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %before = "onnx.Constant"() {value = dense<[0, 0, 2, 0, 0]> : tensor<5xi64>} : () -> tensor<5xi64>
  %l = "onnx.Shape"(%x) {start = 2 : i64, end = 3 : i64} : (tensor<1x8x?xf32, ["", "", "L"]>) -> tensor<1xi64>
  %a = "onnx.Sub"(%l, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %b = "onnx.Cast"(%a) {to = 1 : i64} : (tensor<1xi64>) -> tensor<1xf32>
  %c = "onnx.Div"(%b, %step) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %d = "onnx.Add"(%c, %one) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %e = "onnx.Ceil"(%d) : (tensor<1xf32>) -> tensor<1xf32>
  %f = "onnx.Cast"(%e) {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  %g = "onnx.Mul"(%f, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %h = "onnx.Sub"(%g, %l) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %pads = "onnx.Concat"(%before, %h) {axis = 0 : i64} : (tensor<5xi64>, tensor<1xi64>) -> tensor<6xi64>
  %y = "onnx.Pad"(%x, %pads) {mode = "constant", operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<1x8x?xf32, ["", "", "L"]>, tensor<6xi64>) -> tensor<*xf32>
  %z = "onnx.Conv"(%y, %w) {strides = array<i64: 2>, group = 1 : i64} : (tensor<*xf32>, tensor<8x8x4xf32>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

// A third as a float is none: what its products round to is left to the run. So is what may lie below zero.
// CHECK-LABEL: @sizes_that_floats_round
// CHECK: "onnx.Expand"{{.*}} -> tensor<?xf32, ["?{{[0-9]+}}"]>
// CHECK: "onnx.Expand"{{.*}} -> tensor<?xf32, ["?{{[0-9]+}}"]>
func.func @sizes_that_floats_round(%x: tensor<?xf32, ["L"]>, %v: tensor<1xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %third = "onnx.Constant"() {value = dense<0.333333343> : tensor<1xf32>} : () -> tensor<1xf32>
  %four = "onnx.Constant"() {value = dense<4.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %l = "onnx.Shape"(%x) : (tensor<?xf32, ["L"]>) -> tensor<1xi64>
  %a = "onnx.Cast"(%l) {to = 1 : i64} : (tensor<1xi64>) -> tensor<1xf32>
  %b = "onnx.Mul"(%a, %third) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %c = "onnx.Cast"(%b) {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  %y = "onnx.Expand"(%v, %c) : (tensor<1xf32>, tensor<1xi64>) -> tensor<*xf32>
  %d = "onnx.Sub"(%a, %four) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %e = "onnx.Div"(%d, %four) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %f = "onnx.Floor"(%e) : (tensor<1xf32>) -> tensor<1xf32>
  %g = "onnx.Cast"(%f) {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  %z = "onnx.Expand"(%v, %g) : (tensor<1xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

// Odd factors of a denominator never cancel, for a seventh seven times may be less than 1; powers of two do. A number that
// f32 does not hold is left to constant folding.
// CHECK-LABEL: @sizes_that_floats_may_miss
// CHECK: "onnx.Expand"{{.*}} -> tensor<?xf32, ["?{{[0-9]+}}"]>
// CHECK: "onnx.Expand"{{.*}} -> tensor<?xf32, ["L"]>
// CHECK: "onnx.Cast"{{.*}} (tensor<1xi64>) -> tensor<1xf32>
// CHECK: return %{{.*}}, %{{.*}}, %{{[0-9]+}}
func.func @sizes_that_floats_may_miss(%x: tensor<?xf32, ["L"]>, %v: tensor<1xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<1xi64>) {
  %seven = "onnx.Constant"() {value = dense<7.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %four = "onnx.Constant"() {value = dense<4.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %large = "onnx.Constant"() {value = dense<16777217> : tensor<1xi64>} : () -> tensor<1xi64>
  %l = "onnx.Shape"(%x) : (tensor<?xf32, ["L"]>) -> tensor<1xi64>
  %a = "onnx.Cast"(%l) {to = 1 : i64} : (tensor<1xi64>) -> tensor<1xf32>
  %b = "onnx.Div"(%a, %seven) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %c = "onnx.Mul"(%b, %seven) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %d = "onnx.Cast"(%c) {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  %y = "onnx.Expand"(%v, %d) : (tensor<1xf32>, tensor<1xi64>) -> tensor<*xf32>
  %e = "onnx.Div"(%a, %four) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %f = "onnx.Mul"(%e, %four) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %g = "onnx.Cast"(%f) {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  %z = "onnx.Expand"(%v, %g) : (tensor<1xf32>, tensor<1xi64>) -> tensor<*xf32>
  %h = "onnx.Cast"(%large) {to = 1 : i64} : (tensor<1xi64>) -> tensor<1xf32>
  %i = "onnx.Cast"(%h) {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  return %y, %z, %i : tensor<*xf32>, tensor<*xf32>, tensor<1xi64>
}

// -----

// What slices leave has one name wherever they begin, of rows of any length
// and of padded ones. INT_MAX is the end of them all.
// CHECK-LABEL: @slices_of_one_length
// CHECK-COUNT-3: "onnx.Slice"(%arg0{{.*}} -> tensor<?xf32, ["max(2,N)-2"]>
// CHECK: "onnx.Pad"{{.*}} -> tensor<?xf32, ["N+2"]>
// CHECK-COUNT-3: "onnx.Slice"{{.*}} -> tensor<?xf32, ["N"]>
// CHECK: "onnx.Slice"{{.*}} -> tensor<2xf32>
// CHECK: "onnx.Slice"{{.*}} -> tensor<?xf32, ["min(2,N)"]>
// CHECK: "onnx.Concat"{{.*}} -> tensor<?xf32, ["N"]>
func.func @slices_of_one_length(%x: tensor<?xf32, ["N"]>) {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %two_before = "onnx.Constant"() {value = dense<-2> : tensor<1xi64>} : () -> tensor<1xi64>
  %int_max = "onnx.Constant"() {value = dense<2147483647> : tensor<1xi64>} : () -> tensor<1xi64>
  %long_max = "onnx.Constant"() {value = dense<9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %pads = "onnx.Constant"() {value = dense<1> : tensor<2xi64>} : () -> tensor<2xi64>
  %a = "onnx.Slice"(%x, %two, %long_max, %zero) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<?xf32, ["N"]>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %b = "onnx.Slice"(%x, %zero, %two_before, %zero) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<?xf32, ["N"]>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %c = "onnx.Slice"(%x, %one, %last, %zero) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<?xf32, ["N"]>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %padded = "onnx.Pad"(%x, %pads) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<?xf32, ["N"]>, tensor<2xi64>) -> tensor<?xf32>
  %d = "onnx.Slice"(%padded, %two, %int_max, %zero) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %e = "onnx.Slice"(%padded, %zero, %two_before, %zero) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %f = "onnx.Slice"(%padded, %one, %last, %zero) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %g = "onnx.Slice"(%padded, %two_before, %int_max, %zero) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %h = "onnx.Slice"(%x, %two_before, %int_max, %zero) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (tensor<?xf32, ["N"]>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %rolled = "onnx.Concat"(%h, %b) {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// What is padded up to a multiple is one by its name, and is cut again.
// CHECK-LABEL: @up_to_a_multiple
// CHECK: "onnx.Pad"{{.*}} -> tensor<?xf32, ["8*((N+7)/8)"]>
// CHECK: "onnx.Slice"{{.*}} -> tensor<?xf32, ["N"]>
func.func @up_to_a_multiple(%x: tensor<?xf32, ["N"]>) {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %eight = "onnx.Constant"() {value = dense<8> : tensor<1xi64>} : () -> tensor<1xi64>
  %n = "onnx.Shape"(%x) : (tensor<?xf32, ["N"]>) -> tensor<1xi64>
  %over = "onnx.Mod"(%n, %eight) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %left = "onnx.Sub"(%eight, %over) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %pad = "onnx.Mod"(%left, %eight) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %pads = "onnx.Concat"(%zero, %pad) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %padded = "onnx.Pad"(%x, %pads) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<?xf32, ["N"]>, tensor<2xi64>) -> tensor<?xf32>
  %y = "onnx.Slice"(%padded, %zero, %n) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}
