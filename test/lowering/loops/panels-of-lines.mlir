// RUN: onnxc-opt %s --pack-layouts --form-kernels --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 8192, index_bits = 64, heap = true,
    has_f16 = true, memory_bytes_per_cycle = 3>} {

// Behind a mesh, few rows read weights that L2 does not hold from eight places at once, a line from each.
// CHECK-LABEL: @one_row
// CHECK: onnxc.kernel #onnxc.contraction<rows = 1, columns = 128, vector = 16, outer = panels>
// CHECK: linalg.unpack {{.*}} inner_tiles = [16]
func.func @one_row(%a: tensor<1x32xf32>, %c: tensor<1x256xf32>) -> tensor<1x256xf32> {
  %w = arith.constant dense<2.0> : tensor<32x256xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<1x32xf32>, tensor<32x256xf32>) outs(%c : tensor<1x256xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x256xf32>
  return %r : tensor<1x256xf32>
}

// Twelve rows have registers for two.
// CHECK-LABEL: @twelve_rows
// CHECK: onnxc.kernel #onnxc.contraction<rows = 12, columns = 32, vector = 16, outer = panels>
// CHECK: linalg.unpack {{.*}} inner_tiles = [16]
func.func @twelve_rows(%a: tensor<12x32xf32>, %c: tensor<12x160xf32>) -> tensor<12x160xf32> {
  %w = arith.constant dense<2.0> : tensor<32x160xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<12x32xf32>, tensor<32x160xf32>) outs(%c : tensor<12x160xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<12x160xf32>
  return %r : tensor<12x160xf32>
}

// So does the tile of an unknown number of rows.
// CHECK-LABEL: @rows_of_the_run
// CHECK: onnxc.kernel #onnxc.contraction<rows = 8, columns = 48, vector = 16, outer = panels>
// CHECK: linalg.unpack {{.*}} inner_tiles = [16]
func.func @rows_of_the_run(%a: tensor<?x20xf32>, %c: tensor<?x192xf32>) -> tensor<?x192xf32> {
  %w = arith.constant dense<2.0> : tensor<20x192xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<?x20xf32>, tensor<20x192xf32>) outs(%c : tensor<?x192xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x192xf32>
  return %r : tensor<?x192xf32>
}

// What thirteen rows read is one panel.
// CHECK-LABEL: @many_rows
// CHECK: onnxc.kernel #onnxc.contraction<rows = 13, columns = [[COLUMNS:[0-9]+]]
// CHECK: linalg.unpack {{.*}} inner_tiles = {{\[}}[[COLUMNS]]]
func.func @many_rows(%a: tensor<13x32xf32>, %c: tensor<13x160xf32>) -> tensor<13x160xf32> {
  %w = arith.constant dense<2.0> : tensor<32x160xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<13x32xf32>, tensor<32x160xf32>) outs(%c : tensor<13x160xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<13x160xf32>
  return %r : tensor<13x160xf32>
}
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 8192, l3_bytes = 65536, index_bits = 64,
    heap = true, has_f16 = true>} {

// Without a mesh one row does.
// CHECK-LABEL: @one_row_near_memory
// CHECK: onnxc.kernel #onnxc.contraction<rows = 1, columns = 96, vector = 8, outer = panels>
// CHECK: linalg.unpack {{.*}} inner_tiles = [16]
func.func @one_row_near_memory(%a: tensor<1x32xf32>, %c: tensor<1x256xf32>) -> tensor<1x256xf32> {
  %w = arith.constant dense<2.0> : tensor<32x256xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<1x32xf32>, tensor<32x256xf32>) outs(%c : tensor<1x256xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x256xf32>
  return %r : tensor<1x256xf32>
}

// Four rows have registers for sums of three half lines, so panels are as wide.
// CHECK-LABEL: @four_rows_near_memory
// CHECK: onnxc.kernel #onnxc.contraction<rows = 4, columns = 24, vector = 8, outer = panels>
// CHECK: linalg.unpack {{.*}} inner_tiles = [8]
func.func @four_rows_near_memory(%a: tensor<4x32xf32>, %c: tensor<4x256xf32>) -> tensor<4x256xf32> {
  %w = arith.constant dense<2.0> : tensor<32x256xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<4x32xf32>, tensor<32x256xf32>) outs(%c : tensor<4x256xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x256xf32>
  return %r : tensor<4x256xf32>
}

// Seven have them for one place only.
// CHECK-LABEL: @seven_rows_near_memory
// CHECK: onnxc.kernel #onnxc.contraction<rows = {{.*}}, columns = [[COLUMNS:.*]], vector = 8, outer = panels>
// CHECK: linalg.unpack {{.*}} inner_tiles = {{\[}}[[COLUMNS]]]
func.func @seven_rows_near_memory(%a: tensor<7x32xf32>, %c: tensor<7x256xf32>) -> tensor<7x256xf32> {
  %w = arith.constant dense<2.0> : tensor<32x256xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<7x32xf32>, tensor<32x256xf32>) outs(%c : tensor<7x256xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<7x256xf32>
  return %r : tensor<7x256xf32>
}
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 8192, l3_bytes = 65536,
    l3_bytes_per_cycle = 24, index_bits = 64, heap = true, has_f16 = true>} {

// A core that sees far ahead of one stream reads one.
// CHECK-LABEL: @one_stream
// CHECK: onnxc.kernel #onnxc.contraction<rows = 1, columns = [[COLUMNS:.*]], vector = 8, outer = panels>
// CHECK: linalg.unpack {{.*}} inner_tiles = {{\[}}[[COLUMNS]]]
func.func @one_stream(%a: tensor<1x32xf32>, %c: tensor<1x256xf32>) -> tensor<1x256xf32> {
  %w = arith.constant dense<2.0> : tensor<32x256xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<1x32xf32>, tensor<32x256xf32>) outs(%c : tensor<1x256xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x256xf32>
  return %r : tensor<1x256xf32>
}
}
