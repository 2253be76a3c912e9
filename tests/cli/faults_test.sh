#!/bin/sh
# Every verb on the CPU: killed, with reads that fail, with allocations that fail.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=tests/cli/faults/harness.sh
. "$(dirname "$0")/faults/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png
other=$vectors/preprocess/exact_224.png
mkdir "$bad/earlier" "$bad/images"
cp "$other" "$bad/earlier/a.png"
cp "$vectors/image/gray.png" "$bad/earlier/b.png"
cp "$picture" "$bad/images/a.png"
cp "$vectors/preprocess/rgb.jpg" "$bad/images/b.jpg"
printf '%s\n%s\n' "$bad/images/b.jpg" "$bad/images/a.png" >"$bad/list"
pickle=$bad/pickle
mkdir "$pickle"
cp "$vectors/vit/hf_vit/config.json" "$vectors/pickle/vit/zip.pth" "$pickle"
common='--backend cpu --threads 1 --quiet'
outputs='--json out.json --save out.safetensors'
[ "$figures" = no ] || outputs="$outputs --maps out.png"

# shellcheck disable=SC2086 # words
{
  faults run "run $micro $other $common $outputs" run "$micro" "$picture" $common $outputs
  faults run_many "run $micro $bad/earlier $common --json out.jsonl --save out.safetensors" \
    run "$micro" "$bad/images" $common --json out.jsonl --save out.safetensors
  faults run_list "run $micro $bad/earlier $common --json out.jsonl" run "$micro" --list "$bad/list" $common --json out.jsonl
  faults run_jpeg "run $micro $other $common --json out.json" run "$micro" "$vectors/preprocess/rgb.jpg" $common --json out.json
  faults run_text "run $vectors/vit/clip_text $other --text one $common $outputs" run "$vectors/vit/clip_text" "$picture" --text 'a cat' --text 'a dog' $common $outputs
  faults run_sequence "run $vectors/sequence/gru --tokens 4 $common --save out.safetensors" run "$vectors/sequence/gru" --tokens 4,5 $common --save out.safetensors
  faults eval "eval $vectors/vit/hf_vit $vectors/vit/hf_vit/io_wide.safetensors -o out.safetensors $common" eval "$micro" "$vectors/vit/micro_32/io.safetensors" -o out.safetensors $common
  faults inspect_pickle "inspect $pickle" inspect "$pickle"
  faults eval_onnx "eval $vectors/onnx/graphs/clip_14.onnx $vectors/onnx/graphs/clip_14.safetensors -o out.safetensors $common" \
    eval "$vectors/onnx/graphs/clip_14.onnx" "$vectors/onnx/graphs/clip_14.safetensors" -o out.safetensors $common
  faults inspect_onnx "inspect $micro" inspect "$vectors/onnx/graphs/clip_14.onnx"
  faults run_onnx "run $micro $other $common --json out.json" run "$vectors/onnx/vit" "$picture" $common --json out.json --way graph
  faults check "check $vectors/linear/causal.safetensors -o out.safetensors $common" check "$vectors/linear/full.safetensors" -o out.safetensors $common
  faults check_profile "check --profile torch $common --json out.json" check --profile keras $common --json out.json
  [ -z "${HEED_SOAK:-}" ] || for profile in onnx torch; do
    faults "check_profile_$profile" "check --profile keras $common --json out.json" check --profile $profile $common --json out.json
  done
  faults inspect "inspect $micro" inspect "$micro"
  faults inspect_plan "inspect $micro" inspect "$micro" --plan
  faults inspect_graph "inspect $micro" inspect "$micro" --graph json
  faults bench "inspect $micro" bench "$micro" --runs 1 --warmup 0 $common
  faults bench_op "inspect $micro" bench --op linear --shape 4,8,8 --runs 1 --warmup 0 $common
  faults convert "inspect $micro" convert "$micro" -o folder --weights int8
  case $kinds in kill*) # one write of 800 points
    all=$kinds kinds=kill
    faults convert_large "inspect $micro" convert "$vectors/vit/small_224" -o folder --weights int8
    kinds=$all
    ;;
  esac
  faults compare "compare $micro $micro $other --json out.json $common" compare "$micro" "$micro" "$picture" --json out.json $common
  faults survey "survey $micro $other --json out.json $common" survey "$micro" "$picture" --json out.json $common
  faults demo "demo --score 2 $common" demo --score 2 --seed 3 $common
  faults devices devices devices
  heed run "$micro" "$picture" $common --save saved.safetensors
  cp "$here/saved.safetensors" "$bad/saved.safetensors"
  faults maps "maps $bad/saved.safetensors --layer 1 --json out.json" maps "$bad/saved.safetensors" --layer 0 --json out.json
  [ "$figures" = no ] || faults maps_figures "maps $bad/saved.safetensors --layer 1 --maps out.png --rollout rollout.png" \
    maps "$bad/saved.safetensors" --layer 0 --maps out.png --rollout rollout.png
}

# The stream that --json - writes to is the first that is made.
test_begin json_to_stdout_without_memory
command='run --json - (stream)' status=0
(cd "$here" && exec timeout 120 env HEED_FAIL_STREAM=1 LD_PRELOAD="$HEED_FAILING_MALLOC" "$program" run "$micro" "$picture" --backend cpu --quiet --json -) >"$out" 2>"$err" </dev/null || status=$?
expect_exit 4
expect_one_sentence run "--json: cannot write to stdout (Cannot allocate memory)"
expect_stdout_empty
test_end
faults_end
