// RUN: onnxc-opt --expand-vector-loops %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64-linux-gnu", cpu = "x86-64-v3", features = "",
    vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64,
    heap = true, has_f16 = true, has_permute = true>} {

// The window begins at the first lane's position, or ends with the row.
// CHECK-LABEL: @lanes_of_creeping_positions_lie_in_one_vector
// CHECK: %[[AT:.*]] = vector.extract %{{.*}}[0] : index
// CHECK: %[[FIRST:.*]] = arith.minsi %[[AT]], %c8{{.*}} : index
// CHECK: %[[WINDOW:.*]] = vector.load %{{.*}}[%[[FIRST]]] : memref<16xf32>, vector<8xf32>
// CHECK: %[[FLOATS:.*]] = vector.bitcast %[[WINDOW]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.permps"(%[[FLOATS]],
// CHECK-NOT: onnxc.creep
func.func @lanes_of_creeping_positions_lie_in_one_vector(
    %at: memref<32xi32>, %x: memref<16xf32>, %y: memref<32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : memref<32xi32>) outs(%y : memref<32xf32>) {
  ^bb0(%p: i32, %o: f32):
    %i = arith.index_cast %p : i32 to index
    %near = onnxc.creep %i : index
    %a = memref.load %x[%near] : memref<16xf32>
    linalg.yield %a : f32
  }
  return
}

// CHECK-LABEL: @a_row_shorter_than_a_vector_is_loaded_as_a_whole
// CHECK: %[[IN_ROW:.*]] = arith.constant dense<[true, true, true, true, true, true, true, false]> : vector<8xi1>
// CHECK: %[[ROW:.*]] = vector.maskedload %{{.*}}[%c0{{.*}}], %[[IN_ROW]], %{{.*}} : memref<7xf32>
// CHECK: %[[FLOATS:.*]] = vector.bitcast %[[ROW]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.permps"(%[[FLOATS]],
// CHECK-NOT: memref.load
func.func @a_row_shorter_than_a_vector_is_loaded_as_a_whole(
    %at: memref<32xi32>, %x: memref<7xf32>, %y: memref<32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : memref<32xi32>) outs(%y : memref<32xf32>) {
  ^bb0(%p: i32, %o: f32):
    %i = arith.index_cast %p : i32 to index
    %near = onnxc.creep %i : index
    %a = memref.load %x[%near] : memref<7xf32>
    linalg.yield %a : f32
  }
  return
}

// The second begins where the first one ends, or ends with the row.
// CHECK-LABEL: @positions_that_advance_by_two_lie_in_two_vectors
// CHECK: %[[AT:.*]] = vector.extract %{{.*}}[0] : index
// CHECK: vector.load %{{.*}} : memref<40xf32>, vector<8xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.permps"
// CHECK: arith.addi %[[AT]], %c8
// CHECK: arith.minsi %{{.*}}, %c32
// CHECK: vector.load %{{.*}} : memref<40xf32>, vector<8xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.permps"
// CHECK: arith.cmpi sge
// CHECK: arith.select
// CHECK-NOT: onnxc.creep
func.func @positions_that_advance_by_two_lie_in_two_vectors(
    %at: memref<32xi32>, %x: memref<40xf32>, %y: memref<32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : memref<32xi32>) outs(%y : memref<32xf32>) {
  ^bb0(%p: i32, %o: f32):
    %i = arith.index_cast %p : i32 to index
    %near = onnxc.creep %i by 2 : index
    %a = memref.load %x[%near] : memref<40xf32>
    linalg.yield %a : f32
  }
  return
}

// Positions of the run mostly do: lanes are compared with the vector, and read one by one where one is not in it. A row
// of unknown length may be shorter than a vector.
// CHECK-LABEL: @positions_of_the_run_mostly_lie_in_one_vector
// CHECK: %[[WITHIN:.*]] = arith.cmpi ult, %{{.*}} : vector<8xi32>
// CHECK: %[[ALL:.*]] = vector.reduction <and>, %[[WITHIN]]
// CHECK: scf.if %[[ALL]]
// CHECK: %[[LENGTH:.*]] = memref.dim
// CHECK: vector.maskedload %{{.*}} : memref<?xf32>, vector<8xi1>, vector<8xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.permps"
// CHECK: } else {
// CHECK-COUNT-8: memref.load
// What is left of the result: lanes that do not exist are where the first one is.
// CHECK: arith.select %{{.*}} : vector<8xi1>, vector<8xindex>
// CHECK-NOT: onnxc.creep
func.func @positions_of_the_run_mostly_lie_in_one_vector(
    %at: memref<?xi32>, %x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : memref<?xi32>) outs(%y : memref<?xf32>) {
  ^bb0(%p: i32, %o: f32):
    %i = arith.index_cast %p : i32 to index
    %near = onnxc.creep %i mostly : index
    %a = memref.load %x[%near] : memref<?xf32>
    linalg.yield %a : f32
  }
  return
}
}
