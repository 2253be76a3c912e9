#!/bin/sh
# compile_test.sh FOLDER: what the compilers of drivers for real GPUs make of the kernels, held to compile_limits.txt.
set -eu
here=$(dirname -- "$0")
table=$1/compile-table.json status=0
sh "$here/compile_table.sh" --json "$table" || status=$?
[ "$status" -ne 77 ] || { echo "skipped: none of their drivers can be had here"; exit 77; }
[ "$status" -eq 0 ] || exit "$status"
exec node "$here/compile_report.mjs" check "$here/compile_limits.txt" "$table"
