#!/bin/sh
# The command for Windows, under Wine, beside the one of this machine: what they print and write is the same, byte for byte.
#
#   windows_test.sh HEED.EXE WINE VECTORS FOLDER    $HEED_PEER is the other one; exit code 77 with a sentence without it
# shellcheck disable=SC2034,SC2154 # what the harness reads and sets
set -eu

[ $# -eq 4 ] || { echo "usage: $0 HEED.EXE WINE VECTORS FOLDER"; exit 2; }
[ -x "${HEED_PEER:-}" ] || { echo "skipped: no heed of this machine (HEED_PEER=BUILD/heed)"; exit 77; }
tests=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
mkdir -p "$4"
windows=$4/heed
printf '#!/bin/sh\nLC_ALL=C.UTF-8 exec "%s" "%s" "$@"\n' "$2" "$1" >"$windows" # Wine reads words by the locale
chmod +x "$windows"
vectors=$3 folder=$4
# shellcheck source=tests/cli/harness.sh
set -- "$windows" "$3" "$4/run"
. "$tests/cli/harness.sh"
model=$vectors/vit/micro_32
demo=$tests/../runtime/demo
picture=$demo/scene_159.png

# Runs both with the same words, each in a folder of its own, which is empty before.
both() { # words of the command
  heed "$@"
  rm -rf "$bad/peer"
  mkdir -p "$bad/peer"
  peer=0
  (cd "$bad/peer" && exec "$HEED_PEER" "$@") >"$bad/peer_out" 2>"$bad/peer_err" </dev/null || peer=$?
  [ "$status" -eq "$peer" ] || fail "exit code: found $status, expected $peer"
}

# Without the time that it took.
untimed() { sed 's/, [0-9.]* ms$/, T ms/; s/"milliseconds": [0-9.e+-]*/"milliseconds": T/; s/, [0-9.]* a second$/, R a second/' "$1" >"$1.untimed"; }

same_stdout() {
  untimed "$out"
  untimed "$bad/peer_out"
  cmp "$out.untimed" "$bad/peer_out.untimed" >"$bad/cmp" 2>&1 || fail "stdout differs: $(cat "$bad/cmp")"
}
same_stderr() { cmp "$err" "$bad/peer_err" >"$bad/cmp" 2>&1 || fail "stderr differs: $(cat "$bad/cmp")"; }
same_files() {
  for json in "$here"/*.json "$bad/peer"/*.json; do
    [ ! -e "$json" ] || { untimed "$json" && mv "$json.untimed" "$json"; }
  done
  diff -r "$here" "$bad/peer" >"$bad/cmp" 2>&1 || fail "files differ: $(head -n 3 "$bad/cmp")"
}

# One command whose output and files are those of the other.
same() { # name, words of the command
  test_begin "$1"
  shift
  both "$@"
  expect_exit 0
  same_stdout
  same_files
  test_end
}

test_begin version
heed version
expect_exit 0
expect_stdout_contains "heed $("$HEED_PEER" version | sed -n '1s/heed //p')"
test_end

same help --help
same help_of_run run --help
same run_demo run --backend cpu --threads 1
same run_model run "$model" "$picture" --backend cpu --threads 1
same run_json run "$model" "$picture" --backend cpu --threads 1 --json out.json
same run_save run "$model" "$picture" --backend cpu --threads 1 --save maps.safetensors
same run_arrays run "$model" "$picture" --backend cpu --threads 2 --save-only 'cls,layer.*.output' --save states.npz
same run_json_on_stdout run "$demo/model" "$picture" --backend cpu --threads 1 --json -
same inspect inspect "$model"
same inspect_weights inspect "$model/model.safetensors"
same inspect_plan inspect "$demo/model" --plan --json
same embed_array embed "$model" "$demo" --backend cpu --threads 2 -o embeddings.npz
same embed_lines embed "$model" "$demo" --backend cpu --threads 1 -o -
same embed_table embed "$model" "$demo" --backend cpu --threads 1 -o embeddings.csv
same convert convert "$model" -o small --weights int8
same convert_demo convert -o half --weights f16
same run_explain run "$model" "$picture" --backend cpu --threads 1 --explain ledger,pca --json out.json
same check check "$vectors/attention/additive.safetensors" --backend cpu --threads 1
same survey survey "$demo/model" --scenes 4 --backend cpu --threads 1

# Maps that one of them saved, read by both.
"$HEED_PEER" run "$model" "$picture" --backend cpu --threads 1 --save "$folder/saved.safetensors" >/dev/null 2>&1
same maps maps "$folder/saved.safetensors" --json maps.json
same maps_of_query maps "$folder/saved.safetensors" --query cls
same eval eval "$model" "$folder/saved.safetensors" -o out.npz --backend cpu --threads 1
same explain explain "$model" "$folder/saved.safetensors" -o out.npz --methods ledger --backend cpu --threads 1

# Names that no code page of Windows has together.
odd=$folder/ä漢Ω
rm -rf "$odd"
mkdir -p "$odd"
cp "$picture" "$odd/été 猫.png"
same names run "$model" "$odd/été 猫.png" --backend cpu --threads 1 --json 'Ωé.json'
same folder_of_names embed "$model" "$odd" --backend cpu --threads 1 -o 'Ω.csv'

# A list as Windows writes it, with backslashes in its paths.
printf '\357\273\277%s\r\n' "$(echo "$picture" | sed 's,/,\\,g')" >"$folder/list.txt"
test_begin list
heed embed "$model" --list "$folder/list.txt" --backend cpu --threads 1 -o list.csv
expect_exit 0
expect_file list.csv
test_end

test_begin sandbox
heed run --backend cpu --sandbox auto
expect_exit 0
test_end

# What is wrong says so as elsewhere.
for words in 'run no.png' 'run --tokens x' 'inspect no-model' 'ru' 'embed' 'convert -o'; do
  test_begin "refused_$(echo "$words" | tr -c 'a-z\n' _)"
  # shellcheck disable=SC2086 # words of the command
  both $words
  [ "$status" -ne 0 ] || fail "it was taken"
  same_stdout
  same_stderr
  same_files
  test_end
done

test_begin refused_picture
printf 'no picture' >"$bad/bad.png"
both run "$bad/bad.png" --json out.json
expect_exit 3
expect_stderr_contains 'bad.png: image format not supported (found bytes 6E 6F 20 70, expected a PNG, JPEG'
expect_nothing_written
test_end

test_begin refused_folder_that_is_there
mkdir "$here/there"
heed convert -o there --weights f16
expect_exit 2
expect_one_sentence convert 'exists already'
rmdir "$here/there"
expect_nothing_written
test_end

# Ctrl-C: what is half written is removed.
test_begin interrupted
command="run of many with SIGINT" status=0 i=0
while [ $i -lt 100000 ]; do echo "$picture" && i=$((i + 1)); done >"$bad/many"
(cd "$here" && exec timeout --preserve-status -k 60 -s INT 20 "$program" run "$model" --list "$bad/many" --backend cpu --threads 1 --json out.json) >"$out" 2>"$err" || status=$?
expect_exit 130
expect_nothing_written
test_end

printf '1..%s\n' "$total"
[ "$broken" -eq 0 ]
