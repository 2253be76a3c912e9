#!/bin/sh
# reproducible_test.sh ROOT FOLDER BUILD [CMAKE ARGUMENTS]: the libraries from a copy of the sources in another folder are those of BUILD,
# byte for byte, and the program of BUILD has no path of a folder in it. HEED_WHOLE=1: the program is built again, too.
set -eu
root=$1 folder=$2 build=$3
shift 3
rm -rf "$folder"
mkdir -p "$folder/another place"
for part in CMakeLists.txt docs native runtime shaders tests; do cp -R "$root/$part" "$folder/another place"; done
cmake -S "$folder/another place" -B "$folder/build" -DHEED_TESTS=OFF "$@"
cmake --build "$folder/build" --target heed heed_onnx heed_pickle ${HEED_WHOLE:+heed-cli}
status=0
for file in runtime/libheed.a runtime/onnx/libheed_onnx.a runtime/pickle/libheed_pickle.a ${HEED_WHOLE:+heed}; do
  cmp "$build/$file" "$folder/build/$file" && continue
  echo "$file differs between two builds of the same sources"
  status=1
done
if strings "$build/heed" | grep -F "$root"; then
  echo "heed: paths of the folder it was built in (found these, expected none)"
  status=1
fi
exit "$status"
