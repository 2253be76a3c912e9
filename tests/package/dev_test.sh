#!/bin/sh
# dev_test.sh ROOT: what ./dev says and does where no build is needed: its words, and machines without packages, played by a folder
# of commands that is the whole PATH.
set -eu
root=$1
cd "$root"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

expect() { # exit code, part of the output, command...
  code=$1 part=$2
  shift 2
  status=0
  output=$("$@" 2>&1) || status=$?
  [ "$status" -eq "$code" ] || { echo "$*: exit code $status, expected $code: $output"; exit 1; }
  case $output in *"$part"*) ;; *) echo "$*: does not say \"$part\": $output"; exit 1 ;; esac
}

fake() { # name: a command, its body from stdin
  rm -f "$bin/$1"
  { echo '#!/bin/sh'; cat; } >"$bin/$1"
  chmod +x "$bin/$1"
}

expect_calls() { # the calls of apt-get so far
  [ "$(cat "$bin/calls")" = "$1" ] || { echo "apt-get was called with: $(cat "$bin/calls"); expected: $1"; exit 1; }
}

expect 0 "usage: ./dev run" ./dev help
expect 0 "usage: ./dev run" ./dev
expect 2 "unknown verb: dance" ./dev dance
expect 2 "fuzz: not a whole number of minutes (found soon, expected 1 or more)" ./dev fuzz soon
expect 2 "test: unknown part (found most, expected all, or nothing for what a change breaks)" ./dev test most
expect 2 "coverage: unknown part (found half, expected parsers, or nothing for everything)" ./dev coverage half
expect 2 "soak: not a whole number of minutes (found 0, expected 1 or more)" ./dev soak 0

# Neither compiler nor package manager.
for tool in sh dirname getconf sed grep cat env chmod; do ln -s "$(command -v "$tool")" "$bin/$tool"; done
echo "echo 1000" | fake id
echo "exit 0" | fake true
missing='cmake ninja-build gcc pkg-config glslang-tools spirv-tools'
expect 4 "cannot be installed from here: $missing" env PATH="$bin" ./dev run
expect 4 "pkg-config" env PATH="$bin" ./dev check
expect 4 "emscripten" env PATH="$bin" ./dev web

# A package manager that no one may use: no sudo, then a sudo that wants a password and has no terminal to ask on.
export bin
fake apt-get <<'TEXT'
echo "$1" >>"$bin/calls"
case $1 in
  update) : >"$bin/updated" ;;
  install) [ ! -e "$bin/stale" ] || [ -e "$bin/updated" ] || exit 100
    printf '#!/bin/sh\necho "cmake version 3.22.1"\n' >"$bin/cmake"
    chmod +x "$bin/cmake" ;;
esac
TEXT
fake apt-cache <<'TEXT'
if [ -e "$bin/updated" ] || [ -e "$bin/listed" ]; then echo "  Candidate: 1.0"; else echo "  Candidate: (none)"; fi
TEXT
expect 4 "$missing" env PATH="$bin" ./dev run </dev/null
echo 'exit 1' | fake sudo
expect 4 "$missing" env PATH="$bin" ./dev run </dev/null
[ ! -e "$bin/calls" ] || { echo "apt-get was called without the right to install"; exit 1; }

# With sudo: what has no candidate is asked for, then installed; then the version of CMake is looked at.
# shellcheck disable=SC2016 # for the fake
echo '[ "$1" = -n ] && shift; exec "$@"' | fake sudo
expect 4 "cmake is too old (found 3.22, expected 3.25 or newer" env PATH="$bin" ./dev run
expect_calls "update
install"

# As root with the lists there: no update; with stale lists: one, after the failure.
echo 'echo 0' | fake id
rm "$bin/calls" "$bin/cmake" "$bin/updated" "$bin/sudo"
: >"$bin/listed"
expect 4 "installing $missing" env PATH="$bin" ./dev run
expect_calls install
rm "$bin/calls" "$bin/cmake"
: >"$bin/stale"
expect 4 "cmake is too old" env PATH="$bin" ./dev run
expect_calls "install
update
install"
