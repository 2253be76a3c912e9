#!/bin/sh
# The libraries that heed's program and tests need on another machine, unpacked into FOLDER/root; what is there already is kept.
# The C library is the cross compiler's own. Pictures' libraries are the static ones, so that programs start without a search path.
#
#   libraries.sh FOLDER arm64|armhf|i686    exit code 77 with a sentence on stderr: they cannot be had here
set -eu

[ $# -eq 2 ] || { echo "usage: $0 FOLDER arm64|armhf|i686" >&2; exit 2; }
suite=bookworm
packages='libcmocka-dev libcmocka0 libpng-dev libpng16-16 libjpeg62-turbo-dev libjpeg62-turbo zlib1g-dev zlib1g'
stamp="$2 $suite 1 $packages"
[ "$(cat "$1/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
case $2 in i686) architecture=i386 ;; *) architecture=$2 ;; esac

# shellcheck disable=SC2086 # one word a package
sh "$(dirname -- "$0")/unpack.sh" "$1" "$architecture" alone "$suite" $packages
find "$1/root" \( -name 'libpng*.so*' -o -name 'libjpeg.so*' -o -name 'libz.so*' \) -exec rm {} +
printf '%s\n' "$stamp" >"$1/stamp"
