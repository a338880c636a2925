// RUN: onnxc-opt %s --lower-math | FileCheck %s

// CHECK-LABEL: @what_llvm_expands_inline_stays
// CHECK: math.sqrt
// CHECK: math.floor
func.func @what_llvm_expands_inline_stays(%x: f32) -> f32 {
  %root = math.sqrt %x : f32
  %whole = math.floor %root : f32
  return %whole : f32
}

// CHECK-LABEL: @others_call_the_support_library
// CHECK: call @sinf
// CHECK-NOT: math.sin
func.func @others_call_the_support_library(%x: f32) -> f32 {
  %y = math.sin %x : f32
  return %y : f32
}

// CHECK-LABEL: @a_vector_calls_element_by_element
// CHECK-COUNT-4: call @exp(
// CHECK-NOT: math.exp
func.func @a_vector_calls_element_by_element(%x: vector<4xf64>) -> vector<4xf64> {
  %y = math.exp %x : vector<4xf64>
  return %y : vector<4xf64>
}
