#!/bin/sh
# Verbs on Vulkan: killed while they write the cache or the outputs, with reads that fail, with allocations of the host that fail. After
# each, the cache that is left serves the next run. A driver's own cache is not counted.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=tests/cli/faults/harness.sh
. "$(dirname "$0")/faults/harness.sh"

unset HEED_VULKAN_VALIDATE # which is others' part
MESA_SHADER_CACHE_DIR=$3/driver HEED_NOT_COUNTED=$3/driver
export MESA_SHADER_CACHE_DIR HEED_NOT_COUNTED
cold=yes
# Reads that fail are left to ./dev soak: cli_faults has them, without a device.
[ -n "${HEED_SOAK:-}" ] || points=2 kinds=$(echo " $kinds " | sed 's/ fail short interrupt / /')

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png
other=$vectors/preprocess/exact_224.png
int8=$bad/int8
"$program" convert "$micro" -o "$int8" --weights int8 >/dev/null
common='--backend vulkan --device 0 --precision f32 --quiet'

# shellcheck disable=SC2086 # words
{
  faults run "run $micro $other $common --json out.json --save out.safetensors" run "$micro" "$picture" $common --json out.json --save out.safetensors
  cold=no
  faults run_cached "run $micro $other $common --json out.json" run "$micro" "$picture" $common --json out.json
  faults eval_onnx "eval $vectors/onnx/graphs/clip_14.onnx $vectors/onnx/graphs/clip_14.safetensors -o out.safetensors --backend cpu --quiet" \
    eval "$vectors/onnx/graphs/clip_14.onnx" "$vectors/onnx/graphs/clip_14.safetensors" -o out.safetensors $common
  faults int8 "run $int8 $other $common --json out.json" run "$int8" "$picture" $common --json out.json
  faults sequence "run $vectors/sequence/gru --tokens 4 $common --save out.safetensors" run "$vectors/sequence/gru" --tokens 4,5 $common --save out.safetensors
  cold=yes
  faults self_check devices devices --self-check
}
faults_end
