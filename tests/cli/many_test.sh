#!/bin/sh
# Many images in one heed run: folders, lists, bad ones among them, results of each, flat memory.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png

mkdir "$bad/photos" "$bad/photos/below.png" "$bad/none"
cp "$picture" "$bad/photos/b.png"
cp "$vectors/preprocess/rgb.jpg" "$bad/photos/a.JPG"
cp "$vectors/preprocess/exact_224.png" "$bad/photos/c.jpeg" # a PNG: the first bytes say it
cp "$picture" "$bad/photos/.hidden.png"
cp "$picture" "$bad/photos/below.png/d.png"
echo text >"$bad/photos/notes.txt"
echo text >"$bad/none/notes.txt"

# The images of out.json in order, with "!" before those that failed.
pictures_of() { # JSON
  python3 - "$1" <<'PYTHON'
import json, os, sys
text = open(sys.argv[1]).read()
results = [json.loads(line) for line in text.splitlines()] if sys.argv[1].endswith("l") else json.loads(text)["results"]
print(" ".join(("!" if "error" in r else "") + os.path.basename(r["image"]["path"]) for r in results))
PYTHON
}
expect_pictures() { # JSON, names
  found=$(pictures_of "$1")
  [ "$found" = "$2" ] || fail "$1: found \"$found\", expected \"$2\""
}
# The lines of stdout that begin a result.
expect_printed() { # how many
  [ "$(grep -c ' pixels; ' "$out")" -eq "$1" ] || fail "stdout: found $(grep -c ' pixels; ' "$out") results, expected $1"
}

test_begin a_folder
heed run "$micro" "$bad/photos" --backend cpu --json out.json --save out.safetensors
expect_exit 0
expect_printed 3
expect_pictures "$here/out.json" "a.JPG b.png c.jpeg"
expect_stderr_contains "heed: $bad/photos: 3 images, 2 others left out"
for stem in a b c; do expect_file "out-$stem.safetensors"; done
heed run "$micro" "$bad/photos/" "$picture" --backend cpu --quiet --json out.json
expect_pictures "$here/out.json" "a.JPG b.png c.jpeg rgb.png"
expect_stderr_empty
test_end

bad_input folder_without_images "none: a folder without images (found 1 others, expected names that end in .png, .jpg, .webp or .tif)" \
  run "$micro" "$bad/none" --backend cpu --quiet --json out.json

mkdir "$bad/dangling" && ln -s nothing "$bad/dangling/z.png"
bad_input link_to_nothing_in_a_folder "z.png: cannot open" run "$micro" "$bad/dangling" --backend cpu --quiet
bad_input too_many_in_a_folder "too many in one run (found more than 1" run "$micro" "$bad/photos" --most-images 1 --backend cpu --quiet
mkdir "$bad/below" "$bad/below/folder.png" && : >"$bad/below/png"
bad_input folders_alone "below: a folder without images (found 2 others, expected names that end in .png, .jpg, .webp or .tif); folders below are not read: --list FILE takes their images" run "$micro" "$bad/below" --backend cpu --quiet

# All of them on one page, with a bad one left out.
test_begin sheet
heed run "$micro" "$bad/photos" --backend cpu --quiet --sheet sheet.svg
expect_exit 0
[ "$(grep -c '<image' "$here/sheet.svg")" -eq 4 ] || fail "found $(grep -c '<image' "$here/sheet.svg") images, expected 3 and a bar"
for name in a.JPG b.png c.jpeg 'class 4, '; do grep -q "$name" "$here/sheet.svg" || fail "the sheet has no $name"; done
expect_stdout_contains 'sheet: sheet.svg'
heed run "$micro" "$bad/photos" "$bad/below/png" --backend cpu --quiet --sheet sheet.png
expect_exit 3
expect_file sheet.png
test_end
repeat "$bad/photos/b.png
" 401 >"$bad/many"
test_begin sheet_of_too_many
heed run "$micro" --list "$bad/many" --backend cpu --quiet --sheet sheet.png
expect_exit 2
expect_one_sentence run '--sheet: too many images on a page (found 401, expected at most 400)'
expect_nothing_written
test_end

# What one picture gives alone it gives among others.
test_begin as_alone
heed run "$micro" "$bad/photos" --backend cpu --quiet --json all.jsonl
number=0
for file in a.JPG b.png c.jpeg; do
  number=$((number + 1))
  heed run "$micro" "$bad/photos/$file" --backend cpu --quiet --json one.jsonl
  [ "$(wc -l <"$here/one.jsonl")" -eq 1 ] || fail "one.jsonl: found $(wc -l <"$here/one.jsonl") lines, expected 1"
  sed 's/"milliseconds": [0-9.e+-]*//' "$here/one.jsonl" >"$here/one"
  sed -n "${number}p" "$here/all.jsonl" | sed 's/"milliseconds": [0-9.e+-]*//' | cmp -s - "$here/one" || fail "$file: another result than alone"
done
expect_pictures "$here/all.jsonl" "a.JPG b.png c.jpeg"
grep -q '"backend": "cpu"' "$here/one.jsonl" || fail "one.jsonl does not say the backend"
test_end

test_begin a_list
printf '%s\n\n%s\r\nbeside.png' "$bad/photos/b.png" "$bad/photos/a.JPG" >"$bad/list"
cp "$picture" "$here/beside.png"
heed run "$micro" "$bad/photos/c.jpeg" --list "$bad/list" --backend cpu --quiet --json out.json
expect_exit 0
expect_pictures "$here/out.json" "c.jpeg b.png a.JPG beside.png"
command="run MICRO --list - <list" status=0
(cd "$here" && "$program" run "$micro" --list - --backend cpu --quiet --json out.json <"$bad/list") >"$out" 2>"$err" || status=$?
expect_exit 0
expect_printed 3
expect_pictures "$here/out.json" "b.png a.JPG beside.png"
test_end

test_begin list_with_a_byte_order_mark
printf '\357\273\277%s\r\n' "$picture" >"$bad/marked_list"
heed run "$micro" --list "$bad/marked_list" --backend cpu --quiet
expect_exit 0
test_end
: >"$bad/empty_list"
bad_input empty_list "empty_list: a list without images (found 0 lines, expected a path a line)" run "$micro" --list "$bad/empty_list" --backend cpu --quiet
bad_input no_such_list "no_such_list: cannot open the list of images (No such file" run "$micro" --list "$bad/no_such_list" --backend cpu --quiet
bad_input list_is_a_folder "none: cannot open the list of images (Is a directory" run "$micro" --list "$bad/none" --backend cpu --quiet
test_begin standard_input_is_a_folder
command="run MICRO --list - <FOLDER" status=0
(cd "$here" && "$program" run "$micro" --list - --backend cpu --quiet <"$bad/none") >"$out" 2>"$err" || status=$?
expect_exit 3
expect_one_sentence run "stdin: cannot read the list (Is a directory"
test_end
if [ -n "${HEED_FAILING_MALLOC:-}" ]; then
  test_begin memory_for_the_paths
  command="run MICRO FOLDER, one allocation of the first 40 fails" said=0
  for allocation in $(seq 40); do
    status=0
    (cd "$here" && HEED_FAIL_ALLOCATION=$allocation LD_PRELOAD=$HEED_FAILING_MALLOC exec "$program" run "$micro" "$bad/photos" --backend cpu --quiet) >"$out" 2>"$err" 3>/dev/null || status=$?
    expect_exit 4
    ! grep -q "^heed run: images: out of memory" "$err" || said=$((said + 1))
  done
  [ "$said" -ge 2 ] || fail "found $said sentences on images, expected those of a path and of their list"
  test_end
fi
if [ -r /proc/self/mem ]; then
  bad_input list_that_cannot_be_read "/proc/self/mem: cannot read the list (Input/output error)" run "$micro" --list /proc/self/mem --backend cpu --quiet
fi
# Folders in folders until a picture in the last one has a path too long for the system.
long=$bad/long
while [ "$((${#long} + 201))" -lt 4080 ]; do long=$long/$(printf '%0200d' 0); done
[ "$((4088 - ${#long}))" -lt 2 ] || long=$long/$(printf '%0*d' "$((4087 - ${#long}))" 0)
mkdir -p "$long" && (cd "$long" && : >picture.png)
bad_input path_too_long_in_a_folder "...: path too long (found more than 4095 bytes" run "$micro" "$long" --backend cpu --quiet
if [ -c /dev/zero ]; then
  bad_input endless_list "/dev/zero: line 1: invalid path, with a zero byte" run "$micro" --list /dev/zero --backend cpu --quiet
fi
{ repeat a 4095; echo; repeat a 4096; } >"$bad/long_list"
bad_input long_line "long_list: line 2: path too long (expected a path of 1 to 4095 bytes)" run "$micro" --list "$bad/long_list" --backend cpu --quiet

test_begin list_is_no_output
cp "$bad/list" "$here/list"
heed run "$micro" --list list --backend cpu --quiet --json list
expect_exit 2
expect_one_sentence run "--json: it would overwrite an input"
expect_stderr_contains "the list: list"
cmp -s "$bad/list" "$here/list" || fail "the list was changed"
test_end

# A bad one gives its sentence in its turn; the others are as ever.
test_begin bad_ones_among_good_ones
head -c 500 "$picture" >"$bad/cut.png"
echo text >"$bad/text.jpg"
heed run "$micro" "$bad/cut.png" "$picture" "$bad/text.jpg" "$bad/photos/a.JPG" "$bad/no.png" --backend cpu --quiet --json out.json --save out.safetensors
expect_exit 3
expect_printed 2
expect_pictures "$here/out.json" "!cut.png rgb.png !text.jpg a.JPG !no.png"
[ "$(grep -c '^heed run: .*: ' "$err")" -eq 4 ] || fail "stderr: expected three sentences and a count"
for part in "cut.png: " "text.jpg: image format not supported" "no.png: cannot open" "images: cannot read all (found 3 bad ones of 5)"; do
  expect_stderr_contains "$part"
done
# shellcheck disable=SC2012 # plain names
[ "$(ls "$here" | tr '\n' ' ')" = "out-a.safetensors out-rgb.safetensors out.json " ] || fail "files: found $(ls "$here")"
test_end

# What is not a picture's fault ends the run.
test_begin a_bad_option_ends_it
heed run "$micro" "$bad/cut.png" "$picture" --query 9,9 --backend cpu --quiet --json out.json
expect_exit 2
expect_stderr_contains "--query"
expect_no_file out.json
test_end

# More than a command line of old: the memory of 600 is that of 20.
peak_of() { # list; prints KiB
  python3 - "$program" "$micro" "$1" <<'PYTHON'
import os, resource, subprocess, sys
program, model, listed = sys.argv[1:]
subprocess.run([program, "run", model, "--list", listed, "--backend", "cpu", "--threads", "1", "--quiet", "--json", "/dev/null"], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PYTHON
}
test_begin memory_is_flat
command="run MICRO --list of 600"
: >"$out"; : >"$err"
python3 - "$vectors/preprocess/exact_224.png" "$bad" <<'PYTHON'
import sys
for count in 20, 600:
    open(f"{sys.argv[2]}/list_{count}", "w").write((sys.argv[1] + "\n") * count)
PYTHON
# What is freed is used again, also under a sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
few=$(peak_of "$bad/list_20") many=$(peak_of "$bad/list_600")
# A path, its stem and its place among the outputs: some 300 bytes an image, and more with a sanitizer's zones. A picture that is kept
# has 150 KB, so 580 of them 87 MB.
[ "$many" -lt $((few + 4000)) ] || fail "peak memory: found $many KiB with 600 images and $few KiB with 20"
test_end

# ./dev soak: 500 of 24 megapixels; one of them decoded is 72 MB.
if [ -n "${HEED_SOAK:-}" ]; then
  test_begin large_ones
  command="run MICRO --list of 500 images of 6000 x 4000"
  : >"$out"; : >"$err"
  python3 - "$bad" <<'PYTHON'
import struct, sys, zlib
width, height = 6000, 4000
line = bytes((7 * x + 13 * (x >> 3)) & 255 for x in range(3 * width + 4096))
packed = zlib.compressobj(1)
data = b"".join(packed.compress(b"\0" + line[37 * y % 4096 :][: 3 * width]) for y in range(height)) + packed.flush()
chunk = lambda kind, of: struct.pack(">I", len(of)) + kind + of + struct.pack(">I", zlib.crc32(kind + of))
header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
path = f"{sys.argv[1]}/large.png"
open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b""))
for count in 1, 500:
    open(f"{sys.argv[1]}/large_{count}", "w").write((path + "\n") * count)
PYTHON
  one=$(peak_of "$bad/large_1") many=$(peak_of "$bad/large_500")
  echo "peak of one: $one KiB, of 500: $many KiB"
  [ $((2 * many)) -le $((3 * one)) ] || fail "peak memory: found $many KiB with 500 images and $one KiB with one"
  test_end
fi

test_begin many_words
words=$(repeat "$picture " 300)
# shellcheck disable=SC2086 # words
heed run "$micro" $words --backend cpu --quiet --top 1
expect_exit 0
expect_printed 300
test_end

tests_end
