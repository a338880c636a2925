// RUN: onnxc-opt --expand-math --split-input-file %s | FileCheck %s

// CHECK-LABEL: @exp_is_one_formula_for_vectors
// CHECK-NOT: math.
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<8xf32>
// CHECK-NOT: math.
func.func @exp_is_one_formula_for_vectors(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: @narrow_floats_are_computed_in_f32
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @narrow_floats_are_computed_in_f32(%x: f16) -> f16 {
  %y = math.tanh %x : f16
  return %y : f16
}

// CHECK-LABEL: @a_square_is_one_product
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %arg0, %arg0
// CHECK-NEXT: return %[[Y]]
func.func @a_square_is_one_product(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %y = math.powf %x, %two : f32
  return %y : f32
}

// CHECK-LABEL: @a_power_of_halves_is_products_and_a_root
// CHECK-DAG: arith.mulf
// CHECK-DAG: math.sqrt
// CHECK-NOT: arith.divf
// CHECK: return
func.func @a_power_of_halves_is_products_and_a_root(%x: vector<8xf32>) -> vector<8xf32> {
  %e = arith.constant dense<2.5> : vector<8xf32>
  %y = math.powf %x, %e : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: @a_power_of_quarters_is_roots
// CHECK-COUNT-2: math.sqrt
// CHECK-NOT: arith.bitcast
// CHECK: return
func.func @a_power_of_quarters_is_roots(%x: vector<8xf32>) -> vector<8xf32> {
  %e = arith.constant dense<0.75> : vector<8xf32>
  %y = math.powf %x, %e : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: @a_negative_power_is_the_inverse_of_one
// CHECK: math.sqrt
// CHECK: arith.divf
// CHECK-NOT: arith.bitcast
// CHECK: return
func.func @a_negative_power_is_the_inverse_of_one(%x: vector<8xf32>) -> vector<8xf32> {
  %e = arith.constant dense<-0.5> : vector<8xf32>
  %y = math.powf %x, %e : vector<8xf32>
  return %y : vector<8xf32>
}

// x^-4 as (1 / x)^4 would be wrong by too many units in the last place.
// CHECK-LABEL: @a_large_negative_power_is_one_in_general
// CHECK: arith.bitcast
func.func @a_large_negative_power_is_one_in_general(%x: vector<8xf32>) -> vector<8xf32> {
  %e = arith.constant dense<-4.0> : vector<8xf32>
  %y = math.powf %x, %e : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: @sigmoid_negates_nothing
// CHECK-NOT: arith.negf
// CHECK: arith.divf
func.func @sigmoid_negates_nothing(%x: vector<8xf32>) -> vector<8xf32> {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %a = arith.negf %x : vector<8xf32>
  %b = math.exp %a : vector<8xf32>
  %c = arith.addf %one, %b : vector<8xf32>
  %d = arith.divf %one, %c : vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: @mish_needs_no_logarithm
// CHECK: arith.divf
// CHECK-NOT: arith.divf
// CHECK: return
func.func @mish_needs_no_logarithm(%x: vector<8xf32>) -> vector<8xf32> {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %a = math.absf %x : vector<8xf32>
  %b = arith.negf %a : vector<8xf32>
  %c = math.exp %b : vector<8xf32>
  %d = math.log1p %c : vector<8xf32>
  %e = arith.maximumf %x, %zero : vector<8xf32>
  %f = arith.addf %e, %d : vector<8xf32>
  %g = math.tanh %f : vector<8xf32>
  %h = arith.mulf %x, %g : vector<8xf32>
  return %h : vector<8xf32>
}

// CHECK-LABEL: @mish_of_exporters_neither
// CHECK: arith.divf
// CHECK-NOT: arith.divf
// CHECK: return
func.func @mish_of_exporters_neither(%x: vector<8xf32>) -> vector<8xf32> {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %a = math.exp %x : vector<8xf32>
  %b = arith.addf %a, %one : vector<8xf32>
  %c = math.log %b : vector<8xf32>
  %d = math.tanh %c : vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: @a_sum_with_another_number_is_no_softplus
// CHECK-COUNT-2: arith.divf
func.func @a_sum_with_another_number_is_no_softplus(%x: vector<8xf32>) -> vector<8xf32> {
  %two = arith.constant dense<2.0> : vector<8xf32>
  %a = math.exp %x : vector<8xf32>
  %b = arith.addf %a, %two : vector<8xf32>
  %c = math.log %b : vector<8xf32>
  %d = math.tanh %c : vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: @softplus_divides_nothing
// CHECK-NOT: arith.divf
// CHECK: return
func.func @softplus_divides_nothing(%x: vector<8xf32>) -> vector<8xf32> {
  %a = math.absf %x : vector<8xf32>
  %b = arith.negf %a : vector<8xf32>
  %c = math.exp %b : vector<8xf32>
  %d = math.log1p %c : vector<8xf32>
  return %d : vector<8xf32>
}

// CHECK-LABEL: @instructions_stay
// CHECK: math.sqrt
// CHECK: math.floor
func.func @instructions_stay(%x: vector<8xf32>) -> vector<8xf32> {
  %a = math.sqrt %x : vector<8xf32>
  %b = math.floor %a : vector<8xf32>
  return %b : vector<8xf32>
}

// CHECK-LABEL: @usual_powers_take_no_special_case
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK: arith.divf
// CHECK-NOT: arith.divf
// CHECK: scf.if
// CHECK: math.copysign
func.func @usual_powers_take_no_special_case(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %p = math.powf %x, %y : vector<8xf32>
  return %p : vector<8xf32>
}

// CHECK-LABEL: @large_quotients_call_a_function_of_the_module
// CHECK: arith.divf
// CHECK: scf.if
// CHECK: call @remainder_f32_x4
// CHECK: else
// CHECK-NOT: call
// CHECK: return
func.func @large_quotients_call_a_function_of_the_module(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %r = arith.remf %x, %y : vector<4xf32>
  return %r : vector<4xf32>
}

// CHECK-LABEL: @far_arguments_of_sine_call_a_function_of_the_module
// CHECK: scf.if
// CHECK: call @reduce_half_pi_f32_x4
// CHECK: func.func private @reduce_half_pi_f32(%{{.*}}: f32) -> (f32, i32)
// CHECK: func.func private @reduce_half_pi_f32_x4(%{{.*}}: vector<4xf32>) -> (vector<4xf32>, vector<4xi32>)
// CHECK-COUNT-4: call @reduce_half_pi_f32(
func.func @far_arguments_of_sine_call_a_function_of_the_module(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.sin %x : vector<4xf32>
  return %y : vector<4xf32>
}

// -----

module attributes {onnxc.target = #onnxc.target<triple = "thumbv7em-none-eabihf", cpu = "cortex-m4", features = "",
    vector_bits = 0, vector_registers = 0, fma_per_cycle = 1, l1_bytes = 0, l2_bytes = 0, index_bits = 32,
    heap = false, has_f16 = false>} {
  // CHECK-LABEL: @machines_without_vectors_round_by_arithmetic
  // CHECK-NOT: math.floor
  // CHECK: arith.addf
  // CHECK-NOT: math.fma
  func.func @machines_without_vectors_round_by_arithmetic(%x: f32) -> f32 {
    %a = math.floor %x : f32
    %b = math.fma %a, %a, %x : f32
    return %b : f32
  }
}

// -----

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true, has_scale = true, has_fma = true>} {
  // CHECK-LABEL: @machines_that_fuse_do_so_in_one_step
  // CHECK: math.fma
  func.func @machines_that_fuse_do_so_in_one_step(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
    %p = math.powf %x, %y : vector<16xf32>
    return %p : vector<16xf32>
  }

  // CHECK-LABEL: @machines_that_scale_do_so_in_one_step
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%{{.*}}, %{{.*}}, %{{.*}}, %c-1_i16, %c4_i32)
  func.func @machines_that_scale_do_so_in_one_step(%x: vector<16xf32>) -> vector<16xf32> {
    %y = math.exp2 %x : vector<16xf32>
    return %y : vector<16xf32>
  }

  // CHECK-LABEL: @doubles_are_scaled_in_two_steps
  // CHECK-NOT: llvm.ldexp
  func.func @doubles_are_scaled_in_two_steps(%x: vector<8xf64>) -> vector<8xf64> {
    %y = math.exp %x : vector<8xf64>
    return %y : vector<8xf64>
  }
}

// -----

// Beside 1 nobody sees subnormal powers either.
// CHECK-LABEL: @one_plus_exp
// CHECK-NOT: arith.shrsi
// CHECK: %[[SCALE:.*]] = arith.shli
// CHECK: %[[POWER:.*]] = arith.bitcast %[[SCALE]]
// CHECK: %[[E:.*]] = arith.mulf %{{.*}}, %[[POWER]]
// CHECK: %[[Y:.*]] = arith.addf %[[E]]
// CHECK: return %[[Y]]
func.func @one_plus_exp(%x: vector<8xf32>) -> vector<8xf32> {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %n = arith.negf %x : vector<8xf32>
  %e = math.exp %n : vector<8xf32>
  %y = arith.addf %e, %one : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// Nobody sees subnormal powers, so that one product scales, by 0 in the end.
// CHECK-LABEL: @exp_or_zero
// CHECK-NOT: arith.shrsi
// CHECK: %[[SCALE:.*]] = arith.shli
// CHECK: %[[POWER:.*]] = arith.bitcast %[[SCALE]]
// CHECK: %[[Y:.*]] = arith.mulf %{{.*}}, %[[POWER]]
// CHECK: return %[[Y]]
func.func @exp_or_zero(%x: vector<8xf32>) -> vector<8xf32> {
  %limit = arith.constant dense<-86.98997> : vector<8xf32>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %less = arith.cmpf olt, %x, %limit : vector<8xf32>
  %power = math.exp %x {onnxc.at_most_zero} : vector<8xf32>
  %y = arith.select %less, %zero, %power : vector<8xi1>, vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// Powers may be infinite.
// CHECK-LABEL: @exp_or_zero_of_any
// CHECK: %[[MOST:.*]] = arith.constant dense<8.900000e+01>
// CHECK-NOT: arith.shrsi
// CHECK: %[[IS_MORE:.*]] = arith.cmpf ogt, %{{.*}}, %[[MOST]]
// CHECK: arith.select %[[IS_MORE]], %[[MOST]]
// CHECK-NOT: arith.shrsi
// CHECK: return
func.func @exp_or_zero_of_any(%x: vector<8xf32>) -> vector<8xf32> {
  %limit = arith.constant dense<-86.98997> : vector<8xf32>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %less = arith.cmpf olt, %x, %limit : vector<8xf32>
  %power = math.exp %x : vector<8xf32>
  %y = arith.select %less, %zero, %power : vector<8xi1>, vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// CHECK-LABEL: @exp_or_zero_at_another_limit
// CHECK: arith.shrsi
// CHECK: arith.select
func.func @exp_or_zero_at_another_limit(%x: vector<8xf32>) -> vector<8xf32> {
  %limit = arith.constant dense<-73.0> : vector<8xf32>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %less = arith.cmpf olt, %x, %limit : vector<8xf32>
  %power = math.exp %x {onnxc.at_most_zero} : vector<8xf32>
  %y = arith.select %less, %zero, %power : vector<8xi1>, vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// x86 takes long for a number too small to be one: lanes of it are not scaled.
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true, has_scale = true, has_fma = true>} {
  // CHECK-LABEL: @powers_of_nothing
  // CHECK-DAG: %[[LIMIT:.*]] = arith.constant dense<-1.040000e+02>
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
  // CHECK: %[[IS_NOTHING:.*]] = arith.cmpf olt, %{{.*}}, %[[LIMIT]]
  // CHECK: %[[OTHERS:.*]] = arith.xori %[[IS_NOTHING]]
  // CHECK: %[[MASK:.*]] = llvm.bitcast %[[OTHERS]] : vector<16xi1> to i16
  // CHECK: scalef.ps.512"(%{{.*}}, %{{.*}}, %[[ZERO]], %[[MASK]]
  func.func @powers_of_nothing(%x: vector<16xf32>) -> vector<16xf32> {
    %y = math.exp %x : vector<16xf32>
    return %y : vector<16xf32>
  }

  // Beside a number nothing is to be seen of those that are subnormal.
  // CHECK-LABEL: @powers_beside_a_number
  // CHECK: arith.constant dense<-86.98{{[0-9]*}}>
  // CHECK-NOT: dense<-1.040000e+02>
  // CHECK: llvm.bitcast
  func.func @powers_beside_a_number(%x: vector<16xf32>) -> vector<16xf32> {
    %one = arith.constant dense<1.0> : vector<16xf32>
    %y = math.exp %x : vector<16xf32>
    %z = arith.subf %y, %one : vector<16xf32>
    return %z : vector<16xf32>
  }

  // CHECK-LABEL: @powers_beside_a_small_number
  // CHECK: dense<-1.040000e+02>
  func.func @powers_beside_a_small_number(%x: vector<16xf32>) -> vector<16xf32> {
    %small = arith.constant dense<1.0e-35> : vector<16xf32>
    %y = math.exp %x : vector<16xf32>
    %z = arith.addf %y, %small : vector<16xf32>
    return %z : vector<16xf32>
  }

  // CHECK-LABEL: @one_and_a_power
  // CHECK: arith.constant dense<8.730000e+01>
  // CHECK-NOT: llvm.bitcast
  // CHECK: return
  func.func @one_and_a_power(%x: vector<16xf32>) -> vector<16xf32> {
    %one = arith.constant dense<1.0> : vector<16xf32>
    %negative = arith.negf %x : vector<16xf32>
    %y = math.exp %negative : vector<16xf32>
    %z = arith.addf %y, %one : vector<16xf32>
    return %z : vector<16xf32>
  }
}

// -----

// Without such an instruction, zero is what is scaled.
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true, has_fma = true>} {
  // CHECK-LABEL: @powers_of_nothing_by_products
  // CHECK: %[[IS_NOTHING:.*]] = arith.cmpf olt, %arg0
  // CHECK: %[[FACTOR:.*]] = arith.select %[[IS_NOTHING]]
  // CHECK: arith.mulf %[[FACTOR]]
  func.func @powers_of_nothing_by_products(%x: vector<8xf32>) -> vector<8xf32> {
    %y = math.exp %x : vector<8xf32>
    return %y : vector<8xf32>
  }
}

// -----

// Four products make the upper half of one, and one more the remainder.
// CHECK-LABEL: @a_remainder_of_a_vector_is_made_of_products
// CHECK-NOT: arith.remsi
// CHECK-COUNT-5: arith.muli {{.*}} : vector<8xi64>
// CHECK-NOT: arith.muli
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "x86-64-v4", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true, has_f16 = true>} {
  func.func @a_remainder_of_a_vector_is_made_of_products(%x: vector<8xi64>) -> vector<8xi64> {
    %c = arith.constant dense<7> : vector<8xi64>
    %y = arith.remsi %x, %c : vector<8xi64>
    return %y : vector<8xi64>
  }
}

// -----

// CHECK-LABEL: @powers_of_two_are_shifts
// CHECK: arith.divsi
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "x86-64-v4", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true, has_f16 = true>} {
  func.func @powers_of_two_are_shifts(%x: vector<8xi64>) -> vector<8xi64> {
    %c = arith.constant dense<-8> : vector<8xi64>
    %y = arith.divsi %x, %c : vector<8xi64>
    return %y : vector<8xi64>
  }
}
