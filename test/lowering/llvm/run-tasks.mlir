// RUN: onnxc-opt --run-tasks %s | FileCheck %s

// With a parallel-for in the call its run function gets the tasks, else the kernel does all of it.
// CHECK: llvm.func internal @k_task(%[[CONTEXT:[^ ]*]]: !llvm.ptr, %[[INDEX:[^ ]*]]: i32, %[[WORKER:[^ ]*]]: i32)
// CHECK: %[[ALL:.*]] = llvm.load %[[CONTEXT]] : !llvm.ptr -> !llvm.struct<(ptr, i64)>
// CHECK: %[[BY:.*]] = llvm.zext %[[WORKER]]
// CHECK: %[[AT:.*]] = llvm.zext %[[INDEX]]
// CHECK: llvm.call @k(%{{.*}}, %{{.*}}, %[[BY]], %[[AT]], %{{.*}}) : (!llvm.ptr, i64, i64, i64, i64) -> ()
// CHECK-LABEL: llvm.func @k(
// CHECK-NOT: onnxc.tasks
llvm.func @k(%y: !llvm.ptr, %size: i64, %worker: i64, %task: i64, %tasks: i64) attributes {onnxc.tasks} {
  // The size is put beside the pointer, and nobody asks for it.
  %none = llvm.mlir.poison : !llvm.struct<(ptr, i64)>
  %place = llvm.insertvalue %y, %none[0] : !llvm.struct<(ptr, i64)>
  %view = llvm.insertvalue %size, %place[1] : !llvm.struct<(ptr, i64)>
  %at = llvm.extractvalue %view[0] : !llvm.struct<(ptr, i64)>
  llvm.store %task, %at : i64, !llvm.ptr
  llvm.return
}
// CHECK-LABEL: llvm.func @model
// CHECK-SAME: %[[CALL:[^ ]*]]: !llvm.ptr)
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[CALL]][0, 8]
// CHECK: %[[PARALLEL:.*]] = llvm.load %[[PLACE]]
// CHECK: llvm.cond_br %{{.*}}, ^[[SHARED:.*]], ^[[ALONE:.*]]
// CHECK: ^[[SHARED]]:
// CHECK: %[[TASK:.*]] = llvm.mlir.addressof @k_task
// CHECK: llvm.call %{{.*}}(%[[PARALLEL]], %[[TASK]], %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr, i32) -> ()
// CHECK: ^[[ALONE]]:
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: llvm.call @k(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ONE]])
llvm.func @model(%y: !llvm.ptr, %call: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %tasks = llvm.mlir.constant(7 : i64) : i64
  llvm.call @k(%y, %tasks, %zero, %zero, %tasks) : (!llvm.ptr, i64, i64, i64, i64) -> ()
  llvm.return
}
