#!/bin/sh
# Figures of one Vulkan device: what heed devices says of it, its self-check, whole ViTs in both precisions without maps, with the last layer for all tokens, and with all maps, what
# each of their ops takes and its share of the device's ceiling (measured in the same run), attention over tokens, causal and not, products,
# layer norm beside a copy, what a run costs the host; then PyTorch's figures (gpu_peers.py) where it is installed and has a device. Prints
# one JSON object, one result a command; a command that fails or takes longer than the limit leaves its sentence in the place of its result.
# gpu_summary.py makes a table of it, a line a goal.
# usage: gpu.sh [--heed PROGRAM] [--device N] [--out FILE] [--limit SECONDS] [--small]
# --small: a few commands of seconds, for a software device or to see that all works.
set -eu
heed=build/release/heed device=0 out='' limit=300 small=''
while [ $# -gt 0 ]; do
  case $1 in
    --small) small=yes && shift && continue ;;
    --heed | --device | --out | --limit) [ $# -ge 2 ] || { echo "gpu.sh: $1 takes a word" >&2 && exit 2; } ;;
    *) echo "gpu.sh: unknown option (found $1, expected --heed, --device, --out, --limit or --small)" >&2 && exit 2 ;;
  esac
  case $1 in
    --heed) heed=$2 ;;
    --device) device=$2 ;;
    --out) out=$2 ;;
    --limit) limit=$2 ;;
  esac
  shift 2
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -z "$out" ] || exec >"$out"

text() { # a JSON string of standard input, lines joined
  printf '"'
  tr '\n\t' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g; s/ *$//'
  printf '"'
}

comma=''
bench() { # arguments of heed bench
  printf '%s\n  {"command": "heed bench --backend vulkan --device %s %s --json", ' "$comma" "$device" "$*"
  comma=,
  echo "$*" >&2
  if timeout "$limit" "$heed" bench --backend vulkan --device "$device" --quiet "$@" --json >"$work/out" 2>"$work/err"; then
    printf '"results": [%s]}' "$(sed '$!s/$/,/' "$work/out")"
  else
    [ -s "$work/err" ] || echo "no result within $limit seconds" >"$work/err"
    printf '"failed": %s}' "$(text <"$work/err")"
  fi
}

vits() { # runs, shapes, batches
  for shape in $2; do
    for batch in $3; do
      for precision in f32 f16; do
        bench --vit "$shape" --batch "$batch" --precision "$precision" --runs "$1" --profile
        [ "$batch" -ne 1 ] || bench --vit "$shape" --batch "$batch" --precision "$precision" --runs "$1" --all-tokens
        [ "$batch" -eq 256 ] || bench --vit "$shape" --batch "$batch" --precision "$precision" --runs "$1" --maps
      done
    done
  done
}

attentions() { # runs, shapes B,H,T,T,D
  for shape in $2; do
    bench --op attention --shape "$shape" --precision f16 --runs "$1" --profile
    bench --op attention --shape "$shape" --precision f16 --runs "$1" --causal top_left --profile
    bench --op attention --shape "$shape" --runs "$1" --window 128
    bench --op attention --shape "$shape" --runs "$1" --maps
  done
}

products() { # runs, shapes M,K,N
  for shape in $2; do
    for precision in f32 f16; do bench --op linear --shape "$shape" --precision "$precision" --runs "$1" --profile; done
  done
}

norms() { # runs, shapes ROWS,WIDTH
  for shape in $2; do bench --op layer_norm --shape "$shape" --runs "$1" --profile; done
}

host() { # shapes: kernels without workgroups, so that thread_us is what a run costs the host
  export HEED_VULKAN_NULL_DISPATCH=1
  for shape in $1; do bench --vit "$shape" --runs 100 --in-flight 2; done
  unset HEED_VULKAN_NULL_DISPATCH
}

"$heed" devices >"$work/devices" 2>&1 || { cat "$work/devices" >&2 && exit 1; }
grep -q "^$device  " "$work/devices" || { echo "gpu.sh: no device $device (heed devices lists those there are)" >&2 && exit 1; }
printf '{"device": %s,\n "limits": %s,\n' "$(grep "^$device  " "$work/devices" | sed "s/^[0-9 ]*//" | text)" "$(grep -A1 "^$device  " "$work/devices" | tail -n 1 | sed "s/^[0-9 ]*//" | text)"
printf ' "heed": %s, "revision": %s, "system": %s, "time": %s,\n' "$("$heed" --version | text)" \
  "$(git -C "$(dirname "$0")" rev-parse HEAD 2>"$work/err" | text)" "$(uname -srm | text)" "$(date -u +%Y-%m-%dT%H:%M:%SZ | text)"
"$heed" devices --self-check >"$work/check" 2>&1 || true
printf ' "self_check": %s,\n "results": [' "$(sed -n "/^$device  /,\$p" "$work/check" | grep -m 1 "self-check: " | sed "s/^ *//" | text)"
if [ "$small" ]; then
  for what in --profile --all-tokens --maps; do bench --vit Ti --batch 1 --precision f16 --runs 1 --warmup 0 "$what"; done
  attentions 1 1,1,64,64,16
  products 1 64,64,64
  norms 1 64,64
  host Ti
else
  vits 20 "Ti S B L" "1 32"
  vits 10 B 256
  attentions 20 "1,12,197,197,64 1,12,1024,1024,64 1,8,2048,2048,64"
  for depth in 64 128; do
    for tokens in 512 1024 2048 4096 8192 16384; do attentions 10 "1,16,$tokens,$tokens,$depth"; done
  done
  products 20 "197,768,2304 197,768,3072 197,3072,768 6304,768,3072 50432,768,3072 4096,4096,4096"
  norms 20 "197,768 6304,768 50432,768"
  host "Ti B"
fi
printf '\n ],\n "host_commands": "those with --in-flight have HEED_VULKAN_NULL_DISPATCH=1",\n "peers": '
timeout "$limit" python3 "$(dirname "$0")/gpu_peers.py" ${small:+--small} 2>"$work/err" || printf '{"missing": %s}\n' "$(tail -n 1 "$work/err" | text)"
printf '}\n'
