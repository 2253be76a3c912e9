#!/bin/sh
# heed run and heed eval on a model of layers in stages: a layer at a time, whose attention lies in windows.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

model=$vectors/vit/swin
picture=$vectors/preprocess/rgb.png

test_begin the_last_stage_is_shown
heed run "$model" "$picture" --backend cpu --quiet
expect_exit 0
expect_stdout_contains "model $model: swin, 4 layers x 4 heads, 9 tokens"
expect_stdout_contains "layer 3 head 3: entropy"
test_end

test_begin a_layer_has_its_own_grid
heed run "$model" "$picture" --backend cpu --quiet --layer 1 --query 5,5 --size 40,56 --json out.json --maps maps.svg --save out.safetensors
expect_exit 0
expect_stdout_contains "swin, 4 layers x 2 heads, 140 tokens"
expect_stdout_contains "layer 1 head 1: entropy"
for text in '"grid": [10, 14]' '"tokens": 140' '"layer": 1, "head": 0'; do grep -qF -- "$text" "$here/out.json" || fail "out.json does not say $text"; done
grep -q '"layer": 0' "$here/out.json" && fail "out.json has another layer"
grep -qF 'attention from patch (5, 5), layer 1, 2 heads' "$here/maps.svg" || fail "maps.svg does not name the patch"
if python3 -c '' 2>/dev/null; then
  # rolled by one, the windows of 3 x 3 patches begin at rows and columns 1, 4, 7 ...
  python3 - "$here/out.json" <<'P' || fail "the weights do not lie in the query's window"
import json, sys
for head in json.load(open(sys.argv[1]))["results"][0]["heads"]:
    row = head["row"]
    inside = [row[14 * y + x] for y in (4, 5, 6) for x in (4, 5, 6)]
    assert abs(sum(inside) - 1) < 1e-5 and abs(sum(row) - sum(inside)) < 1e-9 and min(inside) > 0
P
fi
test_end

test_begin sides_that_no_patch_divides
safetensors "$here/uneven.safetensors" '{"pixel_values":{"dtype":"F32","shape":[1,3,41,47],"data_offsets":[0,23124]}}' 23124
heed eval "$model" uneven.safetensors -o none.safetensors --backend cpu --quiet
expect_exit 2
expect_one_sentence eval "sides are not multiples of the patch (found height 41, width 47, expected multiples of 4 pixels)"
test_end

test_begin windows_as_tensors
heed eval "$model" "$model/io.safetensors" -o out.safetensors --backend cpu --quiet
expect_exit 0
head -c 2000 "$here/out.safetensors" | grep -qF '"attention.0":{"dtype":"F32","shape":[8,2,9,9]' || fail "out.safetensors has other maps"
head -c 2000 "$here/out.safetensors" | grep -q rollout && fail "out.safetensors has a rollout"
test_end

# SAM: layer 1 sees the whole picture, all others windows of 3 x 3 patches from its corner on
test_begin windows_that_do_not_shift
heed run "$vectors/vit/sam" "$picture" --backend cpu --quiet --layer 2 --query 4,3 --size 28,20 --json out.json --maps maps.svg
expect_exit 0
expect_stdout_contains "sam, 3 layers x 3 heads, 35 tokens"
if python3 -c '' 2>/dev/null; then
  python3 - "$here/out.json" <<'P' || fail "the weights do not lie in the query's window"
import json, sys
for head in json.load(open(sys.argv[1]))["results"][0]["heads"]:
    row = head["row"]
    inside = [row[5 * y + x] for y in (3, 4, 5) for x in (3, 4)]
    assert abs(sum(row) - sum(inside)) < 1e-9 and 0 < sum(inside) < 1 and min(inside) > 0  # zeros beyond the grid are keys
P
fi
test_end

test_begin a_layer_without_windows
heed run "$vectors/vit/sam" "$picture" --backend cpu --quiet --layer 1 --query 4,3 --size 28,20 --json out.json --save out.safetensors
expect_exit 0
expect_stdout_contains "layer 1 head 2: entropy"
if python3 -c '' 2>/dev/null; then
  python3 - "$here/out.json" <<'P' || fail "the weights are not those of all patches"
import json, sys
for head in json.load(open(sys.argv[1]))["results"][0]["heads"]:
    assert len(head["row"]) == 35 and abs(sum(head["row"]) - 1) < 1e-5 and min(head["row"]) > 0
P
fi
test_end

test_begin windows_that_a_config_has_otherwise
mkdir -p "$here/sam"
cp "$vectors/vit/sam/model.safetensors" "$here/sam/"
sed '/"global_attn_indexes"/,/]/c "global_attn_indexes": [1, 2],' "$vectors/vit/sam/config.json" >"$here/sam/config.json"
heed inspect sam
expect_exit 3
expect_one_sentence inspect "config.json: global_attn_indexes does not fit the weights (found layer 2 in it, expected it left out)"
test_end

for option in "--layer all" "--rollout r.png" "--explain pca --json o.json" "--score raw --json o.json" "--ablate 0.1"; do
  # shellcheck disable=SC2086 # words
  bad_input "stages_without_${option%% *}" "of a model with stages" run "$model" "$picture" --backend cpu --quiet $option
done
bad_input no_rollout "--taps: a model with stages has no rollout" eval "$model" "$model/io.safetensors" -o out.safetensors --taps rollout --backend cpu --quiet
bad_input no_survey "layers: a model with stages is not supported here (found 2 grids" survey "$model" "$picture" -o s.sqlite --backend cpu --quiet
bad_input no_names "names: those of layers in stages are not supported" inspect "$model" --names
allocations_fail stages eval "$vectors/vit/swinv2" "$vectors/vit/swinv2/io_small.safetensors" -o out.safetensors --backend cpu --threads 1 --quiet
allocations_fail relative eval "$vectors/vit/sam" "$vectors/vit/sam/io_small.safetensors" -o out.safetensors --backend cpu --threads 1 --quiet
allocations_fail layer run "$model" "$picture" --layer 1 --backend cpu --threads 1 --quiet
tests_end
