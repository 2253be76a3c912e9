#!/bin/sh
# Limits of docs/limits.md that the command line has: each at its number and one above, and what is refused costs neither memory nor time.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png

# Runs heed as `heed` does; peak memory in KiB goes to $peak, processor time in ms to $used.
measured() { # arguments...
  command=$* status=0
  python3 - "$out" "$err" "$here" "$bad/cost" "$program" "$@" <<'PYTHON' || status=$?
import resource, subprocess, sys
out, err, here, cost = sys.argv[1:5]
code = subprocess.run(sys.argv[5:], cwd=here, stdin=subprocess.DEVNULL, stdout=open(out, "w"), stderr=open(err, "w"), timeout=120).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(cost, "w").write(f"{used.ru_maxrss} {round(1000 * (used.ru_utime + used.ru_stime))}")
sys.exit(code)
PYTHON
  read -r peak used <"$bad/cost" || :
}
# What heed takes to refuse a picture that is none: its own size, which a sanitizer makes large.
echo text >"$bad/text.png"
measured run "$micro" "$bad/text.png" --backend cpu --quiet
least=$peak
expect_refused_cheaply() { # a part of the sentence
  expect_exit 3
  expect_one_sentence run "$1"
  expect_stdout_empty
  expect_nothing_written
  [ $((peak - least)) -le 51200 ] || fail "peak memory: found $((peak - least)) KiB more than to refuse a text, expected at most 50 MiB"
  [ "$used" -le 1000 ] || fail "processor time: found $used ms, expected at most 1000"
}

# A crop of 8192 x 8192 that no tensor backs: 262,144 patches.
crop() { # side
  model "crop_$1"
  printf '{"do_resize": true, "size": {"shortest_edge": %d}, "do_center_crop": true, "crop_size": {"height": %d, "width": %d}, "resample": 2}' "$1" "$1" "$1" >"$bad/crop_$1/preprocessor_config.json"
}
# The rollout of one query of 2,501 tokens (docs/limits.md): no more than two maps of a head, 50 MB, beyond a run without it. A sanitizer
# has memory of its own, and takes a minute.
if [ "$figures" = yes ] && [ -z "${HEED_TEST_SANITIZED:-}" ]; then
  test_begin memory_of_a_rollout
  measured run --size 800,800 --backend cpu --threads 2 --quiet --maps maps.png
  expect_exit 0
  without=$peak
  measured run --size 800,800 --backend cpu --threads 2 --quiet --rollout rollout.png
  expect_exit 0
  expect_file rollout.png
  [ $((peak - without)) -le $((2 * 2501 * 2501 * 4 / 1024)) ] ||
    fail "peak memory: found $((peak - without)) KiB more than without a rollout, expected at most two maps of $((2501 * 2501 * 4 / 1024)) KiB"
  # with every map once: 5 layers x 4 heads
  measured run --size 800,800 --backend cpu --threads 2 --quiet --save out.safetensors
  expect_exit 0
  [ $((peak - without)) -le $((30 * 2501 * 2501 * 4 / 1024)) ] ||
    fail "peak memory: found $((peak - without)) KiB more than without kept maps, expected at most 30 maps of $((2501 * 2501 * 4 / 1024)) KiB"
  test_end
fi

test_begin patches_of_a_bomb
crop 8192
measured run "$bad/crop_8192" "$picture" --backend cpu --quiet --json out.json
expect_refused_cheaply "preprocessor_config.json: images too large (found 8192 x 8192 pixels, 262144 patches, expected at most 65536, or more where --size asks for it)"
test_end
bad_input patches_in_compare "images too large" compare "$bad/crop_8192" "$bad/crop_8192" "$picture" --backend cpu --quiet

# 64 patches, and 81.
test_begin patches
crop 128
crop 144
heed run "$bad/crop_128" "$picture" --backend cpu --quiet --most-patches 64
expect_exit 0
expect_stdout_contains "65 tokens"
heed run "$bad/crop_128" "$picture" --backend cpu --quiet --most-patches 63
expect_exit 3
expect_one_sentence run "found 128 x 128 pixels, 64 patches, expected at most 63"
heed run "$bad/crop_144" "$picture" --backend cpu --quiet --most-patches 64 --size 144,144
expect_exit 0
expect_stdout_contains "82 tokens"
test_end

test_begin images
for count in 3 4; do
  awk -v path="$picture" -v count=$count 'BEGIN { for (i = 0; i < count; i++) print path }' >"$bad/list_$count"
done
heed run "$micro" --list "$bad/list_3" --backend cpu --quiet --most-images 3
expect_exit 0
heed run "$micro" --list "$bad/list_4" --backend cpu --quiet --most-images 3
expect_exit 3
expect_one_sentence run "images: too many in one run (found more than 3, expected at most that; --most-images N takes more)"
heed run "$micro" "$picture" --list "$bad/list_3" --backend cpu --quiet --most-images 3
expect_exit 3
expect_stdout_empty
test_end

# The default: 100,000, of which the first is bad, so that nothing else is tried.
test_begin images_by_default
awk 'BEGIN { for (i = 0; i < 100001; i++) print "no-such-picture.png" }' >"$bad/list"
measured run "$micro" --list "$bad/list" --backend cpu --quiet
expect_refused_cheaply "images: too many in one run (found more than 100000,"
head -n 100000 "$bad/list" >"$bad/list_at"
measured run "$micro/no-such-model" --list "$bad/list_at" --backend cpu --quiet
expect_exit 3
expect_stderr_contains "no-such-model"
test_end

# Images: rgb.png has 640 x 427 pixels in 561,700 bytes. A progressive JPEG is in test_image_bombs, which has the defaults too.
test_begin image_options
for pair in most-pixels:273280 most-side:640 most-bytes:561700; do
  option=${pair%:*} most=${pair#*:}
  heed run "$micro" "$picture" --backend cpu --quiet "--$option" "$most"
  expect_exit 0
  measured run "$micro" "$picture" --backend cpu --quiet "--$option" $((most - 1))
  expect_refused_cheaply "too large (found"
done
heed compare "$micro" "$micro" "$picture" --quiet --most-pixels 273279
expect_exit 3
expect_one_sentence compare "image too large (found 640 x 427 pixels, expected at most 273279 in all"
heed run "$vectors/vit/clip_text" "$picture" --text cat --backend cpu --quiet --most-side 639
expect_exit 3
expect_one_sentence run "image too large"
test_end

# 512 files of a folder: config.json, and weights of which one file has any.
test_begin files_of_a_folder
model folder
number=$(find "$bad/folder" -name '*.safetensors' -o -name config.json -o -name preprocessor_config.json | wc -l)
while [ "$number" -lt 512 ]; do
  number=$((number + 1))
  printf '\002\0\0\0\0\0\0\0{}' >"$bad/folder/more_$number.safetensors"
done
heed inspect "$bad/folder"
expect_exit 0
printf '\002\0\0\0\0\0\0\0{}' >"$bad/folder/more_513.safetensors"
measured inspect "$bad/folder"
expect_exit 3
expect_one_sentence inspect "too many model files (found more than 512)"
heed inspect "$bad/folder/model.safetensors" # with what it needs beside it
expect_exit 0
test_end

# A side of --size, and how often --text is given. The plan of 65,536 patches of 32 pixels is as far as it goes.
test_begin size
heed inspect "$micro" --plan --size 8192,16
expect_exit 0
heed inspect "$micro" --plan --size 8208,16
expect_exit 2
expect_stderr_contains "8192"
test_end

test_begin texts
words=$(repeat '--text a ' 256)
# shellcheck disable=SC2086 # words
heed run "$vectors/vit/clip_text" "$picture" $words --backend cpu --quiet
expect_exit 0
# shellcheck disable=SC2086 # words
heed run "$vectors/vit/clip_text" "$picture" $words --text b --backend cpu --quiet
expect_exit 2
expect_stderr_contains "256"
test_end

# Maps of 65,536 tokens take 17 GB: a hole here, and of the memory nothing is there. A sanitizer maps more than that for itself.
if [ -z "${HEED_TEST_SANITIZED:-}" ]; then
  test_begin tokens_of_saved_maps
  for tokens in 65536 65537; do
    python3 - "$bad/maps_$tokens.safetensors" $tokens <<'PYTHON'
import json, struct, sys
tokens = int(sys.argv[2])
size = 4 * tokens * tokens
header = json.dumps({"attention.0": {"dtype": "F32", "shape": [1, tokens, tokens], "data_offsets": [0, size]}}).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header)
    file.truncate(file.tell() + size)
PYTHON
  done
  all=$program
  printf '#!/bin/sh\nulimit -v 4194304\nexec "%s" "$@"\n' "$all" >"$bad/little"
  chmod +x "$bad/little"
  program=$bad/little
  heed maps "$bad/maps_65536.safetensors"
  expect_exit 4
  expect_one_sentence maps "out of memory (requested 17179869184 bytes)"
  program=$all
  heed maps "$bad/maps_65537.safetensors"
  expect_exit 3
  expect_one_sentence maps "invalid tensor attention.0 (found F32 [1, 65537, 65537]"
  rm "$bad"/maps_*
  test_end
fi

# A scene has a thousand bytes; the file may have 2^20.
test_begin scene
printf '{"objects": [{"shape": "star", "colour": "red", "x": 60, "y": 60, "radius": 30}]}' >"$bad/short.json"
spaces=$((1048576 - $(wc -c <"$bad/short.json")))
{ cat "$bad/short.json"; head -c "$spaces" /dev/zero | tr '\0' ' '; } >"$bad/scene.json"
heed run --scene "$bad/scene.json" --backend cpu --quiet
expect_exit 0
printf ' ' >>"$bad/scene.json"
measured run --scene "$bad/scene.json" --backend cpu --quiet
expect_refused_cheaply "file too large (found 1048577 bytes, expected at most 1048576)"
test_end

tests_end
