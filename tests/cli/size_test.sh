#!/bin/sh
# heed --size: pictures and grids of another size; tokens by name.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

model=$vectors/vit/dinov2_registers_classifier
picture=$vectors/preprocess/wide_900x31.png

test_begin size_of_a_rectangle
heed run "$model" "$picture" --backend cpu --quiet --size 12,60 --query "Register 2" --json out.json --maps maps.svg --rollout rollout.svg
expect_exit 0
expect_stdout_contains "size: 12 x 60 pixels (height x width), 3 x 15 patches"
expect_stdout_contains "attention of register 2:"
for text in '"grid": [3, 15]' '"size": [12, 60]' '"prefix": ["CLS", "register 1", "register 2", "register 3"]' '"query": "register 2", "query_token": 2' \
  '"seen": {"x": 372.413793, "y": 0, "width": 155.172414, "height": 31}'; do
  grep -qF -- "$text" "$here/out.json" || fail "out.json does not say $text"
done
grep -qF 'attention from register 2, layer 1' "$here/maps.svg" || fail "maps.svg does not name the token"
grep -qF 'attention rollout from register 2' "$here/rollout.svg" || fail "rollout.svg does not name the token"
heed run "$model" "$picture" --backend cpu --quiet --size 12,60 --save out.safetensors
# what was saved gives the same numbers as tensors and as maps
heed eval "$model" "$here/out.safetensors" -o again.safetensors --backend cpu
expect_exit 0
heed maps "$here/out.safetensors" --query "register 3" --json maps.json
expect_exit 0
expect_stdout_contains "49 tokens = 3 x 15 patches and 4 prefix tokens"
expect_stdout_contains "attention of register 3:"
test_end

test_begin size_of_the_model_is_as_without
for size in "" "--size 32,32"; do
  # shellcheck disable=SC2086 # words
  heed run "$vectors/vit/micro_32" "$vectors/preprocess/rgb.png" --backend cpu --quiet $size --save "save$size.safetensors"
  expect_exit 0
done
cmp "$here/save.safetensors" "$here/save--size 32,32.safetensors" || fail "the model's own size changed the numbers"
test_end

test_begin size_fits_the_whole
heed run "$model" "$picture" --backend cpu --quiet --size 16,24 --fit whole --json out.json
expect_exit 0
grep -qF '"grid": [4, 6]' "$here/out.json" || fail "out.json: expected a grid of 4 x 6"
grep -qF '"seen": {"x": 0,' "$here/out.json" || fail "out.json: expected the whole width"
test_end

test_begin size_of_plans_and_benches
heed inspect "$model" --size 24,36 --plan
expect_exit 0
expect_stdout_contains "[1, 54, 24]"
heed bench "$model" --size 24,36 --backend cpu --runs 1 --warmup 0 --quiet
expect_exit 0
expect_stdout_contains "size 24,36 batch 1 on cpu"
test_end

refused() { # name, sentence, words
  test_begin "size_$1"
  says=$2
  shift 2
  heed run "$@" --backend cpu --quiet
  expect_exit 2
  expect_stderr_contains "$says"
  expect_nothing_written
  test_end
}

refused not_a_multiple "size: sides are not multiples of the patch (found height 13, width 12, expected multiples of 4 pixels)" "$model" "$picture" --size 13,12
refused zero "sides are not multiples of the patch (found height 0" "$model" "$picture" --size 0,12
refused one_number "--size: invalid size (found \"12\", expected HEIGHT,WIDTH" "$model" "$picture" --size 12
refused too_large "--size: invalid size (found \"12,8196\", expected HEIGHT,WIDTH of at most 8192 pixels each)" "$model" "$picture" --size 12,8196
refused too_many_digits "--size: invalid size (found \"12345678901234567890,3\"" "$model" "$picture" --size 12345678901234567890,3
refused digits_to_the_brim "--size: invalid size (found \"0000000000000012,12\"" "$model" "$picture" --size 0000000000000012,12
refused no_number "--size: invalid size" "$model" "$picture" --size 12,x
refused unknown_register "--query: unknown token (found \"register 4\", expected CLS, register 1 to 3, twin or ROW,COL up to 55,55)" "$model" "$picture" --query "register 4"
refused no_cls "--query: unknown token (found \"cls\", expected twin or ROW,COL up to 4,4)" "$vectors/vit/ijepa" "$picture" --query cls
refused a_row_too_many "expected CLS, register 1 to 3, twin or ROW,COL up to 2,14)" "$model" "$picture" --size 12,60 --query 3,0

# Relative positions may be resized to any grid, as long as their bias fits.
test_begin size_of_a_bias_too_large
heed run "$vectors/vit/beit" "$picture" --backend cpu --quiet --size 396,388
expect_exit 3
expect_stderr_contains "build: the position bias is too large (found 2213683584 bytes for 99 x 97 patches, expected at most 2147483648)"
expect_nothing_written
test_end

# Positions that are not of a square grid are of no size at all.
test_begin size_of_positions_that_are_not_square
model micro_32
sed 's/"image_size": *32/"image_size": [32, 48]/' "$vectors/vit/micro_32/config.json" >"$bad/micro_32/config.json"
heed run "$bad/micro_32" "$picture" --backend cpu --quiet --size 32,48
expect_exit 3
expect_stderr_contains "config.json: image_size is not supported (found 32 x 48, expected a square)"
expect_nothing_written
test_end

test_begin query_of_a_model_without_cls
heed run "$vectors/vit/ijepa" "$picture" --backend cpu --quiet
expect_exit 0
expect_stdout_contains "attention of patch (2, 2):"
heed run "$vectors/vit/hf_deit_distilled" "$picture" --backend cpu --quiet --query dist
expect_exit 0
expect_stdout_contains "attention of distillation:"
expect_stdout_contains ", CLS and distillation "
test_end

tests_end
