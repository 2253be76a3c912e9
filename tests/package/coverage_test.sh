#!/bin/sh
# coverage_test.sh ROOT: what the gate of ./dev coverage says, with counts that a command in gcovr's place gives.
# shellcheck disable=SC2016 # the backquotes are those of Markdown
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/tests/package" "$work/runtime/a" "$work/native/b"
: >"$work/runtime/a/one.c" && : >"$work/runtime/a/two.c" && : >"$work/native/b/read.c"
cat >"$work/bin/gcovr" <<'TEXT'
#!/bin/sh
while [ "$1" != --csv ]; do shift; done
cat >"$2" <<CSV
filename,line_total,line_covered,line_percent,branch_total,branch_covered,branch_percent
native/b/read.c,10,10,1.0,0,0,
runtime/a/one.c,10,9,0.9,200,$ONE,0.9
runtime/a/two.c,10,9,0.9,100,$TWO,0.9
CSV
TEXT
chmod +x "$work/bin/gcovr"
export ONE=190 TWO=50

expect() { # exit code, part of the output, the list of parsers, arguments...
  code=$1 part=$2
  printf '%s\n' "# a comment" "" "$3" >"$work/tests/package/parsers.txt"
  shift 3
  status=0
  output=$(PATH="$work/bin:$PATH" sh "$root/tests/package/coverage.sh" "$work" build "$@" 2>&1) || status=$?
  [ "$status" -eq "$code" ] || { echo "$part: exit code $status, expected $code: $output"; exit 1; }
  case $output in *"$part"*) ;; *) echo "does not say \"$part\": $output"; exit 1 ;; esac
}

expect 0 '| `runtime/a/one.c` | 200 | 95.0 % | 95 % |' 'runtime/*/one.c' parsers
expect 0 '| `runtime/a` | 20 | 90.0 % | 300 | 80.0 % |' 'runtime/*/one.c'
expect 0 '| `native/b/read.c` | 0 | 100.0 % | 95 % |' 'native/b/*.c' parsers
ONE=189
expect 1 'runtime/a/one.c: too few branches are run by tests (found 94.5 %, 189 of 200, expected 95 %)' 'runtime/*/one.c' parsers
expect 0 '| `runtime/a/one.c` | 200 | 94.5 % | 94 % |' 'runtime/*/one.c 94 sockets cannot be had here' parsers
expect 1 'runtime/a/two.c: too few branches are run by tests (found 50.0 %, 50 of 100, expected 95 %)' 'runtime/a/t*.c'
expect 1 'parsers.txt:3: runtime/*.c fits no file (expected one of the sources)' 'runtime/*.c' parsers
expect 1 'parsers.txt:3: a floor of its own needs a reason (found "runtime/a/two.c 50"' 'runtime/a/two.c 50' parsers
expect 1 'parsers.txt:3: a floor of its own needs a reason' 'runtime/a/two.c 96 more' parsers
: >"$work/runtime/a/three.c"
expect 1 'runtime/a/three.c: no test program has it (expected its branches counted)' 'runtime/a/th*.c' parsers
expect 2 'usage:' '' all
