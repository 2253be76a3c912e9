#!/bin/sh
# The libraries of release binaries, static, from the sources that libraries.txt pins, into FOLDER/root/usr; what is there already is kept.
#
#   libraries.sh SOURCES FOLDER x86_64|aarch64 glibc|musl|mingw
#
# mingw: for Windows, the libraries of pictures alone.
# Their sources are unpacked into SOURCES. FOLDER/cmake.txt then has the arguments that a CMake build with them takes, one a line.
# Exit code 4 with a sentence on stderr: they cannot be had here.
set -eu

[ $# -eq 4 ] || { echo "usage: $0 SOURCES FOLDER x86_64|aarch64 glibc|musl|mingw" >&2; exit 2; }
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$1" "$2"
sources=$(CDPATH='' cd -- "$1" && pwd) folder=$(CDPATH='' cd -- "$2" && pwd) processor=$3 libc=$4
root=$folder/root

cannot() {
  printf '%s\n' "$*" >&2
  exit 4
}

# ------------------------------------------------------------------------------------------------------------- sources

fetch() {
  stamp=$(cat "$here/libraries.txt")
  [ "$(cat "$sources/stamp" 2>/dev/null)" != "$stamp" ] || return 0
  rm -rf "$sources"
  apt=$sources/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  keys=/usr/share/keyrings/debian-archive-keyring.gpg
  [ -r "$keys" ] || cannot "Debian's keys are missing (package debian-archive-keyring)"
  # shellcheck disable=SC2016 # apt's own variables
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n "s,^\(.*/debian[a-z-]*/* .* main\)\$,deb-src [signed-by=$keys] \1,p" | awk '!seen[$0]++' >"$apt/sources.list"
  [ -s "$apt/sources.list" ] || cannot "the machine's package sources name no mirror of Debian"
  set -- -q -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$apt/lists" \
    -o Dir::Cache="$apt/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root
  apt-get "$@" update || cannot "the package servers do not answer"
  cd "$sources"
  grep -v '^#' "$here/libraries.txt" | while read -r name version part; do
    newest=$(apt-cache "$@" showsrc "$name" | sed -n 's/^Version: //p' | sort -V | tail -n 1)
    [ "$newest" = "$version" ] || echo "$name: libraries.txt has $version, Debian has $newest" >&2
    apt-get "$@" --download-only ${part:+"--$part"} source "$name=$version" ||
      cannot "the package servers do not give $name $version (the newest is $newest; native/packaging/libraries.txt has the versions)"
    if [ -n "$part" ]; then
      mkdir "$name" && tar -xf "$name"_*.orig.tar.* -C "$name" --strip-components 1
    else
      dpkg-source --no-check -x "$name"_*.dsc "$name"
    fi
  done
  printf '%s\n' "$stamp" >"$sources/stamp"
}

# --------------------------------------------------------------------------------------------------------------- build

# Debian's gcc for aarch64 calls a function of glibc in its own atomics.
compiler() {
  if [ "$libc" = mingw ]; then
    rm -rf "$root"
    mkdir -p "$root/usr/include" "$root/usr/lib"
    printf '%s\n' "-DCMAKE_TOOLCHAIN_FILE=$here/../toolchain/mingw.cmake" "-DHEED_MACHINE_ROOT=$root" \
      "-DCMAKE_C_FLAGS=-O2 -ffile-prefix-map=$folder=. -ffile-prefix-map=$sources=." >"$folder/cmake.txt"
    return
  fi
  cc=$processor-linux-gnu-gcc specs='' flags="-O2 -fPIC -ffile-prefix-map=$folder=. -ffile-prefix-map=$sources=."
  if [ "$libc" = musl ]; then
    case $processor in x86_64) debian=amd64 ;; *) debian=arm64 ;; esac
    sh "$here/../../tests/machines/unpack.sh" "$folder" "$debian" alone bookworm musl-dev || cannot "musl-dev for $debian cannot be had here"
    specs=$folder/musl.specs
    sed "s,@ROOT@,$root,g; s,@NAME@,$processor-linux-musl,g" "$here/musl.specs" >"$specs"
    [ "$processor" != aarch64 ] || flags="$flags -mno-outline-atomics"
  else
    rm -rf "$root"
  fi
  mkdir -p "$root/usr"
  printf '%s\n' "-DCMAKE_TOOLCHAIN_FILE=$here/toolchain.cmake" "-DHEED_PROCESSOR=$processor" "-DHEED_MACHINE_ROOT=$root" \
    "-DHEED_SPECS=$specs" -DPKG_CONFIG_ARGN=--static "-DCMAKE_C_FLAGS=$flags${specs:+ -specs=$specs}" >"$folder/cmake.txt"
}

by_cmake() { # folder of sources, arguments
  source=$1
  shift
  while read -r argument; do set -- "$argument" "$@"; done <"$folder/cmake.txt"
  echo "== $source"
  cmake -S "$sources/$source" -B "$folder/build/$source" -G Ninja "$@" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR:STRING=lib
  DESTDIR=$root ninja -C "$folder/build/$source" -j "${HEED_JOBS:-1}" install
}

# In a copy of the sources. Debian's patches are newer than what autotools made, which serves.
by_configure() { # name, folders to make, arguments
  echo "== $1"
  mkdir -p "$folder/build"
  cp -R "$sources/$1" "$folder/build/$1"
  cd "$folder/build/$1"
  parts=$2
  shift 2
  export AUTOCONF=: AUTOHEADER=: AUTOMAKE=: ACLOCAL=:
  export CROSS_BUILDING=yes # Debian's word in sqlite3's Makefile: the parser generator is of this machine, which runs it
  CC="$cc${specs:+ -specs=$specs}" CFLAGS=$flags CPPFLAGS=-I$root/usr/include LDFLAGS=-L$root/usr/lib PKG_CONFIG_SYSROOT_DIR=$root \
    PKG_CONFIG_LIBDIR=$root/usr/lib/pkgconfig ./configure --prefix=/usr "$@"
  for part in $parts; do make -j "${HEED_JOBS:-1}" -C "$part" DESTDIR="$root" install; done
  if grep -q '^install-pkgconfigDATA:' Makefile; then make DESTDIR="$root" install-pkgconfigDATA; fi
  find "$root" -name '*.la' -exec rm -f {} +
}

# zlib's makefile for Windows is not in Debian's sources.
build_zlib() {
  cd "$sources/zlib"
  mkdir -p "$folder/build/zlib"
  for file in *.c; do "$processor-w64-mingw32-gcc" -O2 "-ffile-prefix-map=$sources=." -c "$file" -o "$folder/build/zlib/${file%.c}.o"; done
  "$processor-w64-mingw32-ar" rcD "$root/usr/lib/libz.a" "$folder/build/zlib"/*.o
  cp zlib.h zconf.h "$root/usr/include"
}

# Of bzip2 the library; its makefile would also run what it made.
build_bzip2() {
  echo "== bzip2"
  cd "$sources/bzip2"
  mkdir -p "$folder/build/bzip2"
  for file in blocksort huffman crctable randtable compress decompress bzlib; do
    # shellcheck disable=SC2086 # one word a flag
    "$cc" ${specs:+-specs=$specs} $flags -D_FILE_OFFSET_BITS=64 -c $file.c -o "$folder/build/bzip2/$file.o"
  done
  rm -f "$root/usr/lib/libbz2.a"
  "$processor-linux-gnu-ar" rcD "$root/usr/lib/libbz2.a" "$folder/build/bzip2"/*.o
  cp bzlib.h "$root/usr/include"
}

# Reads tar, and what compresses it.
build_archives() {
  build_bzip2
  by_cmake xz-utils -DENABLE_NLS=OFF -DCREATE_XZ_SYMLINKS=OFF -DCREATE_LZMA_SYMLINKS=OFF
  by_cmake libzstd/build/cmake -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_TESTS=OFF -DZSTD_LEGACY_SUPPORT=OFF
  # shellcheck disable=SC2086 # one word an argument
  by_configure libarchive . $autotools --disable-bsdtar --disable-bsdcpio --disable-bsdcat --disable-acl --disable-xattr --without-iconv --without-libb2 \
    --without-lz4 --without-openssl --without-nettle --without-mbedtls --without-xml2 --without-expat
}

build_pictures() {
  by_cmake libpng1.6 -DPNG_SHARED=OFF -DPNG_TESTS=OFF
  by_cmake libjpeg-turbo -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF -DREQUIRE_SIMD=ON
  by_cmake libwebp -DWEBP_BUILD_ANIM_UTILS=OFF -DWEBP_BUILD_CWEBP=OFF -DWEBP_BUILD_DWEBP=OFF -DWEBP_BUILD_EXTRAS=OFF -DWEBP_BUILD_GIF2WEBP=OFF \
    -DWEBP_BUILD_IMG2WEBP=OFF -DWEBP_BUILD_LIBWEBPMUX=OFF -DWEBP_BUILD_VWEBP=OFF -DWEBP_BUILD_WEBPINFO=OFF -DWEBP_BUILD_WEBPMUX=OFF
}

build() {
  if [ "$libc" = mingw ]; then
    build_zlib
    build_pictures
    return
  fi
  autotools="--host=$processor-linux-gnu --enable-static --disable-shared"
  by_configure zlib . --static
  # shellcheck disable=SC2086 # one word an argument
  by_configure sqlite3 . $autotools --disable-tcl --disable-readline --disable-load-extension --disable-threadsafe
  build_archives
  build_pictures
  by_cmake tiff -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF -Dtiff-docs=OFF -Dcxx=OFF -Djbig=OFF -Dlerc=OFF -Dlibdeflate=OFF -DCMath_LIBRARY:STRING=m \
    -Dlzma=OFF -Dwebp=OFF -Dzstd=OFF
  sed -i 's/cmakedefine XML_DTD$/cmakedefine XML_DTD 1/' "$sources/expat/expat/expat_config.h.cmake" # as Debian's patches and configure have it
  by_cmake expat/expat -DEXPAT_BUILD_TOOLS=OFF -DEXPAT_BUILD_EXAMPLES=OFF -DEXPAT_BUILD_TESTS=OFF -DEXPAT_SHARED_LIBS=OFF -DEXPAT_BUILD_DOCS=OFF \
    -DHAVE_ARC4RANDOM_BUF=0 -DHAVE_ARC4RANDOM=0 # of glibc 2.36
  by_cmake freetype -DFT_DISABLE_HARFBUZZ=ON -DFT_DISABLE_BROTLI=ON -DFT_DISABLE_BZIP2=ON -DFT_DISABLE_PNG=ON
  # shellcheck disable=SC2086 # one word an argument
  {
    by_configure fontconfig 'fontconfig fc-case fc-lang src' $autotools --sysconfdir=/etc --localstatedir=/var --disable-docs --disable-nls
    by_configure pixman pixman $autotools --disable-gtk --disable-libpng --disable-openmp
    by_configure cairo src $autotools --disable-xlib --disable-xcb --disable-ps --disable-svg --disable-script --disable-interpreter \
      --disable-png --disable-gobject --disable-trace --disable-gtk-doc --without-x
  }
}

fetch
stamp="$processor $libc $(cat "$sources/stamp" "$0" "$here/toolchain.cmake" "$here/musl.specs" "$here/../toolchain/mingw.cmake" | sha256sum)"
[ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
rm -rf "$folder/build"
compiler
build
printf '%s\n' "$stamp" >"$folder/stamp"
