#!/bin/sh
# Proves bounds of readers by CBMC: no read or write outside of an object, no overflow of signed numbers or pointers, no shift by
# too much, all loops end, and what the proofs claim. Stands in for no test: a proof is of small buffers, from any state.
#
#   prove.sh FOLDER [FILE...]   the proofs of proofs.txt, or of these files; works in FOLDER, where CBMC of Debian 13 is unpacked
#                               when the machine has none. Prints a line a proof. Exit codes: 0 all hold, 1 one does not,
#                               77 CBMC cannot be had here.
set -eu

[ $# -ge 1 ] || { echo "usage: $0 FOLDER [FILE...]" >&2; exit 2; }
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$1"
folder=$(CDPATH='' cd -- "$1" && pwd)
shift
root=$here/../..

cannot() {
  printf 'no CBMC: %s\n' "$*" >&2
  exit 77
}

# The machine's, or Debian 13's on its own libraries.
tool() { # name, arguments
  name=$1
  shift
  if command -v "$name" >/dev/null 2>&1; then "$name" "$@"; else
    "$unpacked/lib64/ld-linux-x86-64.so.2" --library-path "$unpacked/lib/x86_64-linux-gnu:$unpacked/lib" "$unpacked/bin/$name" "$@"
  fi
}

unpacked=$folder/cbmc/root/usr
if ! command -v cbmc >/dev/null 2>&1 && ! tool cbmc --version >/dev/null 2>&1; then
  [ "$(uname -m)" = x86_64 ] || cannot "not tried on processors of kind $(uname -m)"
  mkdir -p "$folder/cbmc"
  (
    flock 9 # several tests ask for it at once
    [ -x "$unpacked/bin/cbmc" ] || sh "$here/../machines/unpack.sh" "$folder/cbmc" amd64 with trixie cbmc >&2
  ) 9>"$folder/lock" || cannot "it cannot be unpacked"
  tool cbmc --version >/dev/null || cannot "the unpacked one does not run here"
fi

build() { # result, arguments of the compiler; with $contracts
  result=$1
  shift
  tool goto-cc -I "$root/runtime" -I "$root/runtime/include" -I "$here/.." -D HEED_ONNX_WINDOW=2 -D HEED_PICKLE_WINDOW=2 -D MAX_LINE=4u \
    --function "$entry" "$@" -o "$result.whole" "$here/$file.c" "$here/stand_ins.c"
  if [ -z "$contracts" ]; then mv "$result.whole" "$result"; else
    # shellcheck disable=SC2086 # one word an argument
    tool goto-instrument --dfcc "$entry" $contracts "$result.whole" "$result" >"$result.log" 2>&1 || { cat "$result.log" >&2; return 1; }
  fi
}

# Whether a run that goes well comes to the proof's end: a claim there that cannot hold must fail.
reaches_end() {
  build "$work.end" -D PROOF_REACHES_ITS_END
  end=$(tool cbmc "$work.end" --show-properties --no-standard-checks | grep -B3 'the end is reached' | sed -n "s/^Property \(${entry}\.[^:]*\|step\.[^:]*\):/\1/p" | head -n 1)
  [ -n "$end" ] || return 1
  code=0
  tool cbmc "$work.end" --no-standard-checks --property "$end" --unwind "$turns" --object-bits 12 >"$work.end.out" 2>&1 || code=$?
  [ "$code" -eq 10 ]
}

failed=0
prove() { # of $file, $entry, $turns, $contracts
  work=$folder/$file.$entry
  begun=$(date +%s) code=0
  build "$work"
  tool cbmc "$work" --bounds-check --pointer-check --pointer-overflow-check --signed-overflow-check --undefined-shift-check \
    --unwinding-assertions --unwind "$turns" --object-bits 12 >"$work.out" 2>&1 || code=$?
  said=$(sed -n 's/^\*\* \([0-9]* of [0-9]*\) failed.*/\1/p' "$work.out")
  if [ "$code" -ne 0 ]; then
    printf 'not ok %s %s: %s failed\n' "$file" "$entry" "${said:-cbmc}"
    grep -E ': FAILURE$' "$work.out" || tail -n 3 "$work.out"
    failed=1
  elif ! reaches_end; then
    printf 'not ok %s %s: its end is never reached, so it proves nothing\n' "$file" "$entry"
    failed=1
  else
    printf 'ok %s %s: %s properties hold, %s s\n' "$file" "$entry" "${said#0 of }" $(($(date +%s) - begun))
  fi
}

wanted=" $* "
while read -r file entry turns names; do
  case $file in '#'* | '') continue ;; esac
  case $wanted in '  ' | *" $file "*) ;; *) continue ;; esac
  contracts=
  for name in $names; do
    case $name in +*) contracts="$contracts --enforce-contract ${name#+}" ;; *) contracts="$contracts --replace-call-with-contract $name" ;; esac
  done
  prove
done <"$here/proofs.txt"
exit $failed
