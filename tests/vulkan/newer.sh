#!/bin/sh
# A newer Vulkan world beside the machine's own: lavapipe with cooperative matrices, loader, validation layers, glslang and
# spirv-tools from Debian's newer suites, unpacked into FOLDER without installing anything. What is there already is kept.
#
#   newer.sh FOLDER    makes FOLDER/bin/{glslangValidator,spirv-val,run} and FOLDER/lvp_icd.json; `run PROGRAM...` runs a program
#                      of this machine on the newer libraries; `shim SHIM ICD PROGRAM...` runs one on a driver whose kernel
#                      driver is stood in for. Exit code 77 with a sentence on stderr: it cannot be had here.
set -eu

suite=trixie
packages='mesa-vulkan-drivers mesa-drm-shim libvulkan1 vulkan-validationlayers glslang-tools spirv-tools'
stamp="$suite-backports 2 $packages"

cannot() {
  printf 'no newer lavapipe and glslang: %s\n' "$*" >&2
  exit 77
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(CDPATH='' cd -- "$1" && pwd)
root=$folder/root
[ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
rm -f "$folder/stamp"

case $(uname -m) in
  x86_64) architecture=amd64 triplet=x86_64-linux-gnu loader=usr/lib64/ld-linux-x86-64.so.2 ;;
  aarch64) architecture=arm64 triplet=aarch64-linux-gnu loader=usr/lib/ld-linux-aarch64.so.1 ;;
  *) cannot "not tried on processors of kind $(uname -m)" ;;
esac
rm -rf "${folder:?}/bin"
mkdir -p "$folder/bin"
# shellcheck disable=SC2086 # one word a package
sh "$here/../machines/unpack.sh" "$folder" "$architecture" with "$suite $suite-backports" $packages 2>"$folder/unpacked" || cannot "$(cat "$folder/unpacked")"
[ -x "$root/$loader" ] || cannot "the unpacked system has no $loader"
for icd in "$root"/usr/share/vulkan/icd.d/lvp_icd*.json; do break; done
sed "s,\"library_path\": *\"\([^\"]*/\)*\([^/\"]*\)\",\"library_path\": \"$root/usr/lib/$triplet/\2\"," "$icd" >"$folder/lvp_icd.json"
# Synchronisation validation of these layers watches what shaders touch only where it is told to.
# Libraries that the unpacked system lacks (cmocka, libpng) are the machine's: an older library runs on a newer libc.
start="exec '$root/$loader' --library-path '$root/usr/lib/$triplet:/usr/lib/$triplet:/lib/$triplet'"
for tool in glslangValidator spirv-val; do printf '#!/bin/sh\n%s %s "$@"\n' "$start" "'$root/usr/bin/$tool'" >"$folder/bin/$tool"; done
printf '#!/bin/sh\nexport VK_DRIVER_FILES=%s VK_ICD_FILENAMES=%s VK_LAYER_PATH=%s \
  VK_LAYER_SYNCVAL_SHADER_ACCESSES_HEURISTIC=1\n%s "$@"\n' "'$folder/lvp_icd.json'" "'$folder/lvp_icd.json'" \
  "'$root/usr/share/vulkan/explicit_layer.d'" "$start" >"$folder/bin/run"
# A driver whose kernel driver is stood in for: shim amdgpu radeon PROGRAM...
mkdir -p "$folder/icd"
for icd in "$root"/usr/share/vulkan/icd.d/*.json; do
  sed "s,\"library_path\": *\"\([^\"]*/\)*\([^/\"]*\)\",\"library_path\": \"$root/usr/lib/$triplet/\2\"," "$icd" >"$folder/icd/${icd##*/}"
done
# shellcheck disable=SC2016 # of the written script
printf '#!/bin/sh\nshim=$1 icd=%s/$2_icd.json\nshift 2\nexport VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd" VK_LAYER_PATH=%s\n%s "$@"\n' "'$folder/icd'" \
  "'$root/usr/share/vulkan/explicit_layer.d'" "$start --preload '$root/usr/lib/$triplet/'lib\${shim}_noop_drm_shim.so" >"$folder/bin/shim"
chmod +x "$folder"/bin/*
"$folder/bin/glslangValidator" --version >"$folder/version" 2>&1 || cannot "the unpacked glslang does not run here ($(tail -n 1 "$folder/version"))"
printf '%s\n' "$stamp" >"$folder/stamp"
