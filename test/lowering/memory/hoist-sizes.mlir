// RUN: onnxc-opt --split-input-file --hoist-sizes --canonicalize --cse %s | FileCheck %s

// Equal names are one value, and the size of a sum is that of its operands.
// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK-NOT: tensor.dim
// CHECK: return %[[N]], %[[N]]
func.func @model(%x: tensor<?xf32> {onnxc.dims = ["N"]},
    %y: tensor<?xf32> {onnxc.dims = ["N"]}) -> (index, index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %sum = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>)
      outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %size = tensor.dim %sum, %c0 : tensor<?xf32>
  return %n, %size : index, index
}

// -----

// At entry nothing keeps a zero away from the divisor any more.
// CHECK-LABEL: func.func @model(
// CHECK: %[[DIVISOR:.*]] = arith.select
// CHECK: arith.divui %{{.*}}, %[[DIVISOR]]
func.func @model(%x: tensor<?x?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %quotient = arith.divui %n, %m : index
  %empty = tensor.empty(%quotient) : tensor<?xf32>
  %size = tensor.dim %empty, %c0 : tensor<?xf32>
  return %size : index
}

// -----

// CHECK-LABEL: func.func @model(
// CHECK: %[[SIZE:.*]] = tensor.extract
// CHECK: return %[[SIZE]]
func.func @model(%x: tensor<index>) -> index {
  %c0 = arith.constant 0 : index
  %size = tensor.extract %x[] : tensor<index>
  %empty = tensor.empty(%size) : tensor<?xf32>
  %again = tensor.dim %empty, %c0 : tensor<?xf32>
  return %again : index
}

// -----

// Two values that each other's sizes depend on keep them.
// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK: return %[[N]]
func.func @model(%x: tensor<?xf32>, %count: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y:2 = scf.for %i = %c0 to %count step %c1 iter_args(%a = %x, %b = %x) -> (tensor<?xf32>, tensor<?xf32>) {
    %size = tensor.dim %a, %c0 : tensor<?xf32>
    %empty = tensor.empty(%size) : tensor<?xf32>
    %sum = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %b, %sum : tensor<?xf32>, tensor<?xf32>
  }
  %size = tensor.dim %y#0, %c0 : tensor<?xf32>
  return %size : index
}

// -----

// What grows is known to the run alone, and so is what was taken from it.
// CHECK-LABEL: func.func @model(
// CHECK: %[[Y:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK-DAG: tensor.dim %[[A]]
// CHECK-DAG: tensor.dim %[[B]]
// CHECK: %[[SIZE:.*]] = tensor.dim %[[Y]]#1
// CHECK: return %[[SIZE]]
func.func @model(%x: tensor<?xf32>, %count: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y:2 = scf.for %i = %c0 to %count step %c1 iter_args(%a = %x, %b = %x) -> (tensor<?xf32>, tensor<?xf32>) {
    %a_size = tensor.dim %a, %c0 : tensor<?xf32>
    %b_size = tensor.dim %b, %c0 : tensor<?xf32>
    %longer_size = arith.addi %a_size, %b_size : index
    %longer = tensor.empty(%longer_size) : tensor<?xf32>
    %next = tensor.empty(%a_size) : tensor<?xf32>
    scf.yield %longer, %next : tensor<?xf32>, tensor<?xf32>
  }
  %size = tensor.dim %y#1, %c0 : tensor<?xf32>
  return %size : index
}

// -----

// Of one branch or the other, as the condition says.
// CHECK-LABEL: func.func @model(
// CHECK-DAG: %[[N:.*]] = tensor.dim %{{.*}}, %c0
// CHECK-DAG: %[[FITS:.*]] = arith.cmpi eq, %[[N]], %{{.*}}
// CHECK: %[[SIZE:.*]] = arith.select %[[FITS]], %[[N]], %{{.*}} : index
// CHECK: return %[[SIZE]]
func.func @model(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %fits = arith.cmpi eq, %n, %c8 : index
  %y = scf.if %fits -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    %twice = arith.muli %n, %c8 : index
    %empty = tensor.empty(%twice) : tensor<?xf32>
    scf.yield %empty : tensor<?xf32>
  }
  %size = tensor.dim %y, %c0 : tensor<?xf32>
  return %size : index
}

// -----

// What is asked for comes before what is computed as if it were so; what the second check needs is a number that is read.
// CHECK-LABEL: func.func @model(
// CHECK: onnxc.check {{.*}} "first"
// CHECK: %[[READ:.*]] = tensor.extract
// CHECK-NOT: linalg.exp
// CHECK: onnxc.check {{.*}} "second"
// CHECK: linalg.exp
func.func @model(%x: tensor<?xf32> {onnxc.dims = ["N"]}, %end: tensor<index>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.extract %end[] : tensor<index>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.exp ins(%x : tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %fits = arith.cmpi eq, %n, %c9 : index
  onnxc.check %fits, 1, "first", "x"
  %few = arith.addi %e, %n : index
  %ends = arith.cmpi sle, %few, %c9 : index
  onnxc.check %ends, 1, "second", "end"
  return %y : tensor<?xf32>
}
