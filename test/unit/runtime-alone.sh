#!/usr/bin/env bash
# The runtime configures without the rest of the project, compiles without a warning, and stays small.
#
#   runtime-alone.sh SOURCE COMPILER
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S "$1/runtime" -B "$work/build" -G Ninja -DCMAKE_C_COMPILER="$2" -DCMAKE_C_FLAGS=-Werror -DCMAKE_BUILD_TYPE=MinSizeRel \
  > "$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/build" > "$work/log" || { cat "$work/log"; exit 1; }
cmake --install "$work/build" --prefix "$work/install" > /dev/null
test -f "$work/install/include/onnxc/runtime.h"
bytes=$(size -t "$work/install"/lib*/libonnxc_rt.a | awk '/TOTALS/ { print $1 + $2 + $3 }')
echo "$bytes bytes"
test "$bytes" -lt 51200
