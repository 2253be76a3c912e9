#!/bin/sh
# ./dev release [PART...]: what a release consists of, from the last commit, in $HEED_BUILD/release-files. docs/install.md has the parts.
# Two runs give the same bytes: every file has the date of the commit (or SOURCE_DATE_EPOCH), and no path of this machine.
# Exit codes: 0 all parts are there, 1 a part failed, 2 usage, 4 parts were left out whose tools are missing.
set -eu
umask 022
export LC_ALL=C

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
build=${HEED_BUILD:-$root/build}
files=$build/release-files work=$build/release-work
all='source npm python python-windows linux-x86_64-static linux-arm64-static linux-x86_64 linux-arm64 windows-x86_64'
version=$(sed -n 's/^project(heed VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
export HEED_JOBS="${HEED_JOBS:-$(getconf _NPROCESSORS_ONLN)}"

exec 3>&2 # what a part prints goes to its log
say() { printf 'release: %s\n' "$*" >&3; }

need() { # TOOL=PACKAGE...
  for entry in "$@"; do
    command -v "${entry%%=*}" >/dev/null 2>&1 || { say "$part is left out: no ${entry%%=*} here (Debian: ${entry#*=})"; exit 4; }
  done
}

# ------------------------------------------------------------------------------------------------------------ archives

dated() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

archive() { # folder of $work: all of it as one file
  cd "$work"
  dated "$1"
  case $1 in
    *windows*)
      rm -f "$files/$1.zip"
      find "$1" | sort | TZ=UTC zip -X -9 -q -@ "$files/$1.zip"
      ;;
    *)
      tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX -cf - "$1" | gzip -9n >"$files/$1.tar.gz"
      ;;
  esac
}

make_source() {
  git -C "$root" archive --prefix="heed-$version/" HEAD |
    gzip -9n >"$files/heed-$version.tar.gz"
}

# The tree that every other part is built from: the files of the commit, and nothing else.
unpack_source() {
  rm -rf "$tree"
  mkdir -p "$tree"
  git -C "$root" archive HEAD | tar -xf - -C "$tree"
  dated "$tree"
}

make_npm() {
  need node=nodejs npm=npm emcc=emscripten
  if cmp -s "$root/package-lock.json" "$tree/package-lock.json"; then # what is installed serves
    sh "$root/web/install.sh"
    ln -sfn "$root/node_modules" "$tree/node_modules"
  else
    sh "$tree/web/install.sh"
  fi
  cmake -S "$tree" --preset wasm -B "$work/npm" -DHEED_TESTS=OFF -DHEED_WEB_PACKAGE="$work/npm/package" "$launcher"
  ninja -C "$work/npm" -j "$HEED_JOBS" package
  npm pack "$work/npm/package" --pack-destination "$files" --silent
}

# Debian's interpreter has the tools where another one comes first in PATH.
find_python() {
  python=
  for each in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$each" -c 'import pycparser, setuptools, wheel' 2>/dev/null || python=$each
  done
  [ -n "$python" ] || { say "$part is left out: no python3 with these modules here (Debian: python3-pycparser python3-setuptools python3-wheel)"; exit 4; }
}

# A wheel of this machine's platform.
make_python() {
  need ninja=ninja-build strip=binutils
  find_python
  (
    cd "$tree/native/python"
    HEED_CMAKE_OPTIONS="-GNinja $launcher" "$python" setup.py -q bdist_wheel -d "$files" -b "$work/wheel"
  )
}

# A wheel for Windows, with the libraries of pictures inside; its library answers from another program, where Wine is.
make_python_windows() {
  need_windows
  find_python
  windows_libraries
  licences "$folder/libraries"
  options="-GNinja $launcher $options"
  (
    cd "$tree/native/python"
    HEED_CMAKE_OPTIONS=$options HEED_LICENCES=$folder/libraries STRIP=x86_64-w64-mingw32-strip \
      "$python" setup.py -q build -b "$folder/build" bdist_wheel --plat-name win_amd64 -d "$files" -b "$folder/wheel"
  )
  [ -n "$wine" ] || { say "$part was not run: no wine64 here (Debian: wine64)"; return 0; }
  library=$(find "$folder/build" -name 'heed-*.dll' -path '*/heed/lib/*')
  x86_64-w64-mingw32-gcc -std=c11 -I"$tree/runtime/include" -I"$tree/native/include" "$tree/tests/machines/shared.c" -o "$folder/shared.exe" "$library"
  cp "$library" "$folder"
  "$wine" "$folder/shared.exe" "$tree/runtime/demo/scene_159.png" star "$tree/runtime/demo/model" \
    "$tree/tests/vectors/vit/micro_32" "$tree/tests/vectors/vit/small_224"
}

# -------------------------------------------------------------------------------------------------------------- Linux

make_linux() { # x86_64 or aarch64, glibc or musl
  need "$1-linux-gnu-gcc=gcc-$(echo "$1" | tr _ -)-linux-gnu" ninja=ninja-build make=make pkg-config=pkgconf nasm=nasm gperf=gperf tclsh=tcl \
    apt-get=apt dpkg-source=dpkg-dev glslangValidator=glslang-tools spirv-val=spirv-tools objdump=binutils
  [ -e /usr/include/vulkan/vulkan_core.h ] || { say "$part is left out: no vulkan/vulkan_core.h here (Debian: libvulkan-dev)"; exit 4; }
  folder=$work/$part
  sh "$here/libraries.sh" "$work/sources" "$folder" "$1" "$2"
  cp "$here/libraries.txt" "$folder/inside.txt" # and what else the bill of materials has
  [ "$2" = glibc ] || echo "musl $(dpkg-deb -f "$folder"/apt/cache/archives/musl-dev_*.deb Version)" >>"$folder/inside.txt"
  vulkan=OFF
  if [ "$2" = glibc ]; then # dlopen needs a dynamic C library
    vulkan=ON
    cp -R /usr/include/vulkan /usr/include/vk_video "$folder/root/usr/include"
  fi
  # Symbols go while it is linked: assemblers write paths into them, and the build ID is made of what is there.
  set -- "$1" "$2" -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXE_LINKER_FLAGS_RELEASE=-s -DHEED_TESTS=OFF -DHEED_CAIRO=ON -DHEED_WEBP=ON -DHEED_TIFF=ON -DHEED_SQLITE=ON -DHEED_ARCHIVE=ON "-DHEED_VULKAN=$vulkan" "-DHEED_INSIDE=$folder/inside.txt" "$launcher"
  while read -r argument; do set -- "$@" "$argument"; done <"$folder/cmake.txt"
  processor=$1 libc=$2
  shift 2
  cmake -S "$tree" -B "$folder/heed" -G Ninja "$@"
  ninja -C "$folder/heed" -j "$HEED_JOBS"
  name=heed-$version-$part
  rm -rf "${work:?}/$name"
  for component in program documents; do
    cmake --install "$folder/heed" --prefix "$work/$name" --component "$component" --strip
  done
  licences "$work/$name/share/doc/heed/licences"
  check_program "$work/$name/bin/heed"
  cp "$work/$name/share/doc/heed/heed.spdx.json" "$files/$name.spdx.json"
  archive "$name"
}

# Of the libraries inside: who distributes them has to add these.
licences() { # folder
  mkdir -p "$1"
  while read -r library _; do
    for file in LICENSE LICENSE.md LICENSE.TXT COPYING COPYING-MPL-1.1 COPYING-LGPL-2.1 README.ijg docs/FTL.TXT expat/COPYING; do
      [ ! -f "$work/sources/$library/$file" ] || cp "$work/sources/$library/$file" "$1/$library-${file##*/}"
    done
  done <"$folder/inside.txt"
  cp "$folder/inside.txt" "$1/versions"
  [ "$libc" != mingw ] || cp /usr/share/doc/gcc-mingw-w64-base/copyright "$1/mingw-w64"
}

# No path of this machine inside, nothing but the C library outside; and it runs, where this machine can.
check_program() { # program
  if strings "$1" | grep -F "$build"; then
    say "$part: the program has paths of the folder it was built in"
    exit 1
  fi
  outside=$(objdump -p "$1" | sed -n 's/^ *NEEDED *//p' | grep -v '^lib\(c\|m\)\.so\|^ld-linux' | tr '\n' ' ')
  [ -z "$outside" ] || { say "$part: the program needs libraries (found $outside)"; exit 1; }
  [ "$libc" = musl ] || say "$part needs glibc $(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | sed -n '$s/GLIBC_//p') or newer"
  runner=
  if [ "$processor" != "$(uname -m)" ]; then
    runner="qemu-$processor -L /usr/$processor-linux-gnu"
    command -v "qemu-$processor" >/dev/null 2>&1 || { say "$part was not run: no qemu-$processor here (Debian: qemu-user)"; return 0; }
  fi
  $runner "$1" version
  # shellcheck disable=SC2086 # words of the command
  $runner "$1" run --backend cpu --threads 1 --maps "$folder/maps.png"
}

make_linux_x86_64_static() { make_linux x86_64 musl; }
make_linux_arm64_static() { make_linux aarch64 musl; }
make_linux_x86_64() { make_linux x86_64 glibc; }
make_linux_arm64() { make_linux aarch64 glibc; }

# ------------------------------------------------------------------------------------------------------------- Windows

need_windows() {
  need x86_64-w64-mingw32-gcc=gcc-mingw-w64-x86-64 ninja=ninja-build pkg-config=pkgconf nasm=nasm apt-get=apt dpkg-source=dpkg-dev \
    glslangValidator=glslang-tools spirv-val=spirv-tools
  [ -e /usr/include/vulkan/vulkan_core.h ] || { say "$part is left out: no vulkan/vulkan_core.h here (Debian: libvulkan-dev)"; exit 4; }
  wine=$(command -v /usr/lib/wine/wine64 || command -v wine64 || :)
  export WINEPREFIX="$work/wine" WINEDEBUG=-all
}

# The libraries of pictures for Windows, in $folder; $options: how a build finds them.
windows_libraries() {
  folder=$work/$part libc=mingw
  sh "$here/libraries.sh" "$work/sources" "$folder" x86_64 mingw
  cp -R /usr/include/vulkan /usr/include/vk_video "$folder/root/usr/include"
  grep -E '^(zlib|libpng1.6|libjpeg-turbo|libwebp) ' "$here/libraries.txt" >"$folder/inside.txt"
  # shellcheck disable=SC2016 # dpkg's own variable
  dpkg-query -W -f 'mingw-w64 ${Version}\n' mingw-w64-x86-64-dev >>"$folder/inside.txt"
  rm -rf "$folder/libraries"
  options="-DCMAKE_TOOLCHAIN_FILE=$tree/native/toolchain/mingw.cmake -DHEED_MACHINE_ROOT=$folder/root -DHEED_VULKAN=ON -DHEED_WEBP=ON"
}

# The command, and the C libraries as one DLL; both are run where Wine is.
make_windows_x86_64() {
  need_windows
  need zip=zip
  windows_libraries
  name=heed-$version-$part
  # shellcheck disable=SC2086 # words of the command
  cmake -S "$tree" -B "$folder/heed" -G Ninja $options -DCMAKE_BUILD_TYPE=Release -DHEED_TESTS=OFF -DBUILD_SHARED_LIBS=ON \
    "-DHEED_INSIDE=$folder/inside.txt" "$launcher"
  ninja -C "$folder/heed" -j "$HEED_JOBS"
  rm -rf "${work:?}/$name"
  cmake --install "$folder/heed" --prefix "$work/$name" --strip
  licences "$work/$name/share/doc/heed/licences"
  check_windows "$work/$name"
  cp "$work/$name/share/doc/heed/heed.spdx.json" "$files/$name.spdx.json"
  archive "$name"
}

# As check_program; and a program that links the DLL runs beside it.
check_windows() { # folder
  for file in heed.exe "heed-${version%.*}.dll"; do
    if strings "$1/bin/$file" | grep -F "$build"; then
      say "$part: $file has paths of the folder it was built in"
      exit 1
    fi
    outside=$(x86_64-w64-mingw32-objdump -p "$1/bin/$file" | sed -n 's/^.*DLL Name: //p' | grep -vi '^\(kernel32\|msvcrt\|shell32\|advapi32\|user32\|gdi32\|msimg32\)\.dll' | tr '\n' ' ')
    [ -z "$outside" ] || { say "$part: $file needs libraries (found $outside)"; exit 1; }
  done
  x86_64-w64-mingw32-gcc -std=c11 -I"$1/include" "$tree/tests/package/consumer.c" -o "$folder/consumer.exe" -L"$1/lib" -lheed
  [ -n "$wine" ] || { say "$part was linked with, not run: no wine64 here (Debian: wine64)"; return 0; }
  cp "$1/bin/heed-${version%.*}.dll" "$folder"
  "$wine" "$folder/consumer.exe"
  "$wine" "$1/bin/heed.exe" version
  "$wine" "$1/bin/heed.exe" run --backend cpu --threads 1
}

# ---------------------------------------------------------------------------------------------------------------- main

[ $# -gt 0 ] || eval "set -- $all"
for part in "$@"; do
  case " $all " in *" $part "*) ;; *) say "unknown part (found $part, expected some of $all)"; exit 2 ;; esac
done
for tool in git tar gzip cmake sha256sum; do
  command -v "$tool" >/dev/null 2>&1 || { say "there is no $tool here (Debian: git tar gzip cmake coreutils)"; exit 4; }
done
git -C "$root" rev-parse HEAD >/dev/null 2>&1 || { say "the sources are not a clone (found no commit in $root)"; exit 4; }
[ -z "$(git -C "$root" status --porcelain)" ] || say "changes that are not committed are left out"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}"
launcher=-DCMAKE_C_COMPILER_LAUNCHER=$(command -v ccache || true)
tree=$work/tree
mkdir -p "$files" "$work"
unpack_source

failed=0 left_out=0
for part in "$@"; do
  say "$part"
  status=0
  "make_$(echo "$part" | tr - _)" >"$work/$part.log" 2>&1 &
  wait $! || status=$?
  case $status in
    0) ;;
    4) left_out=$((left_out + 1)) ;;
    *)
      tail -n 40 "$work/$part.log" >&2
      say "$part failed (all of it: $work/$part.log)"
      failed=$((failed + 1))
      ;;
  esac
done
cd "$files"
rm -f SHA256SUMS
for file in *; do [ ! -f "$file" ] || sha256sum "$file"; done >"$work/sums"
mv "$work/sums" SHA256SUMS
say "$files has SHA256SUMS of $(wc -l <SHA256SUMS) files; $failed parts failed, $left_out were left out"
[ "$failed" -eq 0 ] || exit 1
[ "$left_out" -eq 0 ] || exit 4
