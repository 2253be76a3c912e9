#!/bin/sh
# Processor time of a start on a Vulkan device and one run, of all threads: cold, and with heed's cache of pipelines. Both make synthetic
# weights, unless there is a model to read. start.sh [--heed PROGRAM] [--vit B | --model FOLDER] [--device N] [--shim NAME ICD]
# --shim: a driver for real GPUs without one, as tests/vulkan/newer.sh unpacks it: AMDGPU_GPU_ID=navi31 start.sh --shim amdgpu radeon
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
heed=$root/build/release/heed vit=B model='' device=0 shim=''
while [ $# -gt 0 ]; do
  case $1 in
    --shim)
      [ $# -gt 2 ] || { echo "start.sh: --shim takes two words" >&2 && exit 2; }
      shim="$root/build/newer-root/bin/shim $2 $3"
      shift 3
      continue
      ;;
    --heed | --device | --vit | --model) [ $# -gt 1 ] || { echo "start.sh: missing value for $1" >&2 && exit 2; } ;;
    *) echo "start.sh: unknown option (found $1, expected --heed, --vit, --model, --device or --shim)" >&2 && exit 2 ;;
  esac
  case $1 in
    --heed) heed=$2 ;;
    --vit) vit=$2 ;;
    --model) model=$2 ;;
    --device) device=$2 ;;
  esac
  shift 2
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache" MESA_SHADER_CACHE_DISABLE=true

seconds() { # of processor time of a command
  (
    "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2 && exit 1; }
    times
  ) >"$work/times" || exit 1
  tail -n 1 "$work/times" | tr 'ms' '  ' | awk '{ printf "%.2f\n", 60 * $1 + $2 + 60 * $3 + $4 }'
}

vulkan() {
  if [ "$model" ]; then set -- "$model"; else set -- --vit "$vit"; fi
  # shellcheck disable=SC2086 # words of the list
  seconds $shim "$heed" bench "$@" --runs 1 --warmup 0 --quiet --backend vulkan --device "$device"
}

cold=$(vulkan)
cached=$(vulkan)
echo "${model:-ViT-$vit}, seconds of processor time: cold $cold, with heed's cache $cached"
