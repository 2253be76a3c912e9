#!/bin/sh
# Two builds of heed on one Vulkan device, by turns: minimum milliseconds of a run of both, and how much less the second takes (1: the same).
# turns.sh BEFORE NOW [--device N] [--rounds 8] [--runs 5] [--small]    BEFORE, NOW: the two heed programs
# The other build: git worktree add --detach /tmp/before a10dc0b && cd /tmp/before && cmake --preset release && ninja -C build/release heed
set -eu
[ $# -ge 2 ] || { echo "usage: turns.sh BEFORE NOW [--device N] [--rounds N] [--runs N] [--small]" >&2 && exit 2; }
before=$1 now=$2 device=0 rounds=8 runs=5 small=''
shift 2
while [ $# -gt 0 ]; do
  case $1 in
    --small) small=yes && shift && continue ;;
    --device | --rounds | --runs) [ $# -gt 1 ] || { echo "turns.sh: missing value for $1" >&2 && exit 2; } ;;
    *) echo "turns.sh: unknown option (found $1, expected --device, --rounds, --runs or --small)" >&2 && exit 2 ;;
  esac
  case $1 in
    --device) device=$2 ;;
    --rounds) rounds=$2 ;;
    --runs) runs=$2 ;;
  esac
  shift 2
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

once() { # program, arguments of heed bench
  program=$1
  shift
  "$program" bench --backend vulkan --device "$device" --runs "$runs" --warmup 1 --quiet --json "$@" >"$work/out" 2>"$work/err" || { cat "$work/err" >&2 && exit 1; }
  sed -n 's/.*"min_ms": \([0-9.e+-]*\).*/\1/p' "$work/out"
}

compare() { # arguments of heed bench
  : >"$work/before" && : >"$work/now"
  round=0
  while [ "$round" -lt "$rounds" ]; do
    once "$before" "$@" >>"$work/before"
    once "$now" "$@" >>"$work/now"
    round=$((round + 1))
  done
  least_before=$(sort -g "$work/before" | head -n 1) least_now=$(sort -g "$work/now" | head -n 1)
  echo "$least_before $least_now" | awk -v what="$*" '{ printf "%-40s %10.2f ms %10.2f ms   %.3f\n", what, $1, $2, $1 / $2 }'
}

if [ "$small" ]; then
  compare --op attention --shape 1,1,64,64,16
  exit
fi
for vit in Ti S B; do compare --vit "$vit"; done
for tokens in 197 1024; do compare --op attention --shape "1,12,$tokens,$tokens,64"; done
