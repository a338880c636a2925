// RUN: onnxc-opt --split-kernels --split-input-file %s | FileCheck %s

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// A task does its share of the outermost loop; a loop of one iteration around it does not count. How many tasks there
// are follows from the work.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func @model
  // CHECK: call @one(%{{.*}}, %c0{{.*}}, %c3{{.*}}) : (memref<96x8xf32>, index, index) -> ()
  func.func @model(%y: memref<96x8xf32>) {
    func.call @one(%y) : (memref<96x8xf32>) -> ()
    func.call @small(%y) : (memref<96x8xf32>) -> ()
    func.call @scratch(%y) : (memref<96x8xf32>) -> ()
    return
  }
  // CHECK-LABEL: func.func private @one
  // CHECK-SAME: %[[TASK:[^ :]*]]: index, %[[TASKS:[^ :]*]]: index) attributes {onnxc.tasks}
  // CHECK: %[[BEFORE:.*]] = arith.muli %c96{{[^ ]*}}, %[[TASK]]
  // CHECK: arith.divui %[[BEFORE]], %[[TASKS]]
  // CHECK: scf.for
  // CHECK-NOT: scf.for
  // CHECK: memref.store
  func.func private @one(%y: memref<96x8xf32>) attributes {onnxc.work = 3200000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %v = arith.constant 1.0 : f32
    scf.for %batch = %c0 to %c1 step %c1 {
      scf.for %i = %c0 to %c96 step %c1 {
        memref.store %v, %y[%i, %c0] : memref<96x8xf32>
      }
    }
    return
  }
  // Too little to be worth a task.
  // CHECK-LABEL: func.func private @small(%{{[^ ]*}}: memref<96x8xf32>) {
  func.func private @small(%y: memref<96x8xf32>) attributes {onnxc.work = 1000 : i64} {
    return
  }
  // What the first loop leaves in scratch is there for the second in the same call only.
  // CHECK-LABEL: func.func private @scratch(%{{[^ ]*}}: memref<96x8xf32>) {
  func.func private @scratch(%y: memref<96x8xf32>) attributes {onnxc.work = 3200000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %v = arith.constant 1.0 : f32
    %s = memref.alloca() : memref<96xf32>
    scf.for %i = %c0 to %c96 step %c1 {
      memref.store %v, %s[%i] : memref<96xf32>
    }
    scf.for %i = %c0 to %c96 step %c1 {
      %w = memref.load %s[%i] : memref<96xf32>
      memref.store %w, %y[%i, %c0] : memref<96x8xf32>
    }
    return
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// Loops in a row and the tile after them are one sequence: 10 steps, 20 steps and 1.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func private @peeled
  // CHECK: arith.muli %c31{{[^ ]*}}, %{{.*}}
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK-NEXT: memref.store
  func.func private @peeled(%y: memref<31xf32>) attributes {onnxc.work = 3200000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    %c30 = arith.constant 30 : index
    %v = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c10 step %c1 {
      memref.store %v, %y[%i] : memref<31xf32>
    }
    scf.for %i = %c10 to %c30 step %c1 {
      memref.store %v, %y[%i] : memref<31xf32>
    }
    memref.store %v, %y[%c30] : memref<31xf32>
    return
  }
}
