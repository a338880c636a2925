// RUN: onnxc-opt --expand-vector-loops --canonicalize %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64-linux-gnu", cpu = "x86-64-v3", features = "",
    vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64,
    heap = true, has_f16 = true>} {

// Three channels of a pixel lie beside those of the next: lanes run through rows of 5 x 3 elements.
// CHECK-LABEL: func.func @rows_at_computed_places
// CHECK: vector.load %{{.*}}[%c0, %{{.*}}, %c0, %{{.*}}] : memref<1x9x5x3xf32>, vector<8xf32>
// CHECK-NOT: vector<3xf32>
// CHECK: return
func.func @rows_at_computed_places(%x: memref<1x9x5x3xf32>, %table: memref<4xi32>, %y: memref<1x4x5x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (h)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%table : memref<4xi32>) outs(%y : memref<1x4x5x3xf32>) {
  ^bb0(%row: i32, %o: f32):
    %n = linalg.index 0 : index
    %h = arith.index_cast %row : i32 to index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %e = memref.load %x[%n, %h, %w, %c] : memref<1x9x5x3xf32>
    linalg.yield %e : f32
  }
  return
}

// Not where the body asks for the column itself.
// CHECK-LABEL: func.func @columns_are_asked_for
// CHECK-NOT: vector.load {{.*}} : memref<1x9x5x3xf32>, vector<8xf32>
// CHECK: return
func.func @columns_are_asked_for(%x: memref<1x9x5x3xf32>, %table: memref<4xi32>, %y: memref<1x4x5x3xf32>) {
  %c4 = arith.constant 4 : index
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (h)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%table : memref<4xi32>) outs(%y : memref<1x4x5x3xf32>) {
  ^bb0(%row: i32, %o: f32):
    %n = linalg.index 0 : index
    %h = arith.index_cast %row : i32 to index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %back = arith.subi %c4, %w : index
    %e = memref.load %x[%n, %h, %back, %c] : memref<1x9x5x3xf32>
    linalg.yield %e : f32
  }
  return
}

// A last dimension of one element is none: lanes run along the columns.
// CHECK-LABEL: func.func @one_channel
// CHECK: vector.load %{{.*}} : memref<1x9x16xf32>, vector<8xf32>
func.func @one_channel(%x: memref<1x9x16x1xf32>, %table: memref<4xi32>, %y: memref<1x4x16x1xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (h)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%table : memref<4xi32>) outs(%y : memref<1x4x16x1xf32>) {
  ^bb0(%row: i32, %o: f32):
    %n = linalg.index 0 : index
    %h = arith.index_cast %row : i32 to index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %e = memref.load %x[%n, %h, %w, %c] : memref<1x9x16x1xf32>
    linalg.yield %e : f32
  }
  return
}

}
