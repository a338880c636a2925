// RUN: onnxc-opt --verify-diagnostics --elide-copies=remarks %s

func.func @model(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  // expected-remark @+1 {{copy stays: the value is an argument}}
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  %a = memref.alloc() : memref<8xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  %part = memref.subview %a[0] [4] [1]
      : memref<8xf32> to memref<4xf32, strided<[1]>>
  // expected-remark @+1 {{copy stays: the value is a part of another}}
  memref.copy %part, %z : memref<4xf32, strided<[1]>> to memref<4xf32>
  return
}
