#!/bin/sh
# heed survey: statistics of every head over images beside Python's of what heed run says of each, and bad input.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
reference=$vectors/vit/hf_vit
picture=$vectors/preprocess/rgb.png
common="--backend cpu --quiet"

mkdir "$bad/photos"
cp "$picture" "$bad/photos/b.png"
cp "$vectors/preprocess/rgb.jpg" "$bad/photos/a.jpg"
cp "$vectors/preprocess/exact_224.png" "$bad/photos/c.png"
echo text >"$bad/photos/notes.txt"

# Mean, spread and range of each number that heed run gives, by Python's statistics.
if python3 -c '' 2>/dev/null; then
  test_begin as_of_each
  heed run "$reference" "$bad/photos" $common --json each.json
  heed survey "$reference" "$bad/photos" $common --whole-jpegs --json all.json
  expect_exit 0
  expect_stderr_empty
  expect_stdout_contains '2 layers x 3 heads, on cpu; 3 images'
  python3 - "$here" <<'P' || fail "the statistics are others than Python's"
import json, statistics, sys
each = [r["heads"] for r in json.load(open(sys.argv[1] + "/each.json"))["results"]]
all = json.load(open(sys.argv[1] + "/all.json"))
assert all["images"] == 3 and all["failed"] == 0 and len(all["heads"]) == len(each[0]) == 6
names = ["entropy_cls", "entropy_patches", "distance", "distance_renormalised", "prefix_mass", "self_mass", "top5_mass"]
for i, head in enumerate(all["heads"]):
    assert (head["layer"], head["head"]) == (each[0][i]["layer"], each[0][i]["head"])
    for name in names:
        values = [heads[i][name] for heads in each]
        assert len(set(values)) == 3, (name, values)
        expected = {"mean": statistics.mean(values), "spread": statistics.stdev(values), "least": min(values), "largest": max(values)}
        for of, value in expected.items():
            found = head[name][of]
            # The numbers of heed run have 9 digits.
            assert abs(found - value) <= 1e-7 * max(abs(v) for v in values), (name, of, found, value)
P
  test_end
else
  test_skip as_of_each "no python3"
fi

# An image that cannot be read changes nothing but the exit code.
test_begin a_bad_one
heed survey "$micro" "$bad/photos" $common --json good.json
cp "$here/good.json" "$bad/good.json"
echo no >"$bad/no.png"
heed survey "$micro" "$bad/photos/a.jpg" "$bad/no.png" "$bad/photos/b.png" "$bad/photos/c.png" $common --json out.json
expect_exit 3
expect_stderr_contains "heed survey: images: cannot read all (found 1 bad ones of 4)"
sed 's/"failed": 1/"failed": 0/' "$here/out.json" | cmp -s - "$bad/good.json" || fail "JSON: another result than without the bad image"
test_end

test_begin list_and_scenes
printf '%s\n' "$bad/photos/a.jpg" "$bad/photos/b.png" >"$bad/list"
heed survey "$micro" --list "$bad/list" "$bad/photos/c.png" $common
expect_exit 0
expect_stdout_contains '; 3 images'
heed survey --scenes 3 --seed 7 $common --json -
expect_exit 0
expect_stderr_contains '; 3 images'
grep -q '"demo_model": true, "backend": .*"images": 3, "failed": 0' "$out" || fail "stdout: not the JSON"
expect_nothing_written
heed survey --scenes 1 $common
expect_stdout_contains '+- 0.000'
test_end

bad_input no_readable_one "no.png: " survey "$micro" "$bad/no.png" $common --json out.json
mkdir "$bad/notes" && echo text >"$bad/notes/notes.txt"
bad_input folder_without_images "notes: a folder without images" survey "$micro" "$bad/notes" $common
bad_input other_kind "encoder-decoder" survey "$vectors/sequence/gru" "$picture" $common
bad_input too_large "image too large" survey "$micro" "$picture" $common --most-pixels 100

test_begin no_images
heed survey "$micro" $common
expect_exit 2
expect_stderr_contains 'heed survey: no images after MODEL (expected IMAGE, FOLDER, ARCHIVE.tar, --list or --scenes N)'
heed survey $common
expect_exit 2
expect_stderr_contains 'heed survey: no images (expected'
heed survey "$micro" "$picture" $common --json "$picture"
[ "$status" -ne 0 ] || fail "an image was taken as --json"
test_end

allocations_fail survey survey "$micro" "$picture" $common --json out.json

tests_end
