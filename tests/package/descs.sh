#!/bin/sh
# Names each desc struct of the public headers that tests/package/headers/descs.c does not initialise. Usage: descs.sh ROOT
set -eu
root=$1
missing=$(awk '/^typedef struct/ { name = $3 } /^ *size_t struct_size;/ { print name }' "$root"/runtime/include/heed/*.h "$root"/native/include/heed/*.h |
  while read -r name; do grep -Eqw "CHECK\($name\)|const $name desc" "$root/tests/package/headers/descs.c" || echo "$name"; done)
[ -z "$missing" ] || { echo "tests/package/headers/descs.c: descs without an initialiser (found $missing, expected each one)"; exit 1; }
