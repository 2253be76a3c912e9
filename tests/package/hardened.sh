#!/bin/sh
# hardened.sh PROGRAM: the defences that CMakeLists.txt asks for are in the program: position independent, no section
# both writable and executable, relocations read-only before main, stacks with canaries, checked library calls, and
# landing pads for indirect branches where the processor has them.
set -eu
program=$1
command -v readelf >/dev/null || { echo "skipped: no readelf here"; exit 77; }
failed=0

want() { # what, command...: its output has a line
  what=$1
  shift
  if ! "$@" >/dev/null; then
    echo "hardened.sh: $program: $what (not found, expected)"
    failed=1
  fi
}

# shellcheck disable=SC2317 # want calls it
has() { # option of readelf, pattern
  readelf -W "$1" "$program" 2>/dev/null | grep -Eq "$2"
}

# shellcheck disable=SC2317 # likewise
not() { ! "$@"; }

want 'position independent' has -h 'Type: +DYN'
want 'marked as a position-independent program' has -d 'FLAGS_1.*PIE'
want 'relocations made read-only' has -l 'GNU_RELRO'
want 'symbols bound before main' has -d 'BIND_NOW|FLAGS_1.* NOW'
want 'a stack without execution' has -l 'GNU_STACK.* RW +0x'
want 'no segment both written and executed' not has -l 'LOAD.* RWE '
want 'stack canaries' has -s '__stack_chk_fail'
want 'checked library calls' has -s '__(memcpy|snprintf|fprintf|printf|read|vsnprintf|memset)_chk'
want 'no searched library path' not has -d 'RPATH|RUNPATH'
case $(uname -m) in
  x86_64)
    pads=$(objdump -d --no-show-raw-insn --section=.text "$program" | grep -c endbr64)
    want 'landing pads (endbr64)' [ "$pads" -ge 100 ] ;;
esac
exit $failed
