#!/bin/sh
# What is left when a verb is killed, when a read or an allocation of it fails: the outputs are the old ones or the new ones, whole, and
# nobody is given a wrong number. HEED_AT_SYSCALL, HEED_FAILING_MALLOC: tools of faults/. Points are spread; HEED_SOAK: many more.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

points=4
[ -z "${HEED_SOAK:-}" ] || points=4000
kinds='kill fail short interrupt allocation'
tried_kill=0 tried_fail=0 tried_short=0 tried_interrupt=0 tried_allocation=0
if ! "$HEED_AT_SYSCALL" kill 0 true 3>"$bad/count" 2>/dev/null; then
  test_skip tracer 'no tracing of system calls here (x86-64 Linux, ptrace)'
  kinds=allocation
fi

# Times and what follows from them differ from run to run.
timeless() { # file
  sed 's/[0-9.]* ms//g; s|[0-9.]* GFLOP/s||g; s/RSS [0-9.]* MB//' "$1"
}

same() { # file, file
  case $1 in
    *.json) sed 's/"milliseconds": [0-9.e+-]*//; s/"seconds": [0-9.e+-]*//' "$1" >"$bad/a" && sed 's/"milliseconds": [0-9.e+-]*//; s/"seconds": [0-9.e+-]*//' "$2" >"$bad/b" && cmp -s "$bad/a" "$bad/b" ;;
    *) cmp -s "$1" "$2" ;;
  esac
}

# faults NAME OLD NEW...: OLD and NEW are arguments of heed that write the same files; OLD's are there when NEW begins.
faults() {
  topic=$1 old=$2
  shift 2
  rm -rf "$bad/old" "$bad/new"
  for state in old new; do
    rm -rf "$here"
    mkdir "$here"
    # shellcheck disable=SC2086 # words
    if [ $state = old ]; then heed $old; else heed "$@"; fi
    if [ "$status" -ne 0 ]; then
      code=$status
      test_begin "$topic"
      fail "the $state run: exit code $code"
      test_end
      return
    fi
    cp -R "$here" "$bad/$state"
    cp "$out" "$bad/$state.stdout"
  done
  for kind in $kinds; do
    test_begin "${topic}_$kind"
    command="$* ($kind)"
    run_kind "$@" || true
    test_end
  done
}

run_kind() {
  fresh
  at "$kind" 0 "$@"
  [ "$try" -eq 0 ] || { fail "without a fault: exit code $try: $(head -n 1 "$err")"; return; }
  count=$(cat "$bad/count")
  if [ "$kind" = kill ] && [ -z "$(ls -A "$bad/new")" ]; then return; fi
  [ "$count" -gt 0 ] || { [ "$kind" != allocation ] || fail 'found no point at all'; return; }
  step=$(((count + points - 1) / points)) point=1
  while [ "$point" -le "$count" ]; do
    fresh
    at "$kind" "$point" "$@"
    judge
    [ -z "$reasons" ] || return
    point=$((point + step))
    eval "tried_$kind=\$((tried_$kind + 1))"
  done
}

fresh() {
  rm -rf "$here"
  cp -R "$bad/old" "$here"
}

at() { # kind, point, arguments
  kind_=$1 point_=$2
  shift 2
  try=0
  case $kind_ in
    allocation) (cd "$here" && exec timeout 120 env HEED_FAIL_ALLOCATION="$point_" LD_PRELOAD="$HEED_FAILING_MALLOC" "$program" "$@") >"$out" 2>"$err" 3>"$bad/count" </dev/null || try=$? ;;
    *) (cd "$here" && exec timeout 120 "$HEED_AT_SYSCALL" "$kind_" "$point_" "$program" "$@") >"$out" 2>"$err" 3>"$bad/count" </dev/null || try=$? ;;
  esac
}

judge() {
  here_is="at point $point of $count"
  (cd "$bad/old" && find . -type f; cd "$bad/new" && find . -type f) | sort -u >"$bad/files"
  changed=no
  while read -r file; do
    if [ -e "$here/$file" ] && same "$here/$file" "$bad/new/$file"; then
      [ "$changed" != some ] || continue
    elif [ -e "$here/$file" ] && [ -e "$bad/old/$file" ] && same "$here/$file" "$bad/old/$file"; then
      changed=some
    elif [ ! -e "$here/$file" ] && [ ! -e "$bad/old/$file" ]; then
      changed=some
    else
      fail "$here_is: $file is neither the old one nor the new one"
    fi
  done <"$bad/files"
  if [ "$kind" = kill ]; then
    [ "$try" -eq 137 ] || fail "$here_is: exit code $try, expected 137"
    return
  fi
  [ -z "$(cd "$here" && find . -name '*.part*')" ] || fail "$here_is: left $(cd "$here" && find . -name '*.part*' | head -n 1)"
  case $try in
    0)
      [ "$changed" = no ] || fail "$here_is: exit code 0, and not all outputs are new"
      timeless "$out" >"$bad/a"
      timeless "$bad/new.stdout" >"$bad/b"
      cmp -s "$bad/a" "$bad/b" || fail "$here_is: exit code 0, and stdout differs: $(diff "$bad/a" "$bad/b" | head -n 3 | tr '\n' '|')"
      ;;
    3 | 4)
      [ "$kind" != short ] && [ "$kind" != interrupt ] || fail "$here_is: exit code $try: $(head -n 1 "$err")"
      [ -s "$err" ] || fail "$here_is: exit code $try without a sentence"
      [ "$kind" != allocation ] || { [ "$try" -eq 4 ] && grep -q 'out of memory' "$err"; } ||
        fail "$here_is: exit code $try: $(head -n 1 "$err")"
      ;;
    *) fail "$here_is: exit code $try: $(head -n 1 "$err")" ;;
  esac
}

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png
other=$vectors/preprocess/exact_224.png
pickle=$bad/pickle
mkdir "$pickle"
cp "$vectors/vit/hf_vit/config.json" "$vectors/pickle/vit/zip.pth" "$pickle"
common='--backend cpu --threads 1 --quiet'
outputs='--json out.json --save out.safetensors'
[ "$figures" = no ] || outputs="$outputs --maps out.png"

# shellcheck disable=SC2086 # words
{
  faults run "run $micro $other $common $outputs" run "$micro" "$picture" $common $outputs
  faults run_jpeg "run $micro $other $common --json out.json" run "$micro" "$vectors/preprocess/rgb.jpg" $common --json out.json
  printf '%s\n' "$picture" "$other" >"$bad/list"
  faults run_list "run $micro $other $common --json out.json" run "$micro" --list "$bad/list" $common --json out.json
  faults run_text "run $vectors/vit/clip_text $other --text one $common $outputs" run "$vectors/vit/clip_text" "$picture" --text 'a cat' --text 'a dog' $common $outputs
  faults run_sequence "run $vectors/sequence/gru --tokens 4 $common --save out.safetensors" run "$vectors/sequence/gru" --tokens 4,5 $common --save out.safetensors
  faults eval "eval $vectors/vit/hf_vit $vectors/vit/hf_vit/io_wide.safetensors -o out.safetensors $common" eval "$micro" "$vectors/vit/micro_32/io.safetensors" -o out.safetensors $common
  faults inspect_pickle "inspect $pickle" inspect "$pickle"
  faults eval_onnx "eval $vectors/onnx/graphs/clip_14.onnx $vectors/onnx/graphs/clip_14.safetensors -o out.safetensors $common" \
    eval "$vectors/onnx/graphs/clip_14.onnx" "$vectors/onnx/graphs/clip_14.safetensors" -o out.safetensors $common
  faults inspect_onnx "inspect $micro" inspect "$vectors/onnx/graphs/clip_14.onnx"
  faults run_onnx "run $micro $other $common --json out.json" run "$vectors/onnx/vit" "$picture" $common --json out.json --way graph
  faults check "check $vectors/linear/causal.safetensors -o out.safetensors $common" check "$vectors/linear/full.safetensors" -o out.safetensors $common
  faults inspect "inspect $micro" inspect "$micro"
  faults inspect_plan "inspect $micro" inspect "$micro" --plan
  faults inspect_graph "inspect $micro" inspect "$micro" --graph json
  faults bench "inspect $micro" bench "$micro" --runs 1 --warmup 0 $common
  faults bench_op "inspect $micro" bench --op linear --shape 4,8,8 --runs 1 --warmup 0 $common
  faults convert "inspect $micro" convert "$micro" -o folder --weights int8
  faults compare "compare $micro $micro $other --json out.json $common" compare "$micro" "$micro" "$picture" --json out.json $common
  faults demo "demo --score 2 $common" demo --score 2 --seed 3 $common
  faults devices devices devices
  heed run "$micro" "$picture" $common --save saved.safetensors
  cp "$here/saved.safetensors" "$bad/saved.safetensors"
  faults maps "maps $bad/saved.safetensors --layer 1 --json out.json" maps "$bad/saved.safetensors" --layer 0 --json out.json
  [ "$figures" = no ] || faults maps_figures "maps $bad/saved.safetensors --layer 1 --maps out.png --rollout rollout.png" \
    maps "$bad/saved.safetensors" --layer 0 --maps out.png --rollout rollout.png
}
# shellcheck disable=SC2154 # eval
echo "points: killed at $tried_kill changes of files; reads that failed: $tried_fail, gave a byte: $tried_short, were interrupted: $tried_interrupt; failed allocations: $tried_allocation"
tests_end
