// RUN: onnxc-opt --form-kernels --form-row-kernels --split-input-file %s | FileCheck %s

// Queries of several heads times keys, exponential shares, times values. A tile of shares stays on the stack; keys
// are copied into panels once for all tiles.

#query = affine_map<(h, q, k, d) -> (q, h, d)>
#key = affine_map<(h, q, k, d) -> (k, h, d)>
#score = affine_map<(h, q, k, d) -> (h, q, k)>
#share = affine_map<(h, q, d, k) -> (h, q, k)>
#value = affine_map<(h, q, d, k) -> (k, h, d)>
#result = affine_map<(h, q, d, k) -> (q, h, d)>
#id = affine_map<(h, q, k) -> (h, q, k)>
#row = affine_map<(h, q, k) -> (h, q)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// CHECK-LABEL: @two_products_around_a_sum_are_one_kernel
// CHECK: %[[KEYS:.*]] = onnxc.kernel #onnxc.squares<8> ins(%arg1 : tensor<64x4x16xf32>)
// CHECK: linalg.pack
// CHECK: %[[Y:.*]] = onnxc.kernel #onnxc.rows<outer = 2, tile = {{[4-9]}}> ins(%[[KEYS]], %arg0, %arg2
// CHECK-SAME: outs(%{{.*}} : tensor<64x4x16xf32>)
// CHECK: onnxc.kernel #onnxc.contraction
// CHECK: linalg.unpack
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.divf
// CHECK: onnxc.kernel #onnxc.contraction
// CHECK: return %[[Y]]
func.func @two_products_around_a_sum_are_one_kernel(%q: tensor<64x4x16xf32>, %k: tensor<64x4x16xf32>,
                                                    %v: tensor<64x4x16xf32>) -> tensor<64x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %scores = linalg.generic {indexing_maps = [#query, #key, #score],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<64x4x16xf32>, tensor<64x4x16xf32>) outs(%f : tensor<4x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x64x64xf32>
  %exp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<4x64x64xf32>) outs(%e : tensor<4x64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  } -> tensor<4x64x64xf32>
  %er = tensor.empty() : tensor<4x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x64xf32>) -> tensor<4x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%exp : tensor<4x64x64xf32>) outs(%fr : tensor<4x64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<4x64xf32>
  %shares = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%exp, %sum : tensor<4x64x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64x64xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x64x64xf32>
  %ey = tensor.empty() : tensor<64x4x16xf32>
  %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<64x4x16xf32>) -> tensor<64x4x16xf32>
  %y = linalg.generic {indexing_maps = [#share, #value, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%shares, %v : tensor<4x64x64xf32>, tensor<64x4x16xf32>) outs(%fy : tensor<64x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x4x16xf32>
  return %y : tensor<64x4x16xf32>
}

}

// -----

// A product whose other operand exceeds the cache is read once, by all rows: it keeps a kernel of its own.

#a = affine_map<(q, n, k) -> (q, k)>
#b = affine_map<(q, n, k) -> (k, n)>
#c = affine_map<(q, n, k) -> (q, n)>
#id = affine_map<(q, n) -> (q, n)>
#row = affine_map<(q, n) -> (q)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// CHECK-LABEL: @large_weights_are_read_once
// CHECK-NOT: tile =
func.func @large_weights_are_read_once(%x: tensor<64x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<64x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %z = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<64x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x1024xf32>
  %er = tensor.empty() : tensor<64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%z : tensor<64x1024xf32>) outs(%fr : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z, %sum : tensor<64x1024xf32>, tensor<64xf32>) outs(%e : tensor<64x1024xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x1024xf32>
  return %y : tensor<64x1024xf32>
}

}

// -----

// Keys and values that exceed the cache are less than the shares of all queries: more rows take them together. The
// values' rows, which lie a power of two apart, become panels.

#query = affine_map<(h, q, k, d) -> (q, h, d)>
#key = affine_map<(h, q, k, d) -> (k, h, d)>
#score = affine_map<(h, q, k, d) -> (h, q, k)>
#share = affine_map<(h, q, d, k) -> (h, q, k)>
#value = affine_map<(h, q, d, k) -> (k, h, d)>
#result = affine_map<(h, q, d, k) -> (q, h, d)>
#id = affine_map<(h, q, k) -> (h, q, k)>
#row = affine_map<(h, q, k) -> (h, q)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true, block_bytes = 262144>} {

// CHECK-LABEL: @many_keys_stream
// CHECK: %[[KEYS:.*]] = onnxc.kernel #onnxc.squares<8> ins(%arg1 : tensor<1500x4x64xf32>)
// CHECK: %[[CUT:.*]] = tensor.expand_shape %arg2 {{.*}} into tensor<1500x4x4x16xf32>
// CHECK: %[[VALUES:.*]] = linalg.transpose ins(%[[CUT]] {{.*}} outs({{.*}} : tensor<4x4x1500x16xf32>)
// CHECK: onnxc.kernel #onnxc.rows<outer = 2, tile = 12> ins(%[[KEYS]], %arg0, %[[VALUES]]
// CHECK-COUNT-2: linalg.unpack
func.func @many_keys_stream(%q: tensor<1500x4x64xf32>, %k: tensor<1500x4x64xf32>,
                            %v: tensor<1500x4x64xf32>) -> tensor<1500x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x1500x1500xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x1500x1500xf32>) -> tensor<4x1500x1500xf32>
  %scores = linalg.generic {indexing_maps = [#query, #key, #score],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<1500x4x64xf32>, tensor<1500x4x64xf32>) outs(%f : tensor<4x1500x1500xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x1500x1500xf32>
  %er = tensor.empty() : tensor<4x1500xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x1500xf32>) -> tensor<4x1500xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%scores : tensor<4x1500x1500xf32>) outs(%fr : tensor<4x1500xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<4x1500xf32>
  %shares = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %sum : tensor<4x1500x1500xf32>, tensor<4x1500xf32>) outs(%e : tensor<4x1500x1500xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x1500x1500xf32>
  %ey = tensor.empty() : tensor<1500x4x64xf32>
  %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<1500x4x64xf32>) -> tensor<1500x4x64xf32>
  %y = linalg.generic {indexing_maps = [#share, #value, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%shares, %v : tensor<4x1500x1500xf32>, tensor<1500x4x64xf32>) outs(%fy : tensor<1500x4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1500x4x64xf32>
  return %y : tensor<1500x4x64xf32>
}

}

// -----

// Shares of unknown number are an output that only the kernel reads; each row of them begins a line.

#query = affine_map<(h, q, k, d) -> (q, h, d)>
#key = affine_map<(h, q, k, d) -> (k, h, d)>
#score = affine_map<(h, q, k, d) -> (h, q, k)>
#share = affine_map<(h, q, d, k) -> (h, q, k)>
#value = affine_map<(h, q, d, k) -> (k, h, d)>
#result = affine_map<(h, q, d, k) -> (q, h, d)>
#id = affine_map<(h, q, k) -> (h, q, k)>
#row = affine_map<(h, q, k) -> (h, q)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// CHECK-LABEL: @rows_of_unknown_length
// CHECK: onnxc.kernel #onnxc.squares<8>
// CHECK: %[[LINES:.*]] = arith.ceildivui %{{.*}}, %c16
// CHECK: %[[WIDTH:.*]] = arith.muli %[[LINES]], %c16
// CHECK: %[[ROOM:.*]] = tensor.empty(%{{.*}}, %[[WIDTH]]) : tensor<4x?x?xf32>
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %[[ROOM]]
// CHECK: onnxc.kernel #onnxc.rows<outer = 2, tile = {{[4-9]}}> {{.*}} outs(%[[ROWS]],
func.func @rows_of_unknown_length(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>,
                                                    %v: tensor<?x4x16xf32>, %n: index) -> tensor<?x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %n) : tensor<4x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %scores = linalg.generic {indexing_maps = [#query, #key, #score],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x4x16xf32>, tensor<?x4x16xf32>) outs(%f : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x?x?xf32>
  %exp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<4x?x?xf32>) outs(%e : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  } -> tensor<4x?x?xf32>
  %er = tensor.empty(%n) : tensor<4x?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%exp : tensor<4x?x?xf32>) outs(%fr : tensor<4x?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<4x?xf32>
  %shares = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%exp, %sum : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%e : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x?x?xf32>
  %ey = tensor.empty(%n) : tensor<?x4x16xf32>
  %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
  %y = linalg.generic {indexing_maps = [#share, #value, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%shares, %v : tensor<4x?x?xf32>, tensor<?x4x16xf32>) outs(%fy : tensor<?x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x4x16xf32>
  return %y : tensor<?x4x16xf32>
}
// Where entry knows the size, a tile of rows lies in the kernel's own memory.
// CHECK-LABEL: @rows_of_symbolic_length
// CHECK: onnxc.kernel #onnxc.squares<8>
// CHECK: %[[LINES:.*]] = arith.ceildivui %{{.*}}, %c16
// CHECK: %[[WIDTH:.*]] = arith.muli %[[LINES]], %c16
// CHECK: arith.muli %c{{16|24}}, %[[WIDTH]]
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %c64{{.*}}
// CHECK: %[[SCRATCH:.*]] = tensor.empty(%[[BYTES]]) : tensor<?xi8>
// CHECK: onnxc.kernel #onnxc.rows<outer = 2, tile = {{[4-9]}}> {{.*}} outs(%{{[^,]*}}, %[[SCRATCH]] : tensor<?x4x16xf32>, tensor<?xi8>)
func.func @rows_of_symbolic_length(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>,
                                   %v: tensor<?x4x16xf32>) -> tensor<?x4x16xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : tensor<?x4x16xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %n) : tensor<4x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %scores = linalg.generic {indexing_maps = [#query, #key, #score],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x4x16xf32>, tensor<?x4x16xf32>) outs(%f : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x?x?xf32>
  %exp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<4x?x?xf32>) outs(%e : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  } -> tensor<4x?x?xf32>
  %er = tensor.empty(%n) : tensor<4x?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%exp : tensor<4x?x?xf32>) outs(%fr : tensor<4x?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<4x?xf32>
  %shares = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%exp, %sum : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%e : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x?x?xf32>
  %ey = tensor.empty(%n) : tensor<?x4x16xf32>
  %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
  %y = linalg.generic {indexing_maps = [#share, #value, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%shares, %v : tensor<4x?x?xf32>, tensor<?x4x16xf32>) outs(%fy : tensor<?x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x4x16xf32>
  return %y : tensor<?x4x16xf32>
}

}
