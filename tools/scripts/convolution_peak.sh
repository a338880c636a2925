#!/bin/sh
# Prints what share of this core's peak a 3x3 convolution reaches (x86-64 with AVX2). Run it pinned:
#   taskset -c 1 tools/scripts/convolution_peak.sh [path of onnxc-opt]
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
opt=${1:-$root/build/bin/onnxc-opt} tools=${LLVM_BIN:-/usr/lib/llvm-22/bin}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$opt" "$root/test/lowering/loops/peeled-convolution.mlir" --expand-kernels --canonicalize --cse --convert-scf-to-cf \
    --expand-strided-metadata --convert-vector-to-llvm --convert-arith-to-llvm --finalize-memref-to-llvm \
    --convert-cf-to-llvm --convert-func-to-llvm=use-bare-ptr-memref-call-conv --reconcile-unrealized-casts |
  "$tools/mlir-translate" --mlir-to-llvmir |
  "$tools/llc" -O3 -mcpu=native -relocation-model=pic -filetype=obj -o "$out/conv.o"
cc -O2 -march=native "$root/tools/scripts/convolution_peak.c" "$out/conv.o" -lm -o "$out/peak"
"$out/peak"
