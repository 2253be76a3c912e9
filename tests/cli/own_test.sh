#!/bin/sh
# ViTs that people write themselves: --hints, --names FILE, and heed inspect --names.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

vit=$vectors/vit

states() { # folder, arguments...: eval's outputs of the folder's weights alone, out.safetensors
  of=$1
  shift
  cp "$vit/$of/model.safetensors" "$bad/alone.safetensors"
  rm -f "$bad/out.safetensors"
  heed eval "$bad/alone.safetensors" "$vit/$of/io.safetensors" -o "$bad/out.safetensors" "$@"
}

test_begin names_of_the_folder
heed eval "$vit/own_after" "$vit/own_after/io.safetensors" -o "$bad/kept.safetensors"
expect_exit 0
heed inspect "$vit/own_after" --names
expect_exit 0
cp "$out" "$bad/names.txt"
test_end

test_begin names_given
states own_after --names "$bad/names.txt"
expect_exit 0
cmp "$bad/kept.safetensors" "$bad/out.safetensors" || fail "the printed names open another model"
test_end

test_begin hints
states own_after --hints heads=3,norm=after,activation=relu,head_activation=tanh,pool=patches,channels=1
expect_exit 0
cmp "$bad/kept.safetensors" "$bad/out.safetensors" || fail "the hints open another model"
states own_after --names "$bad/names.txt" --hints norm=before
expect_exit 0
! cmp -s "$bad/kept.safetensors" "$bad/out.safetensors" || fail "a hint does not come before the names"
test_end

test_begin wrong_hints
states own_after
expect_exit 3
expect_stderr_contains 'cannot infer the number of heads (found width 24, expected a multiple of 64, config.json, or the hint heads=N (--hints'
states own_after --hints heads
expect_exit 2
expect_stderr_contains 'hints: invalid hint (found "heads", expected KEY=VALUE,KEY=VALUE, such as heads=4,norm=after)'
states own_after --hints heads=3,norm=after,activation=relu,head_activation=tanh,pool=patches,channels=1,stage=2
expect_exit 3
expect_stderr_contains 'stage is of ONNX graphs alone'
states own_after --hints haeds=3
expect_exit 3
expect_stderr_contains 'hints.json: unknown key (found haeds, expected a role, such as query, or one of family, prefix, heads'
states own_after --names missing.json
expect_exit 3
expect_stderr_contains missing.json
heed inspect --hints heads=3
expect_exit 2
expect_stderr_contains '--hints: the built-in model needs none (found "heads=3", expected a MODEL with it)'
test_end

# The same positions for another grid by each of the rules.
test_begin interpolation_grid
for grid in exact offset antialiased corners linear linear_corners cut smooth nearest; do
  heed eval "$vit/own_blocks" "$vit/own_blocks/io_wide.safetensors" -o "$bad/$grid.safetensors" --hints interpolation_grid=$grid
  expect_exit 0
  for other in exact offset antialiased corners linear; do
    [ "$other" != "$grid" ] || break
    ! cmp -s "$bad/$grid.safetensors" "$bad/$other.safetensors" || fail "$grid and $other resize alike"
  done
done
heed eval "$vit/own_blocks" "$vit/own_blocks/io_wide.safetensors" -o "$bad/out.safetensors"
cmp "$bad/exact.safetensors" "$bad/out.safetensors" || fail "the rule of the family is another"
heed run "$vit/own_blocks" "$vectors/preprocess/rgb.png" --backend cpu --quiet --size 24,16 --interpolation-grid offset --save "$bad/option.safetensors"
expect_exit 0
heed run "$vit/own_blocks" "$vectors/preprocess/rgb.png" --backend cpu --quiet --size 24,16 --hints heads=3,interpolation_grid=offset --save "$bad/hint.safetensors"
cmp "$bad/option.safetensors" "$bad/hint.safetensors" || fail "the option and the hint resize otherwise"
heed inspect "$vit/own_blocks" --hints interpolation_grid=offset
expect_stdout_contains "positions resized: bicubic, with 0.1 patches added to the size for the scale"
heed run "$vit/own_blocks" "$vectors/preprocess/rgb.png" --interpolation-grid cubic
expect_exit 3
expect_stderr_contains "hints.json: interpolation_grid is not supported (found cubic, expected exact, offset, antialiased, corners, linear, linear_corners, cut, smooth or nearest)"
test_end

test_begin no_vit_names_the_ways_out
printf '\110\0\0\0\0\0\0\0%-72s\0\0\0\0' '{"a.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' >"$bad/none.safetensors"
heed inspect "$bad/none.safetensors"
expect_exit 3
expect_stderr_contains '--names FILE, in JavaScript names, says what yours are called, and its ONNX export opens without names: torch.onnx.export(model, x, "m.onnx")'
test_end

tests_end
