// RUN: onnxc-opt --merge-kernels --split-input-file %s | FileCheck %s --check-prefixes=CHECK,FEW
// RUN: onnxc-opt --merge-kernels=most-operations=0 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,ALL

// The bound of a long loop and what lies outside of it are told; 1024 is four times 256, 1152 four times 288.
// CHECK-LABEL: llvm.func @a(
// CHECK-SAME: %[[N:[^ ]*]]: i64, %{{[^ ]*}}: !llvm.ptr)
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: %[[PLACE:.*]] = llvm.mul %[[N]], %[[FOUR]]
// CHECK: llvm.getelementptr %{{.*}}[%[[PLACE]]]
// CHECK: llvm.icmp "slt" %{{.*}}, %[[N]]
// CHECK-NOT: llvm.func @b(
llvm.func @a(%x: !llvm.ptr) attributes {sym_visibility = "private"} {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(256 : i64) : i64
  %place = llvm.mlir.constant(1024 : i64) : i64
  %y = llvm.getelementptr %x[%place] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.br ^loop(%zero : i64)
^loop(%i: i64):
  %at = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %i, %at : i64, !llvm.ptr
  %next = llvm.add %i, %one : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^loop(%next : i64), ^end
^end:
  llvm.return
}
llvm.func @b(%x: !llvm.ptr) attributes {sym_visibility = "private"} {
  %one = llvm.mlir.constant(1 : i64) : i64
  %place = llvm.mlir.constant(1152 : i64) : i64
  %n = llvm.mlir.constant(288 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %y = llvm.getelementptr %x[%place] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.br ^loop(%zero : i64)
^loop(%i: i64):
  %at = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %i, %at : i64, !llvm.ptr
  %next = llvm.add %i, %one : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^loop(%next : i64), ^end
^end:
  llvm.return
}
// CHECK-LABEL: llvm.func @model
// CHECK: %[[A:.*]] = llvm.mlir.constant(256 : i64)
// CHECK: llvm.call @a(%[[A]], %{{.*}}) : (i64, !llvm.ptr) -> ()
// CHECK: %[[B:.*]] = llvm.mlir.constant(288 : i64)
// CHECK: llvm.call @a(%[[B]], %{{.*}}) : (i64, !llvm.ptr) -> ()
llvm.func @model(%x: !llvm.ptr) {
  llvm.call @a(%x) : (!llvm.ptr) -> ()
  llvm.call @b(%x) : (!llvm.ptr) -> ()
  llvm.return
}

// -----

// A number in the loop that does the work stays known, unless the model is large; so does a bound of few iterations.
// FEW-LABEL: llvm.func @a(
// FEW-SAME: %{{[^ ]*}}: !llvm.ptr)
// FEW-LABEL: llvm.func @b(
// ALL-LABEL: llvm.func @a(
// ALL-SAME: %[[STRIDE:[^ ]*]]: i64, %[[N:[^ ]*]]: i64, %{{[^ ]*}}: !llvm.ptr)
// ALL: llvm.mul %{{.*}}, %[[N]]
// ALL: llvm.icmp "slt" %{{.*}}, %[[STRIDE]]
// ALL-NOT: llvm.func @b(
llvm.func @a(%x: !llvm.ptr) attributes {sym_visibility = "private"} {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(3 : i64) : i64
  %stride = llvm.mlir.constant(320 : i64) : i64
  llvm.br ^loop(%zero : i64)
^loop(%i: i64):
  %place = llvm.mul %i, %stride : i64
  %at = llvm.getelementptr %x[%place] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %i, %at : i64, !llvm.ptr
  %next = llvm.add %i, %one : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^loop(%next : i64), ^end
^end:
  llvm.return
}
llvm.func @b(%x: !llvm.ptr) attributes {sym_visibility = "private"} {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(5 : i64) : i64
  %stride = llvm.mlir.constant(323 : i64) : i64
  llvm.br ^loop(%zero : i64)
^loop(%i: i64):
  %place = llvm.mul %i, %stride : i64
  %at = llvm.getelementptr %x[%place] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %i, %at : i64, !llvm.ptr
  %next = llvm.add %i, %one : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^loop(%next : i64), ^end
^end:
  llvm.return
}
llvm.func @model(%x: !llvm.ptr) {
  llvm.call @a(%x) : (!llvm.ptr) -> ()
  llvm.call @b(%x) : (!llvm.ptr) -> ()
  llvm.return
}

// -----

// Not what somebody has the address of, what has other operations, numbers that are not whole, or what a loop divides by.
// CHECK-LABEL: llvm.func @addressed(
// CHECK-LABEL: llvm.func @same(
// CHECK-LABEL: llvm.func @other(
// CHECK-LABEL: llvm.func @real(
// CHECK-LABEL: llvm.func @third(
// CHECK-LABEL: llvm.func @seventh(
llvm.func @addressed(%x: !llvm.ptr) attributes {sym_visibility = "private"} {
  %value = llvm.mlir.constant(1.0 : f32) : f32
  llvm.store %value, %x : f32, !llvm.ptr
  llvm.return
}
llvm.func @same(%x: !llvm.ptr) attributes {sym_visibility = "private"} {
  %value = llvm.mlir.constant(1.0 : f32) : f32
  llvm.store %value, %x : f32, !llvm.ptr
  llvm.return
}
llvm.func @other(%x: !llvm.ptr) attributes {sym_visibility = "private"} {
  %value = llvm.load %x : !llvm.ptr -> f32
  llvm.return
}
llvm.func @real(%x: !llvm.ptr) attributes {sym_visibility = "private"} {
  %value = llvm.mlir.constant(2.0 : f32) : f32
  llvm.store %value, %x : f32, !llvm.ptr
  llvm.return
}
llvm.func @third(%x: !llvm.ptr, %n: i64) attributes {sym_visibility = "private"} {
  %by = llvm.mlir.constant(3 : i64) : i64
  llvm.br ^loop(%n : i64)
^loop(%i: i64):
  %part = llvm.udiv %i, %by : i64
  %more = llvm.icmp "ugt" %part, %n : i64
  llvm.cond_br %more, ^loop(%part : i64), ^end
^end:
  llvm.return
}
llvm.func @seventh(%x: !llvm.ptr, %n: i64) attributes {sym_visibility = "private"} {
  %by = llvm.mlir.constant(7 : i64) : i64
  llvm.br ^loop(%n : i64)
^loop(%i: i64):
  %part = llvm.udiv %i, %by : i64
  %more = llvm.icmp "ugt" %part, %n : i64
  llvm.cond_br %more, ^loop(%part : i64), ^end
^end:
  llvm.return
}
llvm.func @model(%x: !llvm.ptr) -> !llvm.ptr {
  llvm.call @addressed(%x) : (!llvm.ptr) -> ()
  llvm.call @same(%x) : (!llvm.ptr) -> ()
  llvm.call @other(%x) : (!llvm.ptr) -> ()
  llvm.call @real(%x) : (!llvm.ptr) -> ()
  %address = llvm.mlir.addressof @addressed : !llvm.ptr
  llvm.return %address : !llvm.ptr
}
