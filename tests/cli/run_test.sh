#!/bin/sh
# What heed run and heed eval write when all is well.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png

test_begin run_prints_the_best_classes
heed run "$micro" "$picture" --backend cpu --quiet --top 2
expect_exit 0
[ "$(grep -c "class [0-4] (" "$out")" -eq 2 ] || fail "stdout: expected 2 classes"
expect_stderr_empty
expect_nothing_written
test_end

expect_first_line() { [ "$(head -n 1 "$out" | sed 's/, on cpu, [0-9.]* ms$//')" = "$1" ] || fail "stdout: found \"$(head -n 1 "$out")\", expected \"$1\""; }
drawn_only="the demo model knows generated scenes of ten shapes only (heed demo shows one): its predictions for other images are meaningless"

# Model and picture stand on the first line.
test_begin run_names_model_and_picture
heed run "$micro" "$picture" --backend cpu --quiet
expect_exit 0
expect_first_line "$picture: 640 x 427 pixels; model $micro: vit, 2 layers x 4 heads, 5 tokens"
grep -q "demo" "$out" && fail "stdout speaks of the demo model"
heed run "$micro" --backend cpu --quiet
expect_exit 0
expect_first_line "the built-in image exact_224.png: 224 x 224 pixels; model $micro: vit, 2 layers x 4 heads, 5 tokens"
heed run --help
expect_stdout_contains "the built-in exact_224.png"
test_end

# The demo model says what it knows, once, of pictures that are not its own scenes.
test_begin the_demo_model_says_what_it_knows
heed run "$picture" "$vectors/preprocess/exact_224.png" --backend cpu --quiet --json out.json
expect_exit 0
expect_stderr_empty
expect_first_line "$picture: 640 x 427 pixels; the demo model: vit, 5 layers x 4 heads, 197 tokens"
[ "$(sed -n 2p "$out")" = "$drawn_only" ] || fail "stdout: the second line is \"$(sed -n 2p "$out")\""
[ "$(grep -c "$drawn_only" "$out")" -eq 1 ] || fail "stdout: said more than once"
grep -q "drawn" "$here/out.json" && fail "out.json has more in it than before"
for words in "" "--scene 7"; do
  # shellcheck disable=SC2086 # words
  heed run $words --backend cpu --quiet
  expect_exit 0
  grep -q "$drawn_only" "$out" && fail "said of a scene"
done
test_end

test_begin run_writes_what_is_asked_for
heed run "$micro" "$picture" --backend cpu --quiet --layer all --maps maps.png --rollout rollout.png --json out.json --save out.safetensors
expect_exit 0
for file in maps.png rollout.png out.json out.safetensors; do
  expect_file $file
  expect_stdout_contains ": $file"
done
[ "$(find "$here" -type f | wc -l)" -eq 4 ] || fail "files: found $(ls -A "$here"), expected the four asked for"
for file in maps.png rollout.png; do
  [ "$(head -c 4 "$here/$file" | tail -c 3)" = PNG ] || fail "$file is no PNG"
done
grep -q 'attention\.1' "$here/out.safetensors" || fail "out.safetensors: no attention.1"
test_end

test_begin run_draws_png_svg_and_pdf
heed run "$micro" "$picture" --backend cpu --quiet --layer all --ablate 0.1 --width 85 --maps maps.svg --rollout rollout.pdf
expect_exit 0
grep -q '^<?xml' "$here/maps.svg" || fail "maps.svg is no SVG"
grep -q 'width="85.00mm"' "$here/maps.svg" || fail "maps.svg is not 85 mm wide"
for text in 'layer</text>' '>head</text>' '>query: CLS</text>' 'micro_32 (vit, 2 layers, 4 heads, 5 tokens); prediction: ' 'changed: --ablate 0.1' \
  '<title>rgb.png: attention from CLS, layers 0 to 1, 4 heads</title>' '; on cpu; heed '; do
  grep -qF -- "$text" "$here/maps.svg" || fail "maps.svg does not say $text"
done
[ "$(head -c 4 "$here/rollout.pdf")" = %PDF ] || fail "rollout.pdf is no PDF"
grep -aq '/Title (rgb.png: attention rollout from CLS' "$here/rollout.pdf" || fail "rollout.pdf has no title"
if command -v pdftotext >/dev/null; then
  pdftotext "$here/rollout.pdf" "$bad/rollout.txt"
  grep -q 'query: CLS' "$bad/rollout.txt" || fail "rollout.pdf: found no text in it"
fi
test_end

test_begin run_refuses_figures_before_it_runs
heed run "$micro" "$picture" --backend cpu --quiet --maps maps.jpg
expect_exit 2
expect_one_sentence run 'maps.jpg: unknown format of a figure (found ".jpg", expected .png, .svg or .pdf)'
expect_stdout_empty
heed run "$micro" "$picture" --backend cpu --quiet --maps maps.png --width 5
expect_exit 2
expect_one_sentence run '--width: width out of range (found 5, expected 60 to 1000 millimetres)'
expect_nothing_written
test_end

if [ $figures = no ]; then
  test_begin run_without_cairo_says_so
  heed run "$micro" "$picture" --backend cpu --quiet --maps maps.png
  lacking=''
  expect_exit 3
  expect_one_sentence run 'maps.png: this build of heed draws no figures (found no cairo'
  expect_stdout_empty
  expect_nothing_written
  test_end
fi

test_begin run_draws_on_the_scale_that_is_asked_for
for scale in auto uniform share log own; do
  heed run "$micro" "$picture" --backend cpu --quiet --layer all --scale $scale --maps $scale.png
  expect_exit 0
done
cmp -s "$here/auto.png" "$here/uniform.png" || fail "no head stands out here: expected the picture of auto to be that of uniform"
for scale in share log own; do
  cmp -s "$here/auto.png" "$here/$scale.png" && fail "$scale.png: found the picture of auto, expected another"
done
test_end

test_begin run_ends_the_scale_where_that_is_asked_for
for end in 2 4; do
  heed run "$micro" "$picture" --backend cpu --quiet --layer all --end $end --maps $end.svg
  expect_exit 0
  grep -q "The scale's end was given." "$here/$end.svg" || fail "$end.svg: no word about its end"
  grep -q ">$end</text>" "$here/$end.svg" || fail "$end.svg: no bar that ends at $end"
done
heed run "$micro" "$picture" --backend cpu --quiet --layer all --end 1 --maps 1.svg
grep -q '>≥ 1</text>' "$here/1.svg" || fail "1.svg: no bar that ends at 1, with more beyond it"
test_end

test_begin run_prints_at_most_1000_classes
heed run "$micro" "$picture" --backend cpu --quiet --top 1000
expect_exit 0
heed run "$micro" "$picture" --backend cpu --quiet --top 1001
expect_exit 2
expect_stderr_contains "--top: out of range (found 1001, expected 0 to 1000)"
test_end

test_begin run_says_that_a_softmax_is_not_meant
cp -r "$micro" "$here/labels" && sed -i 's/"qkv_bias"/"problem_type": "multi_label_classification", "qkv_bias"/' "$here/labels/config.json"
heed run labels "$picture" --backend cpu --quiet --json out.json
expect_exit 0
expect_stdout_contains "a softmax over the classes, not multi_label_classification"
grep -q '"assumed": ".*not multi_label_classification"' "$here/out.json" || fail "out.json: no such assumed"
test_end

test_begin run_says_that_heads_are_a_guess
heed run "$vectors/vit/small_224/model.safetensors" "$picture" --backend cpu --quiet
expect_exit 0
expect_stderr_empty
cp "$vectors/vit/small_224/model.safetensors" "$here/alone.safetensors"
heed run alone.safetensors "$picture" --backend cpu --quiet
expect_exit 0
expect_stderr_contains "alone.safetensors: no config.json; assumed: 1 heads (a guess: width 64 / 64)"
expect_stdout_contains "assumed: 1 heads (a guess: width 64 / 64)"
heed inspect alone.safetensors
expect_stdout_contains "assumed: 1 heads (a guess: width 64 / 64)"
heed inspect "$micro"
expect_stdout_contains "rules: classifier on CLS, gelu, epsilon 1e-12, positions bicubic"
grep -q "^assumed: .*heads" "$out" && fail "stdout: heads are assumed, expected those of config.json"
# facebookresearch's DINOv2 has 64 channels per head in every size
heed inspect "$vectors/vit/dinov2_original"
expect_stdout_contains "assumed: preprocessing of Dinov2"
grep -q "^assumed: .*heads" "$out" && fail "stdout: heads are assumed, expected 64 channels each"
test_end

# The last bytes of the file are the classifier: numbers whose sums no F32 holds. Nothing is ranked.
test_begin run_ranks_nothing_that_is_not_a_number
cp -r "$micro" "$here/huge"
printf '\177%.0s' $(seq 660) | dd of="$here/huge/model.safetensors" bs=1 seek=$(($(wc -c <"$here/huge/model.safetensors") - 660)) conv=notrunc 2>/dev/null
heed run huge "$picture" --backend cpu --quiet --json out.json
expect_exit 3
expect_stderr_contains "the logits are not numbers (found NaN or an infinity): nothing is ranked"
expect_stdout_empty
test_end

test_begin run_says_whose_preprocessing_it_takes
heed run "$micro" "$picture" --backend cpu --quiet --json out.json
expect_exit 0
expect_stderr_empty
expect_stdout_contains "assumed: preprocessing of ViT"
grep -q '"assumed": "preprocessing of ViT (mean 0.5; std 0.5; ' "$here/out.json" || fail "out.json: no such assumed"
cp -r "$micro" "$here/prepared" && echo '{}' >"$here/prepared/preprocessor_config.json"
heed run prepared "$picture" --backend cpu --quiet
expect_exit 0
grep -q "^assumed" "$out" && fail "stdout: something is assumed, expected nothing"
test_end

# The map of each head is a row of weights; with --query a layer of tokens is shown as ever.
test_begin run_shows_the_pooling_attention
heed run "$vectors/vit/siglip" "$picture" --backend cpu --quiet --json pool.json --maps maps.png --rollout rollout.png
expect_exit 0
expect_stdout_contains "attention of the probe:"
expect_stdout_contains "  pool head 3: entropy"
expect_file maps.png
expect_file rollout.png
python3 - "$here/pool.json" <<'PYTHON' || fail "pool.json: other maps than of 4 heads and 25 tokens"
import json, sys
result = json.load(open(sys.argv[1]))["results"][0]
assert len(result["pool"]) == 4
rows = [head["row"] for head in result["pool"]] + [result["pool_rollout"]]
assert all(len(row) == 25 and abs(sum(row) - 1) < 1e-4 for row in rows)
PYTHON
heed run "$vectors/vit/pe_core" "$picture" --backend cpu --quiet --layer pool --head 7
expect_stdout_contains "  pool head 7: entropy"
heed run "$vectors/vit/siglip" "$picture" --backend cpu --quiet --layer 1 --query 1,1
expect_stdout_contains "  layer 1 head 0: entropy"
heed run "$micro" "$picture" --backend cpu --quiet --layer pool
expect_exit 2
expect_stderr_contains "this model has no pooling attention"
heed eval "$vectors/vit/siglip" "$vectors/vit/siglip/io.safetensors" -o out.safetensors --backend cpu --quiet --taps all
expect_exit 0
test_end

test_begin run_fits_the_whole_picture
heed run "$micro" "$picture" --backend cpu --quiet --fit whole --json whole.json --maps maps.png
expect_exit 0
# 640 x 427 in a square of 32: 32 x 21 pixels of it, 6 rows above and 5 below
grep -q '"seen": {"x": 0, "y": -122, "width": 640, "height": 650\.66[0-9]*}, "fit": "whole"' "$here/whole.json" || fail "whole.json: another region"
expect_file maps.png
heed run "$micro" "$picture" --backend cpu --quiet --fit model --json model.json
grep -q '"fit"' "$here/model.json" && fail "model.json: a fit that was not asked for"
test_end

test_begin inspect_tells_what_tensors_are_for
heed inspect "$micro"
expect_exit 0
expect_stdout_contains "= encoder.layer.1.layernorm_before.weight"
expect_stdout_contains "optional tensors not in the file: "
test_end

test_begin inspect_tells_how_positions_are_resized
heed inspect "$vectors/vit/hf_dinov2"
expect_exit 0
grep -q "^positions resized: bicubic$" "$out" || fail "stdout: another rule"
heed inspect "$vectors/vit/hf_dinov2_registers"
expect_stdout_contains "positions resized: bicubic, antialiased"
heed inspect "$vectors/vit/dinov2_original"
expect_stdout_contains "positions resized: bicubic, with 0.1 patches added"
test_end

# What was saved says the same again.
test_begin maps_of_a_saved_file
heed run "$micro" "$picture" --backend cpu --quiet --layer all --save saved.safetensors
grep 'layer 1 head' "$out" >"$here/before"
cp "$here/saved.safetensors" "$here/before" "$bad"
heed maps "$bad/saved.safetensors" --layer 1 --maps maps.png --rollout rollout.png
expect_exit 0
grep 'layer 1 head' "$out" | cmp -s - "$bad/before" || fail "other lines than heed run printed"
for file in maps.png rollout.png; do expect_file $file; done
heed maps "$bad/saved.safetensors" --layer all --head mean --query 0,1
expect_exit 0
expect_stdout_contains "attention of patch (0, 1)"
heed run "$micro" "$picture" --backend cpu --quiet --query 1,0 --json run.json
cp "$here/run.json" "$bad"
heed maps "$bad/saved.safetensors" --query 1,0 --json maps.json
expect_exit 0
expect_file maps.json
tail -n +2 "$here/maps.json" >"$bad/maps.tail" # every head but the first, and the rollout
tail -n +2 "$bad/run.json" | cmp -s - "$bad/maps.tail" || fail "other numbers than heed run --json wrote"
[ -s "$bad/maps.tail" ] || fail "no numbers"
test_end

test_begin maps_refuses_what_holds_none
heed maps "$micro/model.safetensors"
expect_exit 3
expect_stderr_contains "missing tensor attention.0"
heed maps "$bad/saved.safetensors" --layer 9
expect_exit 2
head -c 2000 "$bad/saved.safetensors" >"$bad/cut.safetensors"
heed maps "$bad/cut.safetensors"
expect_exit 3
heed maps
expect_exit 2
test_end

# A picture may come through a pipe: the user names it, and somebody writes to it.
test_begin picture_from_a_pipe
if mkfifo "$bad/picture"; then
  cat "$picture" >"$bad/picture" &
  heed run "$micro" "$bad/picture" --backend cpu --quiet
  wait
  expect_exit 0
  expect_stdout_contains "picture: 640 x 427 pixels"
fi
test_end

test_begin run_without_a_model_uses_the_embedded_one
heed run --backend cpu
expect_exit 0
expect_stdout_contains "twins: "
expect_stderr_contains "heed: cpu"
test_end

# The rollout alone: the maps that it is made of are not kept.
test_begin eval_taps_rollout
heed eval "$micro" "$micro/io.safetensors" -o all.safetensors --backend cpu --quiet
tail -c 100 "$here/all.safetensors" >"$bad/rollout"
heed eval "$micro" "$micro/io.safetensors" -o out.safetensors --taps rollout --backend cpu --quiet
expect_exit 0
grep -q '"rollout"' "$here/out.safetensors" || fail "out.safetensors: no rollout"
grep -q '"attention\.' "$here/out.safetensors" && fail "out.safetensors: maps that were not asked for"
tail -c 100 "$here/out.safetensors" | cmp -s - "$bad/rollout" || fail "out.safetensors: another rollout"
heed eval "$micro" "$micro/io.safetensors" -o some.safetensors --taps attention.1,rollout --backend cpu --quiet
expect_exit 0
grep -q '"attention\.1"' "$here/some.safetensors" || fail "some.safetensors: no attention.1"
grep -q '"attention\.0"' "$here/some.safetensors" && fail "some.safetensors: maps that were not asked for"
tail -c 100 "$here/some.safetensors" | cmp -s - "$bad/rollout" || fail "some.safetensors: another rollout"
test_end

# The same bits for any number of threads.
for threads in 1 2 3; do
  test_begin "eval_with_${threads}_threads"
  heed eval "$micro" "$micro/io.safetensors" -o out.safetensors --backend cpu --threads $threads --quiet
  expect_exit 0
  expect_file out.safetensors
  [ -e "$bad/first.safetensors" ] || cp "$here/out.safetensors" "$bad/first.safetensors"
  cmp -s "$here/out.safetensors" "$bad/first.safetensors" || fail "out.safetensors differs from that of 1 thread"
  test_end
done

# Bare panels: a page of words has its own.
test_begin plain_figures
heed run --scene 159 --backend cpu --quiet --maps words.svg --rollout rollout.svg
grep -q '<text' "$here/words.svg" || fail 'a figure has words'
heed run --scene 159 --backend cpu --quiet --plain --maps plain.svg --rollout rollout.svg
expect_exit 0
for file in plain.svg rollout.svg; do
  expect_file "$file"
  ! grep -q '<text' "$here/$file" || fail "$file has words"
  grep -q '<title>' "$here/$file" || fail "$file has no title in its metadata"
done
test_end

tests_end
