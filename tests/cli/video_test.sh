#!/bin/sh
# heed run and heed eval on a model of videos: frames of a folder and of an animated picture.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

model=$vectors/vit/videomae
picture=$vectors/preprocess/rgb.png
mkdir "$bad/clip" "$bad/sizes"
number=0
for name in gray rgb palette_8 one_bit gray_alpha gray rgb; do # of one size
  cp "$vectors/image/$name.png" "$bad/clip/frame_$number.png"
  number=$((number + 1))
done
cp "$vectors/image/gray.png" "$picture" "$bad/sizes"
python=
python3 -c '' 2>/dev/null && python=1

test_begin a_folder_is_a_video
heed run "$model" "$bad/clip" --backend cpu --quiet --query 1,2,3 --layer all --json out.json --maps maps.svg --rollout rollout.png
expect_exit 0
expect_stdout_contains "$bad/clip: 13 x 9 pixels; model $model: videomae, 2 layers x 3 heads, 50 tokens"
expect_stdout_contains "frames: 4 of 7, in 2 time steps"
expect_stdout_contains "attention of patch (1, 2, 3):"
for text in '"grid": [5, 5]' '"time_steps": 2' '"frames": [0, 2, 4, 6]' '"query": "patch (1, 2, 3)", "query_token": 38' '"width": 13, "height": 9' '"size": [20, 20]'; do
  grep -qF -- "$text" "$here/out.json" || fail "out.json does not say $text"
done
grep -q '"distance"' "$here/out.json" && fail "a distance in pixels between frames"
grep -qF 'attention from patch (1, 2, 3), layers 0 to 1' "$here/maps.svg" || fail "maps.svg does not name the patch"
grep -qF '2 time steps side by side' "$here/maps.svg" || fail "maps.svg does not say what its picture is"
test_end

# What was saved gives the same numbers as tensors and as maps.
test_begin a_saved_video_runs_again
heed run "$model" "$bad/clip" --backend cpu --quiet --save out.safetensors
expect_exit 0
heed eval "$model" "$here/out.safetensors" -o again.safetensors --backend cpu --quiet
expect_exit 0
heed maps "$here/out.safetensors" --query 0,4,4 --maps maps.png
expect_exit 0
expect_stdout_contains "50 tokens = 2 x 5 x 5 patches and 0 prefix tokens"
expect_stdout_contains "attention of patch (0, 4, 4):"
for still in 0 2 4 6; do heed run "$model" "$bad/clip/frame_$still.png" --backend cpu --quiet --save "still_$still.safetensors"; done
[ -z "$python" ] || python3 - "$here" <<'P' || fail "a run of the saved frames has other numbers, or its frames are others"
import json, struct, sys
def read(name):
    data = open(sys.argv[1] + "/" + name + ".safetensors", "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    return {name: (at["shape"], data[8 + size + at["data_offsets"][0]:8 + size + at["data_offsets"][1]]) for name, at in head.items() if name != "__metadata__"}
def frame(pixels, i):
    return pixels[i * len(pixels) // 4:(i + 1) * len(pixels) // 4]
one, two = read("out"), read("again")
shape, pixels = one["pixel_values"]
assert shape == [1, 4, 3, 20, 20]
for name in ("logits", "attention.0", "attention.1", "rollout"):
    assert one[name] == two[name], name
for i in range(4):
    still = read("still_%d" % (2 * i))["pixel_values"][1]
    assert frame(pixels, i) == frame(still, 0) == frame(still, 3), i
assert frame(pixels, 0) != frame(pixels, 1)
P
test_end

test_begin an_animated_picture_is_a_video
if [ -n "$python" ] && "$program" version | grep -q WebP; then
  python3 - "$vectors/image/kinds.safetensors" "$bad/frames.webp" <<'P'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
at = json.loads(data[8:8 + size])["file.frames.webp"]["data_offsets"]
open(sys.argv[2], "wb").write(data[8 + size + at[0]:8 + size + at[1]])
P
  heed run "$model" "$bad/frames.webp" --backend cpu --quiet --json out.json
  expect_exit 0
  expect_stdout_contains "frames: 4 of 3, in 2 time steps"
  grep -qF '"frames": [0, 0, 1, 2]' "$here/out.json" || fail "out.json does not say which frames"
fi
test_end

# A wrong argument: exit code 2 and one sentence.
bad_argument() { # name, a part of the sentence, verb, arguments...
  test_begin "$1"
  part=$2
  shift 2
  heed "$@"
  expect_exit 2
  expect_one_sentence "$1" "$part"
  expect_nothing_written
  test_end
}

bad_input another_size "$bad/sizes: frames of different sizes (found 640 x 427 pixels, expected 13 x 9)" run "$model" "$bad/sizes" --backend cpu --quiet
bad_argument no_frames "frames: none (found no image, expected a folder of frames or an animated image)" run "$model" --backend cpu --quiet
for option in "--sheet s.png" "--explain pca --json o.json" "--fit whole" "--frame 1" "--ablate 0.1"; do
  # shellcheck disable=SC2086 # words
  bad_input "videos_without_${option%% *}" "not supported of videos" run "$model" "$bad/clip" --backend cpu --quiet $option
done
bad_argument a_time_too_late "--query: unknown token (found \"2,0,0\", expected TIME,ROW,COL up to 1,4,4)" run "$model" "$bad/clip" --query 2,0,0 --backend cpu --quiet
bad_argument a_place_without_time "--query: unknown token (found \"1,2\", expected TIME,ROW,COL up to 1,4,4)" run "$model" "$bad/clip" --query 1,2 --backend cpu --quiet
bad_input one_picture "images: one is no input of a model of videos (found a model of 4 frames" embed "$model" "$picture" -o out.npz --backend cpu --quiet
bad_input a_picture_as_tensor "pixel_values: wrong number of axes (found 4, expected 5: those of a video)" eval "$model" "$vectors/vit/hf_vit/io.safetensors" -o out.safetensors --backend cpu --quiet
bad_input a_video_for_pictures "pixel_values: wrong number of axes (found 5, expected 4)" eval "$vectors/vit/hf_vit" "$vectors/vit/videomae/io.safetensors" -o out.safetensors --backend cpu --quiet

allocations_fail video run "$model" "$bad/clip" --backend cpu --threads 1 --quiet
allocations_fail turned eval "$vectors/vit/vjepa2" "$vectors/vit/vjepa2/io_small.safetensors" -o out.safetensors --backend cpu --threads 1 --quiet
tests_end
