# What the tests of the command line share; sourced by tests/cli/<name>_test.sh HEED VECTORS FOLDER.
# A test is test_begin, heed ..., expectations, test_end; it prints TAP, so that each is counted as a case.
# `heed` leaves its exit code in $status, its output in $out and $err, and runs in $here, which is empty when a test begins.
# shellcheck shell=sh

[ $# -eq 3 ] || { echo "usage: $0 HEED VECTORS FOLDER"; exit 2; }
program=$1
vectors=$2
here=$3/here
bad=$3/bad # where tests put the files that they make
out=$3/stdout
err=$3/stderr
LC_ALL=C XDG_CACHE_HOME=$3/cache
export LC_ALL XDG_CACHE_HOME

rm -rf "$3"
mkdir -p "$here" "$bad"
total=0 broken=0

# Without cairo heed draws no figures: a test that asks for one is skipped.
figures=yes
! "$program" maps none --maps none.png 2>&1 | grep -q 'this build of heed draws no figures' || figures=no

# Whether a folder has no files, hidden ones neither. Without a process: there are thousands of tests.
is_empty() { # folder
  for found_file in "$1"/* "$1"/.[!.]*; do
    if [ -e "$found_file" ] || [ -h "$found_file" ]; then return 1; fi
  done
}

test_begin() { # name
  name=$1 reasons='' lacking='' status='' total=$((total + 1))
  [ -d "$here" ] && is_empty "$here" && return 0
  rm -rf "$here"
  mkdir "$here"
}

test_end() {
  if [ -n "$lacking" ]; then
    printf 'ok %s - %s # SKIP %s\n' "$total" "$name" "$lacking"
    return 0
  fi
  if [ -z "$reasons" ]; then
    printf 'ok %s - %s\n' "$total" "$name"
    return 0
  fi
  broken=$((broken + 1))
  printf '%s' "$reasons"
  printf 'command: heed %s\n' "$command"
  sed 's/^/stdout: /' "$out" | head -n 20
  sed 's/^/stderr: /' "$err" | head -n 20
  printf 'not ok %s - %s\n' "$total" "$name"
}

test_skip() { # name, reason
  total=$((total + 1))
  printf 'ok %s - %s # SKIP %s\n' "$total" "$1" "$2"
}

fail() { reasons="$reasons$name: $*
"; }

# A loop without an end fails the test: 120 s of a processor is far above what any of them needs, also under a sanitizer. One that
# waits without an end is ended by ctest. `timeout` would be a process more for each of thousands.
heed() {
  command=$* status=0
  case "$figures $* " in no*" --maps "* | no*" --rollout "* | no*" --explained "*) lacking='heed was configured without cairo' ;; esac
  # shellcheck disable=SC3045 # dash, bash and busybox have it
  (cd "$here" && ulimit -t 120 && exec "$program" "$@") >"$out" 2>"$err" </dev/null || status=$?
  [ ! -s "$err" ] || ! grep -q 'vulkan validation:' "$err" || fail "Vulkan validation gave a message"
}

expect_exit() { [ "$status" -eq "$1" ] || fail "exit code: found $status, expected $1"; }
expect_stdout_contains() { grep -qF -- "$1" "$out" || fail "stdout does not say \"$1\""; }
expect_stderr_contains() { grep -qF -- "$1" "$err" || fail "stderr does not say \"$1\""; }
expect_stdout_empty() { [ ! -s "$out" ] || fail "stdout: found $(wc -c <"$out") bytes, expected none"; }
expect_stderr_empty() { [ ! -s "$err" ] || fail "stderr: found $(wc -c <"$err") bytes, expected none"; }
expect_file() { [ -s "$here/$1" ] || fail "$1 is not there or empty"; }
expect_no_file() { [ ! -e "$here/$1" ] || fail "$1 is there"; }
expect_nothing_written() { is_empty "$here" || fail "files were left: $(ls -A "$here")"; }

# Exactly one line on stderr, of the form "heed VERB: where: what was wrong".
expect_one_sentence() { # verb, a part of it
  [ "$(wc -l <"$err")" -eq 1 ] || fail "stderr: found $(wc -l <"$err") lines, expected one sentence"
  grep -q "^heed $1: .*: " "$err" || fail "stderr: not of the form \"heed $1: where: what\""
  expect_stderr_contains "$2"
}

# One bad input: exit code 3, one sentence, no result, no file.
bad_input() { # name, a part of the sentence, verb, arguments...
  test_begin "$1"
  part=$2
  shift 2
  heed "$@"
  expect_exit 3
  expect_one_sentence "$1" "$part"
  expect_stdout_empty
  expect_nothing_written
  test_end
}

# Each allocation of heed's fails once, where the tests have what makes it fail: exit code 4, one sentence, no file.
allocations_fail() { # name, verb, arguments...
  [ -n "${HEED_FAILING_MALLOC:-}" ] || return 0
  test_begin "memory_$1"
  shift
  command="$* (allocations fail)"
  (cd "$here" && LD_PRELOAD=$HEED_FAILING_MALLOC exec "$program" "$@") >"$out" 2>"$err" 3>"$bad/allocations" </dev/null || fail "without a fault: exit code $?"
  allocations=$(cat "$bad/allocations") at=0
  [ "$allocations" -gt 10 ] || fail "found $allocations allocations, expected more"
  while [ "$at" -lt "$allocations" ] && [ -z "$reasons" ]; do
    at=$((at + 1)) status=0
    is_empty "$here" || rm -rf "${here:?}"/*
    (cd "$here" && HEED_FAIL_ALLOCATION=$at LD_PRELOAD=$HEED_FAILING_MALLOC exec "$program" "$@") >"$out" 2>"$err" 3>/dev/null </dev/null || status=$?
    expect_exit 4
    case $(while read -r line; do printf '%s\n' "$line"; done <"$err") in *"out of memory"*) ;; *) expect_stderr_contains "out of memory" ;; esac
    expect_nothing_written
  done
  test_end
}

# A copy of the micro model in $bad/<name>, to be spoilt.
model() { # name
  mkdir -p "$bad/$1"
  cp "$vectors/vit/micro_32/config.json" "$vectors/vit/micro_32/model.safetensors" "$bad/$1"
  chmod u+w "$bad/$1"/*
}

# Replaces the first match in a file that may be binary. Fails when nothing changed: a test that spoils nothing tests nothing.
edit() { # file, sed expression
  sed -e "$2" "$1" >"$1.edited"
  cmp -s "$1" "$1.edited" && { echo "edit $1: \"$2\" changed nothing"; exit 1; }
  mv "$1.edited" "$1"
}

# Keeps the first bytes of a file.
cut_to() { # file, bytes
  head -c "$2" "$1" >"$1.cut"
  mv "$1.cut" "$1"
}

repeat() { # text, times
  awk -v text="$1" -v times="$2" 'BEGIN { for (i = 0; i < times; i++) printf "%s", text }'
}

# A 64-bit little-endian number below 2^31, as bytes.
little_endian() { # number
  # shellcheck disable=SC2059 # octal escapes
  printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($1 % 256)) $(($1 / 256 % 256)) $(($1 / 65536 % 256)) $(($1 / 16777216)))"
  printf '\000\000\000\000'
}

# A safetensors file of this header, with so many bytes of zeros after it.
safetensors() { # file, header, data bytes
  { little_endian ${#2}; printf '%s' "$2"; head -c "$3" /dev/zero; } >"$1"
}

tests_end() {
  printf '1..%d\n' "$total"
  [ "$broken" -eq 0 ] || exit 1
}

# The names of the tensors in a .safetensors file, on one line.
saved() { # file
  python3 - "$here/$1" <<'PYTHON'
import json, struct, sys
data = open(sys.argv[1], 'rb').read()
size = struct.unpack('<Q', data[:8])[0]
print(*sorted(name for name in json.loads(data[8:8 + size]) if name != '__metadata__'))
PYTHON
}
