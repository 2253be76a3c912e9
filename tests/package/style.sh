#!/bin/sh
# The style of the sources, one kind per call. Exit code 1 names each file that differs; 77 gives the reason of a skip.
#   style.sh ROOT format        C and GLSL are formatted as .clang-format says, by clang-format 14
#   style.sh ROOT format-write  formats them, and where biome is installed what `js` checks
#   style.sh ROOT js            JavaScript, TypeScript and CSS have the format and keep the rules of biome.json, by the biome of the npm workspace
#   style.sh ROOT shell         shellcheck has no warning on any shell script
#   style.sh ROOT tidy BUILD    clang-tidy 14 has no finding of .clang-tidy's checks in runtime/; BUILD has compile_commands.json
#   style.sh ROOT analyzer BUILD  the same with the checks of its analyzer, which take 20 times as long
# Other versions format in another way and know other checks: the version is part of the style.
set -eu
version=14
usage() { echo "usage: $0 ROOT format|format-write|js|shell|tidy|analyzer [BUILD]" >&2; exit 2; }
[ $# -ge 2 ] || usage
kind=$2 build=${3:-build/release}
cd "$1"
biome=node_modules/.bin/biome
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
list=$folder/list

skip() { echo "skipped: $*"; exit 77; }

# The tracked and the new files whose names match; in a tree without git, all but what is built or installed.
sources() { # patterns of names
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@"
  else
    for pattern in "$@"; do
      find . \( -name build -o -name node_modules \) -prune -o -type f -name "$pattern" -print
    done | sed 's|^\./||'
  fi | sort -u | while read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done >"$list"
  [ -s "$list" ] || { echo "no source was found at all"; exit 1; }
}

# Sets $tool to a tool of LLVM in the version above: by the name that has it, or by what --version reports.
need() { # name
  tool=$(command -v "$1-$version" || command -v "$1") || skip "no $1 $version here"
  found=$("$tool" --version | sed -n 's/.*version \([0-9]*\).*/\1/p' | head -n 1)
  [ "$found" = "$version" ] || skip "$1 has another version (found $found, expected $version)"
}

each() { tr '\n' '\0' <"$list" | xargs -0 "$@"; }

# clang-format names a file once per line that differs.
format() {
  each "$tool" --dry-run -Werror -- 2>"$folder/out" && return 0
  sed -n 's/^\([^:]*\):.*code should be clang-formatted.*/\1/p' "$folder/out" | sort -u >"$folder/bad"
  [ -s "$folder/bad" ] || { cat "$folder/out"; exit 1; }
  sed 's/$/: not formatted (run .\/dev format)/' "$folder/bad"
  exit 1
}

# Kernels are compiled once per SIMD level: one command per file is enough.
tidy() { # options of clang-tidy
  [ -f "$build/compile_commands.json" ] || { echo "$build/compile_commands.json: it is missing"; exit 1; }
  awk -v room="$PWD/runtime/" '
    /^\{/ { entry = ""; wanted = 0 }
    { entry = entry $0 "\n" }
    /^ *"file"/ { split($0, part, "\""); wanted = index(part[4], room) == 1 && !seen[part[4]]++ }
    /^\}/ && wanted { sub(/,?\n$/, "", entry); printf "%s%s", count++ ? ",\n" : "[\n", entry }
    END { print "\n]" }' "$build/compile_commands.json" >"$folder/compile_commands.json"
  sed -n 's/^ *"file": "\(.*\)".*/\1/p' "$folder/compile_commands.json" >"$list"
  [ -s "$list" ] || { echo "no source was found at all"; exit 1; }
  jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
  each -n 4 -P "$jobs" "$tool" -p "$folder" --quiet "$@" >"$folder/out" 2>&1 && return 0
  grep -v 'warnings\{0,1\} generated' "$folder/out"
  exit 1
}

case $kind in
  format)
    need clang-format
    sources '*.c' '*.h' '*.comp' '*.glsl'
    format
    ;;
  format-write)
    need clang-format
    sources '*.c' '*.h' '*.comp' '*.glsl'
    each "$tool" -i --
    [ ! -x "$biome" ] || "$biome" format --write .
    ;;
  js)
    [ -x "$biome" ] || skip "no biome here (expected $biome; npm ci brings it)"
    "$biome" format . >"$folder/out" 2>&1 || { cat "$folder/out"; exit 1; }
    "$biome" lint --error-on-warnings >"$folder/out" 2>&1 || { cat "$folder/out"; exit 1; }
    ;;
  shell)
    command -v shellcheck >/dev/null 2>&1 || skip "no shellcheck here"
    sources '*.sh'
    for script in dev .ci/run; do [ ! -f "$script" ] || echo "$script"; done >>"$list"
    each shellcheck --severity=warning -x || exit 1
    ;;
  tidy)
    need clang-tidy
    tidy '--checks=-clang-analyzer-*'
    ;;
  analyzer)
    need clang-tidy
    tidy
    ;;
  *) usage ;;
esac
