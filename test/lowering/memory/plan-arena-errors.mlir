// RUN: onnxc-opt --split-input-file --verify-diagnostics --plan-arena %s

func.func @model(%x: f32,
    %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  // expected-error @+1 {{buffer is larger than 2^63 bytes}}
  %a = memref.alloc() : memref<4611686018427387904xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4611686018427387904xf32>)
  return
}

// -----

// expected-error @+1 {{expected the arguments arena, weights and call at the end}}
func.func @model(%x: f32) {
  return
}
