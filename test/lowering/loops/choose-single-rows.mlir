// RUN: onnxc-opt %s --choose-single-rows | FileCheck %s

#query = affine_map<(b, n, m, d) -> (b, n, d)>
#key = affine_map<(b, n, m, d) -> (b, m, d)>
#score = affine_map<(b, n, m, d) -> (b, n, m)>
#all = affine_map<(b, n, m) -> (b, n, m)>
#row = affine_map<(b, n, m) -> (b, n)>
#share = affine_map<(b, n, d, m) -> (b, n, m)>
#value = affine_map<(b, n, d, m) -> (b, m, d)>
#result = affine_map<(b, n, d, m) -> (b, n, d)>
#mask = affine_map<(b, n, m) -> (n, m)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// One query reads the keys where they are. What makes the mask for the scores alone comes along; the largest scores, which
// are an output, too, leave both branches.
// CHECK-LABEL: @queries_and_keys
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c1
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[N]], %{{.*}} : index
// CHECK: %[[Y:.*]]:2 = scf.if %[[ONE]] -> (tensor<8x?xf32>, tensor<8x?x64xf32>) {
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x?xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x1x?xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x1xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x1x?xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x1x64xf32>)
// CHECK: } else {
// CHECK-COUNT-5: linalg.generic
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<8x?xf32>, tensor<8x?x64xf32>
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]#1, %[[Y]]#0
func.func @queries_and_keys(%q: tensor<8x?x64xf32>, %k: tensor<8x?x64xf32>, %v: tensor<8x?x64xf32>,
                            %allowed: tensor<?x?xi1>) -> (tensor<8x?x64xf32>, tensor<8x?xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %q, %c1 : tensor<8x?x64xf32>
  %m = tensor.dim %k, %c1 : tensor<8x?x64xf32>
  %e0 = tensor.empty(%n, %m) : tensor<?x?xf32>
  %mask = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n, m)>],
      iterator_types = ["parallel", "parallel"]} ins(%allowed : tensor<?x?xi1>) outs(%e0 : tensor<?x?xf32>) {
  ^bb0(%a: i1, %o: f32):
    %t = arith.select %a, %zero, %least : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %e1 = tensor.empty(%n, %m) : tensor<8x?x?xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x?x?xf32>) -> tensor<8x?x?xf32>
  %s = linalg.generic {indexing_maps = [#query, #key, #score],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x?x64xf32>, tensor<8x?x64xf32>) outs(%z1 : tensor<8x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x?x?xf32>
  %e2 = tensor.empty(%n) : tensor<8x?xf32>
  %z2 = linalg.fill ins(%least : f32) outs(%e2 : tensor<8x?xf32>) -> tensor<8x?xf32>
  %top = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<8x?x?xf32>) outs(%z2 : tensor<8x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8x?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #mask, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %top, %mask : tensor<8x?x?xf32>, tensor<8x?xf32>, tensor<?x?xf32>) outs(%e1 : tensor<8x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    %u = arith.addf %t, %c : f32
    linalg.yield %u : f32
  } -> tensor<8x?x?xf32>
  %e3 = tensor.empty(%n) : tensor<8x?x64xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
  %y = linalg.generic {indexing_maps = [#share, #value, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<8x?x?xf32>, tensor<8x?x64xf32>) outs(%z3 : tensor<8x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %o, %t : f32
    linalg.yield %u : f32
  } -> tensor<8x?x64xf32>
  return %y, %top : tensor<8x?x64xf32>, tensor<8x?xf32>
}

// As many keys as queries are those of an encoder.
// CHECK-LABEL: @as_many_keys_as_queries
// CHECK-NOT: scf.if
// CHECK: return
func.func @as_many_keys_as_queries(%q: tensor<8x?x64xf32>, %k: tensor<8x?x64xf32>) -> tensor<8x?x?xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c1 : tensor<8x?x64xf32>
  %e1 = tensor.empty(%n, %n) : tensor<8x?x?xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x?x?xf32>) -> tensor<8x?x?xf32>
  %s = linalg.generic {indexing_maps = [#query, #key, #score],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x?x64xf32>, tensor<8x?x64xf32>) outs(%z1 : tensor<8x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x?x?xf32>
  return %s : tensor<8x?x?xf32>
}

// Constant columns are put into panels while the model is compiled.
// CHECK-LABEL: @constant_columns
// CHECK-NOT: scf.if
// CHECK: return
func.func @constant_columns(%q: tensor<8x?x64xf32>) -> tensor<8x?x32xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %k = arith.constant dense_resource<weights> : tensor<8x32x64xf32>
  %n = tensor.dim %q, %c1 : tensor<8x?x64xf32>
  %e1 = tensor.empty(%n) : tensor<8x?x32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x?x32xf32>) -> tensor<8x?x32xf32>
  %s = linalg.generic {indexing_maps = [#query, #key, #score],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x?x64xf32>, tensor<8x32x64xf32>) outs(%z1 : tensor<8x?x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x?x32xf32>
  return %s : tensor<8x?x32xf32>
}

// A sum of two tensors, folded, is no product.
// CHECK-LABEL: @no_product
// CHECK-NOT: scf.if
// CHECK: return
func.func @no_product(%x: tensor<?x?x64xf32>, %t: tensor<?x64xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %e1 = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#all, affine_map<(b, n, m) -> (n, m)>, #row],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<?x?x64xf32>, tensor<?x64xf32>) outs(%z1 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.addf %a, %b : f32
    %t1 = arith.addf %o, %p : f32
    linalg.yield %t1 : f32
  } -> tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}
}
