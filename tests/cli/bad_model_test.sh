#!/bin/sh
# Model folders and weight files that are not what they should be: exit code 3, one sentence that names what, nothing written.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

picture=$vectors/preprocess/rgb.png

# A bad folder is refused by every verb that opens models; run is asked for files, so that one written too early shows.
bad_model() { # name, a part of the sentence
  bad_input "$1" "$2" run "$bad/$1" "$picture" --backend cpu --quiet --maps maps.png --rollout rollout.png --json out.json --save out.safetensors
}

# ------------------------------------------------------------------------------------------------------------- the folder

bad_input no_such_folder "no-such-folder" eval "$bad/no-such-folder" "$vectors/vit/micro_32/io.safetensors" -o out.safetensors --backend cpu --quiet
bad_input not_a_folder "config.json" eval "$vectors/vit/micro_32/config.json/model" "$vectors/vit/micro_32/io.safetensors" -o out.safetensors --backend cpu --quiet
mkdir "$bad/empty_folder"
bad_model empty_folder "no model here"
mkdir -p "$bad/models--a--b/snapshots/0123" "$bad/models--a--b/refs"
bad_input folder_of_snapshots "no model here (found snapshots, expected one of them: $bad/models--a--b/snapshots/NAME)" inspect "$bad/models--a--b"
# A snapshot of such a download: each of its files is a link.
test_begin snapshot_of_links
mkdir "$bad/models--a--b/blobs"
for file in config.json model.safetensors; do
  cp "$vectors/vit/micro_32/$file" "$bad/models--a--b/blobs/$file"
  ln -s "../../blobs/$file" "$bad/models--a--b/snapshots/0123/$file"
done
heed inspect "$bad/models--a--b/snapshots/0123"
expect_exit 0
test_end
# So is a config beside one weight file whose link leads nowhere: its defaults are not taken.
mkdir "$bad/dangling" && cp "$vectors/vit/small_224/model.safetensors" "$bad/dangling" && ln -s nowhere "$bad/dangling/config.json"
bad_input dangling_config "config.json: cannot open (No such file or directory)" inspect "$bad/dangling/model.safetensors"
# A folder that is there and cannot be read is not taken for one that is not there.
mkdir "$bad/onnx_loop" && ln -s onnx "$bad/onnx_loop/onnx"
bad_model onnx_loop "onnx_loop/onnx: cannot open (Too many levels of symbolic links)"
bad_input inspect_empty_folder "no model here" inspect "$bad/empty_folder"
model no_weights && rm "$bad/no_weights/model.safetensors"
bad_model no_weights "safetensors"
model weights_are_a_folder && rm "$bad/weights_are_a_folder/model.safetensors" && mkdir "$bad/weights_are_a_folder/model.safetensors"
bad_model weights_are_a_folder "not a regular file"
if [ "$(id -u)" -eq 0 ]; then
  test_skip unreadable_weights "root may read every file"
else
  model unreadable_weights && chmod 000 "$bad/unreadable_weights/model.safetensors"
  bad_model unreadable_weights "Permission denied"
fi

# A pipe that nobody writes to would be waited for for ever.
pipe() { # name, file
  model "$1" && rm -f "$bad/$1/$2" && mkfifo "$bad/$1/$2"
  bad_model "$1" "$2: not a regular file (found a pipe)"
}
if mkfifo "$bad/pipe"; then
  pipe config_is_a_pipe config.json
  pipe weights_are_a_pipe model.safetensors
  pipe preprocessor_is_a_pipe preprocessor_config.json
  pipe index_is_a_pipe model.safetensors.index.json
  pipe other_weights_are_a_pipe more.safetensors
  mkfifo "$bad/pipe.safetensors"
  bad_input weight_file_is_a_pipe "found a pipe" run "$bad/pipe.safetensors" "$picture" --backend cpu --quiet
  bad_input eval_input_is_a_pipe "found a pipe" eval "$vectors/vit/micro_32" "$bad/pipe" -o out.safetensors --backend cpu --quiet
  bad_input case_is_a_pipe "found a pipe" check "$bad/pipe" --quiet
  bad_input maps_are_a_pipe "found a pipe" maps "$bad/pipe"
  bad_input scene_is_a_pipe "found a pipe" demo --scene "$bad/pipe" --backend cpu --quiet
else
  test_skip pipes "no pipe can be made here"
fi

# ------------------------------------------------------------------------------------------------------------- the weights

model weights_empty && : >"$bad/weights_empty/model.safetensors"
bad_model weights_empty "model.safetensors"
model weights_7_bytes && cut_to "$bad/weights_7_bytes/model.safetensors" 7
bad_model weights_7_bytes "model.safetensors"
model header_cut && cut_to "$bad/header_cut/model.safetensors" 500
bad_model header_cut "header"
model data_cut && cut_to "$bad/data_cut/model.safetensors" 100000
bad_model data_cut "model.safetensors"
model last_byte_cut && cut_to "$bad/last_byte_cut/model.safetensors" $(($(wc -c <"$bad/last_byte_cut/model.safetensors") - 1))
bad_model last_byte_cut "model.safetensors"
model bytes_after && printf 'more' >>"$bad/bytes_after/model.safetensors"
bad_model bytes_after "model.safetensors"
model header_length_huge && { printf '\377\377\377\377\377\377\377\177'; head -c 5000 /dev/zero; } >"$bad/header_length_huge/model.safetensors"
bad_model header_length_huge "header"
model header_length_0 && safetensors "$bad/header_length_0/model.safetensors" "" 100
bad_model header_length_0 "model.safetensors"
model header_no_json && safetensors "$bad/header_no_json/model.safetensors" "{\"vit.layernorm.weight\":" 100
bad_model header_no_json "model.safetensors"
model header_array && safetensors "$bad/header_array/model.safetensors" "[1, 2, 3]" 100
bad_model header_array "model.safetensors"
model header_deep && safetensors "$bad/header_deep/model.safetensors" "{\"a\":$(repeat '[' 100000)" 0
bad_model header_deep "model.safetensors"
model offsets_overlap && edit "$bad/offsets_overlap/model.safetensors" 's/\[128,768\]/[120,760]/'
bad_model offsets_overlap "position_embeddings"
model offsets_hole && edit "$bad/offsets_hole/model.safetensors" 's/"shape":\[1,5,32\],"data_offsets":\[128,768\]/"shape":[1,3,32],"data_offsets":[384,768]/'
bad_model offsets_hole "model.safetensors"
model offsets_backwards && edit "$bad/offsets_backwards/model.safetensors" 's/\[128,768\]/[768,128]/'
bad_model offsets_backwards "position_embeddings"
model offsets_negative && edit "$bad/offsets_negative/model.safetensors" 's/\[128,768\]/[-28,768]/'
bad_model offsets_negative "model.safetensors"
model offsets_not_the_shape && edit "$bad/offsets_not_the_shape/model.safetensors" 's/\[1,5,32\]/[1,6,32]/'
bad_model offsets_not_the_shape "position_embeddings"
model shape_overflows && safetensors "$bad/shape_overflows/model.safetensors" \
  '{"vit.layernorm.weight":{"dtype":"F32","shape":[4294967295,4294967295,4294967295],"data_offsets":[0,4]}}' 4
bad_model shape_overflows "vit.layernorm.weight"
model dtype_unknown && edit "$bad/dtype_unknown/model.safetensors" 's/"F32"/"F99"/'
bad_model dtype_unknown "F99"
model dtype_wrong && edit "$bad/dtype_wrong/model.safetensors" 's/"F32"/"I32"/'
bad_model dtype_wrong "cls_token"
model name_twice && edit "$bad/name_twice/model.safetensors" 's/layer.0.attention.attention.value.bias/layer.0.attention.attention.query.bias/'
bad_model name_twice "layer.0.attention.attention.query.bias"
model tensor_missing && edit "$bad/tensor_missing/model.safetensors" 's/"vit.layernorm.weight"/"vit.layernorm.weighs"/'
bad_model tensor_missing "layernorm.weight"
model layer_missing && edit "$bad/layer_missing/model.safetensors" 's/layer.1.layernorm_before.weight/layer.9.layernorm_before.weight/'
bad_model layer_missing "layernorm_before.weight"
model shape_wrong && edit "$bad/shape_wrong/model.safetensors" 's/\[32,32\]/[16,64]/'
bad_model shape_wrong "[16, 64]"

# -------------------------------------------------------------------------------------------------------------- the config

for key in hidden_size num_hidden_layers num_attention_heads; do
  model "config_without_$key" && edit "$bad/config_without_$key/config.json" "/$key/d"
  bad_model "config_without_$key" "$key"
done
model config_empty && : >"$bad/config_empty/config.json"
bad_model config_empty "config.json"
model config_cut && cut_to "$bad/config_cut/config.json" 100
bad_model config_cut "config.json"
model config_deep && repeat '[' 100000 >"$bad/config_deep/config.json"
bad_model config_deep "config.json"
model config_deep_objects && repeat '{"a":' 100000 >"$bad/config_deep_objects/config.json"
bad_model config_deep_objects "config.json"
model config_array && echo '[]' >"$bad/config_array/config.json"
bad_model config_array "config.json"
model config_text_size && edit "$bad/config_text_size/config.json" 's/"hidden_size": 32/"hidden_size": "32"/'
bad_model config_text_size "hidden_size"
for size in 0 -1 1.5 31 1e30 99999999999999999999; do
  model "config_hidden_size_$size" && edit "$bad/config_hidden_size_$size/config.json" "s/\"hidden_size\": 32/\"hidden_size\": $size/"
  bad_model "config_hidden_size_$size" ""
done
model config_heads && edit "$bad/config_heads/config.json" 's/"num_attention_heads": 4/"num_attention_heads": 5/'
bad_model config_heads "num_attention_heads"
model config_registers && edit "$bad/config_registers/config.json" 's/"patch_size": 16/"patch_size": 16, "num_register_tokens": 8/'
bad_model config_registers "num_register_tokens does not fit the weights (found 8, expected 0: tensor embeddings.register_tokens is not there)"
model config_layers && edit "$bad/config_layers/config.json" 's/"num_hidden_layers": 2/"num_hidden_layers": 1048576/'
bad_model config_layers "num_hidden_layers does not fit the weights (found 1048576, expected 2"
model config_patch_0 && edit "$bad/config_patch_0/config.json" 's/"patch_size": 16/"patch_size": 0/'
bad_model config_patch_0 "patch_size"
model config_activation && edit "$bad/config_activation/config.json" 's/"gelu"/"mish"/'
bad_model config_activation "mish"
model config_model_type && edit "$bad/config_model_type/config.json" 's/"vit"/"cow"/'
bad_model config_model_type "cow"
model preprocessor_deep && repeat '[' 100000 >"$bad/preprocessor_deep/preprocessor_config.json"
bad_model preprocessor_deep "preprocessor_config.json"
model preprocessor_mean && echo '{"image_mean": [0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "size": 32}' >"$bad/preprocessor_mean/preprocessor_config.json"
bad_model preprocessor_mean "image_mean"
model index_deep && rm "$bad/index_deep/model.safetensors" && repeat '{"weight_map":' 100000 >"$bad/index_deep/model.safetensors.index.json"
bad_model index_deep "model.safetensors.index.json"
model index_without_shard && mv "$bad/index_without_shard/model.safetensors" "$bad/index_without_shard/model-00001-of-00002.safetensors"
echo '{"weight_map": {"vit.layernorm.weight": "model-00002-of-00002.safetensors"}}' >"$bad/index_without_shard/model.safetensors.index.json"
bad_model index_without_shard "model-00002-of-00002.safetensors"

# ------------------------------------------------------------------------------------------------- tensors for eval and check

micro=$vectors/vit/micro_32
bad_input eval_no_such_input "no-such.safetensors" eval "$micro" no-such.safetensors -o out.safetensors --backend cpu --quiet
bad_input eval_without_pixels "pixel_values" eval "$micro" "$micro/model.safetensors" -o out.safetensors --backend cpu --quiet
safetensors "$bad/pixels_rank.safetensors" '{"pixel_values":{"dtype":"F32","shape":[3,32],"data_offsets":[0,384]}}' 384
bad_input eval_pixels_rank "[3, 32]" eval "$micro" "$bad/pixels_rank.safetensors" -o out.safetensors --backend cpu --quiet
safetensors "$bad/pixels_channels.safetensors" '{"pixel_values":{"dtype":"F32","shape":[1,1,32,32],"data_offsets":[0,4096]}}' 4096
bad_input eval_pixels_channels "expected 3" eval "$micro" "$bad/pixels_channels.safetensors" -o out.safetensors --backend cpu --quiet
safetensors "$bad/pixels_tiny.safetensors" '{"pixel_values":{"dtype":"F32","shape":[1,3,8,8],"data_offsets":[0,768]}}' 768
bad_input eval_pixels_smaller_than_a_patch "" eval "$micro" "$bad/pixels_tiny.safetensors" -o out.safetensors --backend cpu --quiet
bad_input check_no_such_case "no-such.safetensors" check no-such.safetensors --quiet
bad_input check_not_a_case "op" check "$micro/model.safetensors" --quiet
safetensors "$bad/op_unknown.safetensors" '{"__metadata__":{"op":"dance"},"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' 4
bad_input check_op_unknown "dance" check "$bad/op_unknown.safetensors" --quiet

# ------------------------------------------------------------------------------------------------------------------- maps

printf '\223NUMPY\001\000v\000{' >"$bad/maps.npy"
bad_input maps_npy "found an .npy file, expected maps saved as .safetensors by heed run --save or the page; the page also opens .npy and .npz)" maps "$bad/maps.npy"
printf 'PK\003\004\024\000\000\000\000\000' >"$bad/maps.npz"
bad_input maps_npz "found a zip file, such as .npz or PyTorch's .pt, expected maps saved as .safetensors" maps "$bad/maps.npz"
printf 'PK' >"$bad/short.npz"
bad_input maps_short "short.npz: format not supported (found bytes 50 4B, expected maps saved" maps "$bad/short.npz"

# Sparse: 3 GB that take no room. Refused by their first bytes or their size; 400 MB of address space are plenty for that.
hole() { # name, a part of the sentence, verb, arguments...
  name=$1 part=$2
  shift 2
  # shellcheck disable=SC3045 # -v where there is it: dash, bash, ksh
  (ulimit -v 400000 && "$program" --version) >/dev/null 2>&1 || { test_skip "$name" "no ulimit -v here, or a sanitizer's address space"; return 0; }
  test_begin "$name"
  command=$* status=0
  # shellcheck disable=SC3045
  (cd "$here" && ulimit -v 400000 && exec timeout 60 "$program" "$@") >"$out" 2>"$err" </dev/null || status=$?
  expect_exit 3
  expect_one_sentence "$1" "$part"
  expect_nothing_written
  test_end
}
dd if=/dev/zero of="$bad/hole" bs=1 count=0 seek=3221225472 2>/dev/null
hole scene_3_gb "found 3221225472 bytes, expected at most 1048576" demo --scene "$bad/hole" --backend cpu --threads 1 --quiet
hole maps_3_gb "hole" maps "$bad/hole"
hole eval_3_gb "hole" eval "$micro" "$bad/hole" -o out.safetensors --backend cpu --threads 1 --quiet
hole case_3_gb "hole" check "$bad/hole" --threads 1 --quiet
rm "$bad/hole"

# A model of one channel takes any picture in grey, and one of four takes none of three: the values that are not there
# would be others' bytes.
cat >"$bad/channels.py" <<'PYTHON'
import json, struct, sys
folder, to, channels = sys.argv[1], sys.argv[2], int(sys.argv[3])
whole = open(folder + '/model.safetensors', 'rb').read()
size = struct.unpack('<Q', whole[:8])[0]
tensors, data, header = json.loads(whole[8:8 + size]), b'', {}
for name, tensor in tensors.items():
    if name == '__metadata__':
        continue
    begin, end = tensor['data_offsets']
    part, shape = whole[8 + size + begin:8 + size + end], tensor['shape']
    if len(shape) == 4:
        part = struct.pack('<f', 0.125) * (len(part) // 4 // shape[1] * channels)
        shape = [shape[0], channels, *shape[2:]]
    header[name] = {'dtype': tensor['dtype'], 'shape': shape, 'data_offsets': [len(data), len(data) + len(part)]}
    data += part
text = json.dumps(header).encode()
open(to + '/model.safetensors', 'wb').write(struct.pack('<Q', len(text)) + text + data)
config = json.load(open(folder + '/config.json'))
config['num_channels'] = channels
json.dump(config, open(to + '/config.json', 'w'))
PYTHON
for channels in 1 4; do
  mkdir "$bad/channels_$channels"
  python3 "$bad/channels.py" "$vectors/vit/micro_32" "$bad/channels_$channels" "$channels"
done
sentence="rgb.png: wrong number of channels (found 3, expected the model's 4: "
bad_input run_with_4_channels "$sentence" run "$bad/channels_4" "$vectors/preprocess/rgb.png" --backend cpu --quiet --json out.json
bad_input compare_with_4_channels "$sentence" compare "$bad/channels_4" "$bad/channels_4" "$vectors/preprocess/rgb.png" --backend cpu --quiet
for verb in run survey compare; do
  test_begin "${verb}_with_1_channel"
  other=
  [ "$verb" != compare ] || other=$bad/channels_1
  # shellcheck disable=SC2086
  heed $verb "$bad/channels_1" $other "$vectors/preprocess/rgb.png" --backend cpu --quiet
  expect_exit 0
  test_end
done

tests_end
