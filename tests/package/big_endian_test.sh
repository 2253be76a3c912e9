#!/bin/sh
# big_endian_test.sh ROOT BUILD: a compiler for a big-endian machine is refused when heed is configured. Skipped without clang.
set -eu
root=$1 build=$2
command -v clang >/dev/null || { echo "skipped: no clang here"; exit 77; }
echo 'int none;' | clang --target=s390x-linux-gnu -x c -c - -o /dev/null 2>/dev/null || { echo "skipped: clang does not compile for s390x"; exit 77; }
rm -rf "$build"
mkdir -p "$build"
status=0
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_C_COMPILER=clang -DCMAKE_C_COMPILER_TARGET=s390x-linux-gnu \
  -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY >"$build/log" 2>&1 || status=$?
[ "$status" -ne 0 ] || { echo "configured for a big-endian machine (expected a refusal)"; exit 1; }
tr '\n' ' ' <"$build/log" | tr -s ' ' | grep -q 'found big-endian, expected little-endian' || { echo "refused without the reason:"; cat "$build/log"; exit 1; }
