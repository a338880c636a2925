// Equal computations share a function, wherever their buffers begin. Little work stays where it is.
// RUN: onnxc-opt --outline-loops %s | FileCheck %s
#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @model
// CHECK: call @[[F:.*]](%{{.*}}, %{{.*}}) : (memref<?xf32>, memref<?xf32>) -> ()
// CHECK: call @[[F]](
// CHECK: linalg.generic
// CHECK-SAME: memref<4xf32>
// CHECK: call @[[SINE:.*]](%{{.*}}) : (memref<64xf32>) -> ()
// CHECK: return
// CHECK: func.func private @[[F]](%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>) attributes {{{.*}}no_inline
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2.0
// CHECK-NEXT: linalg.generic
// CHECK: arith.mulf %{{.*}}, %[[TWO]]
// CHECK: func.func private @[[SINE]]
// CHECK-NOT: func.func
func.func @model(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %a: memref<4xf32>, %b: memref<64xf32>) {
  %two = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %two : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<?xf32>) outs(%z : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %two : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%b : memref<64xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.sin %in : f32
    linalg.yield %0 : f32
  }
  return
}
