// What LLVM finds out last: no assembler knows this instruction.
module attributes {onnxc.stage = "llvm"} {
  llvm.func @model() {
    llvm.return
  }
  llvm.func @model_run() {
    llvm.inline_asm has_side_effects "bogus instruction", "" : () -> ()
    llvm.return
  }
}
