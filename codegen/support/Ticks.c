// A clock for --profile. Which one there is depends on the machine; LLVM gives
// 0 for the other: the counter of x86 is that of its cycles, AArch64 and RISC-V
// let programs read a steady one.
#include <stdint.h>

uint64_t onnxc_ticks(void);

uint64_t onnxc_ticks(void) {
  uint64_t steady = __builtin_readsteadycounter();
  return steady ? steady : __builtin_readcyclecounter();
}
