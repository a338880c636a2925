// RUN: onnxc-opt --split-kernels --split-input-file %s | FileCheck %s

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// A task does its share of the outermost loop; a loop of one iteration around it does not count. How many tasks there
// are follows from the work.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func @model
  // CHECK: call @one(%{{.*}}, %c0{{.*}}, %c0{{.*}}, %c6{{.*}}) : (memref<96x8xf32>, index, index, index) -> ()
  func.func @model(%y: memref<96x8xf32>) {
    func.call @one(%y) : (memref<96x8xf32>) -> ()
    func.call @small(%y) : (memref<96x8xf32>) -> ()
    func.call @tiles(%y) : (memref<96x8xf32>) -> ()
    func.call @scratch(%y) : (memref<96x8xf32>) -> ()
    return
  }
  // CHECK-LABEL: func.func private @one
  // CHECK-SAME: %{{[^ :]*}}: index, %[[TASK:[^ :]*]]: index, %[[TASKS:[^ :]*]]: index) attributes {onnxc.tasks}
  // CHECK: %[[BEFORE:.*]] = arith.muli %c96{{[^ ]*}}, %[[TASK]]
  // CHECK: arith.divui %[[BEFORE]], %[[TASKS]]
  // CHECK: scf.for
  // CHECK-NOT: scf.for
  // CHECK: memref.store
  func.func private @one(%y: memref<96x8xf32>) attributes {onnxc.work = 50000 : i64} {
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
  // Scratch of one tile holds nothing for the second loop.
  // CHECK-LABEL: func.func private @tiles(
  // CHECK-SAME: attributes {onnxc.tasks}
  // CHECK: memref.alloca() : memref<8xf32>
  func.func private @tiles(%y: memref<96x8xf32>) attributes {onnxc.work = 50000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %v = arith.constant 1.0 : f32
    %s = memref.alloca() {onnxc.tile} : memref<8xf32>
    scf.for %i = %c0 to %c96 step %c1 {
      memref.store %v, %s[%c0] : memref<8xf32>
      %x = memref.load %s[%c0] : memref<8xf32>
      memref.store %x, %y[%i, %c0] : memref<96x8xf32>
    }
    scf.for %i = %c0 to %c96 step %c1 {
      memref.store %v, %y[%i, %c1] : memref<96x8xf32>
    }
    return
  }
  // What the first loop leaves in scratch is there for the second in the same call only.
  // CHECK-LABEL: func.func private @scratch(%{{[^ ]*}}: memref<96x8xf32>) {
  func.func private @scratch(%y: memref<96x8xf32>) attributes {onnxc.work = 50000 : i64} {
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
  func.func private @peeled(%y: memref<31xf32>) attributes {onnxc.work = 50000 : i64} {
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

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// Two steps are few, so each is divided along the loops in it that are marked: 2 x 4 tasks. What runs in one task runs
// all of both.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func @model
  // CHECK: call @groups(%{{.*}}, %c0{{.*}}, %c0{{.*}}, %c8{{.*}})
  func.func @model(%y: memref<2x40xf32>) {
    func.call @groups(%y) : (memref<2x40xf32>) -> ()
    func.call @outside(%y) : (memref<2x40xf32>) -> ()
    return
  }
  // CHECK-LABEL: func.func private @groups
  // CHECK-SAME: %[[TASK:[^ :]*]]: index, %[[TASKS:[^ :]*]]: index) attributes
  // CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[TASKS]], %c1
  // CHECK: %[[SHARES:.*]] = arith.select %[[ONE]], %c1{{[^ ]*}}, %c4
  // CHECK: %[[STEP:.*]] = arith.divui %[[TASK]], %[[SHARES]]
  // CHECK: %[[SHARE:.*]] = arith.remui %[[TASK]], %[[SHARES]]
  // CHECK: scf.for
  // CHECK: arith.muli %c40{{[^ ]*}}, %[[SHARE]]
  // CHECK: scf.for
  // CHECK-NOT: onnxc.inner
  func.func private @groups(%y: memref<2x40xf32>) attributes {onnxc.work = 140000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c40 = arith.constant 40 : index
    %v = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c2 step %c1 {
      scf.for %j = %c0 to %c40 step %c1 {
        memref.store %v, %y[%i, %j] : memref<2x40xf32>
      } {onnxc.inner}
    }
    return
  }
  // Ten groups are enough for ten tasks, but 40 rows come first.
  // CHECK-LABEL: func.func private @rows
  // CHECK-SAME: %{{[^ :]*}}: index, %[[TASK:[^ :]*]]: index, %[[TASKS:[^ :]*]]: index) attributes {onnxc.tasks}
  // CHECK: %[[SHARES:.*]] = arith.select %{{.*}}, %c1{{[^ ]*}}, %c17
  // CHECK: %[[SHARE:.*]] = arith.remui %[[TASK]], %[[SHARES]]
  // CHECK: arith.muli %c40{{[^ ]*}}, %[[SHARE]]
  // CHECK-NOT: onnxc.shared_first
  func.func private @rows(%y: memref<10x40xf32>) attributes {onnxc.work = 140000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    %c40 = arith.constant 40 : index
    %v = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c10 step %c1 {
      scf.for %j = %c0 to %c40 step %c1 {
        memref.store %v, %y[%i, %j] : memref<10x40xf32>
      } {onnxc.inner, onnxc.shared_first}
    }
    return
  }
  // What keeps loads of a tile in their order writes nothing.
  // CHECK-LABEL: func.func private @ordered_rows
  // CHECK: arith.select %{{.*}}, %c1{{[^ ]*}}, %c17
  // CHECK-NOT: onnxc.shared_first
  func.func private @ordered_rows(%y: memref<10x40xf32>) attributes {onnxc.work = 140000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    %c40 = arith.constant 40 : index
    %v = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c10 step %c1 {
      scf.for %j = %c0 to %c40 step %c1 {
        memref.store %v, %y[%i, %j] : memref<10x40xf32>
        llvm.fence syncscope("singlethread") acq_rel
      } {onnxc.inner, onnxc.shared_first}
    }
    return
  }
  // Seven rows would keep no seven tasks busy equally long.
  // CHECK-LABEL: func.func private @few_rows
  // CHECK-NOT: arith.remui
  func.func private @few_rows(%y: memref<10x7xf32>) attributes {onnxc.work = 140000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c10 = arith.constant 10 : index
    %v = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c10 step %c1 {
      scf.for %j = %c0 to %c7 step %c1 {
        memref.store %v, %y[%i, %j] : memref<10x7xf32>
      } {onnxc.inner, onnxc.shared_first}
    }
    return
  }
  // What is written outside of the marked loop would be written by many.
  // CHECK-LABEL: func.func private @outside
  // CHECK-NOT: arith.remui
  func.func private @outside(%y: memref<2x40xf32>) attributes {onnxc.work = 140000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c40 = arith.constant 40 : index
    %v = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c2 step %c1 {
      memref.store %v, %y[%i, %c0] : memref<2x40xf32>
      scf.for %j = %c1 to %c40 step %c1 {
        memref.store %v, %y[%i, %j] : memref<2x40xf32>
      } {onnxc.inner}
    }
    return
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// Scratch is the worker's own: the first one's is where the planner put it, worker w's ends (w - 1) * 128 bytes before
// the arena. A step stays one however often it runs.
// CHECK: onnxc.worker_bytes = 128
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func @model
  // CHECK-SAME: %[[ARENA:[^ :]*]]: memref<?xi8>
  // CHECK: call @blocks(%{{.*}}, %[[ARENA]], %c256{{[^ ]*}}, %c0{{.*}}, %c0{{.*}}, %c3{{.*}}) : (memref<3x8xf32>, memref<?xi8>, index, index, index, index) -> ()
  func.func @model(%arena: memref<?xi8>, %y: memref<3x8xf32>) {
    %c256 = arith.constant 256 : index
    %s = memref.view %arena[%c256][] : memref<?xi8> to memref<20xf32>
    func.call @blocks(%y, %s) : (memref<3x8xf32>, memref<20xf32>) -> ()
    return
  }
  // CHECK-LABEL: func.func private @blocks
  // CHECK-SAME: %[[ARENA:[^ :]*]]: memref<?xi8>, %[[PLANNED:[^ :]*]]: index, %[[WORKER:[^ :]*]]: index, %{{[^ :]*}}: index, %{{[^ :]*}}: index)
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[WORKER]], %c0
  // CHECK: %[[OWN:.*]] = arith.muli %[[WORKER]], %c-128
  // CHECK: %[[OFFSET:.*]] = arith.select %[[FIRST]], %[[PLANNED]], %[[OWN]]
  // CHECK: %[[SCRATCH:.*]] = memref.view %[[ARENA]][%[[OFFSET]]][] : memref<?xi8> to memref<20xf32>
  // CHECK: scf.for
  // CHECK: memref.store %{{.*}}, %[[SCRATCH]]
  // CHECK: scf.for
  // CHECK: memref.store %{{.*}}, %[[SCRATCH]]
  func.func private @blocks(%y: memref<3x8xf32>, %s: memref<20xf32>)
      attributes {onnxc.work = 140000 : i64, onnxc.scratch = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %v = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c2 step %c1 {
      memref.store %v, %s[%c0] : memref<20xf32>
      %w = memref.load %s[%c0] : memref<20xf32>
      memref.store %w, %y[%i, %c0] : memref<3x8xf32>
    } {onnxc.step}
    scf.for %i = %c2 to %c3 step %c1 {
      memref.store %v, %s[%c0] : memref<20xf32>
      %w = memref.load %s[%c0] : memref<20xf32>
      memref.store %w, %y[%i, %c0] : memref<3x8xf32>
    } {onnxc.step}
    return
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// Scratch whose size only the run knows comes with it; so much, in whole lines, lies before the arena for each worker.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func @model
  // CHECK-SAME: %[[ARENA:[^ :]*]]: memref<?xi8>, %{{[^ :]*}}: memref<3x8xf32>, %[[BYTES:[^ :]*]]: index
  // CHECK: call @blocks(%{{.*}}, %[[ARENA]], %c256{{[^ ]*}}, %[[BYTES]], %c0{{.*}}, %c0{{.*}}, %c3{{.*}}) : (memref<3x8xf32>, memref<?xi8>, index, index, index, index, index) -> ()
  func.func @model(%arena: memref<?xi8>, %y: memref<3x8xf32>, %bytes: index) {
    %c256 = arith.constant 256 : index
    %s = memref.view %arena[%c256][%bytes] : memref<?xi8> to memref<?xi8>
    func.call @blocks(%y, %s) : (memref<3x8xf32>, memref<?xi8>) -> ()
    return
  }
  // CHECK-LABEL: func.func private @blocks
  // CHECK-SAME: %[[ARENA:[^ :]*]]: memref<?xi8>, %[[PLANNED:[^ :]*]]: index, %[[BYTES:[^ :]*]]: index, %[[WORKER:[^ :]*]]: index,
  // CHECK: %[[LINES:.*]] = arith.ceildivui %[[BYTES]], %c64
  // CHECK: %[[ALL:.*]] = arith.muli %[[LINES]], %c64
  // CHECK: %[[BACK:.*]] = arith.subi %{{.*}}, %[[ALL]]
  // CHECK: %[[OWN:.*]] = arith.muli %[[WORKER]], %[[BACK]]
  // CHECK: %[[OFFSET:.*]] = arith.select %{{.*}}, %[[PLANNED]], %{{.*}}
  // CHECK: %[[SCRATCH:.*]] = memref.view %[[ARENA]][%[[OFFSET]]][%[[BYTES]]] : memref<?xi8> to memref<?xi8>
  // CHECK: scf.for
  // CHECK: memref.store %{{.*}}, %[[SCRATCH]]
  // CHECK: func.func private @model_worker_bytes
  func.func private @blocks(%y: memref<3x8xf32>, %s: memref<?xi8>)
      attributes {onnxc.work = 140000 : i64, onnxc.scratch = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %v = arith.constant 1 : i8
    scf.for %i = %c0 to %c3 step %c1 {
      memref.store %v, %s[%c0] : memref<?xi8>
      %w = memref.load %s[%c0] : memref<?xi8>
      %f = arith.sitofp %w : i8 to f32
      memref.store %f, %y[%i, %c0] : memref<3x8xf32>
    } {onnxc.step}
    return
  }
  func.func private @model_worker_bytes(%n: index) -> index {
    return %n : index
  }
}

// -----

// Where no tasks need it, the formula goes.
// CHECK-NOT: @model_worker_bytes
module {
  func.func private @model_worker_bytes(%n: index) -> index {
    return %n : index
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// The first operation of the function may be part of a tile: shares are computed before it moves.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func private @starts
  // CHECK: scf.if
  // CHECK-NEXT: arith.constant 1.0
  // CHECK-NEXT: memref.store
  // CHECK: scf.for
  func.func private @starts(%y: memref<31xf32>, %v: f32, %c0: index, %c1: index) attributes {onnxc.work = 50000 : i64} {
    %one = arith.constant 1.0 : f32
    memref.store %one, %y[%c0] : memref<31xf32>
    %low = arith.constant 1 : index
    %high = arith.constant 31 : index
    scf.for %i = %low to %high step %low {
      memref.store %v, %y[%i] : memref<31xf32>
    }
    return
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// Tiles of two heights, each of which makes what it reads of scratch.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func @model
  // CHECK: call @tiles(%{{.*}}, %c0{{.*}}, %c0{{.*}}, %c8{{.*}}) : (memref<96x8xf32>, index, index, index) -> ()
  func.func @model(%y: memref<96x8xf32>) {
    func.call @tiles(%y) : (memref<96x8xf32>) -> ()
    return
  }
  // CHECK-LABEL: func.func private @tiles
  // CHECK-SAME: attributes {onnxc.tasks}
  func.func private @tiles(%y: memref<96x8xf32>) attributes {onnxc.work = 100000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c11 = arith.constant 11 : index
    %c88 = arith.constant 88 : index
    %c96 = arith.constant 96 : index
    %v = arith.constant 1.0 : f32
    %s = memref.alloca() : memref<8xf32>
    scf.for %one = %c0 to %c1 step %c1 {
      scf.for %i = %c0 to %c88 step %c11 {
        memref.store %v, %s[%c0] : memref<8xf32>
        %w = memref.load %s[%c0] : memref<8xf32>
        memref.store %w, %y[%i, %c0] : memref<96x8xf32>
      } {onnxc.inner, onnxc.step}
      scf.for %i = %c88 to %c96 step %c1 {
        memref.store %v, %s[%c0] : memref<8xf32>
        %w = memref.load %s[%c0] : memref<8xf32>
        memref.store %w, %y[%i, %c0] : memref<96x8xf32>
      } {onnxc.inner, onnxc.step}
    } {onnxc.step}
    return
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// A loop that is a part of a tile stays in the task of the tile: it reads what the tile wrote.
module attributes {onnxc.target = #target} {
  func.func @model(%y: memref<96x8xf32>) {
    func.call @tile(%y) : (memref<96x8xf32>) -> ()
    return
  }
  // CHECK-LABEL: func.func private @tile
  // CHECK: scf.for
  // CHECK: memref.store
  // CHECK: scf.if
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: scf.for %{{.*}} = %c0{{[^ ]*}} to %c8
  // CHECK-NOT: onnxc.tile
  func.func private @tile(%y: memref<96x8xf32>) attributes {onnxc.work = 500000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c95 = arith.constant 95 : index
    %v = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c95 step %c1 {
      memref.store %v, %y[%i, %c0] : memref<96x8xf32>
    }
    memref.store %v, %y[%c95, %c0] : memref<96x8xf32>
    scf.for %j = %c0 to %c8 step %c1 {
      %w = memref.load %y[%c95, %j] : memref<96x8xf32>
      memref.store %w, %y[%c95, %j] : memref<96x8xf32>
    } {onnxc.tile}
    return
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// The steps in a batch of unknown size are what is divided, for the batch may be one.
module attributes {onnxc.target = #target} {
  // CHECK: func.func @model(%[[Y:.*]]: memref<?x96xf32>)
  // CHECK: %[[N:.*]] = memref.dim %[[Y]]
  // CHECK: %[[STEPS:.*]] = arith.muli
  // CHECK: %[[TASKS:.*]] = arith.divui %[[STEPS]], %c13
  // CHECK: %[[MOST:.*]] = arith.minui %[[TASKS]], %c64
  // CHECK: call @batch(%[[Y]], %c0{{[^,]*}}, %c0{{[^,]*}}, %[[MOST]])
  func.func @model(%y: memref<?x96xf32>) {
    func.call @batch(%y) : (memref<?x96xf32>) -> ()
    return
  }
  // CHECK-LABEL: func.func private @batch
  // CHECK: scf.for %[[BATCH:[^ ]*]] =
  // CHECK: arith.subi %[[BATCH]]
  // CHECK: %[[FROM:.*]] = arith.addi
  // CHECK: %[[TO:.*]] = arith.addi
  // CHECK: scf.for %{{.*}} = %[[FROM]] to %[[TO]]
  func.func private @batch(%y: memref<?x96xf32>) attributes {onnxc.work = 500000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %n = memref.dim %y, %c0 : memref<?x96xf32>
    %v = arith.constant 1.0 : f32
    scf.for %batch = %c0 to %n step %c1 {
      scf.for %i = %c0 to %c96 step %c1 {
        memref.store %v, %y[%batch, %i] : memref<?x96xf32>
      }
    }
    return
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
  vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

// Scratch is for all loops in the call that fills it, of whatever size they are.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func private @rows_and_rest(%{{[^ ]*}}: memref<?xf32>) {
  func.func private @rows_and_rest(%y: memref<?xf32>) attributes {onnxc.work = 500000 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c14 = arith.constant 14 : index
    %n = memref.dim %y, %c0 : memref<?xf32>
    %rest = arith.remui %n, %c14 : index
    %whole = arith.subi %n, %rest : index
    %v = arith.constant 1.0 : f32
    %s = memref.alloca() : memref<14xf32>
    scf.for %i = %c0 to %whole step %c14 {
      memref.store %v, %s[%c0] : memref<14xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
    scf.for %i = %whole to %n step %c1 {
      %w = memref.load %s[%c0] : memref<14xf32>
      memref.store %w, %y[%i] : memref<?xf32>
    }
    return
  }
}
