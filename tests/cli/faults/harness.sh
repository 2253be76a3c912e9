# What is left when a verb is killed, when a read or an allocation of it fails: the outputs are the old ones or the new ones, whole, and
# nobody is given a wrong number. HEED_AT_SYSCALL, HEED_FAILING_MALLOC: tools of this folder. Points are spread; HEED_SOAK: many more.
# HEED_FAULTS: these kinds alone.
# Sourced by tests/cli/faults_test.sh and faults_vulkan_test.sh, after harness.sh.
# shellcheck shell=sh disable=SC2034,SC2154 # names of harness.sh

points=${HEED_SOAK:+10000}
points=${points:-3}
cold=no # yes: each point begins without heed's cache, and the next run has what a killed one left there
kinds=${HEED_FAULTS:-kill fail short interrupt allocation stream}
tried_kill=0 tried_fail=0 tried_short=0 tried_interrupt=0 tried_allocation=0 tried_stream=0
if ! "$HEED_AT_SYSCALL" kill 0 true 3>"$bad/count" 2>/dev/null; then
  test_skip tracer 'no tracing of system calls here (x86-64 Linux, ptrace)'
  kinds='allocation stream'
fi

# Times and what follows from them differ from run to run.
timeless() { # file
  sed 's/[0-9.]* ms//g; s|[0-9.]* GFLOP/s||g; s/RSS [0-9.]* MB//' "$1"
}

timeless_json() { # file
  sed 's/"milliseconds": [0-9.e+-]*//g; s/"seconds": [0-9.e+-]*//g' "$1"
}

same() { # file, file
  case $1 in
    *.json | *.jsonl) timeless_json "$1" >"$bad/a" && timeless_json "$2" >"$bad/b" && cmp -s "$bad/a" "$bad/b" ;;
    *) cmp -s "$1" "$2" ;;
  esac
}

# Of many images, a line each: where one cannot be read, its line says so, and the others are as ever.
same_but_bad_ones() { # file, file
  case $1 in *.jsonl) ;; *) return 1 ;; esac
  [ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ] || return 1
  grep -v '"error": ' "$1" >"$bad/good" || return 1
  timeless_json "$bad/good" >"$bad/a"
  timeless_json "$2" >"$bad/b"
  ! grep -qvxFf "$bad/b" "$bad/a"
}

# faults NAME OLD NEW...: OLD and NEW are arguments of heed that write the same files; OLD's are there when NEW begins.
faults() {
  topic=$1 old=$2
  shift 2
  rm -rf "$bad/old" "$bad/new"
  for state in old new; do
    rm -rf "$here"
    mkdir "$here"
    [ $cold = no ] || rm -rf "$XDG_CACHE_HOME/heed"
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
    if [ "$cold$kind" = yeskill ]; then after_kill "$@"; fi
    [ -z "$reasons" ] || return
    point=$((point + step))
    eval "tried_$kind=\$((tried_$kind + 1))"
  done
}

fresh() {
  rm -rf "$here"
  cp -R "$bad/old" "$here"
  [ $cold = no ] || rm -rf "$XDG_CACHE_HOME/heed"
}

after_kill() { # arguments
  heed "$@"
  [ "$status" -eq 0 ] || fail "$here_is: the next run: exit code $status: $(head -n 1 "$err")"
  while read -r file; do
    same "$here/$file" "$bad/new/$file" || fail "$here_is: $file of the next run differs"
  done <"$bad/files"
}

at() { # kind, point, arguments
  kind_=$1 point_=$2
  shift 2
  try=0
  case $kind_ in
    allocation | stream) (cd "$here" && exec timeout 120 env "HEED_FAIL_$(echo "$kind_" | tr a-z A-Z)=$point_" LD_PRELOAD="$HEED_FAILING_MALLOC" "$program" "$@") >"$out" 2>"$err" 3>"$bad/count" </dev/null || try=$? ;;
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
    elif [ "$try" -eq 3 ] && [ -e "$here/$file" ] && same_but_bad_ones "$here/$file" "$bad/new/$file"; then
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
      [ -s "$err" ] || fail "$here_is: exit code $try without a sentence"
      case $kind in
        short | interrupt) fail "$here_is: exit code $try: $(head -n 1 "$err")" ;;
        allocation | stream)
          { [ "$try" -eq 4 ] && grep -q 'out of memory\|Cannot allocate memory' "$err"; } ||
            fail "$here_is: exit code $try: $(head -n 1 "$err")"
          ;;
      esac
      ;;
    *) fail "$here_is: exit code $try: $(head -n 1 "$err")" ;;
  esac
}

faults_end() {
  # shellcheck disable=SC2154 # eval
  echo "points: killed at $tried_kill changes of files; reads that failed: $tried_fail, gave a byte: $tried_short, were interrupted: $tried_interrupt; failed allocations: $tried_allocation, streams: $tried_stream"
  tests_end
}
