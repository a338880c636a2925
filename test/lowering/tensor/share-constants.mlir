// RUN: onnxc-opt %s --share-constants | FileCheck %s

// Equal bytes are one, whatever their shape; others are left.
// CHECK-LABEL: @model
// CHECK: dense_resource<[[FIRST:.*]]> : tensor<2x2xf32>
// CHECK-NEXT: dense_resource<[[FIRST]]> : tensor<2x2xf32>
// CHECK-NEXT: dense_resource<[[FIRST]]> : tensor<4xf32>
// CHECK-NEXT: dense_resource<other> : tensor<2x2xf32>
// CHECK-NOT: again
func.func @model() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<2x2xf32>) {
  %a = arith.constant dense_resource<first> : tensor<2x2xf32>
  %b = arith.constant dense_resource<again> : tensor<2x2xf32>
  %c = arith.constant dense_resource<again> : tensor<4xf32>
  %d = arith.constant dense_resource<other> : tensor<2x2xf32>
  return %a, %b, %c, %d : tensor<2x2xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<2x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      first: "0x400000000000803F000000400000404000008040",
      again: "0x400000000000803F000000400000404000008040",
      other: "0x400000000000803F0000004000004040000080C0"
    }
  }
#-}
