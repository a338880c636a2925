// RUN: onnxc-opt --stream-stores %s | FileCheck %s

// Past the caches only where lines begin at the pointer, and where they hold nothing that was read. The copy is no task.
// CHECK-LABEL: llvm.func @k_cached(
// CHECK-NOT: onnxc.tasks
// CHECK: llvm.intr.prefetch
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
// CHECK-NEXT: llvm.return
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %[[X:[^ ]*]]: !llvm.ptr, %[[N:[^ ]*]]: i64, %[[Y:[^ ]*]]: !llvm.ptr, %[[AT:[^ ]*]]: i64) attributes {onnxc.tasks}
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[Y]]
// CHECK: llvm.and %{{.*}}, %{{.*}} : i64
// CHECK: %[[IS_OTHER:.*]] = llvm.icmp "ne" %[[Y]], %[[X]] : !llvm.ptr
// CHECK: %[[MAY:.*]] = llvm.and %{{.*}}, %[[IS_OTHER]] : i1
// CHECK: llvm.cond_br %[[MAY]], ^[[PAST:.*]], ^[[CACHED:.*]]
// CHECK: ^[[CACHED]]:
// CHECK: %[[NOBODY:.*]] = llvm.mlir.poison : i64
// CHECK: llvm.call @k_cached(%[[X]], %[[NOBODY]], %[[Y]], %[[AT]])
// CHECK-NEXT: llvm.return
// CHECK: ^[[PAST]]:
// CHECK-NOT: llvm.intr.prefetch
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
// CHECK-NEXT: llvm.fence seq_cst
// CHECK-NEXT: llvm.return
llvm.func @k(%x: !llvm.ptr, %n: i64, %y: !llvm.ptr, %at: i64) attributes {onnxc.tasks} {
  %p = llvm.getelementptr %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  %q = llvm.getelementptr %y[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  "llvm.intr.prefetch"(%q) <{cache = 1 : i32, hint = 3 : i32, rw = 1 : i32}> : (!llvm.ptr) -> ()
  llvm.store %v, %q {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
  llvm.return
}

// Where a store goes that begins at no argument is not known.
// CHECK-LABEL: llvm.func @elsewhere(
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
// CHECK-NOT: llvm.fence
llvm.func @elsewhere(%x: !llvm.ptr) {
  %v = llvm.load %x {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  %p = llvm.load %x {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.store %v, %p {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @small(
// CHECK-NOT: llvm.fence
// CHECK: llvm.return
llvm.func @small(%x: !llvm.ptr, %y: !llvm.ptr) {
  %v = llvm.load %x {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  llvm.store %v, %y {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  llvm.return
}
