#!/bin/sh
# fortified_test.sh ROOT BUILD COMPILER [CMAKE ARGUMENTS]: a file compiles without a warning where _FORTIFY_SOURCE comes from elsewhere, as
# from Ubuntu's gcc and the flags of packagers. It keeps that level, or has none under the sanitizers; without one, level 2 is asked for.
set -eu
root=$1 build=$2 compiler=$3
shift 3
failed=0

defined() { sed -n 's/^#define _FORTIFY_SOURCE //p' | grep .; }

# Compiles one file as the build would; prints the level that its sources see.
level() { # CMake arguments
  rm -rf "$build"
  cmake -S "$root" -B "$build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DHEED_WERROR=ON -DHEED_TESTS=OFF \
    -DHEED_VULKAN=OFF -DHEED_CLI=OFF "$@" >"$build.log" 2>&1 || { cat "$build.log" >&2; echo "no build"; return; }
  command=$(sed -n 's/^ *"command": "\(.*\) -o [^ ]* -c \(.*runtime\/base\/status\.c\)",$/\1 -c \2/p' "$build/compile_commands.json" | head -n 1)
  cd "$build"
  sh -c "$command -o status.o" >&2 || { echo "no object"; return; }
  sh -c "$command -o - -E -dM" | defined || echo none
}

want() { # expected level, CMake arguments
  expected=$1
  shift
  found=$(level "$@")
  [ "$found" = "$expected" ] || { echo "fortified_test.sh: $*: a wrong level of checked functions (found $found, expected $expected)"; failed=1; }
}

own=$("$compiler" -O2 -E -dM -x c /dev/null | defined || echo 2)
want "$own" "$@" -DCMAKE_BUILD_TYPE=Release
want 3 "$@" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-D_FORTIFY_SOURCE=3
want none "$@" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DHEED_SANITIZE=address,undefined -DCMAKE_C_FLAGS=-D_FORTIFY_SOURCE=3
exit $failed
