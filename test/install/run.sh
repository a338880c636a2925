#!/usr/bin/env bash
# Installs into a folder, builds a project outside the tree with find_package(onnxc), and checks that the model is
# compiled again when it changes and only then.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$root/build" --prefix "$work/install" > /dev/null
mkdir "$work/build"
cp "$root/test/models/digits/digits.onnx" "$work/build/"
cp "$root/test/models/digits/classify.c" "$work/build/main.c"
cmake -S "$root/test/install/project" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/install" > /dev/null
ninja -C "$work/build" | tail -n 1
"$work/build/app" "$root/test/models/digits/heldout.bin" | tail -n 2

[[ $(ninja -C "$work/build") == *"no work to do"* ]] || { echo "rebuilt although nothing changed"; exit 1; }
sleep 1.1
touch "$work/build/digits.onnx"
[[ $(ninja -C "$work/build" -v) == *"onnxc "*digits.onnx* ]] ||
  { echo "not rebuilt although the model changed"; exit 1; }
echo "installed, used, rebuilt"
