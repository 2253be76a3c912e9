#!/bin/sh
# cross_test.sh PRESET ROOT BUILD [CMAKE ARGUMENTS]: the library for another machine, without a warning.
# Skipped without the compiler that native/toolchain/PRESET.cmake names, or where it has no C library to link with.
set -eu
preset=$1 root=$2 build=$3
shift 3
compiler=$(sed -n 's/^set(CMAKE_C_COMPILER \(.*\))$/\1/p' "$root/native/toolchain/$preset.cmake")
[ -n "$compiler" ] || { echo "native/toolchain/$preset.cmake names no compiler"; exit 1; }
command -v "$compiler" >/dev/null || { echo "skipped: no $compiler here"; exit 77; }
probe=$(mktemp)
echo 'int main(void) { return 0; }' | "$compiler" -x c - -o "$probe" 2>/dev/null || { rm -f "$probe"; echo "skipped: $compiler links no program (no C library for it here)"; exit 77; }
rm -f "$probe"

cd "$root"
rm -rf "$build"
cmake --preset "$preset" -B "$build" "$@"
cmake --build "$build"
