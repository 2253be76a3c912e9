#!/bin/sh
# A table of Vulkan devices, Markdown on stdout: device, tier, shape, least milliseconds of a run, its mean processor time (all
# threads: the one that says something while other programs run), GFLOP/s of the least, share of the ceiling that the same
# process measured on the device right after.
# usage: vulkan_table.sh [--heed PROGRAM] [--runs N] [--tiers "floor subgroup half"] [--ops|--vits] [ICD.json...]
# ICD.json: a driver's file (VK_DRIVER_FILES); without one the loader's first device. A tier that the device has not is left out.
set -eu
heed=$(dirname "$0")/../../build/release/heed runs=5 tiers="floor subgroup half" ops=1 vits=1
while [ $# -gt 0 ]; do
  case $1 in
    --heed) heed=$2 && shift 2 ;;
    --runs) runs=$2 && shift 2 ;;
    --tiers) tiers=$2 && shift 2 ;;
    --ops) vits='' && shift ;;
    --vits) ops='' && shift ;;
    -*) echo "vulkan_table.sh: no such option (found $1, expected --heed, --runs, --tiers, --ops or --vits)" >&2 && exit 2 ;;
    *) break ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

row() { # tier, shape's name, arguments of heed bench
  tier=$1 name=$2
  shift 2
  echo "$tier, $name" >&2
  HEED_VULKAN_TIER=$tier "$heed" bench --backend vulkan --quiet --runs "$runs" --warmup 1 --profile --json "$@" >"$work/out" 2>"$work/err" || {
    sed 's/^/  left out: /' "$work/err" >&2
    return 0
  }
  field() { sed "s/.*\"$1\": \([^,}]*\).*/\1/" "$work/out"; }
  device=$(sed 's/.*"device": "\([^"]*\)".*/\1/; s/, Vulkan .*//' "$work/out")
  printf '%s %s %s %s\n' "$(field min_ms)" "$(field cpu_ms)" "$(field gflop)" "$(field f32_gflops)" |
    awk -v device="$device" -v tier="$tier" -v name="$name" \
      '{ g = $3 / $1 * 1e3; printf "| %s | %s | %s | %.1f | %.1f | %.1f | %.0f %% |\n", device, tier, name, $1, $2, g, 100 * g / $4 }'
}

table() {
  for tier in $tiers; do
    precision=f32
    case $tier in half | cooperative*) precision=f16 ;; esac
    if [ "$ops" ]; then
      for shape in 12,197,64 12,1024,64 8,2048,64; do
        heads=${shape%%,*} depth=${shape##*,} tokens=${shape#*,}
        tokens=${tokens%,*}
        row "$tier" "attention $heads x $tokens x $depth" --op attention --shape "1,$heads,$tokens,$tokens,$depth" --precision "$precision"
      done
      row "$tier" "linear 197 x 768 x 3072" --op linear --shape 197,768,3072 --precision "$precision"
    fi
    if [ "$vits" ]; then
      for shape in Ti S B; do row "$tier" "ViT-$shape" --vit "$shape" --precision "$precision"; done
    fi
  done
}

echo "| device | tier | shape | ms | processor ms | GFLOP/s | of its fp32 ceiling |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
if [ $# -eq 0 ]; then
  table
else
  for driver in "$@"; do
    export VK_DRIVER_FILES="$driver" VK_ICD_FILENAMES="$driver"
    table
  done
fi
