// RUN: onnxc-opt --verify-diagnostics --embed-weights %s

memref.global @variable : memref<3xf32> = dense<[1.0, 2.0, 3.0]>
func.func @model(%x: memref<3xf32>,
    %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  // expected-error @+1 {{global 'variable' is no constant}}
  %a = memref.get_global @variable : memref<3xf32>
  memref.copy %a, %x : memref<3xf32> to memref<3xf32>
  return
}
