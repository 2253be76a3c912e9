#!/bin/sh
# heed embed: every format, batches, classes of folders, bad images, signals; numbers by vit_forward.py.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png
scripts=$(cd "$(dirname "$0")" && pwd)
if ! python3 -c '' 2>/dev/null; then
  echo "skipped: no python3 here"
  exit 77
fi

# An ImageFolder: five pictures of two classes, and what is not one.
mkdir -p "$bad/classes/cat" "$bad/classes/dog, big" "$bad/classes/.hidden" "$bad/flat"
cp "$picture" "$bad/classes/cat/1.png"
cp "$vectors/preprocess/rgb.jpg" "$bad/classes/cat/2.jpg"
cp "$vectors/preprocess/exact_224.png" "$bad/classes/cat/3.png"
cp "$vectors/preprocess/exact_224.png" "$bad/classes/dog, big/1.png"
cp "$vectors/image/sampling_1.jpg" "$bad/classes/dog, big/4.jpg"
echo text >"$bad/classes/notes.txt"
cp "$bad"/classes/*/[234].* "$bad/flat"

# What the forward in double says of them.
set --
for file in "$bad"/classes/*/*.*; do
  set -- "$@" "$bad/pixels_$#.safetensors"
  "$program" run "$micro" "$file" --backend cpu --quiet --save "$bad/pixels_$(($# - 1)).safetensors" >/dev/null
done
python3 "$scripts/vit_forward.py" "$micro" "$@" >"$bad/expected"

# Compares a file with that: names, labels, and the named column by the forward's name.
cat >"$bad/compare.py" <<'PYTHON'
import csv, json, sys
sys.path.insert(0, sys.argv[1])
from arrays import load, metadata
path, column, wanted, labels = sys.argv[2:6]
expected = [json.loads(line)[wanted] for line in open(sys.argv[6])]
text = {}
if path.endswith((".json", ".jsonl")):
    body = open(path).read()
    rows = json.loads(body)["results"] if path.endswith(".json") else [json.loads(line) for line in body.splitlines()]
    values, names = [row[column] for row in rows], [row["image"]["path"] for row in rows]
    found = [row.get("label") for row in rows]
elif path.endswith(".csv"):
    rows = list(csv.DictReader(open(path, newline="")))
    names, found = [row["name"] for row in rows], [row.get("label") for row in rows]
    values = [[float(v) for k, v in row.items() if k.startswith(column + "_")] for row in rows]
else:
    arrays = load(path)
    descr, shape, flat = arrays[column] if column in arrays else arrays[""]
    assert descr == "<f4"
    size = len(flat) // shape[0]
    values = [flat[i * size:(i + 1) * size] for i in range(shape[0])]
    if path.endswith(".npz"):
        names, found = arrays["names"][2], arrays["labels"][2]
        assert arrays["model"][2] == [sys.argv[7]] and arrays["embedding"][2] == ["pre_logits"]
    elif path.endswith(".safetensors"):
        names, found = json.loads(metadata(path)["names"]), json.loads(metadata(path)["labels"])
    else:
        names, found = None, None
def flatten(v):
    return [w for u in v for w in flatten(u)] if isinstance(v, list) else [v]
values, expected = [flatten(v) for v in values], [flatten(v) for v in expected]
assert [len(v) for v in values] == [len(v) for v in expected], ([len(v) for v in values], [len(v) for v in expected])
most = max(abs(a - b) for v, e in zip(values, expected) for a, b in zip(v, e))
assert most < 1e-5, most
if names and labels:
    assert [n.split("/")[-1] for n in names] == ["1.png", "2.jpg", "3.png", "1.png", "4.jpg"], names
    assert found == ["cat"] * 3 + ["dog, big"] * 2, found
PYTHON
expect_rows() { # file, column, what of the forward, whether there are labels
  python3 "$bad/compare.py" "$scripts" "$here/$1" "$2" "$3" "${4-labels}" "$bad/expected" "$micro" 2>>"$err" || fail "$1: other rows"
}

for format in npz npy safetensors jsonl json csv; do
  test_begin "$format"
  heed embed "$micro" "$bad/classes" --backend cpu --quiet -o "out.$format"
  expect_exit 0
  expect_stdout_contains "embeddings: [32] of each image, pre_logits"
  expect_stdout_contains "5 images"
  expect_rows "out.$format" embeddings pre_logits
  [ "$(find "$here" -type f | wc -l)" -eq 1 ] || fail "files were left: $(ls -A "$here")"
  test_end
done

# Batches that divide the pictures, and that do not: the same numbers.
for batch in 1 2 5 100; do
  test_begin "batches_of_$batch"
  heed embed "$micro" "$bad/classes" --backend cpu --quiet -o out.npz --batch "$batch"
  expect_exit 0
  expect_rows out.npz embeddings pre_logits
  test_end
done

test_begin values
heed embed "$micro" "$bad/classes" --backend cpu --quiet -o out.npz --values 'embedding,mean,logits,layer.1.output,atten*.0'
expect_exit 0
expect_stdout_contains "attention.0: [4, 5, 5] of each image"
expect_rows out.npz mean mean
expect_rows out.npz logits logits
expect_rows out.npz layer.1.output states
expect_rows out.npz embeddings pre_logits
heed embed "$micro" "$bad/classes" --backend cpu --quiet -o out.npz --values cls,embedding --batch 2
expect_rows out.npz cls pre_logits
heed embed "$micro" "$bad/classes" --backend cpu --quiet -o out.jsonl --values layer.1.output
expect_rows out.jsonl layer.1.output states
test_end

test_begin stdout
heed embed "$micro" "$bad/classes" --backend cpu --quiet -o out.jsonl
heed embed "$micro" "$bad/classes" --backend cpu --quiet -o -
expect_exit 0
cmp -s "$out" "$here/out.jsonl" || fail "stdout: another text than out.jsonl"
expect_stderr_contains "written: -"
test_end

# Without a model: the demo's. A list and a folder without classes have no labels.
test_begin without_labels
printf '%s\n' "$bad/flat/2.jpg" >"$bad/list"
heed embed "$bad/flat/3.png" --list "$bad/list" --backend cpu --quiet -o out.npz
expect_exit 0
python3 - "$scripts" "$here/out.npz" <<'PYTHON' || fail "other columns"
import sys
sys.path.insert(0, sys.argv[1])
from arrays import load
arrays = load(sys.argv[2])
assert "labels" not in arrays and len(arrays["names"][2]) == 2 and arrays["embeddings"][1][0] == 2
assert arrays["model"][2] == ["the demo model"]
PYTHON
test_end

test_begin bad_ones
echo text >"$bad/broken.png"
heed embed "$micro" "$bad/broken.png" "$bad/classes" --backend cpu --quiet -o out.npz
expect_exit 3
expect_stderr_contains "heed embed: $bad/broken.png: "
expect_stderr_contains "heed embed: images: cannot read all (found 1 bad ones of 6)"
expect_rows out.npz embeddings pre_logits
heed embed "$micro" "$bad/broken.png" "$bad/flat/2.jpg" "$bad/flat/3.png" "$bad/broken.png" "$bad/flat/4.jpg" --backend cpu --quiet -o out.jsonl
python3 -c 'import json, sys; assert ["error" in json.loads(l) for l in open(sys.argv[1])] == [True, False, False, True, False]' "$here/out.jsonl" || fail "out.jsonl: the error is not in its place"
test_end

refused() { # name, exit code, a part of the sentence, arguments...
  test_begin "$1"
  code=$2 part=$3
  shift 3
  heed embed "$@" --backend cpu --quiet
  expect_exit "$code"
  expect_one_sentence embed "$part"
  expect_stdout_empty
  expect_nothing_written
  test_end
}
refused none_is_good 3 "broken.png: image format not supported" "$micro" "$bad/broken.png" -o out.npz
refused no_such_value 2 '--values: unknown value (found "layer.7.output", expected ' "$micro" "$picture" -o out.npz --values cls,layer.7.output
refused an_empty_name 2 '--values: unknown value (found ""' "$micro" "$picture" -o out.npz --values cls,,mean
refused no_batch 2 "--batch: out of range (found 0, expected 1 to 1024)" "$micro" "$picture" -o out.npz --batch 0
refused one_array 2 ".npy holds one array (found 2" "$micro" "$picture" -o out.npy --values cls,mean
refused other_ending 2 "-o: the name of another format" "$micro" "$picture" -o out.txt
refused no_folder 3 "No such file" "$micro" "$picture" -o no/such.npz
test_begin usage
heed embed "$micro" "$picture"
expect_exit 2
expect_stderr_contains "wrong arguments (found no -o, expected -o OUT.npz)"
heed embed "$micro" -o out.npz
expect_exit 2
expect_stderr_contains "wrong arguments (found no images, expected IMAGE, FOLDER or --list)"
expect_nothing_written
test_end

# Pictures that keep their aspect have several sizes in the model: rows of one shape, or a sentence.
test_begin sizes
model aspect
echo '{"do_resize": true, "size": {"shortest_edge": 32}, "do_center_crop": false, "do_rescale": true, "do_normalize": true,
  "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "resample": 2}' >"$bad/aspect/preprocessor_config.json"
python3 -c 'import struct, zlib, sys
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for name, width, height in ("wide", 96, 32), ("tall", 32, 64):
  open(f"{sys.argv[1]}/{name}.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress((b"\0" + bytes(range(96)) * (width // 32)) * height)) + chunk(b"IEND", b""))' "$bad"
heed embed "$bad/aspect" "$bad/wide.png" "$bad/tall.png" "$bad/wide.png" --backend cpu --quiet -o out.npz
expect_exit 0
heed embed "$bad/aspect" "$bad/tall.png" --backend cpu --quiet -o tall.npz
python3 - "$scripts" "$here" <<'PYTHON' 2>>"$err" || fail "a row differs from that of its picture alone"
import sys
sys.path.insert(0, sys.argv[1])
from arrays import load
three, one = load(sys.argv[2] + "/out.npz")["embeddings"], load(sys.argv[2] + "/tall.npz")["embeddings"]
assert three[1] == (3, 32) and three[2][:32] == three[2][64:] != three[2][32:64]
assert max(abs(a - b) for a, b in zip(three[2][32:64], one[2])) < 1e-5
PYTHON
heed embed "$bad/aspect" "$bad/wide.png" "$bad/tall.png" "$bad/wide.png" --backend cpu --quiet -o out.npz --values last_hidden_state
expect_exit 3
expect_stderr_contains "tall.png: last_hidden_state: wrong shape (found [9, 32], expected [13, 32] as of the images before"
expect_stdout_contains "2 images"
test_end

allocations_fail npz embed "$micro" "$bad/classes/cat" -o out.npz --values cls,logits --backend cpu --threads 1 --quiet --batch 2

# A signal keeps what is finished, and leaves nothing half written.
for signal in INT TERM; do
  test_begin "signal_$signal"
  command="embed of many with SIG$signal"
  [ "$signal" = INT ] && code=130 || code=143
  awk -v path="$picture" 'BEGIN { for (i = 0; i < 3000; i++) print path }' >"$bad/many"
  for format in npz jsonl; do
    status=0
    (cd "$here" && exec timeout --preserve-status -k 60 -s "$signal" 1.5 "$program" embed "$micro" --list "$bad/many" --backend cpu --quiet -o "out.$format") >"$out" 2>"$err" || status=$?
    expect_exit $code
    expect_stderr_contains "heed embed: ended by a signal ("
    expect_file "out.$format"
  done
  python3 - "$scripts" "$here" <<'PYTHON' || fail "half a file"
import json, sys
sys.path.insert(0, sys.argv[1])
from arrays import load
arrays = load(sys.argv[2] + "/out.npz")
assert 0 < arrays["embeddings"][1][0] == len(arrays["names"][2]) < 3000
assert 0 < len([json.loads(line) for line in open(sys.argv[2] + "/out.jsonl")]) < 3000
PYTHON
  [ "$(find "$here" -type f | wc -l)" -eq 2 ] || fail "files were left: $(ls -A "$here")"
  test_end
done

tests_end
