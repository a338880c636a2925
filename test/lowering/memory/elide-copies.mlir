// RUN: onnxc-opt --split-input-file --elide-copies %s | FileCheck %s

// Both producers of a channel concatenation write into the output.
// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[Y:[^:]*]]: memref<4x16xf32> {onnxc.output
// CHECK-NOT: memref.alloc
// CHECK-NOT: copy
// CHECK: return
func.func @model(%x: f32, %y: memref<4x16xf32> {onnxc.output = 0 : i64}) {
  %a = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4x8xf32>)
  %b = memref.alloc() : memref<4x8xf32>
  linalg.map { math.absf } ins(%a : memref<4x8xf32>)
      outs(%b : memref<4x8xf32>)
  %c = memref.alloc() : memref<4x16xf32>
  %left = memref.subview %c[0, 0] [4, 8] [1, 1]
      : memref<4x16xf32> to memref<4x8xf32, strided<[16, 1]>>
  memref.copy %a, %left
      : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1]>>
  %right = memref.subview %c[0, 8] [4, 8] [1, 1]
      : memref<4x16xf32> to memref<4x8xf32, strided<[16, 1], offset: 8>>
  memref.copy %b, %right
      : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1], offset: 8>>
  memref.copy %c, %y : memref<4x16xf32> to memref<4x16xf32>
  return
}

// -----

// DenseNet: the second concatenation holds the first, part by part.
// CHECK-LABEL: func.func @model(
// CHECK-NOT: memref.alloc
// CHECK-NOT: copy
// CHECK: return
func.func @model(%x: f32, %x8: memref<8x4xf32>,
    %y: memref<4x12xf32> {onnxc.output = 0 : i64}) {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4x4xf32>)
  %b = memref.alloc() : memref<4x4xf32>
  linalg.map { math.absf } ins(%a : memref<4x4xf32>)
      outs(%b : memref<4x4xf32>)
  %first = memref.alloc() : memref<4x8xf32>
  %a1 = memref.subview %first[0, 0] [4, 4] [1, 1]
      : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1]>>
  memref.copy %a, %a1 : memref<4x4xf32> to memref<4x4xf32, strided<[8, 1]>>
  %b1 = memref.subview %first[0, 4] [4, 4] [1, 1]
      : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 4>>
  memref.copy %b, %b1
      : memref<4x4xf32> to memref<4x4xf32, strided<[8, 1], offset: 4>>
  %c = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%x : f32) outs(%c : memref<4x4xf32>)
  linalg.matmul ins(%first, %x8 : memref<4x8xf32>, memref<8x4xf32>)
      outs(%c : memref<4x4xf32>)
  %a2 = memref.subview %y[0, 0] [4, 4] [1, 1]
      : memref<4x12xf32> to memref<4x4xf32, strided<[12, 1]>>
  memref.copy %a, %a2 : memref<4x4xf32> to memref<4x4xf32, strided<[12, 1]>>
  %b2 = memref.subview %y[0, 4] [4, 4] [1, 1]
      : memref<4x12xf32> to memref<4x4xf32, strided<[12, 1], offset: 4>>
  memref.copy %b, %b2
      : memref<4x4xf32> to memref<4x4xf32, strided<[12, 1], offset: 4>>
  %c2 = memref.subview %y[0, 8] [4, 4] [1, 1]
      : memref<4x12xf32> to memref<4x4xf32, strided<[12, 1], offset: 8>>
  memref.copy %c, %c2
      : memref<4x4xf32> to memref<4x4xf32, strided<[12, 1], offset: 8>>
  return
}

// -----

// The value is read after its place in the output was overwritten.
// CHECK-LABEL: func.func @model(
// CHECK: memref.alloc
// CHECK: linalg.copy
func.func @model(%x: f32, %y: memref<4xf32> {onnxc.output = 0 : i64},
    %z: memref<4xf32> {onnxc.output = 1 : i64}) {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  memref.copy %a, %y : memref<4xf32> to memref<4xf32>
  linalg.fill ins(%x : f32) outs(%y : memref<4xf32>)
  linalg.map { math.absf } ins(%a : memref<4xf32>) outs(%z : memref<4xf32>)
  return
}

// -----

// A value that is an output in another shape is made in the output.
// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[Y:[^:]*]]: memref<?x6xf32> {onnxc.output
// CHECK-NOT: memref.alloc
// CHECK: %[[PLACE:.*]] = memref.expand_shape %[[Y]] {{.*}} into memref<?x2x3xf32>
// CHECK: linalg.fill {{.*}} outs(%[[PLACE]]
// CHECK-NOT: copy
// CHECK: return
func.func @model(%x: f32, %n: index,
    %y: memref<?x6xf32> {onnxc.output = 0 : i64}) {
  %a = memref.alloc(%n) : memref<?x2x3xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<?x2x3xf32>)
  %b = memref.collapse_shape %a [[0], [1, 2]]
      : memref<?x2x3xf32> into memref<?x6xf32>
  memref.copy %b, %y : memref<?x6xf32> to memref<?x6xf32>
  return
}

// -----

// Or in a third, by way of a second.
// CHECK-LABEL: func.func @model(
// CHECK-NOT: memref.alloc
// CHECK: linalg.fill
// CHECK-NOT: copy
// CHECK: return
func.func @model(%x: f32, %n: index,
    %y: memref<?x3x2xf32> {onnxc.output = 0 : i64}) {
  %a = memref.alloc(%n) : memref<?x2x3xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<?x2x3xf32>)
  %b = memref.collapse_shape %a [[0], [1, 2]]
      : memref<?x2x3xf32> into memref<?x6xf32>
  %c = memref.expand_shape %b [[0], [1, 2]] output_shape [%n, 3, 2]
      : memref<?x6xf32> into memref<?x3x2xf32>
  memref.copy %c, %y : memref<?x3x2xf32> to memref<?x3x2xf32>
  return
}

// -----

// Rows with gaps between them are no single row.
// CHECK-LABEL: func.func @model(
// CHECK: memref.alloc
// CHECK: copy
func.func @model(%x: f32, %y: memref<4x8xf32> {onnxc.output = 0 : i64}) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
  %b = memref.expand_shape %a [[0, 1]] output_shape [4, 2]
      : memref<8xf32> into memref<4x2xf32>
  %part = memref.subview %y[0, 0] [4, 2] [1, 1]
      : memref<4x8xf32> to memref<4x2xf32, strided<[8, 1]>>
  memref.copy %b, %part
      : memref<4x2xf32> to memref<4x2xf32, strided<[8, 1]>>
  return
}

// -----

// Another value lies where the shaped one would go, until it is copied.
// CHECK-LABEL: func.func @model(
// CHECK: memref.alloc
// CHECK: copy
func.func @model(%x: f32, %z: memref<6xf32>,
    %y: memref<6xf32> {onnxc.output = 0 : i64}) {
  %a = memref.alloc() : memref<2x3xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<2x3xf32>)
  linalg.fill ins(%x : f32) outs(%y : memref<6xf32>)
  linalg.map { math.absf } ins(%y : memref<6xf32>) outs(%z : memref<6xf32>)
  %b = memref.collapse_shape %a [[0, 1]] : memref<2x3xf32> into memref<6xf32>
  memref.copy %b, %y : memref<6xf32> to memref<6xf32>
  return
}

// -----

// The same of a batch that only the run knows, whose elements all parts have.
// CHECK-LABEL: func.func @model(
// CHECK: %[[ALL:.*]] = memref.alloc(%{{.*}}) : memref<?x12xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: copy
// CHECK: return
func.func @model(%x: f32, %n: index, %sum: memref<f32>) {
  %a = memref.alloc(%n) : memref<?x4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<?x4xf32>)
  %b = memref.alloc(%n) : memref<?x4xf32>
  linalg.map { math.absf } ins(%a : memref<?x4xf32>) outs(%b : memref<?x4xf32>)
  %first = memref.alloc(%n) : memref<?x8xf32>
  %a1 = memref.subview %first[0, 0] [%n, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1]>>
  memref.copy %a, %a1 : memref<?x4xf32> to memref<?x4xf32, strided<[8, 1]>>
  %b1 = memref.subview %first[0, 4] [%n, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 4>>
  memref.copy %b, %b1 : memref<?x4xf32> to memref<?x4xf32, strided<[8, 1], offset: 4>>
  linalg.map { math.exp } ins(%first : memref<?x8xf32>) outs(%first : memref<?x8xf32>)
  %all = memref.alloc(%n) : memref<?x12xf32>
  %a2 = memref.subview %all[0, 0] [%n, 4] [1, 1] : memref<?x12xf32> to memref<?x4xf32, strided<[12, 1]>>
  %a0 = memref.subview %first[0, 0] [%n, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1]>>
  memref.copy %a0, %a2 : memref<?x4xf32, strided<[8, 1]>> to memref<?x4xf32, strided<[12, 1]>>
  %b2 = memref.subview %all[0, 4] [%n, 4] [1, 1] : memref<?x12xf32> to memref<?x4xf32, strided<[12, 1], offset: 4>>
  %b0 = memref.subview %first[0, 4] [%n, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 4>>
  memref.copy %b0, %b2 : memref<?x4xf32, strided<[8, 1], offset: 4>> to memref<?x4xf32, strided<[12, 1], offset: 4>>
  %c2 = memref.subview %all[0, 8] [%n, 4] [1, 1] : memref<?x12xf32> to memref<?x4xf32, strided<[12, 1], offset: 8>>
  linalg.fill ins(%x : f32) outs(%c2 : memref<?x4xf32, strided<[12, 1], offset: 8>>)
  linalg.reduce { arith.addf } ins(%all : memref<?x12xf32>) outs(%sum : memref<f32>) dimensions = [0, 1]
  return
}

// -----

// One row of some is not all of them.
// CHECK-LABEL: func.func @model(
// CHECK-COUNT-2: memref.alloc
// CHECK: return
func.func @model(%x: f32, %n: index, %sum: memref<f32>) {
  %first = memref.alloc(%n) : memref<?x8xf32>
  linalg.fill ins(%x : f32) outs(%first : memref<?x8xf32>)
  %all = memref.alloc(%n) : memref<?x12xf32>
  linalg.fill ins(%x : f32) outs(%all : memref<?x12xf32>)
  %from = memref.subview %first[0, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<1x8xf32, strided<[8, 1]>>
  %to = memref.subview %all[0, 0] [1, 8] [1, 1] : memref<?x12xf32> to memref<1x8xf32, strided<[12, 1]>>
  memref.copy %from, %to : memref<1x8xf32, strided<[8, 1]>> to memref<1x8xf32, strided<[12, 1]>>
  linalg.reduce { arith.addf } ins(%all : memref<?x12xf32>) outs(%sum : memref<f32>) dimensions = [0, 1]
  return
}

// -----

// A part of every second row begins twice as far away as it says: it is not apart from what lies there.
// CHECK-LABEL: func.func @model(
// CHECK: memref.alloc() : memref<8x4xf32>
// CHECK: memref.alloc() : memref<2x4xf32>
// CHECK: return
func.func @model(%x: f32, %sum: memref<f32>) {
  %all = memref.alloc() : memref<8x4xf32>
  %a = memref.alloc() : memref<2x4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<2x4xf32>)
  %second = memref.subview %all[0, 0] [4, 4] [2, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[8, 1]>>
  %late = memref.subview %second[2, 0] [2, 4] [1, 1]
      : memref<4x4xf32, strided<[8, 1]>> to memref<2x4xf32, strided<[8, 1], offset: 16>>
  linalg.fill ins(%x : f32) outs(%late : memref<2x4xf32, strided<[8, 1], offset: 16>>)
  %place = memref.subview %all[4, 0] [2, 4] [1, 1] : memref<8x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 16>>
  memref.copy %a, %place : memref<2x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 16>>
  linalg.reduce { arith.addf } ins(%all : memref<8x4xf32>) outs(%sum : memref<f32>) dimensions = [0, 1]
  return
}

// -----

// Either branch writes to the output; what the other one does there is not done meanwhile.
// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[Y:[^:]*]]: memref<8xf32> {onnxc.output
// CHECK-NOT: memref.alloc
// CHECK: linalg.fill {{.*}} outs(%[[Y]]
// CHECK: linalg.fill {{.*}} outs(%[[Y]]
// CHECK-NOT: copy
// CHECK: return
func.func @model(%c: i1, %x: f32, %z: f32, %y: memref<8xf32> {onnxc.output = 0 : i64}) {
  scf.if %c {
    %a = memref.alloc() : memref<8xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  } else {
    %a = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
    memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  }
  return
}

// -----

// The branch itself looks at the output meanwhile.
// CHECK-LABEL: func.func @model(
// CHECK: scf.if
// CHECK: memref.alloc
// CHECK: linalg.copy
func.func @model(%c: i1, %x: f32, %y: memref<8xf32> {onnxc.output = 0 : i64}, %w: memref<8xf32> {onnxc.output = 1 : i64}) {
  scf.if %c {
    %a = memref.alloc() : memref<8xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.exp ins(%y : memref<8xf32>) outs(%w : memref<8xf32>)
    memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  }
  return
}

// -----

// A row is added to the one before it, which is read where it lies.
// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[Y:[^:]*]]: memref<16x8xf32> {onnxc.output
// CHECK-NOT: memref.alloc
// CHECK-NOT: copy
// CHECK: scf.for %[[I:.*]] = {{.*}} {
// CHECK: %[[BEFORE:.*]] = memref.subview %[[Y]][%[[I]], 0]
// CHECK: linalg.map { math.absf } ins(%[[BEFORE]] :
// CHECK: return
func.func @model(%x: f32, %y: memref<16x8xf32> {onnxc.output = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  linalg.fill ins(%x : f32) outs(%y : memref<16x8xf32>)
  scf.for %i = %c0 to %c15 step %c1 {
    %before = memref.subview %y[%i, 0] [1, 8] [1, 1] : memref<16x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %own = memref.alloc() : memref<1x8xf32>
    memref.copy %before, %own : memref<1x8xf32, strided<[8, 1], offset: ?>> to memref<1x8xf32>
    %next = arith.addi %i, %c1 : index
    %row = memref.subview %y[%next, 0] [1, 8] [1, 1] : memref<16x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    linalg.map { math.absf } ins(%own : memref<1x8xf32>) outs(%row : memref<1x8xf32, strided<[8, 1], offset: ?>>)
  }
  return
}

// -----

// Rows that may be the same are not: what is read would be overwritten.
// CHECK-LABEL: func.func @model(
// CHECK: %[[OWN:.*]] = memref.alloc()
// CHECK: linalg.copy ins({{.*}}) outs(%[[OWN]] :
// CHECK: linalg.map { math.absf } ins(%[[OWN]] :
// CHECK: return
func.func @model(%x: f32, %k: index, %y: memref<16x8xf32> {onnxc.output = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  linalg.fill ins(%x : f32) outs(%y : memref<16x8xf32>)
  scf.for %i = %c0 to %c15 step %c1 {
    %before = memref.subview %y[%i, 0] [1, 8] [1, 1] : memref<16x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %own = memref.alloc() : memref<1x8xf32>
    memref.copy %before, %own : memref<1x8xf32, strided<[8, 1], offset: ?>> to memref<1x8xf32>
    %row = memref.subview %y[%k, 0] [1, 8] [1, 1] : memref<16x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    linalg.map { math.absf } ins(%own : memref<1x8xf32>) outs(%row : memref<1x8xf32, strided<[8, 1], offset: ?>>)
  }
  return
}

// -----

// Nor is what its reader writes afterwards.
// CHECK-LABEL: func.func @model(
// CHECK: %[[OWN:.*]] = memref.alloc()
// CHECK: linalg.copy ins({{.*}}) outs(%[[OWN]] :
// CHECK: linalg.fill {{.*}} outs(%[[OWN]] :
// CHECK: return
func.func @model(%x: f32, %y: memref<16x8xf32> {onnxc.output = 0 : i64}) {
  linalg.fill ins(%x : f32) outs(%y : memref<16x8xf32>)
  %first = memref.subview %y[0, 0] [1, 8] [1, 1] : memref<16x8xf32> to memref<1x8xf32, strided<[8, 1]>>
  %own = memref.alloc() : memref<1x8xf32>
  memref.copy %first, %own : memref<1x8xf32, strided<[8, 1]>> to memref<1x8xf32>
  linalg.fill ins(%x : f32) outs(%own : memref<1x8xf32>)
  %row = memref.subview %y[1, 0] [1, 8] [1, 1] : memref<16x8xf32> to memref<1x8xf32, strided<[8, 1], offset: 8>>
  linalg.map { math.absf } ins(%own : memref<1x8xf32>) outs(%row : memref<1x8xf32, strided<[8, 1], offset: 8>>)
  return
}
