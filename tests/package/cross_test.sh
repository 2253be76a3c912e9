#!/bin/sh
# cross_test.sh PRESET ROOT BUILD GENERATED [CMAKE ARGUMENTS]: the library for another machine, without a warning. For arm64 also the sources of
# the command line, of figures and of the tests, with the headers in GENERATED: they are compiled and not linked, as libpng, libjpeg-turbo,
# cairo and cmocka for arm64 are rarely there.
# Skipped without the compiler that native/toolchain/PRESET.cmake names, or where it has no C library to link with.
set -eu
preset=$1 root=$2 build=$3 generated=$4
shift 4
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
[ "$preset" = arm64 ] || exit 0

[ -e /usr/include/cmocka.h ] || { echo "skipped: the library compiles; no /usr/include/cmocka.h here for the tests"; exit 77; }
cp /usr/include/cmocka.h "$build" # alone: the headers beside it are those of this machine's libc
failed=0
for source in native/cli/*.c native/figure/*.c tests/support/*.c tests/unit/*.c tests/ops/*.c tests/model/*.c; do
  if grep -qE '^#include <(png|jpeglib|zlib|cairo)\.h>' "$source"; then
    echo "left out, since it needs a library for arm64: $source"
    continue
  fi
  "$compiler" -std=c11 -O3 -ffp-contract=off -DHEED_SIMD_NEON=1 -DHEED_HAS_VULKAN=0 -DHEED_HAS_CAIRO=0 -DHEED_TEST_VECTORS='""' -Iruntime -Iruntime/include -Iruntime/demo/include \
    -Inative -Inative/include -Itests -I"$generated" -I"$build" -c "$source" -o "$build/object.o" || failed=$((failed + 1))
done
[ "$failed" -eq 0 ] || { echo "$compiler does not compile $failed of them"; exit 1; }
