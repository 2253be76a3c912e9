#!/bin/sh
# seeds.sh BUILD FOLDER: seeds of all fuzzers in FOLDER/seeds/NAME, of a build with libFuzzer whose target fuzz_seeds is made: what its
# tests read (record.c) and the vectors of the repository, merged. Prints how many there are of each.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 BUILD FOLDER" >&2; exit 2; }
build=$(cd "$1" && pwd) here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
rm -rf "$folder/seeds"
mkdir -p "$folder/seeds"
export HEED_FUZZ_RECORD="$folder/seeds"
for test in "$build"/tests/test_*; do
  # Random graphs are the same every time, and the first ones show every op.
  case $test in *_graphs) set -- "$test" 2000 ;; *) set -- "$test" ;; esac
  # Some count what a reader reads, and fail as record.c reads it too: what they read is kept all the same.
  LLVM_PROFILE_FILE=/dev/null "$@" >"$folder/seeds.log" 2>&1 || :
done
vectors=$here/../vectors
keep() { # fuzzer, what find takes
  fuzzer=$1
  shift
  mkdir -p "$folder/seeds/$fuzzer"
  find "$vectors" -type f -size -48k \( "$@" \) | while read -r file; do
    cp "$file" "$folder/seeds/$fuzzer/vector-$(printf %s "${file#"$vectors"/}" | tr / -)"
  done
}
keep fuzz_onnx -name '*.onnx'
keep fuzz_vision -name '*.onnx'
keep fuzz_pickle -name '*.pth' -o -name '*.pt' -o -name '*.bin'
keep fuzz_json -name '*.json'
keep fuzz_case -name '*.safetensors' ! -path '*/vit/*' ! -path '*/image/*'
keep fuzz_safetensors -name '*.safetensors' -size -16k
keep fuzz_image -name '*.png' -o -name '*.jpg'
# What reaches nothing that others do not reach is left out.
for fuzzer in "$folder"/seeds/*; do
  name=$(basename "$fuzzer") merged=$folder/merged
  rm -rf "$merged"
  mkdir "$merged"
  LLVM_PROFILE_FILE=/dev/null "$build/tests/${name}_engine" -merge=1 -max_len=65536 -rss_limit_mb=3072 "$merged" "$fuzzer" >"$folder/$name.merge" 2>&1 ||
    { echo "$name: merging failed: $folder/$name.merge" >&2; exit 1; }
  rm -rf "$fuzzer"
  mv "$merged" "$fuzzer"
done
for fuzzer in "$folder"/seeds/*; do printf '%s: %s seeds\n' "$(basename "$fuzzer")" "$(find "$fuzzer" -type f | wc -l)"; done
