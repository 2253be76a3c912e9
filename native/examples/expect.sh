#!/bin/sh
# expect.sh FILE PROGRAM [ARGUMENTS]: the program must end with 0 and print what the file says.
expected=$1
shift
found=$("$@") || { echo "$1 ended with $?"; exit 1; }
printf '%s\n' "$found" | tr -d '\r' | diff "$expected" - # lines of Windows, too
