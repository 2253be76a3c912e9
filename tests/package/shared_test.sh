#!/bin/sh
# shared_test.sh ROOT FOLDER PROGRAM CC [CMAKE ARGUMENTS]: heed inside another project, whose program runs with the static library; the shared
# libraries, built there and installed; the names that they export; and the consumers of the static library, which find these by CMake and by
# pkg-config. PROGRAM is the heed that examples/vit.c is held against. One build has it all, and optimises nothing: names and linking are tested.
set -eu
root=$1 folder=$2 program=$3 compiler=$4
shift 4
for tool in nm objdump; do command -v "$tool" >/dev/null || { echo "skipped: no $tool here"; exit 77; }; done

cmake -S "$root/tests/package/subdirectory" -B "$folder/build" -DHEED_FOLDER="$root" -DBUILD_SHARED_LIBS=ON -DHEED_INSTALL=ON \
  -DHEED_NATIVE_LIBRARY=ON -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_C_COMPILER="$compiler" "$@"
cmake --build "$folder/build" --target consumer heed_shared heed_shared_native
"$folder/build/consumer"
rm -rf "$folder/prefix"
cmake --install "$folder/build" --prefix "$folder/prefix"
sh "$root/tests/package/exports.sh" "$root" "$folder/prefix/lib"

LD_LIBRARY_PATH=$folder/prefix/lib
export LD_LIBRARY_PATH
cmake -S "$root/tests/package/installed" -B "$folder/installed" -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_COMPILER="$compiler" \
  -DHEED_EXPECT_NATIVE=ON -DHEED_PROGRAM="$program"
cmake --build "$folder/installed"
ctest --test-dir "$folder/installed" --output-on-failure --no-tests=error
sh "$root/tests/package/pkgconfig/consumer_test.sh" "$compiler" "$folder/prefix" "$folder/pkgconfig" "$program"
