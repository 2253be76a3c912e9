#!/bin/sh
# The libraries that heed's program and tests need on another machine, unpacked into FOLDER/root; what is there already is kept.
# The C library is the cross compiler's own. Pictures' libraries are the static ones, so that programs start without a search path.
#
# For Windows, of which Debian has no packages, they are built from Debian's sources.
#
#   libraries.sh FOLDER arm64|armhf|i686|mingw    exit code 77 with a sentence on stderr: they cannot be had here
set -eu

[ $# -eq 2 ] || { echo "usage: $0 FOLDER arm64|armhf|i686|mingw" >&2; exit 2; }
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

# cmocka, beside the libraries of pictures that a release has.
build_cmocka() { # folder
  cd "$1/sources"
  rm -rf cmocka ../build/cmocka
  set -- -q -o Dir::Etc::SourceList="$PWD/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$PWD/apt/lists" \
    -o Dir::Cache="$PWD/apt/cache" -o APT::Sandbox::User=root
  apt-get "$@" --download-only source cmocka || return 77
  dpkg-source --no-check -x cmocka_*.dsc cmocka
  set --
  while read -r argument; do set -- "$@" "$argument"; done <../cmake.txt
  cmake -S cmocka -B ../build/cmocka -G Ninja "$@" -DCMAKE_BUILD_TYPE=Release -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF \
    -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR:STRING=lib
  DESTDIR=$(cd ..; pwd)/root ninja -C ../build/cmocka install
  rm ../root/usr/lib/libcmocka.dll.a
  mv ../root/usr/lib/libcmocka-static.a ../root/usr/lib/libcmocka.a
}

if [ "$2" = mingw ]; then
  mkdir -p "$1"
  folder=$(cd "$1" && pwd)
  for tool in cmake=cmake ninja=ninja-build nasm=nasm dpkg-source=dpkg-dev apt-get=apt; do
    command -v "${tool%%=*}" >/dev/null 2>&1 || { echo "there is no ${tool%%=*} here (Debian: ${tool#*=})" >&2; exit 77; }
  done
  status=0
  sh "$here/../../native/packaging/libraries.sh" "$folder/sources" "$folder" x86_64 mingw >"$folder/log" 2>&1 || status=$?
  [ "$status" -ne 4 ] || { tail -n 1 "$folder/log" >&2; exit 77; }
  [ "$status" -eq 0 ] || { tail -n 30 "$folder/log" >&2; exit 1; }
  [ -e "$folder/root/usr/lib/libcmocka.a" ] || (build_cmocka "$folder") >>"$folder/log" 2>&1 || { tail -n 30 "$folder/log" >&2; exit 77; }
  exit 0
fi
suite=bookworm
packages='libcmocka-dev libcmocka0 libpng-dev libpng16-16 libjpeg62-turbo-dev libjpeg62-turbo zlib1g-dev zlib1g'
stamp="$2 $suite 1 $packages"
[ "$(cat "$1/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
case $2 in i686) architecture=i386 ;; *) architecture=$2 ;; esac

# shellcheck disable=SC2086 # one word a package
sh "$here/unpack.sh" "$1" "$architecture" alone "$suite" $packages
find "$1/root" \( -name 'libpng*.so*' -o -name 'libjpeg.so*' -o -name 'libz.so*' \) -exec rm {} +
printf '%s\n' "$stamp" >"$1/stamp"
