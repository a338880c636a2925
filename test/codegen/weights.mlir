// Constants that are calculated as they are written.
// RUN: onnxc %s --weights=%t.weights -o %t.o
// RUN: %python -c "import struct; print(*(f'%%g' %% x for x, in struct.iter_unpack('f', open('%t.weights', 'rb').read())))" \
// RUN:   | FileCheck %s

// The filter of F(2 x 2, 3 x 3), G g G^T, with one output and a panel of two.
// CHECK: 1 0 3 0 1 0 3 0 6 0 11.25 0 3.75 0 9 0 2 0 3.75 0 1.25 0 3 0 7 0 12 0 4 0 9 0
// Columns in panels of two, rows inside; the offset is a multiple of 64.
// CHECK-SAME: 1 2 4 5 3 0 6 0{{$}}

module attributes {
  onnxc.target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>,
  onnxc.stage = "memory", onnxc.symbols = [],
  onnxc.weights = [
    #onnxc.weight<0, #onnxc.transformed_filter<
      dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>,
      <tile = 2, tile_rows = 1, product = <rows = 4, columns = 2, vector = 1, outer = panels>>>>,
    #onnxc.weight<128, #onnxc.packed<
      dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>, outer = [1, 0], tiled = 1, columns = 2>>]
} {
  func.func @model(%x: memref<1xf32> {onnxc.name = "x", onnxc.dims = [""]},
                   %y: memref<1xf32> {onnxc.name = "y", onnxc.dims = [""], onnxc.output = 0 : i64},
                   %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %w = memref.view %weights[%c0][] : memref<?xi8> to memref<16x1x1x2xf32>
    %a = memref.load %w[%c0, %c0, %c0, %c0] : memref<16x1x1x2xf32>
    memref.store %a, %y[%c0] : memref<1xf32>
    return
  }
}
