#!/bin/sh
# style_test.sh: what style.sh reports of a tree made up here, in which each kind of style is broken once.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp "$here/../../.clang-format" "$here/../../.clang-tidy" "$tree"
if [ -x "$here/../../node_modules/.bin/biome" ]; then ln -s "$here/../../node_modules" "$tree/node_modules"; fi
cp "$here/../../biome.json" "$here/../../.gitignore" "$tree"
mkdir -p "$tree/web" "$tree/runtime/base" "$tree/shaders" "$tree/build" "$tree/native"
echo 'int good(void);' >"$tree/runtime/base/good.h"
echo 'int   bad( void );' >"$tree/runtime/base/bad.h"
echo 'void main( ) { }' >"$tree/shaders/bad.comp"
echo 'int   built( void );' >"$tree/build/built.h"
echo 'const   x = "1";' >"$tree/web/bad.js"
{ printf 'export function long(n) {\n'; yes '  n += 1' | head -n 60; printf '  return n\n}\n'; } >"$tree/web/long.js"
echo 'cd $1' >"$tree/native/bad.sh"
printf 'int twice(int unused, int x);\nint twice(int unused, int x) { return x == x; }\n' >"$tree/runtime/base/twice.c"
printf '[\n{\n  "directory": "%s",\n  "command": "cc -c runtime/base/twice.c",\n  "file": "%s/runtime/base/twice.c"\n}\n]\n' "$tree" "$tree" >"$tree/compile_commands.json"

skipped=
expect() { # kind, lines that are expected...
  kind=$1
  shift
  status=0
  said=$(GIT_CEILING_DIRECTORIES="${tree%/*}" sh "$here/style.sh" "$tree" "$kind" "$tree" 2>&1) || status=$?
  [ "$status" -ne 77 ] || { skipped="$skipped${skipped:+; }$said"; return 0; }
  [ "$status" -eq 1 ] || { echo "$kind: exit code $status, expected 1: $said"; exit 1; }
  for line in "$@"; do
    case $said in *"$line"*) ;; *) echo "$kind: does not report \"$line\": $said"; exit 1 ;; esac
  done
  case $said in *good.h* | *built.h*) echo "$kind: reports a file that is in order, or built: $said"; exit 1 ;; esac
}
expect format 'runtime/base/bad.h: not formatted (run ./dev format)' 'shaders/bad.comp: not formatted'
expect js 'web/bad.js'
rm "$tree/web/bad.js" # the rules are checked once all is formatted
expect js 'web/long.js' 'too many lines (61). Maximum allowed is 60.'
expect shell 'native/bad.sh' SC2164
expect tidy 'misc-redundant-expression' 'misc-unused-parameters'
[ -z "$skipped" ] || { echo "$skipped"; exit 77; }
