#!/bin/bash -eu
# What OSS-Fuzz runs in its image, which gives CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, SRC, WORK and OUT. By hand, offline:
# SRC=<folder with heed in it> WORK=... OUT=... CC=clang CXX=clang++ CFLAGS=-fsanitize=fuzzer-no-link,address
# CXXFLAGS=-fsanitize=address LIB_FUZZING_ENGINE=-fsanitize=fuzzer tests/fuzz/oss-fuzz/build.sh
# shellcheck disable=SC2016 # $ORIGIN is the loader's
cmake -S "$SRC/heed" -B "$WORK/heed" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g" \
  -DHEED_TESTS=ON -DHEED_VULKAN=OFF -DHEED_HARDEN=OFF -DHEED_ASSERTS=ON -DHEED_TEST_VECTORS=vectors \
  -DHEED_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_INSTALL_RPATH='$ORIGIN/lib'
ninja -C "$WORK/heed" fuzzers
# The machines that fuzz have no libraries of ours, and fuzz_verbs reads models from beside it.
mkdir -p "$OUT/lib"
cp -r "$SRC/heed/tests/vectors" "$OUT/"
# What tests read is the corpus.
ninja -C "$WORK/heed" fuzz_seeds
sh "$SRC/heed/tests/fuzz/seeds.sh" "$WORK/heed" "$WORK/corpus"
for engine in "$WORK"/heed/tests/fuzz_*_engine; do
  name=$(basename "${engine%_engine}")
  cp "$engine" "$OUT/$name"
  ldd "$engine" | awk '/cmocka|png|jpeg|libz\./ { print $3 }' | xargs -r cp -L -t "$OUT/lib"
  seeds=$(mktemp -d)
  (cd "$OUT" && "$WORK/heed/tests/$name" --write "$seeds" "$OUT/$name.dict")
  [ ! -d "$WORK/corpus/seeds/$name" ] || find "$WORK/corpus/seeds/$name" -type f -exec cp -t "$seeds" {} +
  (cd "$seeds" && zip -q "$OUT/${name}_seed_corpus.zip" ./*)
  rm -rf "$seeds"
done
