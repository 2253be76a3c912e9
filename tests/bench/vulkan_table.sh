#!/bin/sh
# A table of Vulkan devices, Markdown on stdout: device, tier or peer, shape, least milliseconds of a run, its mean processor time (all
# threads: the one that says something while other programs run), GFLOP/s of the least, share of the ceiling that the same processes
# measured on the device right after, and of a peer how many times heed's least it takes (heed's fastest tier). heed runs before the peers
# and once more after them; the lesser of both counts, so that a disturbed half shows in stderr and not in the table.
# usage: vulkan_table.sh [--heed PROGRAM] [--runs N] [--tiers "floor subgroup half"] [--ops|--vits] [--small] [--limit SECONDS]
#                        [--ggml PROGRAM] [--ncnn PROGRAM] [--seconds N] [ICD.json...]
# ICD.json: a driver's file (VK_DRIVER_FILES); without one the loader's first device. A tier that the device has not is left out, and so
# is what takes longer than the limit. --small: the least attention, the linear layer and ViT-Ti alone, for slow devices.
# Peers are peer_ggml.cpp and peer_ncnn.cpp of this folder, built by hand as their heads say, or programs like them that print a line a shape
# with "min X", X in milliseconds; left out with a reason where they are not given (or HEED_BENCH_GGML, HEED_BENCH_NCNN):
#   ggml   PROGRAM Vulkan0 THREADS SECONDS attn           lines with "1xHEADSxTOKENSxDEPTH", of which the least of a shape counts
#   ncnn   PROGRAM FILE.param 224 224 THREADS 0 0 SECONDS with Ti.param, S.param and B.param, ViTs of 224 pixels, in the program's folder
set -eu
heed=$(dirname "$0")/../../build/release/heed runs=5 tiers="floor subgroup half" ops=1 vits=1 small='' limit=120 seconds=3
ggml=${HEED_BENCH_GGML:-} ncnn=${HEED_BENCH_NCNN:-}
while [ $# -gt 0 ]; do
  case $1 in
    --heed) heed=$2 && shift 2 ;;
    --runs) runs=$2 && shift 2 ;;
    --tiers) tiers=$2 && shift 2 ;;
    --limit) limit=$2 && shift 2 ;;
    --seconds) seconds=$2 && shift 2 ;;
    --ggml) ggml=$2 && shift 2 ;;
    --ncnn) ncnn=$2 && shift 2 ;;
    --ops) vits='' && shift ;;
    --vits) ops='' && shift ;;
    --small) small=yes && shift ;;
    -*) echo "vulkan_table.sh: unknown option (found $1; the head of this file has them)" >&2 && exit 2 ;;
    *) break ;;
  esac
done
attentions='12,197,64 12,1024,64 8,2048,64' shapes='Ti S B'
[ -z "$small" ] || attentions=12,197,64 shapes=Ti
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A line of $work/rows is: heed or peer|tier or peer|shape|ms|processor ms|gflop|ceiling.
row() { # tier, shape's name, arguments of heed bench
  tier=$1 name=$2
  shift 2
  HEED_VULKAN_TIER=$tier timeout "$limit" "$heed" bench --backend vulkan --quiet --runs "$runs" --warmup 1 --profile --json "$@" >"$work/out" 2>"$work/err" || {
    [ -s "$work/err" ] || echo "no result within $limit s" >"$work/err"
    sed "s/^/$tier, $name is left out: /" "$work/err" >&2
    return 0
  }
  field() { sed "s/.*\"$1\": \([^,}]*\).*/\1/" "$work/out"; }
  ceiling=$(field f32_gflops)
  case $tier in cooperative*) ceiling=$(field matrix_gflops) ;; esac # the other tiers multiply in fp32
  sed 's/.*"device": "\([^"]*\)".*/\1/; s/, Vulkan .*//' "$work/out" >"$work/device"
  printf 'heed|%s|%s|%s|%s|%s|%s\n' "$tier" "$name" "$(field min_ms)" "$(field cpu_ms)" "$(field gflop)" "$ceiling" >>"$work/rows"
  printf '%s, %s: %s ms\n' "$tier" "$name" "$(field min_ms)" >&2
}

attention_name() { printf 'attention %s' "$(echo "$1" | sed 's/,/ x /g')"; }

heed_rows() {
  for tier in $tiers; do
    precision=f32
    case $tier in half | cooperative*) precision=f16 ;; esac
    if [ "$ops" ]; then
      for shape in $attentions; do
        heads=${shape%%,*} depth=${shape##*,} tokens=${shape#*,}
        tokens=${tokens%,*}
        row "$tier" "$(attention_name "$shape")" --op attention --shape "1,$heads,$tokens,$tokens,$depth" --precision "$precision"
      done
      row "$tier" "linear 197 x 768 x 3072" --op linear --shape 197,768,3072 --precision "$precision"
    fi
    [ -z "$vits" ] || for shape in $shapes; do row "$tier" "ViT-$shape" --vit "$shape" --precision "$precision"; done
  done
}

peer_row() { # peer, shape's name; its line on standard input
  ms=$(sed -n 's/.* min *\([0-9.]*\).*/\1/p' | sort -n | head -n 1)
  [ -n "$ms" ] || {
    echo "$1, $2 is left out: no result within $limit s ($(tail -n 1 "$work/err"))" >&2
    return 0
  }
  printf 'peer|%s|%s|%s|||\n' "$1" "$2" "$ms" >>"$work/rows"
  echo "$1, $2: $ms ms" >&2
}

threads=$(getconf _NPROCESSORS_ONLN)
peers() {
  if [ -z "$ggml" ] || [ -z "$ops" ]; then
    [ -n "$ggml" ] || echo "ggml is left out: no program was given (--ggml)" >&2
  else
    GGML_VK_VISIBLE_DEVICES=0 timeout $((limit * 3)) "$ggml" Vulkan0 "$threads" "$seconds" attn >"$work/ggml" 2>"$work/err" || true
    for shape in $attentions; do
      grep " 1x$(echo "$shape" | tr , x) " "$work/ggml" >"$work/line" || true
      peer_row ggml "$(attention_name "$shape")" <"$work/line"
    done
  fi
  if [ -z "$ncnn" ] || [ -z "$vits" ]; then
    [ -n "$ncnn" ] || echo "ncnn is left out: no program was given (--ncnn)" >&2
  else
    for shape in $shapes; do
      timeout "$limit" "$ncnn" "$(dirname "$ncnn")/$shape.param" 224 224 "$threads" 0 0 "$seconds" >"$work/line" 2>"$work/err" || true
      peer_row ncnn "ViT-$shape" <"$work/line"
    done
  fi
}

# The lesser of the two times of each row; a peer's beside the least of heed's on that shape.
print_rows() {
  awk -F '|' -v device="$(cat "$work/device")" '
    { key = $2 "|" $3; if (!(key in ms)) { order[++n] = key; what[key] = $2; shape[key] = $3; peer[key] = $1 == "peer" }
      if (!(key in ms) || $4 < ms[key]) { ms[key] = $4 + 0; cpu[key] = $5 }
      if ($6) work[$3] = $6
      if ($7 > ceiling[key]) ceiling[key] = $7
      if ($1 == "heed" && (!($3 in least) || $4 < least[$3])) least[$3] = $4 + 0 }
    END { for (i = 1; i <= n; i++) { k = order[i]; g = work[shape[k]] / ms[k] * 1e3
      printf "| %s | %s | %s | %.1f | %s | %.1f | %s | %s |\n", device, what[k], shape[k], ms[k], peer[k] ? "" : sprintf("%.1f", cpu[k]), g,
        peer[k] ? "" : sprintf("%.0f %%", 100 * g / ceiling[k]), peer[k] ? sprintf("%.1f", ms[k] / least[shape[k]]) : "" } }' "$work/rows"
}

table() {
  : >"$work/rows"
  heed_rows
  if [ "$ggml$ncnn" ]; then
    peers
    heed_rows
  else
    peers
  fi
  [ ! -s "$work/rows" ] || print_rows
}

echo "| device | tier or peer | shape | ms | processor ms | GFLOP/s | of its ceiling | times heed's ms |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
if [ $# -eq 0 ]; then
  table
else
  for driver in "$@"; do
    export VK_DRIVER_FILES="$driver" VK_ICD_FILENAMES="$driver"
    table
  done
fi
