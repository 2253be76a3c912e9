#!/bin/sh
# exports.sh ROOT [FOLDER]: the list of exported names is that of the headers; and the shared libraries in FOLDER export it, each name and no
# other. A line of the list is "HEADER NAME"; heed_define_<op> of each op is implied.
set -eu
root=$1 list=$1/runtime/package/exports.txt
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

names() { # of a header: what stands between a line's HEED_API and the bracket of its arguments
  grep -v "^#" "$1" | tr "\n" " " | grep -oE "HEED_API [^;(]*\(" | sed -E "s/.*[ *](heed_[a-z0-9_]+)\(\$/\1/"
}
for header in "$root"/runtime/include/heed/*.h "$root"/native/include/heed/*.h; do
  names "$header" | sed "s/^/$(basename "$header") /"
done | sort >"$made/headers"
{
  grep -v '^#' "$list"
  sed -n 's/^HEED_OP(\([a-z_]*\)).*/ops.h heed_define_\1/p' "$root/runtime/graph/op_list.h"
} | sort >"$made/list"
diff "$made/headers" "$made/list" >"$made/diff" || {
  echo "runtime/package/exports.txt: it is not what the headers declare with HEED_API (< headers, > list)"
  cat "$made/diff"
  exit 1
}
[ $# -gt 1 ] || exit 0

soname=$(sed -n 's/^#define HEED_VERSION "\([0-9]*\.[0-9]*\)\..*/\1/p' "$root/runtime/include/heed/base.h")

compare() { # LIBRARY, HEADERS as a pattern
  nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' | sort >"$made/found"
  grep -E "^($2)\.h " "$made/list" | cut -d' ' -f2 | sort >"$made/expected"
  diff "$made/expected" "$made/found" || { echo "$1: it exports other names (< expected, > found)"; exit 1; }
  objdump -p "$1" | grep -q "SONAME *$(basename "$1").$soname\$" || { echo "$1: its soname is wrong (expected $(basename "$1").$soname)"; exit 1; }
  echo "$(basename "$1"): $(wc -l <"$made/found") names"
}
core='base|graph|ops|model|session|explain|check|onnx|pickle|sequences|tokenizer'
[ ! -e "$(dirname "$2")/include/heed/vulkan.h" ] || core="$core|vulkan"
compare "$2/libheed.so" "$core"
compare "$2/libheed_native.so" native
