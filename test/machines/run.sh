#!/usr/bin/env bash
# Runs models on AArch64 (the object is relocated by the runtime, under qemu-user) and on a Cortex-M4 and M3 (linked into
# a bare-metal image, under qemu-system) and compares every answer with this machine's. Prints PASS: and FAIL: lines.
#
# Three models: one written by hand in the form that the compiler emits, so that loader and interface are tested without
# the compiler; the digits model; one in double precision, which a Cortex-M4 computes in the support library. A Cortex-M3
# computes all floating point there.
set -uo pipefail
cd "$(dirname "$0")/../.."
work=build/machines
mkdir -p "$work"
heldout=test/models/digits/heldout.bin
times=40
warnings="-std=c11 -O2 -Wall -Wextra -Werror -Iruntime/include"
m4="--target=thumbv7em-none-eabihf -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard"
# The test's program computes with floats, too.
m3="--target=thumbv7m-none-eabi -mcpu=cortex-m3 -mfloat-abi=soft -I. codegen/support/ArmReal.c"
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

# image MODEL CORE FLAGS: the bare-metal image. Nothing but the model may be in the object.
image() {
  local object=$work/$1.$2.o
  [ -z "$(llvm-nm-22 -u "$object" | tee /dev/stderr)" ] && clang-22 $3 $warnings -ffreestanding -fno-builtin "-DMODEL=$1_model" "-DRECORDS=\"$heldout\"" -DTIMES=$times \
    -nostdlib -fuse-ld=lld -Wl,-T,test/machines/cortex-m/image.ld -Wl,--fatal-warnings \
    test/machines/answer.c test/machines/cortex-m/image.c "$object" -o "$work/$1.$2.elf"
}

# The model's objects are $work/MODEL.{host,aarch64,m4,m3}.o
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
# on_cortex_m MODEL CORE BOARD FLAGS
on_cortex_m() {
  local model=$1 core=$2 board=$3
  answers "$model" && image "$model" "$core" "$4" &&
    timeout 300 qemu-system-arm -M "$board" -display none -monitor none -serial none -chardev stdio,id=out \
      -semihosting-config enable=on,target=native,chardev=out -kernel "$work/$model.$core.elf" \
      > "$work/$model.$core.txt" &&
    python3 test/machines/compare.py "$work/$model.host.txt" "$work/$model.$core.txt"
}
on_cortex_m4() { on_cortex_m "$1" m4 mps2-an386 "$m4"; }
on_cortex_m3() { on_cortex_m "$1" m3 mps2-an385 "$m3"; }

hosted clang-22 -o "$work/hosted" || exit 1
hosted aarch64-linux-gnu-gcc -o "$work/hosted-aarch64" || exit 1

clang-22 $hand -ffp-contract=off -DMACHINE=0 -o "$work/scale.host.o" &&
  clang-22 $hand --target=aarch64-linux-gnu -DMACHINE=183 -o "$work/scale.aarch64.o" &&
  clang-22 $hand $m4 -DMACHINE=40 -o "$work/scale.m4.o" || exit 1
report "AArch64: a model written by hand" on_aarch64 scale
report "Cortex-M4: a model written by hand" on_cortex_m4 scale

# compile MODEL FILE OPTIONS...
compile() { build/bin/onnxc "$2" --name="$1" "${@:3}"; }

# everywhere MODEL FILE WORDS
everywhere() {
  local model=$1 file=$2 words=$3
  compile "$model" "$file" -o "$work/$model.host.o" || { echo "FAIL: this machine: onnxc compiles $words"; return; }
  report "AArch64: onnxc compiles $words" compile "$model" "$file" --target=aarch64-linux-gnu \
    -o "$work/$model.aarch64.o"
  report "Cortex-M4: onnxc compiles $words" compile "$model" "$file" --target=thumbv7em-none-eabihf --mcpu=cortex-m4 \
    -o "$work/$model.m4.o"
  report "Cortex-M3: onnxc compiles $words" compile "$model" "$file" --target=thumbv7m-none-eabi --mcpu=cortex-m3 \
    -o "$work/$model.m3.o"
  report "AArch64: $words" on_aarch64 "$model"
  report "Cortex-M4: $words" on_cortex_m4 "$model"
  report "Cortex-M3: $words" on_cortex_m3 "$model"
}
everywhere digits test/models/digits/digits.onnx "the digits model"
everywhere double test/machines/double.textproto "a model in double precision"
