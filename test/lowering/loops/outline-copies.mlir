// RUN: onnxc-opt --outline-loops %s | FileCheck %s

// Pieces that are joined share a function, whatever they are joined to. Rows of few elements may be one row together, so
// their function knows how far apart they are; elements that lie apart are instructions each, so there is a function for
// few of them.
// CHECK-LABEL: func.func @model
// CHECK: call @[[MOVE:.*]](%{{.*}}) : (memref<?x32xf32, strided<[?, 1], offset: ?>>, memref<?x32xf32, strided<[?, 1], offset: ?>>) -> ()
// CHECK: call @[[MOVE]](
// CHECK: call @{{.*}}(%{{.*}}) : (memref<?x8xf32>, memref<?x8xf32, strided<[24, 1], offset: ?>>) -> ()
// CHECK: call @[[APART:.*]](%{{.*}}) : (memref<32xf32>, memref<32xf32, strided<[?], offset: ?>>) -> ()
// CHECK: call @[[APART]](
// CHECK: linalg.copy
// CHECK: return
func.func @model(%x: memref<?x32xf32>, %few: memref<?x8xf32>, %row: memref<32xf32>, %a: memref<?x64xf32>,
                 %b: memref<?x96xf32>, %c: memref<?x24xf32>, %d: memref<32x?xf32>, %n: index) {
  %0 = memref.subview %a[0, 32] [%n, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1], offset: 32>>
  linalg.copy ins(%x : memref<?x32xf32>) outs(%0 : memref<?x32xf32, strided<[64, 1], offset: 32>>)
  %1 = memref.subview %b[0, 64] [%n, 32] [1, 1] : memref<?x96xf32> to memref<?x32xf32, strided<[96, 1], offset: 64>>
  linalg.copy ins(%x : memref<?x32xf32>) outs(%1 : memref<?x32xf32, strided<[96, 1], offset: 64>>)
  %2 = memref.subview %c[0, 8] [%n, 8] [1, 1] : memref<?x24xf32> to memref<?x8xf32, strided<[24, 1], offset: 8>>
  linalg.copy ins(%few : memref<?x8xf32>) outs(%2 : memref<?x8xf32, strided<[24, 1], offset: 8>>)
  %3 = memref.subview %d[0, 0] [32, 1] [1, 1] : memref<32x?xf32> to memref<32xf32, strided<[?]>>
  linalg.copy ins(%row : memref<32xf32>) outs(%3 : memref<32xf32, strided<[?]>>)
  %4 = memref.subview %d[0, 1] [32, 1] [1, 1] : memref<32x?xf32> to memref<32xf32, strided<[?], offset: 1>>
  linalg.copy ins(%row : memref<32xf32>) outs(%4 : memref<32xf32, strided<[?], offset: 1>>)
  %5 = memref.subview %a[0, 0] [1, 32] [1, 1] : memref<?x64xf32> to memref<32xf32, strided<[1]>>
  linalg.copy ins(%row : memref<32xf32>) outs(%5 : memref<32xf32, strided<[1]>>)
  return
}
