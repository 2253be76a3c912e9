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

test_begin npz_of_graph
for way in graph reference; do
  heed eval "$vectors/onnx/model.onnx" "$vectors/onnx/io.safetensors" --way $way --backend cpu --quiet -o out.safetensors
  heed eval "$vectors/onnx/model.onnx" "$vectors/onnx/io.safetensors" --way $way --backend cpu --quiet -o out.npz
  expect_exit 0
  expect_same_arrays out.npz out.safetensors
done
test_end

# y = Identity(x) of one element type: a graph's arrays keep the type that its output has.
identity() { # element type as \ooo
  printf '\010\010\072\050\012\020\012\001x\022\001y\042\010IdentityZ\011\012\001x\022\004\012\002\010%bb\011\012\001y\022\004\012\002\010%bB\002\020\021' "$1" "$1"
}
values() { # dtype, shape, bytes of data
  head="{\"x\":{\"dtype\":\"$1\",\"shape\":$2,\"data_offsets\":[0,$3]}}"
  printf '%b\000\000\000\000\000\000\000%s' "\\0$(printf %o ${#head})" "$head"
  printf '\001\000\001\000\000\000\000\200\377\377\377\377\377\377\377\377' | head -c "$3"
}
test_begin npz_of_graph_types
identity '\007' >"$bad/whole.onnx"
identity '\011' >"$bad/truth.onnx"
values I64 '[2]' 16 >"$bad/whole.safetensors"
values BOOL '[2,2]' 4 >"$bad/truth.safetensors"
for each in whole truth; do
  for kind in safetensors npz npy; do
    heed eval "$bad/$each.onnx" "$bad/$each.safetensors" --quiet -o "$each.$kind"
    expect_exit 0
  done
  expect_same_arrays "$each.npz" "$each.safetensors"
  "$python" -c 'import sys
sys.path.insert(0, sys.argv[1])
from arrays import load
assert load(sys.argv[2] + ".npy")[""] == load(sys.argv[2] + ".npz")["y"]' "$(dirname "$0")" "$here/$each" || fail "$each.npy: another array"
done
test_end
values I64 '[1,1,1,2,1,1,1]' 16 >"$bad/seven.safetensors"
bad_input npz_of_graph_axes "tensor y: shape not supported in .npz and .npy (expected at most 6 axes" eval "$bad/whole.onnx" "$bad/seven.safetensors" \
  --quiet -o out.npz
values F8_E4M3 '[2]' 2 >"$bad/eighth.safetensors"
identity '\021' >"$bad/eighth.onnx"
bad_input npz_of_graph_dtype "y: dtype not supported by NumPy (found F8_E4M3, expected" eval "$bad/eighth.onnx" "$bad/eighth.safetensors" --quiet -o out.npz

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
refused npy_of_graph_several 2 ".npy holds one array (found" \
  eval "$vectors/onnx/model.onnx" "$vectors/onnx/io.safetensors" --way graph -o out.npy

tests_end
