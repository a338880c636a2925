#!/usr/bin/env bash
# onnxc-run on a model written by hand: exit codes, comparison, saved files, figures.
#
#   onnxc-run.sh ONNXC_RUN SCALE.o
set -uo pipefail
run=$1 model=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expect CODE PATTERN COMMAND...: exit code, and a line of its output that matches.
expect() {
  local code=$1 pattern=$2 output
  shift 2
  output=$("$@" 2>&1)
  local got=$?
  if [ $got != "$code" ] || ! grep -qE -- "$pattern" <<< "$output"; then
    echo "expected exit $code and '$pattern' from: $*"
    echo "got exit $got:" && echo "$output" | sed 's/^/  /'
    failures=$((failures + 1))
  fi
}

# TensorProto: dims (field 1), data_type (2), raw_data (9).
mkdir "$work/data" "$work/other"
printf '\x08\x01\x08\x03\x10\x01\x4a\x0c\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f' > "$work/data/input_0.pb" # [[1, 1, 1]]
printf '\x10\x07\x4a\x08\0\0\0\0\0\0\0\0' > "$work/data/input_1.pb"                                  # 0
printf '\x08\x01\x08\x03\x10\x01\x4a\x0c\0\0\x80\x3f\0\0\0\x40\0\0\x40\xc0' > "$work/data/output_0.pb" # [[1, 2, -3]]

expect 0 '' "$run" "$model" --data "$work/data"
expect 0 '^y/out: FLOAT 2x3 = ' "$run" "$model" --dim N=2
expect 0 '^y/out: FLOAT 4x3 = ' "$run" "$model" --shape x:4x3
expect 0 '"runs": 3, "min_ms": [0-9.]+, .*"arena_bytes": 76, "weights_bytes": 64, "code_bytes": [1-9]' \
  "$run" "$model" --data "$work/data" --bench --runs 3 --json
expect 0 '"threads": 2' "$run" "$model" --data "$work/data" --bench --runs 1 --threads 2 --json

# What --save writes is what --data reads.
expect 0 '' "$run" "$model" --data "$work/data" --save "$work/saved"
cp "$work/saved/output_0.pb" "$work/data/output_0.pb"
expect 0 '' "$run" "$model" --data "$work/data" --rtol 0 --atol 0

# Other values, another shape, an index out of bounds.
cp "$work/data"/input_* "$work/other/"
cp "$work/data/input_0.pb" "$work/other/output_0.pb"
expect 5 "output 'y/out': 2 of 3 elements differ, worst at \[0,2\]: -3, expected 1" "$run" "$model" --data "$work/other"
expect 0 '' "$run" "$model" --data "$work/other" --atol 4
cp "$work/data/input_1.pb" "$work/other/output_0.pb"
expect 5 'type is FLOAT, expected INT64' "$run" "$model" --data "$work/other"
printf '\x10\x07\x4a\x08\x05\0\0\0\0\0\0\0' > "$work/other/input_1.pb"
expect 1 "status 2: node 'pick' \(Gather\), indices" "$run" "$model" --data "$work/other"
printf 'no message' > "$work/other/input_1.pb"
expect 1 'is no TensorProto' "$run" "$model" --data "$work/other"

# Beside files, --shape and --dim say what these have to be.
expect 0 '' "$run" "$model" --data "$work/data" --dim N=1 --shape x:1x3
expect 1 "--shape says 2x3, but input 'x' in '.*' is 1x3" "$run" "$model" --data "$work/data" --shape x:2x3
expect 1 "--dim says N=2, but input 'x' in '.*' is 1x3" "$run" "$model" --data "$work/data" --dim N=2

expect 1 'dimension 1 is 4, expected 3' "$run" "$model" --shape x:1x4
expect 2 "no input is named 'z'" "$run" "$model" --shape z:1
expect 2 "no dimension is named 'M'" "$run" "$model" --dim M=1
expect 2 "-O3 comes too late" "$run" "$model" -O3
expect 2 '--json belongs to --bench' "$run" "$model" --json
expect 1 "cannot open" "$run" "$work/absent.o"
expect 2 'no model' "$run"
expect 2 "'x:1y2' is no value for --shape" "$run" "$model" --shape x:1y2
expect 2 "'nan' is no value for --rtol" "$run" "$model" --rtol nan
expect 2 "'-1e-3' is no value for --atol" "$run" "$model" --atol -1e-3
expect 2 "'inf' is no value for --stol" "$run" "$model" --stol=inf
expect 1 'cannot write to standard output' sh -c '"$1" "$2" --dim N=2 > /dev/full' sh "$run" "$model"
expect 1 'cannot write to standard output' sh -c '"$1" --help > /dev/full' sh "$run"
expect 2 "unknown flag '--frobnicate'" "$run" "$model" --frobnicate
expect 0 '^usage: ' "$run" --help
exit $((failures > 0))
