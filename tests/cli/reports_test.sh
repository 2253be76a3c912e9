#!/bin/sh
# What people reported of other programs of the field, tried on heed: each input once gave a wrong answer or a wrong sentence.
# tests/vectors/reports/<case> has it, with values of independent implementations; README.md there says what each is.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

reports=$vectors/reports
near=$(dirname "$0")/near.mjs
command -v node >/dev/null 2>&1 || { echo "skipped: no node here, which compares the values"; exit 77; }

expect_near() { # file, expected, tolerance
  node "$near" "$here/$1" "$2" "$3" >"$bad/near" || fail "$1: $(cat "$bad/near")"
}

# The same values as an independent implementation's, by eval or run.
evaluates() { # name, model, inputs, expected, tolerance, options...
  test_begin "$1"
  model=$2 inputs=$3 expected=$4 tolerance=$5
  shift 5
  heed eval "$model" "$inputs" -o out.safetensors --backend cpu "$@"
  expect_exit 0
  expect_near out.safetensors "$expected" "$tolerance"
}
runs() { # name, model, picture, expected, tolerance
  test_begin "$1"
  heed run "$2" "$3" --save out.safetensors --json out.json --backend cpu
  expect_exit 0
  expect_near out.safetensors "$4" "$5"
}

# Families and containers.
evaluates deit3_original "$reports/deit3_original/deit_3_small_patch4_16.pth" "$reports/deit3_original/in.safetensors" \
  "$reports/deit3_original/expected.safetensors" 2e-5
! grep -q "RoPE-ViT's rules" "$err" || fail "taken as RoPE-ViT"
test_end
evaluates dinov2_block_chunks "$reports/dinov2_block_chunks/teacher_checkpoint.pth" "$reports/dinov2_block_chunks/in.safetensors" \
  "$reports/dinov2_block_chunks/expected.safetensors" 2e-5
test_end
test_begin negated_view
heed eval "$reports/negated_view/neg.pth" "$reports/negated_view/in.safetensors" -o out.safetensors --backend cpu
if [ "$status" -eq 0 ]; then
  expect_near out.safetensors "$reports/negated_view/expected.safetensors" 2e-5
else
  expect_exit 3
  expect_one_sentence eval neg
fi
test_end
bad_input sparse 'sparse' inspect "$reports/sparse_in_pth/sparse.pth"
test_begin sparse_is_no_attack
heed inspect "$reports/sparse_in_pth/sparse.pth"
! grep -q 'unsafe' "$err" || fail "a sparse tensor is called unsafe"
test_end
test_begin timm_training_checkpoint
heed inspect "$reports/timm_training_checkpoint/last.pth"
expect_exit 0
expect_stderr_contains state_dict_ema
expect_stderr_contains --weights-key
test_end

# A model by whatever name is never a picture, and the built-in model never answers for it.
test_begin pth_tar
heed run "$reports/pth_tar/vit-s-300ep.pth.tar" "$reports/noise.png" --json out.json --backend cpu
expect_exit 0
expect_stdout_contains vit-s-300ep
! grep -q 'hourglass\|demo' "$out" || fail "the built-in model answers"
test_end
for verb in inspect bench; do
  test_begin "pth_tar_$verb"
  heed $verb "$reports/pth_tar/vit-s-300ep.pth.tar"
  expect_exit 0
  test_end
done
mkdir "$bad/folder"
cp "$reports/pth_tar/vit-s-300ep.pth.tar" "$bad/folder"
test_begin pth_tar_folder
heed inspect "$bad/folder"
expect_exit 0
test_end

# Words of the configuration.
test_begin classifier_of_another_name
heed run "$reports/classifier_of_another_name" "$reports/noise.png" --backend cpu
expect_exit 0
expect_stdout_contains "label 4 (class 4, logit 2.6728)" # classifier.1 of the state before it, by NumPy
test_end
test_begin labels_that_are_numbers
heed run "$reports/labels_that_are_numbers" "$reports/noise.png" --backend cpu --json out.json
expect_exit 0
expect_file out.json
test_end

# Pictures.
runs crop_rounding_timm "$reports/crop_rounding_timm" "$reports/noise.png" "$reports/crop_rounding_timm/expected.safetensors" 2e-5
test_end
runs processor_config_v5 "$reports/processor_config_v5" "$reports/noise.png" "$reports/processor_config_v5/expected.safetensors" 2e-5
! grep -q 'assumed: preprocessing' "$err" || fail "processor_config.json was not read"
test_end
for kind in OwlViT ChineseCLIP; do
  runs "processor_$kind" "$reports/processors_of_listed_families/${kind}ImageProcessor" "$reports/noise.png" \
    "$reports/processors_of_listed_families/expected.safetensors" 2e-5
  test_end
done
test_begin png_exif_in_text
heed run "$reports/processor_config_v5" "$reports/png_exif_in_text/raw-profile.png" --save turned.safetensors --backend cpu
expect_exit 0
expect_stdout_contains '37 x 53 pixels'
heed run "$reports/processor_config_v5" "$reports/png_exif_in_text/rotated.png" --save rotated.safetensors --backend cpu
expect_exit 0
expect_near turned.safetensors "$here/rotated.safetensors" 0
test_end
test_begin siglip2_lower_case
for text in "a cat" "A CAT"; do
  heed run "$reports/siglip2_lower_case" "$reports/png_exif_in_text/rotated.png" --text "$text" --text other --json out.json --backend cpu
  expect_exit 0
  node -e '
    const found = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"))
    console.log(JSON.stringify((found.results ? found.results[0] : found).texts.map((t) => [t.ids, t.logit, t.probability])))' "$here/out.json" >>"$bad/texts"
done
[ "$(sort -u "$bad/texts" | wc -l)" -eq 1 ] || fail "capitals change the ids: $(cat "$bad/texts")"
test_end

# ONNX.
evaluates onnx_external_data "$reports/onnx_external_data/dot.onnx" "$reports/onnx_external_data/in.safetensors" \
  "$reports/onnx_external_data/expected.safetensors" 2e-6
test_end
hub=$bad/hub
mkdir -p "$hub/blobs" "$hub/snapshots/abc"
cp "$reports/onnx_external_data/dot.onnx" "$hub/blobs/aaa"
cp "$reports/onnx_external_data/dot.onnx_data" "$hub/blobs/bbb"
ln -s ../../blobs/aaa "$hub/snapshots/abc/model.onnx"
ln -s ../../blobs/bbb "$hub/snapshots/abc/dot.onnx_data"
test_begin onnx_external_data_of_a_hub
heed eval "$hub/snapshots/abc/model.onnx" "$reports/onnx_external_data/in.safetensors" -o out.safetensors --backend cpu
if [ "$status" -eq 0 ]; then
  expect_near out.safetensors "$reports/onnx_external_data/expected.safetensors" 2e-6
else
  expect_exit 3
  expect_stderr_contains 'cp -rL'
fi
test_end
for way in graph reference; do
  evaluates "onnx_resize_opset10_$way" "$reports/onnx_resize_opset10/model.onnx" "$reports/onnx_resize_opset10/in.safetensors" \
    "$reports/onnx_resize_opset10/expected.safetensors" 1e-6 --way "$way"
  test_end
  evaluates "onnx_local_function_$way" "$reports/onnx_local_function/model.onnx" "$reports/onnx_local_function/in.safetensors" \
    "$reports/onnx_local_function/expected.safetensors" 2e-6 --way "$way"
  test_end
  evaluates "onnx_swin_$way" "$reports/onnx_swin/swin_like.onnx" "$reports/onnx_swin/in.safetensors" "$reports/onnx_swin/in.safetensors" 2e-5 --way "$way"
  test_end
done
# Maps of windows of 4 x 4, the second layer's shifted by 2, lie where their patches are: beside the windows of eval.
test_begin onnx_swin_maps
heed run "$reports/onnx_swin/swin_like.onnx" "$reports/picture.png" --save out.safetensors --backend cpu
expect_exit 0
heed eval "$reports/onnx_swin/swin_like.onnx" out.safetensors -o windows.safetensors --backend cpu
expect_exit 0
node -e '
  const { readFileSync } = require("fs")
  const read = (path, name) => {
    const bytes = readFileSync(path), length = Number(bytes.readBigUInt64LE(0))
    const [from, to] = JSON.parse(bytes.subarray(8, 8 + length))[name].data_offsets
    return Array.from({ length: (to - from) / 4 }, (_, i) => bytes.readFloatLE(8 + length + from + 4 * i))
  }
  for (const [layer, shift] of [[0, 0], [1, 2]]) {
    const map = read(process.argv[1], `attention.${layer}`), windows = read(process.argv[2], `attention.${layer}`)
    const place = (t) => {
      const y = ((t >> 3) - shift + 8) % 8, x = ((t & 7) - shift + 8) % 8
      return [(y >> 2) * 2 + (x >> 2), (y & 3) * 4 + (x & 3)]
    }
    for (let i = 0; i < 2 * 64 * 64; i++) {
      const [head, [a, q], [b, k]] = [i >> 12, place((i >> 6) & 63), place(i & 63)]
      const right = a === b ? windows[((a * 2 + head) * 16 + q) * 16 + k] : 0
      if (map.length !== 2 * 64 * 64 || Math.abs(map[i] - right) > 1e-6) {
        console.log(`layer ${layer}, weight ${i}: ${map[i]}, expected ${right}`)
        process.exit(1)
      }
    }
  }' "$here/out.safetensors" "$here/windows.safetensors" >"$bad/near" 2>&1 || fail "maps lie elsewhere: $(cat "$bad/near")"
test_end
test_begin onnx_windows
heed run "$reports/onnx_swin/windows_as_grid.onnx" "$reports/picture.png" --query 20,33 --backend cpu
expect_exit 0
expect_stdout_contains '3136 tokens'
expect_stdout_contains 'windows put where they lie'
heed run "$reports/onnx_swin/windows_as_grid.onnx" "$reports/picture.png" --hints stage=2 --backend cpu
expect_exit 3
expect_stderr_contains 'unknown stage (found 2, expected at most 1'
for change in '--ablate 0.0' '--drop 3,3'; do
  # shellcheck disable=SC2086 # an option and its value
  heed run "$reports/onnx_swin/swin_like.onnx" "$reports/picture.png" $change --json out.json --backend cpu
  expect_exit 3
  expect_stderr_contains 'attention over windows or merged keys takes no changes (expected attention to all patches in each layer)'
  [ ! -e "$here/out.json" ] || fail "$change: out.json is there"
done
test_end
runs onnx_attention_outputs "$reports/onnx_attention_outputs/model.onnx" "$reports/picture.png" "$reports/onnx_attention_outputs/expected.safetensors" 2e-5
test_end
runs onnx_uint8_input "$reports/onnx_uint8_input/model.onnx" "$reports/picture.png" "$reports/onnx_uint8_input/expected.safetensors" 2e-5
test_end
test_begin onnx_softmax_at_the_end
heed run "$reports/onnx_softmax_at_the_end/model.onnx" "$reports/picture.png" --save out.safetensors --json out.json --backend cpu
expect_exit 0
node -e '
  const { readFileSync } = require("fs")
  const bytes = readFileSync(process.argv[2]), length = Number(bytes.readBigUInt64LE(0))
  const at = 8 + length + JSON.parse(bytes.subarray(8, 8 + length)).logits.data_offsets[0]
  const right = Array.from({ length: 5 }, (_, i) => bytes.readFloatLE(at + 4 * i)).sort((a, b) => b - a)
  const found = JSON.parse(readFileSync(process.argv[1], "utf8"))
  const top = (found.results ? found.results[0] : found).top.map((one) => one.probability)
  if (!top.every((p, i) => Math.abs(p - right[i]) < 2e-5)) { console.log(`${top} for ${right}`); process.exit(1) }' \
  "$here/out.json" "$reports/onnx_softmax_at_the_end/expected.safetensors" >"$bad/near" 2>&1 || fail "other probabilities: $(cat "$bad/near")"
test_end
runs onnx_registers_last "$reports/onnx_registers_last/model.onnx" "$reports/picture.png" "$reports/onnx_registers_last/expected.safetensors" 2e-5
expect_stdout_contains "tokens in heed's order"
# The first layer's rows of CLS: in the graph's order CLS, 16 patches, 3 registers; in heed's the patches come last.
node -e '
  const { readFileSync } = require("fs")
  const bytes = readFileSync(process.argv[2]), length = Number(bytes.readBigUInt64LE(0))
  const at = 8 + length + JSON.parse(bytes.subarray(8, 8 + length))["attention.0"].data_offsets[0]
  const row = Array.from({ length: 20 }, (_, i) => bytes.readFloatLE(at + 4 * i))
  const right = [row[0], ...row.slice(17), ...row.slice(1, 17)]
  const { prefix_tokens, heads } = JSON.parse(readFileSync(process.argv[1], "utf8")).results[0]
  if (prefix_tokens !== 4 || !right.every((weight, i) => Math.abs(weight - heads[0].row[i]) < 2e-5)) process.exit(1)' \
  "$here/out.json" "$reports/onnx_registers_last/expected.safetensors" || fail "patches and registers are mixed up"
test_end

tests_end
