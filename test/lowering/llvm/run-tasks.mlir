// RUN: onnxc-opt --run-tasks %s | FileCheck %s

// The library chooses who runs the tasks. How many they are is the first field of their context.
// CHECK: llvm.func internal @k_task(%[[CONTEXT:[^ ]*]]: !llvm.ptr, %[[INDEX:[^ ]*]]: i32, %[[WORKER:[^ ]*]]: i32)
// CHECK: %[[ALL:.*]] = llvm.load %[[CONTEXT]] : !llvm.ptr -> !llvm.struct<(i32, ptr)>
// CHECK: llvm.extractvalue %[[ALL]][1]
// CHECK: %[[TASKS:.*]] = llvm.extractvalue %[[ALL]][0]
// CHECK: %[[BY:.*]] = llvm.zext %[[WORKER]]
// CHECK: %[[AT:.*]] = llvm.zext %[[INDEX]]
// CHECK: %[[OF:.*]] = llvm.zext %[[TASKS]]
// CHECK: llvm.call @k(%{{.*}}, %{{.*}}, %[[BY]], %[[AT]], %[[OF]]) : (!llvm.ptr, i64, i64, i64, i64) -> ()
// CHECK-LABEL: llvm.func @k(
// CHECK-NOT: onnxc.tasks
llvm.func @k(%y: !llvm.ptr, %size: i64, %worker: i64, %task: i64, %tasks: i64) attributes {onnxc.tasks} {
  // Nobody asks for the size.
  llvm.store %task, %y : i64, !llvm.ptr
  llvm.return
}
// CHECK-LABEL: llvm.func @model
// CHECK-SAME: %[[CALL:[^ ]*]]: !llvm.ptr)
// CHECK: %[[PLACE:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(i32, ptr)>
// CHECK: llvm.intr.lifetime.start %[[PLACE]]
// CHECK: llvm.store %{{.*}}, %[[PLACE]] : !llvm.struct<(i32, ptr)>
// CHECK: %[[TASK:.*]] = llvm.mlir.addressof @k_task
// CHECK: llvm.call @onnxc_run_tasks(%[[CALL]], %[[TASK]], %[[PLACE]])
// CHECK: llvm.intr.lifetime.end %[[PLACE]]
// CHECK-NOT: llvm.call
// CHECK: llvm.return
llvm.func @model(%y: !llvm.ptr, %call: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %tasks = llvm.mlir.constant(7 : i64) : i64
  llvm.call @k(%y, %tasks, %zero, %zero, %tasks) : (!llvm.ptr, i64, i64, i64, i64) -> ()
  llvm.return
}
