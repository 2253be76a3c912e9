#!/bin/sh
# What a run costs the host: tests/bench/host.sh [--heed PROGRAM] [--device N] [--vit B] [--instructions]. Kernels are given no workgroups (HEED_VULKAN_NULL_DISPATCH),
# so that nothing but the host and the driver works: dispatches a layer, processor time of the thread that runs (its driver's part in it
# included); with --instructions, by valgrind, those of heed's own functions (some minutes on a busy machine).
set -eu
heed=$(dirname "$0")/../../build/release/heed
device=0
vit=B
instructions=
while [ $# -gt 0 ]; do
  case $1 in
    --instructions) instructions=1 && shift && continue ;;
    --heed | --device | --vit) [ $# -gt 1 ] || { echo "host.sh: missing value for $1" >&2 && exit 2; } ;;
    *) echo "host.sh: unknown option (found $1, expected --heed, --device, --vit or --instructions)" >&2 && exit 2 ;;
  esac
  case $1 in
    --heed) heed=$2 ;;
    --device) device=$2 ;;
    --vit) vit=$2 ;;
  esac
  shift 2
done
HEED_VULKAN_NULL_DISPATCH=1
export HEED_VULKAN_NULL_DISPATCH
bench() { "$heed" bench --vit "$vit" --backend vulkan --device "$device" --quiet "$@"; }

echo "ViT-$vit, $(bench --runs 1 --warmup 0 --json | sed 's/.*"device": "\([^"]*\)".*/\1/')"
for kernels in '' 1; do # the device's own kernels, and a GPU's
  [ "$kernels" ] && HEED_VULKAN_GPU_KERNELS=1 && export HEED_VULKAN_GPU_KERNELS
  "$heed" inspect --vit "$vit" --plan --json --backend vulkan --device "$device" |
    awk -v kind="${kernels:+ with the kernels of a GPU}" 'BEGIN { RS = "}" }
      match($0, /"stage": [0-9]+/) { stage = substr($0, RSTART + 9, RLENGTH - 9) }
      /"stage": / && match($0, /"dispatches": [0-9]+/) { n[stage] += substr($0, RSTART + 14, RLENGTH - 14); all += substr($0, RSTART + 14, RLENGTH - 14) }
      END { printf "dispatches%s: %d a run, %d in layer 1\n", kind, all, n[2] }'
done
unset HEED_VULKAN_GPU_KERNELS
least=
for round in 1 2 3; do
  us=$(bench --runs 500 --warmup 50 --json | sed 's/.*"thread_us": \([0-9.e+-]*\).*/\1/')
  least=$(echo "$us ${least:-$us}" | awk '{ print $1 < $2 ? $1 : $2 }')
  echo "host, round $round: $us us of processor time a run"
done
echo "host, least: $least us of processor time a run"
if [ "$instructions" ]; then
  command -v valgrind >/dev/null 2>&1 || { echo "host.sh: valgrind is not installed" >&2 && exit 1; }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  valgrind --tool=callgrind --callgrind-out-file="$work/out" --toggle-collect=heed_session_run "$heed" bench --op linear --shape 8,16,16 \
    --backend vulkan --device "$device" --quiet --runs 100 --warmup 0 >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
  callgrind_annotate --threshold=100 "$work/out" |
    awk '/\[.*\/heed\]/ { gsub(",", "", $1); sum += $1 } END { printf "instructions of heed in a run of one op: %d\n", sum / 100 }'
fi
