#!/bin/sh
# Debian packages of the last commit: debian.sh FOLDER [ARGUMENTS OF dpkg-buildpackage]. FOLDER gets the sources, as Debian has them, and
# the packages. native/packaging/debian is put beside the sources as debian/.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 FOLDER [ARGUMENTS OF dpkg-buildpackage]" >&2; exit 2; }
command -v dpkg-buildpackage >/dev/null 2>&1 || { echo "there is no dpkg-buildpackage here (Debian: dpkg-dev, debhelper)" >&2; exit 4; }
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
version=$(sed -n 's/^project(heed VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
mkdir -p "$1"
cd "$1"
shift
rm -rf "heed-$version"
git -C "$root" archive --prefix="heed-$version/" HEAD | gzip -9n >"heed_$version.orig.tar.gz"
tar -xzf "heed_$version.orig.tar.gz"
cp -R "heed-$version/native/packaging/debian" "heed-$version/debian"
cd "heed-$version"
exec dpkg-buildpackage --no-sign "$@"
