// RUN: onnxc-opt --expand-vector-loops %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64-linux-gnu", cpu = "x86-64-v3", features = "",
    vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64,
    heap = true, has_f16 = true>} {

// CHECK-LABEL: @loops_that_operands_walk_as_one_are_merged
// CHECK: scf.for %{{.*}} = %{{.*}} to %c64
// CHECK-NOT: scf.for
// CHECK: vector.store {{.*}} vector<8xf32>
func.func @loops_that_operands_walk_as_one_are_merged(%x: memref<4x16xf32>, %y: memref<4x16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.negf %a : f32
    linalg.yield %c : f32
  }
  return
}

// CHECK-LABEL: @what_is_left_of_a_vector_is_masked
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: %[[MASK:.*]] = arith.constant dense<[true, true, true, false]> : vector<4xi1>
// CHECK: vector.maskedload {{.*}}%[[MASK]]
// CHECK: vector.maskedstore {{.*}}%[[MASK]]
func.func @what_is_left_of_a_vector_is_masked(%x: memref<11xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<11xf32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  }
  return
}

// CHECK-LABEL: @half_a_vector_needs_no_mask
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK-NOT: masked
// CHECK: return
func.func @half_a_vector_needs_no_mask(%x: memref<12xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<12xf32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  }
  return
}

// Doubles that floats are summed in do not halve the lanes: blocks are summed in floats.
// CHECK-LABEL: @long_sums_are_of_blocks
// CHECK: scf.for {{.*}} -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
// CHECK: arith.addf {{.*}} vector<8xf32>
// CHECK: scf.yield
// CHECK: arith.extf {{.*}} vector<8xf32> to vector<8xf64>
func.func @long_sums_are_of_blocks(%x: memref<65536xf32>, %y: memref<f64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<65536xf32>) outs(%y : memref<f64>) {
  ^bb0(%a: f32, %b: f64):
    %c = arith.extf %a : f32 to f64
    %d = arith.addf %b, %c : f64
    linalg.yield %d : f64
  }
  return
}

// CHECK-LABEL: @a_fold_along_the_lanes_has_several_accumulators
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (vector<8xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3]
// CHECK: vector.extract
// CHECK: memref.store
func.func @a_fold_along_the_lanes_has_several_accumulators(%x: memref<4x128xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x128xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  }
  return
}

// Four ways of a maximum, and what is NaN.
// CHECK-LABEL: @a_long_fold_of_few_columns_has_several_accumulators
// CHECK: scf.for {{.*}} step %c4{{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-NOT: maximumf
// CHECK-COUNT-4: arith.cmpf uno
// CHECK: scf.yield
// CHECK: arith.cmpf uno
// CHECK: scf.yield
// CHECK: arith.cmpf ogt
// CHECK-COUNT-2: arith.cmpf uno
// CHECK: %[[MOST:.*]] = arith.select
// CHECK: vector.store %[[MOST]]
func.func @a_long_fold_of_few_columns_has_several_accumulators(%x: memref<102x8xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<102x8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %b, %a : f32
    linalg.yield %c : f32
  }
  return
}

// Sums of all columns are rounded alike, those of the last vector, too.
// CHECK-LABEL: @columns_of_a_fold_are_alike
// CHECK: scf.for {{.*}} step %c1{{.*}} -> (vector<8xf32>, vector<8xf32>
// CHECK-NOT: step %c2
// CHECK-NOT: step %c4
// CHECK: return
func.func @columns_of_a_fold_are_alike(%x: memref<102x36xf32>, %y: memref<36xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<102x36xf32>) outs(%y : memref<36xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  }
  return
}

// CHECK-LABEL: @a_short_fold_has_one_accumulator
// CHECK: scf.for {{.*}} -> (vector<8xf32>) {
// CHECK: arith.maximumf
func.func @a_short_fold_has_one_accumulator(%x: memref<3x8xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<3x8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %b, %a : f32
    linalg.yield %c : f32
  }
  return
}

// CHECK-LABEL: @a_transpose_turns_squares_in_registers
// CHECK-COUNT-8: vector.load
// CHECK: vector.shuffle
// CHECK-COUNT-8: vector.store
func.func @a_transpose_turns_squares_in_registers(%x: memref<16x24xf32>, %y: memref<24x16xf32>) {
  linalg.transpose ins(%x : memref<16x24xf32>) outs(%y : memref<24x16xf32>) permutation = [1, 0]
  return
}

// Three rows of eight elements become three vectors with all of their columns.
// CHECK-LABEL: @a_transpose_of_few_rows_keeps_vectors_whole
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c8
// CHECK-COUNT-3: vector.load
// CHECK-NOT: memref.load
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-3: vector.store
// CHECK-NOT: store
// CHECK: return
func.func @a_transpose_of_few_rows_keeps_vectors_whole(%x: memref<3x16xf32>, %y: memref<16x3xf32>) {
  linalg.transpose ins(%x : memref<3x16xf32>) outs(%y : memref<16x3xf32>) permutation = [1, 0]
  return
}

// CHECK-LABEL: @tiles_behind_the_last_whole_one_overlap_with_it
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %c13{{.*}} step %c8
// CHECK: arith.minsi %[[I]], %c5
// CHECK-NOT: memref.store
// CHECK: return
func.func @tiles_behind_the_last_whole_one_overlap_with_it(%x: memref<8x13xf32>, %y: memref<13x8xf32>) {
  linalg.transpose ins(%x : memref<8x13xf32>) outs(%y : memref<13x8xf32>) permutation = [1, 0]
  return
}

// What is computed twice would be added twice.
// CHECK-LABEL: @no_tiles_overlap_where_the_result_may_be_an_operand
// CHECK-NOT: arith.minsi
// CHECK: memref.store
// CHECK: return
func.func @no_tiles_overlap_where_the_result_may_be_an_operand(%x: memref<8x13xf32>, %y: memref<13x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>,
                                   affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<8x13xf32>, memref<13x8xf32>) outs(%y : memref<13x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: @no_tiles_overlap_in_a_buffer_of_any_size_either
// CHECK-NOT: arith.minsi
// CHECK: memref.store
// CHECK: return
func.func @no_tiles_overlap_in_a_buffer_of_any_size_either(%x: memref<?x?xf32>, %y: memref<?x?xf32, strided<[?, 1]>>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>,
                                   affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<?x?xf32>, memref<?x?xf32, strided<[?, 1]>>)
      outs(%y : memref<?x?xf32, strided<[?, 1]>>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: @indices_that_are_not_linear_stay
// CHECK: linalg.generic
func.func @indices_that_are_not_linear_stay(%x: memref<4xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// CHECK-LABEL: @what_lies_side_by_side_at_computed_indices_is_loaded_as_a_vector
// CHECK: scf.for %[[I:.*]] = %c0 to %c4
// CHECK: %[[ROW:.*]] = memref.load %{{.*}}[%[[I]]] : memref<4xi64
// CHECK: scf.for %[[J:.*]] =
// CHECK-NOT: memref.load
// CHECK: vector.load %{{.*}}[%{{.*}}, %[[J]]] : memref<9x64xf32>, vector<8xf32>
func.func @what_lies_side_by_side_at_computed_indices_is_loaded_as_a_vector(
    %rows: memref<4xi64>, %x: memref<9x64xf32>, %y: memref<4x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%y : memref<4x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %r = memref.load %rows[%i] : memref<4xi64>
    %row = arith.index_cast %r : i64 to index
    %a = memref.load %x[%row, %j] : memref<9x64xf32>
    linalg.yield %a : f32
  }
  return
}

// Vectors end where lanes begin.
// CHECK-LABEL: @a_row_that_is_read_backwards
// CHECK: %[[LAST:.*]] = arith.subi %c19, %{{.*}} : index
// CHECK: %[[FIRST:.*]] = arith.subi %[[LAST]], %c7 : index
// CHECK: %[[V:.*]] = vector.load %{{.*}}[%[[FIRST]]] : memref<20xf32>, vector<8xf32>
// CHECK: %[[R:.*]] = vector.shuffle %[[V]], %[[V]] [7, 6, 5, 4, 3, 2, 1, 0]
// CHECK: vector.store %[[R]]
// CHECK: vector.shuffle %{{.*}} [3, 2, 1, 0] : vector<4xf32>
func.func @a_row_that_is_read_backwards(%x: memref<20xf32>, %y: memref<20xf32>) {
  %end = arith.constant 19 : index
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %at = arith.subi %end, %i : index
    %a = memref.load %x[%at] : memref<20xf32>
    linalg.yield %a : f32
  }
  return
}

// The rows lie side by side along the fold, but what they tell to load does not.
// CHECK-LABEL: @a_fold_of_loaded_rows_has_lanes_along_them
// CHECK: vector.load %{{.*}} : memref<9x64xf32>, vector<8xf32>
// CHECK-NOT: vector.gather
// CHECK: return
func.func @a_fold_of_loaded_rows_has_lanes_along_them(
    %rows: memref<4x16xi32>, %weights: memref<4x16xf32>, %x: memref<9x64xf32>, %y: memref<4x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, k)>,
                                   affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %weights : memref<4x16xi32>, memref<4x16xf32>) outs(%y : memref<4x64xf32>) {
  ^bb0(%r: i32, %w: f32, %o: f32):
    %j = linalg.index 1 : index
    %row = arith.index_cast %r : i32 to index
    %a = memref.load %x[%row, %j] : memref<9x64xf32>
    %p = arith.mulf %a, %w : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Four elements of the fold would leave half of the lanes empty.
// CHECK-LABEL: @a_short_fold_has_lanes_along_what_it_loads
// CHECK: vector.load %{{.*}} : memref<9x64xf32>, vector<8xf32>
// CHECK: return
func.func @a_short_fold_has_lanes_along_what_it_loads(
    %rows: memref<4x4xi32>, %weights: memref<4x4xf32>, %shares: memref<4x4xf32>, %x: memref<9x64xf32>,
    %y: memref<4x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, k)>,
                                   affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %weights, %shares : memref<4x4xi32>, memref<4x4xf32>, memref<4x4xf32>)
      outs(%y : memref<4x64xf32>) {
  ^bb0(%r: i32, %w: f32, %v: f32, %o: f32):
    %j = linalg.index 1 : index
    %row = arith.index_cast %r : i32 to index
    %a = memref.load %x[%row, %j] : memref<9x64xf32>
    %p = arith.mulf %a, %w : f32
    %q = arith.mulf %p, %v : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  }
  return
}

// Every lane of its own: the machine has no permutation here.
// CHECK-LABEL: @a_position_that_creeps_needs_a_permutation
// CHECK-COUNT-8: memref.load %{{.*}} : memref<16xf32>
// CHECK-NOT: onnxc.creep
func.func @a_position_that_creeps_needs_a_permutation(
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

// Many small operands lie along the rows, but each is one number for a whole row.
// CHECK-LABEL: @what_is_repeated_weighs_little
// CHECK: scf.for
// CHECK-NOT: memref.store
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: memref.store
// CHECK: return
func.func @what_is_repeated_weighs_little(%x: memref<160x1024xf32>, %a: memref<160xf32>, %b: memref<160xf32>,
    %c: memref<160xf32>, %d: memref<160xf32>, %e: memref<160xf32>, %y: memref<160x1024xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %a, %b, %c, %d, %e : memref<160x1024xf32>, memref<160xf32>, memref<160xf32>, memref<160xf32>,
          memref<160xf32>, memref<160xf32>) outs(%y : memref<160x1024xf32>) {
  ^bb0(%s: f32, %p: f32, %q: f32, %r: f32, %t: f32, %u: f32, %o: f32):
    %0 = arith.subf %s, %p : f32
    %1 = arith.mulf %0, %q : f32
    %2 = arith.addf %1, %r : f32
    %3 = arith.mulf %2, %t : f32
    %4 = arith.addf %3, %u : f32
    linalg.yield %4 : f32
  }
  return
}
}
