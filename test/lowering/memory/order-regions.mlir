// RUN: onnxc-opt --split-input-file --order-regions %s | FileCheck %s

// One branch after the other: one large value is live instead of three.
// CHECK-LABEL: func.func @model(
// CHECK: linalg.exp
// CHECK: linalg.reduce
// CHECK: linalg.tanh
// CHECK: linalg.reduce
// CHECK: linalg.abs
// CHECK: linalg.reduce
func.func @model(%x: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %z = tensor.empty() : tensor<64xf32>
  %a = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.tanh ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.abs ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.reduce { arith.maximumf } ins(%a : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %q = linalg.reduce { arith.maximumf } ins(%b : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %r = linalg.reduce { arith.maximumf } ins(%c : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  return %p, %q, %r : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// What needs no less in another order stays: here, each branch grows.
// CHECK-LABEL: func.func @model(
// CHECK: linalg.reduce
// CHECK: linalg.reduce
// CHECK: linalg.broadcast
// CHECK: linalg.broadcast
// CHECK: linalg.add
func.func @model(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %z = tensor.empty() : tensor<64xf32>
  %a = linalg.reduce { arith.maximumf } ins(%x : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %b = linalg.reduce { arith.maximumf } ins(%w : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %p = linalg.broadcast ins(%a : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
  %q = linalg.broadcast ins(%b : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
  %y = linalg.add ins(%p, %q : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// A concatenation is there from its first part on, which is made first although
// it takes more. Unknown sizes are equal ones.
// CHECK-LABEL: func.func @model(
// CHECK: linalg.exp
// CHECK: linalg.reduce
// CHECK: tensor.insert_slice
// CHECK: linalg.tanh
// CHECK: linalg.reduce
// CHECK: tensor.insert_slice
// CHECK: linalg.reduce
func.func @model(%x: tensor<?x64xf32>, %large: tensor<?x128xf32>, %n: index) -> tensor<f32> {
  %l = tensor.empty(%n) : tensor<?x128xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %z = tensor.empty(%n) : tensor<?xf32>
  %a = linalg.exp ins(%large : tensor<?x128xf32>) outs(%l : tensor<?x128xf32>) -> tensor<?x128xf32>
  %b = linalg.tanh ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.reduce { arith.maximumf } ins(%a : tensor<?x128xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %q = linalg.reduce { arith.maximumf } ins(%b : tensor<?x64xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %all = tensor.empty(%n) : tensor<2x?xf32>
  %one = tensor.insert_slice %p into %all[0, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<2x?xf32>
  %two = tensor.insert_slice %q into %one[1, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<2x?xf32>
  %f = tensor.empty() : tensor<f32>
  %y = linalg.reduce { arith.maximumf } ins(%two : tensor<2x?xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  return %y : tensor<f32>
}

// -----

// What a check guards stays behind it.
// CHECK-LABEL: func.func @model(
// CHECK: linalg.exp
// CHECK: onnxc.check
// CHECK: linalg.tanh
// CHECK: linalg.reduce
// CHECK: linalg.abs
// CHECK: linalg.reduce
func.func @model(%x: tensor<64x64xf32>, %large: tensor<256x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %l = tensor.empty() : tensor<256x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %z = tensor.empty() : tensor<64xf32>
  %f = tensor.empty() : tensor<f32>
  %a = linalg.exp ins(%large : tensor<256x64xf32>) outs(%l : tensor<256x64xf32>) -> tensor<256x64xf32>
  %m = linalg.reduce { arith.maximumf } ins(%a : tensor<256x64xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  %largest = tensor.extract %m[] : tensor<f32>
  %one = arith.constant 1.0 : f32
  %inside = arith.cmpf olt, %largest, %one : f32
  onnxc.check %inside, 2, "node 'g' (Gather): index is out of range", "indices"
  %b = linalg.tanh ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.abs ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.floor ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %g = linalg.ceil ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = linalg.square ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.reduce { arith.maximumf } ins(%b : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %q = linalg.reduce { arith.maximumf } ins(%c : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %r = linalg.reduce { arith.maximumf } ins(%d : tensor<64x64xf32>) outs(%p : tensor<64xf32>) dimensions = [1]
  %s = linalg.reduce { arith.maximumf } ins(%g : tensor<64x64xf32>) outs(%r : tensor<64xf32>) dimensions = [1]
  %t = linalg.reduce { arith.maximumf } ins(%h : tensor<64x64xf32>) outs(%s : tensor<64xf32>) dimensions = [1]
  return %t, %q : tensor<64xf32>, tensor<64xf32>
}

// -----

// What reads a value stays in front of what overwrites it.
// CHECK-LABEL: func.func @model(
// CHECK: linalg.broadcast
// CHECK: linalg.abs
// CHECK: linalg.exp
// CHECK: linalg.reduce
// CHECK: linalg.tanh
// CHECK: linalg.reduce
func.func @model(%x: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %z = tensor.empty() : tensor<64xf32>
  %a = linalg.reduce { arith.maximumf } ins(%x : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %p = linalg.broadcast ins(%a : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
  %c = linalg.abs ins(%z : tensor<64xf32>) outs(%a : tensor<64xf32>) -> tensor<64xf32>
  %b = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.tanh ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = linalg.reduce { arith.maximumf } ins(%b : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %r = linalg.reduce { arith.maximumf } ins(%d : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %y = linalg.reduce { arith.maximumf } ins(%p : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  return %c, %q, %r, %y : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
