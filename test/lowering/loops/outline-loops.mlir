// Equal computations share a function, wherever their buffers begin. Little work stays where it is,
// as does what may end the call.
// RUN: onnxc-opt --outline-loops %s | FileCheck %s
#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @model
// CHECK: call @[[F:.*]](%{{.*}}, %{{.*}}) : (memref<?xf32>, memref<?xf32>) -> ()
// CHECK: call @[[F]](
// CHECK: linalg.generic
// CHECK-SAME: memref<4xf32>
// CHECK: call @[[SINE:.*]](%{{.*}}) : (memref<64xf32>) -> ()
// CHECK: call @[[NEAR:.*]](%{{.*}}) : (memref<?xindex>) -> ()
// CHECK: linalg.generic
// CHECK: onnxc.check
// CHECK: return
// CHECK: func.func private @[[F]](%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>) attributes {{{.*}}no_inline
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2.0
// CHECK-NEXT: linalg.generic
// CHECK: arith.mulf %{{.*}}, %[[TWO]]
// CHECK: func.func private @[[SINE]]
// CHECK: func.func private @[[NEAR]]
// CHECK: onnxc.creep
// CHECK-NOT: func.func
func.func @model(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %a: memref<4xf32>, %b: memref<64xf32>,
                 %i: memref<?xindex>) {
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
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%i : memref<?xindex>) outs(%i : memref<?xindex>) {
  ^bb0(%in: index, %out: index):
    %0 = onnxc.creep %in : index
    linalg.yield %0 : index
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%i : memref<?xindex>) outs(%i : memref<?xindex>) {
  ^bb0(%in: index, %out: index):
    %zero = arith.constant 0 : index
    %inside = arith.cmpi sge, %in, %zero : index
    onnxc.check %inside, 2, "node 'g' (Gather)", "indices"
    linalg.yield %in : index
  }
  return
}
