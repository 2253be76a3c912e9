# What runs the lanes of tests/lanes.txt and adds up what they found. Sourced by ./dev, with its $root, $build, $jobs and functions.
# shellcheck shell=sh disable=SC2154 # they are assigned there

passed=0 failed=0 skipped=0
count() { passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3)); } # passed, failed, skipped

skip() { # name, reason
  printf '\nskipped: %s: %s\n' "$1" "$2"
  count 0 0 1
}

# Where lanes run. Vulkan drivers want a place of their own to write to; ctest reads presets in the folder where it runs.
begin() {
  mkdir -p "$build/logs"
  # The compiler's cache stays where it is.
  CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-$build}/.cache}/ccache}
  if mkdir -p "$CCACHE_DIR" 2>/dev/null && [ -w "$CCACHE_DIR" ]; then export CCACHE_DIR; else unset CCACHE_DIR; fi
  export XDG_CACHE_HOME="$build/cache"
  if [ -z "${XDG_RUNTIME_DIR:-}" ] || ! [ -w "$XDG_RUNTIME_DIR" ]; then
    export XDG_RUNTIME_DIR="$build/runtime-dir"
    mkdir -p "$XDG_RUNTIME_DIR"
    chmod 700 "$XDG_RUNTIME_DIR"
  fi
  sed "s|\${sourceDir}/build|$build|g; s|\${sourceDir}|$root|g" "$root/CMakePresets.json" >"$build/CMakePresets.json"
}

lane() { # labels, BUILD[-PART]...: builds what is named, and runs the tests with these labels by the preset of each name
  labels=$1 ready=
  shift
  for name in "$@"; do
    of=${name%%-*}
    case $ready in "$of" | "no $of") ;; *) if prepare "$of"; then ready=$of; else ready="no $of"; fi ;; esac
    case $ready$name in
      no\ *) ;;
      *release-assisted) if [ -e "$swiftshader" ]; then run_preset "$name"; else skip "$name" "no SwiftShader at $swiftshader (it comes with Debian's chromium; Ubuntu's is a snap)"; fi ;;
      *clang | *musl) count 1 0 0 ;;
      *) run_preset "$name" ;;
    esac
  done
}

# Builds what the lanes need of a build. What this machine lacks is a skip; a failure is told, counted, and leaves out the tests.
prepare() { # build
  target=all log=$build/logs/build-$1.log
  case $1 in
    san) [ "$labels" != 'check|test' ] || target=lane_test ;;
    tsan | arm64) [ "$labels" != 'check|test|all' ] || target=lane_all ;;
    newer) target=vulkan_tests ;;
    clang) target=heed ;;
  esac
  lacks "$1" >"$log" 2>&1 || { skip "$1" "$(tail -n 1 "$log")"; return 1; }
  printf '\n== building %s\n' "$1"
  # shellcheck disable=SC2046 # settings have no spaces
  if (configure "$1" $(settings "$1") && compile "$1" "$target") >"$log" 2>&1; then return 0; fi
  tail -n 60 "$log"
  printf 'failed: building %s (all of it: build/logs/build-%s.log)\n' "$1" "$1"
  count 0 1 0
  return 1
}

# What a build needs of this machine; the reason is the last line of its output.
lacks() { # build
  case $1 in
    newer) sh "$root/tests/vulkan/newer.sh" "$build/newer-root"; return ;;
    clang) set -- '' clang-19 ;;
    arm64) set -- arm64 aarch64-linux-gnu-gcc qemu-aarch64 ;;
    armhf) set -- armhf arm-linux-gnueabihf-gcc qemu-arm ;;
    i686) set -- i686 i686-linux-gnu-gcc /usr/i686-linux-gnu/lib/ld-linux.so.2 ;;
    i686san) set -- i686 i686-linux-gnu-gcc /usr/i686-linux-gnu/lib/ld-linux.so.2 '/usr/lib/gcc-cross/i686-linux-gnu/*/libasan.so' ;;
    mingw)
      wine=$(command -v /usr/lib/wine/wine64 || command -v wine64 || echo wine64)
      WINEPREFIX="$build/wine" WINEDEBUG=-all "$wine" wineboot -i || : # two tests that start at once would both make its folder
      set -- mingw x86_64-w64-mingw32-gcc "$wine"
      ;;
    *) return 0 ;;
  esac
  machine=$1
  shift
  for tool in "$@"; do found "$tool" || { echo "no $tool here"; return 1; }; done
  [ -z "$machine" ] || sh "$root/tests/machines/libraries.sh" "$build/$machine-root" "$machine"
}

run_preset() { # preset
  printf '\n== %s\n' "$1"
  log=$build/logs/$1
  # Long tests start first: ctest knows which only after a first run. The file is in ctest's own format.
  [ -e "$build/$of/Testing/Temporary/CTestCostData.txt" ] ||
    { mkdir -p "$build/$of/Testing/Temporary" && cp "$root/tests/costs.txt" "$build/$of/Testing/Temporary/CTestCostData.txt"; }
  (cd "$build" && CMOCKA_MESSAGE_OUTPUT=TAP ctest --preset "$1" -L "^($labels)\$" -j "$jobs" --output-junit "$log.xml" \
    --test-output-size-passed 1000000 --test-output-size-failed 1000000 2>&1) | tee "$log.log"
  awk -f "$root/tests/tally.awk" "$log.log" "$log.xml" >"$log.txt" || :
  sed '$d' "$log.txt"
  totals=$(tail -n 1 "$log.txt")
  case $totals in '' | '0 0 0') totals='0 1 0'; printf 'failed: %s: no test was run\n' "$1" ;; esac
  # shellcheck disable=SC2086 # three numbers
  count $totals
  printf '== %s: %s\n' "$1" "$(printf '%s\n' "$totals" | sed 's/\(.*\) \(.*\) \(.*\)/\1 passed, \2 failed, \3 skipped/')"
}

total() {
  printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" -eq 0 ] || exit 1
}

coverage_of() { # nothing or parsers, presets...
  part=$1
  shift
  find "$build/coverage" -name '*.gcda' -exec rm -f {} + 2>/dev/null || :
  lane 'check|test|all' "$@"
  printf '\n'
  sh "$root/tests/package/coverage.sh" "$root" "$build/coverage" ${part:+"$part"}
}
