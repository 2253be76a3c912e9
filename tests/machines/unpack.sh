#!/bin/sh
# Debian packages unpacked into FOLDER/root without installing anything. apt does the work with lists, status and cache of its own in
# FOLDER/apt; the mirror, its keys and proxies are the machine's.
#
#   unpack.sh FOLDER ARCHITECTURE with|alone 'SUITE...' PACKAGE...
#
# The last suite is preferred. `with` takes what the packages depend on too, `alone` does not. Exit code 77 with a sentence on stderr:
# they cannot be had here.
set -eu

[ $# -ge 5 ] || { echo "usage: $0 FOLDER ARCHITECTURE with|alone 'SUITE...' PACKAGE..." >&2; exit 2; }
mkdir -p "$1"
folder=$(CDPATH='' cd -- "$1" && pwd)
architecture=$2 dependencies=$3 suites=$4
shift 4

cannot() {
  printf '%s\n' "$*" >&2
  exit 77
}

for tool in apt-get dpkg; do command -v "$tool" >/dev/null 2>&1 || cannot "there is no $tool (they are Debian's packages)"; done
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keys" ] || cannot "Debian's keys are missing (found no $keys; package debian-archive-keyring)"
# shellcheck disable=SC2016 # apt's own variables
mirror=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null | sed -n 's,\(.*/debian\)/* main$,\1,p' | head -n 1)
[ -n "$mirror" ] || cannot "the machine's package sources name no mirror of Debian"

apt=$folder/apt
rm -rf "$apt" "$folder/root"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/root"
: >"$apt/status"
: >"$apt/sources.list"
for suite in $suites; do
  printf 'deb [signed-by=%s] %s %s main\n' "$keys" "$mirror" "$suite" >>"$apt/sources.list"
done
cat >"$apt/conf" <<END
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Install-Pkgs;
#clear DPkg::Post-Invoke;
#clear APT::Architectures;
APT::Architecture "$architecture";
APT::Architectures {"$architecture";};
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "$apt";
Dir::State::Lists "$apt/lists";
Dir::State::Status "$apt/status";
Dir::Cache "$apt/cache";
APT::Sandbox::User "";
APT::Default-Release "${suites##* }";
APT::Install-Recommends "false";
Acquire::Retries "3";
Acquire::Languages "none";
Debug::NoLocking "true";
END
run_apt() { LC_ALL=C apt-get -q -y -c "$apt/conf" "$@" >>"$apt/log" 2>&1; }
get() {
  run_apt update || return 1
  if [ "$dependencies" = with ]; then run_apt --download-only install "$@"; else (cd "$apt/cache/archives" && run_apt download "$@"); fi
}
get "$@" || cannot "the package servers gave nothing ($(grep -m 1 '^[EW]:' "$apt/log" || tail -n 1 "$apt/log"))"
for archive in "$apt"/cache/archives/*.deb; do dpkg -x "$archive" "$folder/root" || cannot "unpacking failed (${archive##*/})"; done
