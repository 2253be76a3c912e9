#!/bin/sh
# What the compilers of real Vulkan drivers make of heed's kernels, without their hardware. Mesa's drivers come from the
# packages that newer.sh unpacks; a stand-in for the kernel driver (mesa-drm-shim) lets them open, and nothing is submitted.
set -eu

usage() {
  cat <<'END'
usage: compile_table.sh [DEVICE...] [--json OUT] [--workload NAME]... [--disassembly FOLDER]

Compiles every pipeline that the workloads use, in every tier of each device, and writes OUT: an array of one JSON object a
pipeline and workload. Members: device, workload, kernel, tier, constants (specialisation), lanes (of a subgroup), registers,
spills, scratch_bytes, shared_bytes, waves (subgroups on one SIMD), instructions, latency, inverse_throughput (cycles, by the
compiler's estimate); from AMD's disassembly loop_instructions, loop_products, valu_per_fma, matrix_loads_16, truncations.
What a driver does not give is null. Without --json the array goes to stdout.

  DEVICE       navi31 gfx1201 navi21 vega10 ampere turnip740 turnip618 m1 (these without an argument);
               navi33 vangogh navi10 vega20 raven polaris10 polaris12 bonaire stoney turing turnip660 turnip730 turnip750 turnip830
  --workload   the beginning of a name: vit_b_batch_1, vit_b_batch_32, vit_b_maps, vit_b_int8_batch_1, vit_b_int8_batch_32, attention_d64_t197, attention_d64_t1024,
               attention_d64_t4096, attention_d64_t1024_maps, the same for d128, every_op; all without it
  --disassembly  a folder that gets the machine code, one file a pipeline

The unpacked packages are in build/newer-root and the build in build/newer. Exit code 0: done; 1: a driver failed; 2: bad usage;
77 with a sentence on stderr: the packages cannot be had here.
END
}

stop() { # exit code, sentence
  printf 'compile_table.sh: %s\n' "$2" >&2
  exit "$1"
}

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
build=${HEED_BUILD:-$root/build}
newer=$build/newer-root
devices='' workloads='' json='' folder=-
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --json | --workload | --disassembly)
      [ $# -gt 1 ] || stop 2 "$1: a value is missing"
      case $1 in
        --json) json=$2 ;;
        --workload) workloads="$workloads $2" ;;
        *) folder=$2 ;;
      esac
      shift
      ;;
    -*) stop 2 "unknown option (found \"$1\")" ;;
    *) devices="$devices $1" ;;
  esac
  shift
done
[ -n "$devices" ] || devices='navi31 gfx1201 navi21 vega10 ampere turnip740 turnip618 m1'

# Sets shim, icd and the variable that chooses the device.
find_device() {
  shim=amdgpu icd=radeon variable=AMDGPU_GPU_ID=$1
  case $1 in
    navi31 | navi33 | gfx1201 | navi21 | vangogh | navi10 | vega10 | vega20 | raven | polaris10 | polaris12 | bonaire | stoney) ;;
    ampere) shim=nouveau icd=nouveau variable=NOUVEAU_CHIPSET=172 ;;
    turing) shim=nouveau icd=nouveau variable=NOUVEAU_CHIPSET=162 ;;
    turnip618 | turnip660 | turnip730 | turnip740 | turnip750 | turnip830) shim=freedreno icd=freedreno variable=FD_GPU_ID=${1#turnip} ;;
    m1) shim=asahi icd=asahi variable=HEED_DEVICE=m1 ;;
    *) stop 2 "unknown device (found \"$1\"; --help lists them)" ;;
  esac
}
for device in $devices; do find_device "$device"; done

if ! why=$(sh "$root/tests/vulkan/newer.sh" "$newer" 2>&1); then
  printf '%s\n' "${why:-no newer drivers}" >&2
  exit 77
fi
mkdir -p "$build"
work=$(mktemp -d "$build/compile-table.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
if ! { (cd "$root" && cmake --preset newer -B "$build/newer" -DHEED_TESTS=ON -DHEED_TEST_NEWER="$newer" \
  -DHEED_GLSLANG="$newer/bin/glslangValidator" -DHEED_SPIRV_VAL="$newer/bin/spirv-val" -DCMAKE_C_COMPILER_LAUNCHER="$(command -v ccache || true)") &&
  ninja -C "$build/newer" compile_table; } >"$work/log" 2>&1; then
  cat "$work/log" >&2
  stop 1 'the build failed'
fi
[ "$folder" = - ] || mkdir -p "$folder"
mkdir -m 700 "$work/runtime"

# A device's compiler has one thread: two devices at a time.
compile_half() { # 0 or 1: each second device
  count=0
  for device in $devices; do
    count=$((count + 1))
    [ $((count % 2)) -eq "$1" ] || continue
    find_device "$device"
    # shellcheck disable=SC2086 # words of the list
    if ! env "$variable" XDG_RUNTIME_DIR="$work/runtime" MESA_SHADER_CACHE_DISABLE=true \
      "$newer/bin/shim" "$shim" "$icd" "$build/newer/tests/compile_table" "$device" "$work/$device" "$folder" $workloads 2>"$work/log-$device"; then
      cat "$work/log-$device" >&2
      stop 1 "$device: the pipelines cannot be compiled"
    fi
  done
}
(trap - EXIT; compile_half 0) &
other=$! status=0
(trap - EXIT; compile_half 1) || status=$?
wait "$other" || status=$?
[ "$status" -eq 0 ] || exit "$status"
for device in $devices; do cat "$work/$device"; done >"$work/all"
sed -e '1s/^/[/' -e '$!s/$/,/' -e '$s/$/]/' "$work/all" >"$work/array"
if [ -z "$json" ]; then cat "$work/array"; else cp "$work/array" "$json"; fi
