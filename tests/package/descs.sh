#!/bin/sh
# Lists each desc struct of the public headers as a line HEED_DESC_OF(name), for tests/package/headers/descs.c. Usage: descs.sh ROOT
set -eu
awk '/^typedef struct/ { name = $3 } /^ *size_t struct_size;/ { print "HEED_DESC_OF(" name ")" }' "$1"/runtime/include/heed/*.h "$1"/native/include/heed/*.h
