#!/usr/bin/env bash
# Runs models on AArch64 (the object is relocated by the runtime, under qemu-user) and on a Cortex-M4 (linked into a
# bare-metal image, under qemu-system) and compares every answer with this machine's. Prints PASS: and FAIL: lines.
#
# Two models: one written by hand in the form that the compiler emits, so that loader and interface are tested without
# the compiler, and the digits model.
set -uo pipefail
cd "$(dirname "$0")/../.."
work=build/machines
mkdir -p "$work"
heldout=test/models/digits/heldout.bin
times=40
warnings="-std=c11 -O2 -Wall -Wextra -Werror -Iruntime/include"
m4="--target=thumbv7em-none-eabihf -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard"
hand="-std=c11 -O2 -fPIC -ffreestanding -fno-builtin -Iruntime/include -c test/unit/models/scale.c"

# report NAME COMMAND...: the command's last line as detail.
report() {
  local name=$1 detail
  shift
  if detail=$("$@" 2>&1); then echo "PASS: $name ($(tail -n 1 <<< "$detail"))"
  else echo "FAIL: $name"; echo "$detail" | tail -n 8; fi
}

# hosted COMPILER FLAGS...: the program with the runtime in it.
hosted() { "$@" $warnings -D_DEFAULT_SOURCE test/machines/answer.c test/machines/hosted.c runtime/src/*.c -lpthread -ldl; }

# image MODEL OBJECT: the bare-metal image. Nothing but the model may be in the object.
image() {
  [ -z "$(llvm-nm-22 -u "$2" | tee /dev/stderr)" ] && clang-22 $m4 $warnings -ffreestanding -fno-builtin "-DMODEL=$1_model" "-DRECORDS=\"$heldout\"" -DTIMES=$times \
    -nostdlib -fuse-ld=lld -Wl,-T,test/machines/cortex-m4/image.ld -Wl,--fatal-warnings \
    test/machines/answer.c test/machines/cortex-m4/image.c "$2" -o "$work/$1.elf"
}

# The model's objects are $work/MODEL.{x86-64,aarch64,m4}.o
answers() {
  local model=$1
  "$work/hosted" "$work/$model.host.o" $heldout $times > "$work/$model.host.txt"
}
on_aarch64() {
  local model=$1
  answers "$model" &&
    qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/hosted-aarch64" "$work/$model.aarch64.o" $heldout $times \
      > "$work/$model.aarch64.txt" &&
    python3 test/machines/compare.py "$work/$model.host.txt" "$work/$model.aarch64.txt"
}
on_cortex_m4() {
  local model=$1
  answers "$model" && image "$model" "$work/$model.m4.o" &&
    timeout 300 qemu-system-arm -M mps2-an386 -display none -monitor none -serial none -chardev stdio,id=out \
      -semihosting-config enable=on,target=native,chardev=out -kernel "$work/$model.elf" > "$work/$model.m4.txt" &&
    python3 test/machines/compare.py "$work/$model.host.txt" "$work/$model.m4.txt"
}

hosted clang-22 -o "$work/hosted" || exit 1
hosted aarch64-linux-gnu-gcc -o "$work/hosted-aarch64" || exit 1

clang-22 $hand -ffp-contract=off -DMACHINE=0 -o "$work/scale.host.o" &&
  clang-22 $hand --target=aarch64-linux-gnu -DMACHINE=183 -o "$work/scale.aarch64.o" &&
  clang-22 $hand $m4 -DMACHINE=40 -o "$work/scale.m4.o" || exit 1
report "AArch64: a model written by hand" on_aarch64 scale
report "Cortex-M4: a model written by hand" on_cortex_m4 scale

compile() {
  build/bin/onnxc test/models/digits/digits.onnx --name=digits "$@"
}
compile -o "$work/digits.host.o" || { echo "FAIL: this machine: onnxc compiles the digits model"; exit 1; }
report "AArch64: onnxc compiles the digits model" compile --target=aarch64-linux-gnu -o "$work/digits.aarch64.o"
report "Cortex-M4: onnxc compiles the digits model" compile --target=thumbv7em-none-eabihf --mcpu=cortex-m4 \
  -o "$work/digits.m4.o"
report "AArch64: the digits model" on_aarch64 digits
report "Cortex-M4: the digits model" on_cortex_m4 digits
