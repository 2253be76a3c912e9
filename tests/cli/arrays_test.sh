#!/bin/sh
# Tensors out as NumPy's files and to stdout: the same numbers and texts as in .safetensors.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png
python=
# One with NumPy, or any.
for each in /usr/bin/python3 python3; do
  "$each" -c '' 2>/dev/null || continue
  [ -n "$python" ] && ! "$each" -c 'import numpy' 2>/dev/null || python=$each
done
if [ -z "$python" ]; then
  echo "skipped: no python3 here"
  exit 77
fi
expect_same_arrays() { "$python" "$(dirname "$0")/arrays.py" "$here/$1" "$here/$2" 2>>"$err" || fail "$1 and $2 differ"; }

test_begin npz
heed run "$micro" "$picture" --backend cpu --quiet --save out.safetensors
heed run "$micro" "$picture" --backend cpu --quiet --save out.npz
expect_exit 0
expect_stdout_contains "tensors: out.npz"
expect_same_arrays out.npz out.safetensors
heed run "$micro" "$picture" --backend cpu --quiet --save OUT.NPZ
cmp -s "$here/out.npz" "$here/OUT.NPZ" || fail "another run, other bytes"
heed run "$micro" "$picture" "$picture" --backend cpu --quiet --save many.npz
expect_exit 0
cmp -s "$here/many-rgb-2.npz" "$here/out.npz" || fail "another file among several"
test_end

test_begin npz_of_eval
heed eval "$micro" "$micro/io.safetensors" --backend cpu --quiet -o out.safetensors
heed eval "$micro" "$micro/io.safetensors" --backend cpu --quiet -o out.npz
expect_exit 0
expect_same_arrays out.npz out.safetensors
test_end

test_begin stdout
heed run "$micro" "$picture" --backend cpu --quiet --save out.safetensors
heed run "$micro" "$picture" --backend cpu --quiet --save -
expect_exit 0
cmp -s "$out" "$here/out.safetensors" || fail "stdout: another file"
expect_stderr_contains "rgb.png: 640 x 427 pixels"
heed eval "$micro" "$micro/io.safetensors" --backend cpu --quiet -o out.safetensors
heed eval "$micro" "$micro/io.safetensors" --backend cpu --quiet -o -
expect_exit 0
cmp -s "$out" "$here/out.safetensors" || fail "stdout of eval: another file"
heed eval "$vectors/onnx/model.onnx" "$micro/io.safetensors" --way graph --backend cpu --quiet -o out.safetensors
graph=$status
heed eval "$vectors/onnx/model.onnx" "$micro/io.safetensors" --way graph --backend cpu --quiet -o -
[ "$graph" -ne 0 ] || cmp -s "$out" "$here/out.safetensors" || fail "stdout of a graph: another file"
test_end

refused() { # name, exit code, a part of the sentence, verb, arguments...
  test_begin "$1"
  code=$2 part=$3 verb=$4
  shift 3
  heed "$@" --backend cpu --quiet
  expect_exit "$code"
  expect_one_sentence "$verb" "$part"
  expect_stdout_empty
  expect_nothing_written
  test_end
}
refused several_to_stdout 2 "--save: stdout takes the tensors of one image (found 2 images" run "$micro" "$picture" "$picture" --save -
refused two_files_to_stdout 2 "--save and --json: one file only goes to stdout" run "$micro" "$picture" --save - --json -
refused npz_of_a_graph 3 "out.npz: the outputs of a graph are written as .safetensors alone" \
  eval "$vectors/onnx/model.onnx" "$micro/io.safetensors" --way graph -o out.npz

tests_end
