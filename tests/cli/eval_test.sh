#!/bin/sh
# heed eval: which values are saved, of one tower or of two, and a sentence for input that is none.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
input=$micro/io.safetensors
clip=$vectors/vit/clip_text

taps() { # --taps, names
  test_begin "taps_$1"
  heed eval "$micro" "$input" -o out.safetensors --taps "$1" --backend cpu --quiet
  expect_exit 0
  expect_stderr_empty
  found=$(saved out.safetensors)
  [ "$found" = "$2" ] || fail "found $found, expected $2"
  test_end
}
taps none 'last_hidden_state logits'
taps all 'attention.0 attention.1 last_hidden_state logits rollout'
taps rollout 'last_hidden_state logits rollout'
taps attention.1 'attention.1 last_hidden_state logits'
taps layer.1.attention.weights 'attention.1 last_hidden_state logits'
taps attention.0,attention.1,rollout 'attention.0 attention.1 last_hidden_state logits rollout'
taps layer.0.output 'last_hidden_state layer.0.output logits'
taps logits 'last_hidden_state logits'
taps attention.0,attention.0,layer.0.attention.weights,logits 'attention.0 last_hidden_state logits'

wrong_taps() { # --taps, a part of the sentence
  test_begin "no_taps_$1"
  heed eval "$micro" "$input" -o out.safetensors --taps "$1" --backend cpu --quiet
  expect_exit 2
  expect_one_sentence eval "$2"
  expect_nothing_written
  test_end
}
for list in '' ',' 'attention.0,' ',rollout' 'attention.0,,rollout'; do
  wrong_taps "$list" "--taps: empty name (found \"$list\", expected all, none or NAME,...)"
done
wrong_taps attention.2 attention
wrong_taps nothing nothing
wrong_taps no.such.value no.such.value

# A layer that pools has attention too.
test_begin taps_of_a_pool
heed eval "$vectors/vit/timm_map" "$vectors/vit/timm_map/io.safetensors" -o out.safetensors --backend cpu --quiet
expect_exit 0
case $(saved out.safetensors) in *pool.attention.weights*) ;; *) fail "found $(saved out.safetensors)" ;; esac
test_end

# --------------------------------------------------------------------------------------------------------------------- inputs

pixels() { # name, a part of the sentence, dtype, shape, bytes
  safetensors "$bad/$1" "{\"pixel_values\":{\"dtype\":\"$3\",\"shape\":[$4],\"data_offsets\":[0,$5]}}" "$5"
  bad_input "pixels_$1" "$2" eval "$micro" "$bad/$1" -o out.safetensors --backend cpu --quiet
}
pixels u8 "invalid pixel_values (found U8 [1, 3, 32, 32], expected floats [B, C, H, W], of videos [B, frames, C, H, W])" U8 1,3,32,32 3072
pixels i8 "found I8 [1, 3, 32, 32], expected floats" I8 1,3,32,32 3072
pixels i32 "found I32 [1, 3, 32, 32], expected floats" I32 1,3,32,32 12288
pixels bool "found BOOL [1, 3, 32, 32], expected floats" BOOL 1,3,32,32 3072
pixels rank "found F32 [3, 32, 32], expected floats" F32 3,32,32 12288
pixels none "pixel_values" F32 0,3,32,32 0
pixels low "smaller than a patch (found 32x8 pixels" F32 1,3,8,32 3072
pixels narrow "smaller than a patch (found 8x32 pixels" F32 1,3,32,8 3072

ids() { # name, a part of the sentence, dtype, shape, bytes
  safetensors "$bad/$1" "{\"input_ids\":{\"dtype\":\"$3\",\"shape\":[$4],\"data_offsets\":[0,$5]}}" "$5"
  bad_input "ids_$1" "$2" eval "$clip" "$bad/$1" -o out.safetensors --backend cpu --quiet
}
ids floats "invalid input_ids (found F32 [1, 4], expected I32 or I64 [B, T])" F32 1,4 16
ids rank "found I32 [4], expected I32 or I64 [B, T]" I32 4 16
ids bool "found BOOL [1, 4], expected I32 or I64" BOOL 1,4 4
ids none "input_ids" I32 0,4 0

# A model without the tower that the input is for.
safetensors "$bad/ids.safetensors" '{"input_ids":{"dtype":"I32","shape":[1,4],"data_offsets":[0,16]}}' 16
bad_input no_text_tower "" eval "$micro" "$bad/ids.safetensors" -o out.safetensors --backend cpu --quiet

# ---------------------------------------------------------------------------------------------------------------------- towers

# Of both towers at once what each gives alone, and what joins them.
test_begin towers
python3 - "$clip/io.safetensors" "$bad" <<'PYTHON' || fail "no inputs"
import json, struct, sys
data = open(sys.argv[1], 'rb').read()
size = struct.unpack('<Q', data[:8])[0]
header = json.loads(data[8:8 + size])
for file, names in ('images', ['pixel_values']), ('texts', ['input_ids']), ('both', ['pixel_values', 'input_ids']):
    made, body = {}, b''
    for name in names:
        begin, end = header[name]['data_offsets']
        made[name] = {**header[name], 'data_offsets': [len(body), len(body) + end - begin]}
        body += data[8 + size + begin:8 + size + end]
    text = json.dumps(made).encode()
    open(f'{sys.argv[2]}/{file}', 'wb').write(struct.pack('<Q', len(text)) + text + body)
PYTHON
for file in images texts both; do
  heed eval "$clip" "$bad/$file" -o $file.safetensors --taps none --backend cpu --quiet
  expect_exit 0
done
found=$(saved images.safetensors)
[ "$found" = 'image_embeds last_hidden_state pooler_output' ] || fail "of images: $found"
found=$(saved texts.safetensors)
[ "$found" = 'last_hidden_state pooler_output text_embeds' ] || fail "of texts: $found"
found=$(saved both.safetensors)
[ "$found" = 'image_embeds last_hidden_state logits_per_image pooler_output text.last_hidden_state text.pooler_output text_embeds' ] || fail "of both: $found"
test_end

# --------------------------------------------------------------------------------------------------------- what is not to be had

bad_input no_model "no_model" eval "$bad/no_model" "$input" -o out.safetensors --backend cpu --quiet
bad_input no_text_model "no_model" eval "$bad/no_model" "$bad/texts" -o out.safetensors --backend cpu --quiet
test_begin no_device
heed eval "$micro" "$input" -o out.safetensors --backend vulkan --device 15 --quiet
expect_exit 4
[ -s "$err" ] || fail "no sentence"
expect_nothing_written
test_end
test_begin usage
heed eval "$micro" "$input"
expect_exit 2
expect_stderr_contains "wrong arguments (found 2 and no -o, expected"
heed eval "$micro" -o out.safetensors
expect_exit 2
expect_stderr_contains "wrong arguments (found 1, expected"
test_end
allocations_fail towers eval "$clip" "$bad/both" -o out.safetensors --backend cpu --threads 1 --quiet
allocations_fail pool eval "$vectors/vit/timm_map" "$vectors/vit/timm_map/io.safetensors" -o out.safetensors --backend cpu --threads 1 --quiet

tests_end
