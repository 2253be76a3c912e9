#!/bin/sh
# heed convert: folders in int8, fp16 and bf16 that every verb takes, from any file, written whole or not at all.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

documents=$(cd "$(dirname "$0")/../.." && pwd)/docs
reference=$vectors/vit/hf_vit
set -- --backend cpu --quiet

for weights in int8 int8-float f16 bf16; do
  test_begin "convert_$weights"
  heed convert "$reference" -o out --weights $weights
  expect_exit 0
  expect_stderr_empty
  expect_stdout_contains "tensors in $weights"
  expect_file out/config.json
  expect_file out/model.safetensors
  [ "$(find "$here" -name '*.part*' | wc -l)" -eq 0 ] || fail "temporary files were left"
  heed eval out "$reference/io.safetensors" -o y.safetensors "$@"
  expect_exit 0
  expect_file y.safetensors
  heed inspect out
  expect_exit 0
  test_end
done

test_begin metadata
heed convert "$reference" -o out --weights int8
sum=$(sha256sum "$reference/model.safetensors" | cut -c1-64)
head -c 4096 "$here/out/model.safetensors" | grep -qa "\"heed.source_sha256\":\"$sum\"" || fail "the original's SHA-256 is missing"
head -c 4096 "$here/out/model.safetensors" | grep -qa '"heed.scheme":"s8-channel"' || fail "the scheme is missing"
grep -q '"format": "int-quantized"' "$here/out/config.json" || fail "config.json does not name the format"
test_end

test_begin same_from_pickle
heed convert "$reference" -o a --weights int8
mkdir "$bad/pickle"
cp "$reference/config.json" "$bad/pickle"
cp "$vectors/pickle/vit/zip.pth" "$bad/pickle/pytorch_model.bin"
heed convert "$bad/pickle" -o b --weights int8
expect_exit 0
heed eval a "$reference/io.safetensors" -o a.safetensors "$@"
heed eval b "$reference/io.safetensors" -o b.safetensors "$@"
expect_exit 0
cmp -s "$here/a.safetensors" "$here/b.safetensors" || fail "other results than from .safetensors"
test_end

test_begin same_for_any_threads
heed convert "$reference" -o a --weights int8
for threads in 1 2 5; do
  heed eval a "$reference/io.safetensors" -o $threads.safetensors --threads $threads "$@"
  expect_exit 0
  cmp -s "$here/1.safetensors" "$here/$threads.safetensors" || fail "other bits with $threads threads"
done
test_end

test_begin demo
heed convert -o out --weights int8
expect_exit 0
heed demo out --score 20 "$@"
expect_exit 0
expect_stdout_contains 20
# Products of int8 beside those of floats; over 100 scenes the mean error of a weight was 8.5e-5.
heed compare "${documents%/docs}/runtime/demo/model" out --scenes 20 --seed 1 --json c.json "$@"
expect_exit 0
grep -q '"top1_agreed": *20' "$here/c.json" || fail "other answers: $(head -c 400 "$here/c.json")"
mean=$(sed -n 's/^maps: .* mean \([0-9.e-]*\), .*/\1/p' "$out")
awk -v mean="$mean" 'BEGIN { exit !(mean > 0 && mean < 2e-4) }' || fail "the mean error of a weight is $mean"
test_end

# Every family's folder: what is converted runs.
for folder in "$vectors"/vit/*/; do
  [ -f "$folder/io.safetensors" ] || continue
  family=$(basename "$folder")
  case $family in *text*) continue ;; esac
  test_begin "family_$family"
  case $family in swinv2*) weights=int8-float ;; *) weights=int8 ;; esac
  heed convert "$folder" -o out --weights $weights
  expect_exit 0
  heed eval out "$folder/io.safetensors" -o y.safetensors "$@"
  expect_exit 0
  test_end
done

bad_input cosine_in_int8 "convert: products in int8 are too coarse for cosine attention" convert "$vectors/vit/swinv2" -o out --weights int8

test_begin script
python=
for each in python3 /usr/bin/python3; do
  [ -n "$python" ] || ! $each -c 'import numpy' 2>/dev/null || python=$each
done
if [ -n "$python" ]; then
  # shellcheck disable=SC2016 # backquotes of Markdown
  sed -n '/^```python/,/^```/p' "$documents/quantisation.md" | grep -v '^```' >"$here/read.py"
  [ "$(wc -l <"$here/read.py")" -eq 10 ] || fail "the script has $(wc -l <"$here/read.py") lines, expected 10"
  for weights in int8 int8-float; do
    heed convert "$reference" -o "$weights" --weights "$weights"
    $python "$here/read.py" "$here/$weights/model.safetensors" >"$here/weights" || fail "the script failed"
    [ "$(wc -l <"$here/weights")" -eq "$(sed -n 's/.*: \([0-9]*\) of .*/\1/p' "$out")" ] || fail "the script found other weights"
    $python - "$reference/model.safetensors" "$here/weights" <<'P' || fail "$weights: the script's weights are not the model's"
import json, sys, numpy
data = open(sys.argv[1], "rb").read()
size = int.from_bytes(data[:8], "little")
head = json.loads(data[8:8 + size])
for line in open(sys.argv[2]):
    name, first = line.split(" ", 1)
    begin, end = head[name]["data_offsets"]
    row = numpy.frombuffer(data[8 + size + begin:8 + size + end], "f4")
    assert head[name]["dtype"] == "F32" and abs(row[:3] - json.loads(first)).max() < abs(row).max() / 200, name
P
  done
else
  lacking='no numpy'
fi
test_end

test_begin existing_output
mkdir "$here/out"
heed convert "$reference" -o out --weights int8
expect_exit 2
expect_one_sentence convert 'out exists already'
[ -z "$(ls -A "$here/out")" ] || fail "something was written"
test_end

# int8 for products in floats can be read as floats again: other storages are made of it, and of nothing else.
test_begin from_floats_in_int8
heed convert "$reference" -o small --weights int8-float
expect_exit 0
grep -q '"input_activations": null' "$here/small/config.json" || fail "config.json does not say that activations are floats"
head -c 8192 "$here/small/model.safetensors" | grep -qa '"heed.scheme":"s8-row"' || fail "the scheme is missing"
heed eval small "$reference/io.safetensors" -o small.safetensors "$@"
expect_exit 0
for weights in int8 int8-float f16 bf16; do
  heed convert small -o $weights --weights $weights
  expect_exit 0
  heed eval $weights "$reference/io.safetensors" -o $weights.safetensors "$@"
  expect_exit 0
done
for weights in f16 bf16; do
  ! grep -q quantization_config "$here/$weights/config.json" || fail "$weights: config.json speaks of int8"
  ! head -c 16384 "$here/$weights/model.safetensors" | grep -qa '_scale"\|"I8"' || fail "$weights: int8 was left"
done
grep -q '"strategy": "token"' "$here/int8/config.json" || fail "config.json does not say how rows are quantised"
heed convert int8 -o none --weights f16
expect_exit 3
expect_one_sentence convert 'stored in int8 already'
test_end

test_begin already_int8
heed convert "$reference" -o out --weights int8
heed convert out -o again --weights f16
expect_exit 3
expect_one_sentence convert 'stored in int8 already'
expect_no_file again
[ "$(ls -A "$here")" = out ] || fail "files were left: $(ls -A "$here")"
test_end

test_begin slash_behind_the_name
heed convert "$reference" -o out/ --weights int8
expect_exit 0
expect_file out/model.safetensors
[ "$(ls -A "$here")" = out ] || fail "files were left: $(ls -A "$here")"
test_end

# The shell's limit for files stands for a full disk.
test_begin no_room
(cd "$here" && ulimit -f 16 && exec "$program" convert -o out --weights int8) >"$out" 2>"$err" || status=$?
expect_exit 3
expect_one_sentence convert 'out: writing failed (found "File too large"'
expect_nothing_written
test_end

test_begin no_such_folder
heed convert "$reference" -o none/out --weights int8
expect_exit 3
expect_one_sentence convert 'none/out'
expect_nothing_written
test_end

test_begin arguments
heed convert "$reference" -o out
expect_exit 2
expect_stderr_contains 'expected at most one MODEL, -o FOLDER and --weights int8, int8-float, f16 or bf16'
heed convert "$reference" --weights int8
expect_exit 2
heed convert "$reference" -o out --weights int4
expect_exit 2
expect_stderr_contains 'int4'
expect_nothing_written
test_end

# A folder whose scales are damaged is refused with a sentence.
damaged() { # name, exit code, sentence, python that changes `head` and `body`
  test_begin "$1"
  if python3 -c '' 2>/dev/null; then
    heed convert "$reference" -o out --weights int8
    python3 - "$here/out/model.safetensors" "$4" <<'P'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = int.from_bytes(data[:8], "little")
head, body = json.loads(data[8:8 + size]), bytearray(data[8 + size:])
scale = next(n for n in head if n.endswith("_scale"))
exec(sys.argv[2])
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[1], "wb").write(len(text).to_bytes(8, "little") + text + bytes(body))
P
    heed eval out "$reference/io.safetensors" -o y.safetensors --backend cpu --quiet
    expect_exit "$2"
    expect_one_sentence eval "$3"
    expect_no_file y.safetensors
  else
    lacking='no python3'
  fi
  test_end
}
damaged scale_zero 3 'invalid scale in row 0' 'b = head[scale]["data_offsets"][0]; body[b:b + 4] = struct.pack("<f", 0.0)'
damaged scale_nan 3 'invalid scale in row 0' 'b = head[scale]["data_offsets"][0]; body[b:b + 4] = struct.pack("<f", float("nan"))'
damaged scale_renamed 3 'has no scales' 'head[scale[:-1] + "s"] = head.pop(scale)'
damaged scale_shape 3 'expected [24, 1] or [24, groups]' 'head[scale]["shape"] = [2, head[scale]["shape"][0] // 2]'

test_begin other_format
heed convert "$reference" -o out --weights int8
sed 's/int-quantized/pack-quantized/' "$here/out/config.json" >"$here/c" && mv "$here/c" "$here/out/config.json"
heed eval out "$reference/io.safetensors" -o y.safetensors "$@"
expect_exit 3
expect_one_sentence eval 'pack-quantized'
test_end

tests_end
