#!/bin/sh
# consumer_test.sh CC PREFIX FOLDER [PROGRAM]: builds ../consumer.c against the heed installed in PREFIX with what pkg-config says, and runs it.
# PROGRAM is the heed that examples/vit.c is held against, if not the one in PREFIX.
set -eu
compiler=$1 prefix=$2 folder=$3
source=$(dirname "$0")/../consumer.c
command -v pkg-config >/dev/null || { echo "skipped: no pkg-config here"; exit 77; }
PKG_CONFIG_LIBDIR=$(dirname "$(find "$prefix" -name heed.pc)")
export PKG_CONFIG_LIBDIR
mkdir -p "$folder"

build() { # module, defines: flags are words
  # shellcheck disable=SC2046,SC2086
  "$compiler" -std=c11 ${2:-} $(pkg-config --cflags "$1") "$source" -o "$folder/consumer-$1" $(pkg-config --libs "$1")
  "$folder/consumer-$1"
}

build heed
build heed-check -DCONSUMER_CHECK
if pkg-config --exists heed-vulkan; then build heed-vulkan -DCONSUMER_VULKAN; fi
if pkg-config --exists heed-native; then
  source=$(dirname "$0")/../../../native/examples/vit.c
  # shellcheck disable=SC2046
  "$compiler" -std=c11 $(pkg-config --cflags heed-native) "$source" -o "$folder/vit" $(pkg-config --libs heed-native) -lm
  program=${4:-$(find "$prefix" -path '*/bin/heed')}
  [ -z "$program" ] || sh "$(dirname "$source")/vit_test.sh" "$folder/vit" "$program" "$(dirname "$0")/../../vectors" "$folder/run"
fi
version=$(pkg-config --modversion heed)
[ "heed $version" = "$("$folder/consumer-heed")" ] || { echo "heed.pc says $version, the library differs"; exit 1; }
