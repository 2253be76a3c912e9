#!/bin/sh
# The two commands of the README in a bare root of a distribution: what is not installed there, ./dev must install or name.
#   bare_root.sh FOLDER SUITE [URL-OF-MIRROR]    SUITE: bookworm, trixie, noble ...; as root, with mmdebstrap and a network
# FOLDER is made, and deleted at the end unless KEEP is set. It prints what took how long.
set -eu
[ $# -ge 2 ] || { echo "usage: bare_root.sh FOLDER SUITE [MIRROR]" >&2 && exit 2; }
folder=$1 suite=$2 mirror=${3:-http://deb.debian.org/debian}
[ ! -e "$folder" ] || { echo "bare_root.sh: $folder: it exists (expected a folder to make)" >&2 && exit 2; }
here=$(cd "$(dirname "$0")/../.." && pwd)

# A root of another distribution is thrown away again: its signatures are checked where its keys are here.
source="deb $mirror $suite main"
case $mirror in *ubuntu*) [ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || source="deb [trusted=yes] $mirror $suite main universe" ;; esac
mmdebstrap --variant=minbase --include=apt,git,ca-certificates "$suite" "$folder" "$source" >&2

# shellcheck disable=SC2317 # a trap calls it
leave() {
  umount "$folder/dev/pts" "$folder/dev/shm" "$folder/dev" "$folder/proc" 2>/dev/null || :
  [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$folder"
}
trap leave EXIT
mount -t proc proc "$folder/proc"
mount --bind /dev "$folder/dev"
for part in pts shm; do [ ! -d "/dev/$part" ] || mount --bind "/dev/$part" "$folder/dev/$part"; done
cp /etc/resolv.conf "$folder/etc/resolv.conf"
[ -e "$folder/etc/hosts" ] || echo '127.0.0.1 localhost' >"$folder/etc/hosts" # as every container has
# A network whose traffic is looked at has certificates of its own, which npm is told of.
for file in /usr/local/share/ca-certificates/*.crt; do [ ! -e "$file" ] || cp "$file" "$folder/usr/local/share/ca-certificates/"; done
chroot "$folder" update-ca-certificates >/dev/null 2>&1
# A root that is thrown away needs no file on the disk before the next one is unpacked.
echo force-unsafe-io >"$folder/etc/dpkg/dpkg.cfg.d/unsafe-io"
echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >"$folder/root/.npmrc"
git clone -q --no-hardlinks "$here" "$folder/root/heed"

status=0
for command in './dev run' './dev test'; do
  began=$(date +%s)
  code=0
  chroot "$folder" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    sh -c "cd /root/heed && $command" >"$folder/root/command.log" 2>&1 || code=$?
  tail -n "${LINES_SHOWN:-5}" "$folder/root/command.log"
  printf '%s: %s: exit code %d after %d seconds\n' "$suite" "$command" "$code" $(($(date +%s) - began))
  if [ "$code" -ne 0 ]; then
    status=1
    grep -E "^(failed|skipped)|not ok" "$folder/root/command.log" || :
  fi
done
exit "$status"
