#!/bin/sh
# Vulkan from outside: a device that passes, one that fails before and during the run, no driver at all.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

if ! "$program" devices | grep -q '^0 '; then
  test_skip vulkan_cases "no Vulkan device here"
  tests_end
fi

test_begin the_device_passes_its_self_check
heed devices --self-check
expect_exit 0
expect_stdout_contains "self-check: passed"
test_end

test_begin a_device_by_its_uuid
heed devices --json
expect_exit 0
uuid=$(sed 's/.*"uuid": "\([-0-9a-f]*\)".*/\1/' "$out")
[ ${#uuid} -eq 36 ] || fail "no UUID in the JSON of heed devices"
heed run --backend vulkan --device "$uuid" --quiet
expect_exit 0
heed run --backend vulkan --device "$(echo "$uuid" | tr -d - | tr a-f A-F)" --quiet
expect_exit 0
heed run --backend vulkan --device 99:00.0
expect_one_sentence run "--device: unknown device (found \"99:00.0\""
test_end

test_begin auto_stays_in_f32_on_a_software_device
heed run --backend vulkan --device 0
expect_exit 0
expect_stderr_contains "; in f32"
HEED_VULKAN_GPU_KERNELS=1
export HEED_VULKAN_GPU_KERNELS
heed inspect --vit Ti --plan --backend vulkan
unset HEED_VULKAN_GPU_KERNELS
expect_exit 0
expect_stdout_contains "  linear_half ("
test_end

test_begin auto_takes_a_device_that_passes
heed run --backend auto --device 0 --json numbers.json
expect_exit 0
expect_stderr_contains "heed: vulkan ("
expect_stderr_contains "passed its self-check"
expect_file numbers.json
test_end

test_begin vulkan_and_cpu_give_the_same_classes
heed run --backend vulkan --quiet
sed -n '2,6p' "$out" | sed 's/(.*//; s/[0-9.]* *//2' >"$bad/vulkan.txt"
heed run --backend cpu --quiet
sed -n '2,6p' "$out" | sed 's/(.*//; s/[0-9.]* *//2' >"$bad/cpu.txt"
cmp -s "$bad/vulkan.txt" "$bad/cpu.txt" || fail "the top classes differ"
test_end

test_begin vulkan_and_cpu_change_attention_alike
for backend in vulkan cpu; do
  heed run --scene 7 --backend $backend --quiet --ablate 4.0,2.1 --replace mean --gain 1.2=0.5 --drop "5,5;9,3" --cut 0.100,0.101 --temperature 1.5
  expect_exit 0
  sed -n '3,7p' "$out" | sed 's/(.*//; s/[0-9.]* *//2' >"$bad/changed_$backend.txt"
done
cmp -s "$bad/changed_vulkan.txt" "$bad/changed_cpu.txt" || fail "the top classes differ"
test_end

test_begin answers_in_fp16_are_those_of_the_cpu
heed demo --score 12 --seed 500000 --backend cpu --quiet
expect_exit 0
digest=$(grep '^answers' "$out")
heed demo --score 12 --seed 500000 --backend vulkan --precision f16 --quiet
expect_exit 0
[ "$digest" = "$(grep '^answers' "$out")" ] || fail "another top class in some scene: found $(grep '^answers' "$out"), expected $digest"
test_end

test_begin weights_in_fp16
heed run --backend vulkan --precision f16
expect_exit 0
expect_stderr_contains "weights in fp16"
sed -n '2,6p' "$out" | sed 's/(.*//; s/[0-9.]* *//2' >"$bad/half.txt"
cmp -s "$bad/half.txt" "$bad/cpu.txt" || fail "the top classes differ"
heed run --backend cpu --precision f16
expect_exit 0
expect_stderr_contains "the CPU has no f16"
heed run --precision f8
expect_one_sentence run "expected f32, f16, bf16 or auto"
test_end

for submit in 1 2 3; do
  test_begin "device_lost_at_submit_$submit"
  HEED_VULKAN_LOSE_AT_SUBMIT=$submit
  export HEED_VULKAN_LOSE_AT_SUBMIT
  heed run --backend vulkan --quiet --maps maps.png
  expect_exit 4
  expect_one_sentence run "the device was lost"
  expect_nothing_written
  heed run --backend auto --device 0 --maps maps.png
  expect_exit 0
  expect_stderr_contains "heed: cpu ("
  expect_stderr_contains "the device was lost"
  expect_file maps.png
  unset HEED_VULKAN_LOSE_AT_SUBMIT
  test_end
done

test_begin device_lost_once
HEED_VULKAN_LOSE_AT_SUBMIT=2 HEED_VULKAN_LOSE_ONCE=1
export HEED_VULKAN_LOSE_AT_SUBMIT HEED_VULKAN_LOSE_ONCE
heed run --backend vulkan
expect_exit 0
expect_stderr_contains "the device was lost"
unset HEED_VULKAN_LOSE_AT_SUBMIT HEED_VULKAN_LOSE_ONCE
test_end

# Several pictures: a stream gives what each gives alone, in their order.
pictures=''
for name in rgb.png gray.jpg palette.png progressive.jpg wide_900x31.png; do pictures="$pictures $vectors/preprocess/$name"; done
micro=$vectors/vit/micro_32
words() { grep -v ' on vulkan' "$out" | grep -v '^tensors: '; }
same_as_alone() { # names of files that hold what a picture gave by itself
  for picture in $pictures; do
    stem=${picture##*/}
    cmp -s "$here/t-${stem%.*}.safetensors" "$bad/alone-${stem%.*}.safetensors" || fail "$stem: other results than alone"
  done
  words >"$bad/words"
  cmp -s "$bad/words" "$bad/words_alone" || fail "other words than alone, or another order"
}

test_begin pictures_as_a_stream
: >"$bad/words_alone"
for picture in $pictures; do
  stem=${picture##*/}
  heed run "$micro" "$picture" --backend vulkan --quiet --save t.safetensors
  expect_exit 0
  cp "$here/t.safetensors" "$bad/alone-${stem%.*}.safetensors"
  words >>"$bad/words_alone"
done
# shellcheck disable=SC2086 # one word a picture
heed run "$micro" $pictures --backend vulkan --quiet --save t.safetensors
expect_exit 0
same_as_alone
test_end

test_begin pictures_on_a_device_that_is_lost
HEED_VULKAN_LOSE_ONCE=1
export HEED_VULKAN_LOSE_AT_SUBMIT HEED_VULKAN_LOSE_ONCE
for HEED_VULKAN_LOSE_AT_SUBMIT in 4 5 7; do
  # shellcheck disable=SC2086
  heed run "$micro" $pictures --backend vulkan --save t.safetensors
  expect_exit 0
  expect_stderr_contains "the device failed: "
  same_as_alone
done
unset HEED_VULKAN_LOSE_ONCE
HEED_VULKAN_LOSE_AT_SUBMIT=5
rm -f "$here"/t-*
# shellcheck disable=SC2086
heed run "$micro" $pictures --backend vulkan --quiet --save t.safetensors
expect_exit 4
expect_stderr_contains "the device was lost in "
# What was written before is whole, and nothing of the picture that was lost is there.
for left in "$here"/t-*; do
  cmp -s "$left" "$bad/alone-${left##*/t-}" || fail "${left##*/}: other results than alone"
  rm -f "$left"
done
expect_nothing_written
unset HEED_VULKAN_LOSE_AT_SUBMIT
test_end

if [ -n "${HEED_SOAK:-}" ]; then
test_begin figures_of_a_device
command=tests/bench/gpu.sh
"$(dirname "$0")/../bench/gpu.sh" --heed "$program" --small --limit 60 --out "$bad/gpu.json" 2>"$err" || fail "gpu.sh failed"
grep -q '"self_check": "self-check: passed' "$bad/gpu.json" || fail "no self-check"
grep -q '"failed"' "$bad/gpu.json" && fail "a command failed"
[ "$(grep -c '"results": \[{"what"' "$bad/gpu.json")" -eq 11 ] || fail "a result is missing"
! command -v python3 >"$out" || python3 -c "import json; json.load(open('$bad/gpu.json'))[\"peers\"]" 2>"$err" || fail "gpu.sh wrote no JSON with peers"
if command -v python3 >"$out"; then
  python3 "$(dirname "$0")/../bench/gpu_summary.py" "$bad/gpu.json" >"$out" 2>"$err" || fail "gpu_summary.py failed"
  expect_stdout_contains "| linear fp32 64,64,64 | "
  expect_stdout_contains "| layer norm 64,64 | "
fi
test_end
fi

test_begin table_of_devices
command=tests/bench/vulkan_table.sh
printf '#!/bin/sh\necho "ggml Vulkan0 t2 plain 1x12x197x64 f32  first 1.0  median 99999.0 ms  min 77777.0"\necho "ggml Vulkan0 t2 flash 1x12x197x64 kv f32  median 99999.0 ms  min 88888.0"\n' >"$bad/ggml"
chmod +x "$bad/ggml"
"$(dirname "$0")/../bench/vulkan_table.sh" --heed "$program" --small --ops --runs 1 --tiers half --ggml "$bad/ggml" >"$out" 2>"$err" || fail "vulkan_table.sh failed"
[ "$(grep -c '^| .* | half | .* | .* | .* | .* | .* % |  |$' "$out")" -eq 2 ] || fail "a row of heed is missing"
[ "$(grep -c '^| .* | ggml | attention 12 x 197 x 64 | 77777.0 |  | 0.0 |  | [0-9.]* |$' "$out")" -eq 1 ] || fail "the peer's row is missing"
grep -q 'ncnn is left out: no program was given' "$err" || fail "nothing says why there is no ncnn"
test_end

test_begin dispatches_of_a_layer
HEED_VULKAN_GPU_KERNELS=1
export HEED_VULKAN_GPU_KERNELS
heed inspect --vit Ti --plan --json --backend vulkan
unset HEED_VULKAN_GPU_KERNELS
expect_exit 0
[ "$(tr '}' '\n' <"$out" | grep '"stage": 2,' | grep -c '"dispatches": 1,')" -eq 7 ] || fail "a layer is not seven dispatches"
[ "$(tr '}' '\n' <"$out" | grep -c '"stage": 2,')" -eq 7 ] || fail "a layer is not seven steps"
test_end

test_begin kernels_of_a_plan
heed inspect --vit Ti --plan --backend vulkan
expect_stdout_contains "  linear_texel (floor, 16 x "
expect_stdout_contains " + attention_norm_texel (floor, "
HEED_VULKAN_GPU_KERNELS=1 HEED_VULKAN_TIER=floor
export HEED_VULKAN_GPU_KERNELS HEED_VULKAN_TIER
heed inspect --vit Ti --plan --backend vulkan
expect_stdout_contains "  linear (floor, 64 x 64)"
expect_stdout_contains "  attention (floor, 16 x 4); streamed"
HEED_VULKAN_TIER=half
heed inspect --vit Ti --plan --backend vulkan --precision f16 --json
expect_stdout_contains '"kernels": [{"name": "linear_half", "tier": "half", "tile": [64, 64], "dispatches": 1}]'
expect_stdout_contains '"kernels": [{"name": "attention_subgroup", "tier": "subgroup", "tile": [16, 8], "dispatches": 1}]'
unset HEED_VULKAN_GPU_KERNELS HEED_VULKAN_TIER
test_end

test_begin null_dispatch
HEED_VULKAN_NULL_DISPATCH=1
export HEED_VULKAN_NULL_DISPATCH
heed bench --op linear --shape 5,8,12 --backend vulkan --quiet
unset HEED_VULKAN_NULL_DISPATCH
expect_exit 0
expect_stdout_contains "us of processor time a run beside waiting"
test_end

test_begin tiles_are_measured
heed bench --backend vulkan --op linear --shape 5,8,12 --runs 1 --warmup 0 --quiet --tune
expect_exit 0
expect_stdout_contains "tiles: 1 shapes measured"
heed bench --backend cpu --op linear --shape 5,8,12 --runs 1 --warmup 0 --quiet --tune
expect_one_sentence bench "only Vulkan has tiles"
test_end

test_begin profile_with_ceiling
heed bench --backend vulkan --op linear --shape 5,8,12 --runs 1 --warmup 0 --quiet --profile
expect_exit 0
expect_stdout_contains "% of peak"
expect_stdout_contains "measured peak: "
expect_stdout_contains "  linear_texel (floor, 4 x "
heed bench --backend vulkan --op linear --shape 5,8,12 --runs 1 --warmup 0 --quiet --profile --json
expect_exit 0
expect_stdout_contains '"ceiling_percent": '
expect_stdout_contains '"ceiling": {"f32_gflops": '
test_end

test_begin out_of_device_memory
HEED_VULKAN_MEMORY_LIMIT=100000
export HEED_VULKAN_MEMORY_LIMIT
heed run --backend vulkan --quiet --maps maps.png
expect_exit 4
expect_one_sentence run "no device memory"
expect_nothing_written
heed run --backend auto --device 0
expect_exit 0
expect_stderr_contains "heed: cpu ("
unset HEED_VULKAN_MEMORY_LIMIT
test_end

# The standard asks to ignore it.
test_begin a_relative_cache_directory
cache=$XDG_CACHE_HOME home=${HOME:-}
XDG_CACHE_HOME=relative HOME=$bad/home
export HOME
heed run "$vectors/vit/micro_32" "$vectors/preprocess/rgb.png" --backend vulkan --quiet
expect_exit 0
[ ! -e "$here/relative/heed" ] || fail "relative/heed is there" # a driver may have its own there
[ -n "$(ls -A "$bad/home/.cache/heed")" ] || fail "nothing is in .cache/heed"
XDG_CACHE_HOME=$cache HOME=$home
test_end

test_begin no_driver
VK_ICD_FILENAMES=/nonexistent/icd.json VK_DRIVER_FILES=/nonexistent/icd.json
export VK_ICD_FILENAMES VK_DRIVER_FILES
heed run --backend vulkan
expect_exit 4
expect_one_sentence run "no driver"
heed run --backend auto
expect_exit 0
expect_stderr_contains "heed: cpu ("
test_end

# A driver of hardware that the machine has not.
for icd in /usr/share/vulkan/icd.d/intel_*.json /usr/share/vulkan/icd.d/radeon_*.json; do
  if [ ! -e "$icd" ] || ls /dev/dri/render* >/dev/null 2>&1; then continue; fi
  test_begin "no_device_of_$(basename "$icd" .json)"
  VK_ICD_FILENAMES=$icd VK_DRIVER_FILES=$icd
  heed run --backend vulkan
  expect_exit 4
  expect_one_sentence run "no device on this machine"
  heed devices
  expect_exit 0
  expect_stdout_contains "vulkan: none"
  test_end
done

tests_end
