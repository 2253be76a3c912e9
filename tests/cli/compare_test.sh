#!/bin/sh
# heed compare: a model and its int8 folder, a model and itself, and what cannot be compared.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

reference=$vectors/vit/hf_vit
picture=$vectors/preprocess/rgb.png

test_begin itself
heed compare "$reference" "$reference" "$picture" --rollout --json out.json --quiet
expect_exit 0
expect_stderr_empty
expect_stdout_contains 'maps: largest difference of a weight 0, mean 0, mean divergence 0 bits'
expect_stdout_contains 'rollout: largest difference of a weight 0, mean 0, mean divergence 0 bits'
expect_file out.json
test_end

test_begin int8
heed convert "$reference" -o int8 --weights int8
heed compare "$reference" int8 "$picture" "$picture" --rollout --json out.json --quiet
expect_exit 0
expect_stdout_contains 'of 2'
if python3 -c '' 2>/dev/null; then
  python3 - "$here/out.json" "$out" <<'P' || fail "the JSON or the table says something else"
import json, re, sys
found = json.load(open(sys.argv[1]))
assert found["pictures"] == 2
grid = [(layer, head) for layer in range(2) for head in range(3)]
assert [(head["layer"], head["head"]) for head in found["heads"]] == grid, found["heads"]
printed = open(sys.argv[2]).read()
rows = [line.split() for line in printed.split("\n") if re.match(r" +\d+ +\d+ ", line)]
assert [(int(row[0]), int(row[1])) for row in rows] == grid, printed
for row, head in zip(rows, found["heads"]):
    for text, name in zip(row[2:], ("largest", "mean", "divergence_mean", "divergence_largest")):
        assert text == f"{head[name]:.3g}" or abs(float(text) - head[name]) < 0.006 * head[name], (row, head)
mean, divergence = re.search(r"maps: .* mean ([^,]*), mean divergence (.*) bits", printed).groups()
for text, name in (mean, "mean"), (divergence, "divergence_mean"):
    average = sum(head[name] for head in found["heads"]) / len(grid)
    assert abs(float(text) - average) < 1e-3 * average, (text, average)
assert 0 < found["rollout"]["mean"] <= found["rollout"]["largest"] < 0.02, found["rollout"]
assert 0 < found["rollout"]["divergence_mean"] <= found["rollout"]["divergence_largest"] < 0.01
assert all(0 < head["largest"] < 0.05 for head in found["heads"]), found["heads"]
assert all(head["mean"] <= head["largest"] for head in found["heads"])
assert all(0 < head["divergence_mean"] <= head["divergence_largest"] < 0.01 for head in found["heads"])
P
fi
test_end

# Maps in int8 stay near those in fp32 in every family; found are at most 0.052, 0.0032 and 0.00035 bits,
# and 0.081 where a window leaves few keys (Qwen2.5-Omni). The bounds are half as much again.
for folder in "$vectors"/vit/*/; do
  family=$(basename "$folder")
  [ -f "$folder/io.safetensors" ] || continue
  case $family in *text* | videomae* | vjepa2* | sam* | swin*) continue ;; esac # heed compare refuses videos and stages
  test_begin "family_$family"
  heed convert "$folder" -o int8 --weights int8
  expect_exit 0
  # Their own sizes have up to 1,374 tokens; at 112 pixels patches of 14 make 64 and patches of 4 make 784.
  case $family in *dinov[23]*) size=112,112 ;; *) size= ;; esac
  case $family in qwen2_5_vl_omni) most=0.122 ;; *) most=0.08 ;; esac
  heed compare "$folder" int8 "$picture" --quiet ${size:+--size "$size"}
  expect_exit 0
  sed -n 's/maps: largest difference of a weight \(.*\), mean \(.*\), mean divergence \(.*\) bits/\1 \2 \3/p' "$out" |
    awk -v most="$most" '$1 <= most && $2 <= 0.005 && $3 <= 0.0006 { good = 1 } END { exit !good }' || fail "the maps are too far apart"
  test_end
done

# The answers of the demo model in int8 are those in fp32.
test_begin scenes
heed convert -o int8 --weights int8
heed convert -o bf16 --weights bf16
heed compare bf16 int8 --scenes 10 --seed 7 --quiet
expect_exit 0
expect_stdout_contains 'top-1 agreement: 10 of 10'
test_end

test_begin two_levels
heed compare "$reference" "$reference" "$picture" --simd scalar --quiet
expect_exit 0
expect_stdout_contains 'mean 0, mean divergence 0 bits'
heed compare "$reference" "$reference" "$picture" --simd-b scalar --quiet
expect_exit 0
expect_stdout_contains 'maps: largest difference of a weight'
test_end

test_begin other_shape
heed compare "$reference" "$vectors/vit/hf_dinov2" "$picture"
expect_exit 3
expect_one_sentence compare 'another shape'
test_end

test_begin size
heed compare "$reference" "$reference" "$picture" --size 64,32 --quiet
expect_exit 0
expect_stdout_contains 'maps: largest difference of a weight 0, mean 0'
heed compare "$reference" "$reference" "$picture" --size 64x32 --quiet
expect_exit 2
expect_one_sentence compare '--size: invalid size'
test_end

# A folder stands for its pictures, and a list for its lines: the same two pictures, the same numbers.
test_begin folder
mkdir "$here/photos" "$here/empty"
cp "$picture" "$here/photos/a.png"
cp "$vectors/preprocess/wide_900x31.png" "$here/photos/b.png"
printf 'no picture\n' >"$here/photos/c.txt"
printf 'photos/a.png\nphotos/b.png\n' >"$here/list"
heed convert "$reference" -o int8 --weights int8
heed compare "$reference" int8 photos --json folder.json
expect_exit 0
expect_stderr_contains 'photos: 2 images, 1 others left out'
expect_stdout_contains 'of 2'
heed compare "$reference" int8 photos/a.png photos/b.png --json words.json --quiet
heed compare "$reference" int8 --list list --json list.json --quiet
expect_exit 0
cmp -s "$here/folder.json" "$here/words.json" && cmp -s "$here/folder.json" "$here/list.json" || fail "a folder, a list and words differ"
heed compare "$reference" int8 photos --most-images 1 --quiet
expect_exit 3
expect_one_sentence compare 'images: too many in one run'
heed compare "$reference" int8 empty --quiet
expect_exit 3
expect_one_sentence compare 'empty: a folder without images'
test_end

test_begin arguments
heed compare "$reference" "$reference"
expect_exit 2
expect_stderr_contains 'expected MODEL_A MODEL_B and images, --list or --scenes N'
heed compare "$reference"
expect_exit 2
heed compare "$reference" "$reference" "$picture" --json "$reference/config.json"
expect_exit 2
test_end

tests_end
