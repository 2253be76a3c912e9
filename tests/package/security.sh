#!/bin/sh
# security.sh ROOT: SECURITY.md says which inputs may be hostile, what is promised and what not, how to report, and what gets fixes. The
# readers that it names are there, and tests/fuzz/README.md names each fuzzer.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 ROOT" >&2; exit 2; }
cd "$1"
status=0
bad() { echo "$*" >&2; status=1; }

for heading in 'What may be hostile' 'What is promised' 'How this is tested' 'What heed depends on' 'How to report'; do
  grep -qx "## $heading" SECURITY.md || bad "SECURITY.md: no section \"$heading\""
done
for words in '^Not promised: ' '^Trusted are ' 'gets fixes before 1\.0' 'No code in a model is run\.'; do
  grep -q "$words" SECURITY.md || bad "SECURITY.md: no sentence of \"$words\""
done

# shellcheck disable=SC2016 # backquotes of Markdown
readers=$(sed -n '/^| input | read by |$/,/^$/p' SECURITY.md | sed 's/^| [^|]* |//' | grep -o '`[^`]*`' | tr -d '`')
[ "$(echo "$readers" | wc -l)" -ge 10 ] || bad 'SECURITY.md: the table of hostile inputs has fewer than 10 readers'
for reader in $readers; do
  [ -e "$reader" ] || bad "SECURITY.md: $reader is named as a reader, and is not there"
done
for fuzzer in tests/fuzz/fuzz_*.c; do
  fuzzer=${fuzzer##*/}
  grep -q "${fuzzer%.c}" tests/fuzz/README.md || bad "tests/fuzz/README.md: $fuzzer is not named"
done
exit $status
