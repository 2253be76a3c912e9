#!/bin/sh
# Results that cannot be written: exit code 3, one sentence, and neither half a file nor a temporary one is left.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png

# Every option that writes, with the path to write to.
each_output() { # name, a part of the sentence, path without its end
  for output in maps=.png rollout=.png json=.json save=.safetensors; do
    test_begin "$1_${output%%=*}"
    heed run "$micro" "$picture" --backend cpu --quiet "--${output%%=*}" "$3${output#*=}"
    expect_exit 3
    expect_one_sentence run "$2"
    expect_nothing_written
    test_end
  done
  test_begin "$1_eval"
  heed eval "$micro" "$micro/io.safetensors" --backend cpu --quiet -o "$3.safetensors"
  expect_exit 3
  expect_one_sentence eval "$2"
  expect_nothing_written
  test_end
}

each_output no_such_folder "No such file" no/such/out
each_output below_a_file "Not a directory" "$micro/config.json/out"
mkdir "$bad/folder.png" "$bad/folder.json" "$bad/folder.safetensors"
each_output is_a_folder "Is a directory" "$bad/folder"

if [ "$(id -u)" -eq 0 ]; then
  test_skip no_permission "root may write everywhere"
else
  mkdir "$bad/locked"
  chmod 500 "$bad/locked"
  each_output no_permission "Permission denied" "$bad/locked/out"
fi

# What is there already stays as it was when the new one cannot be made.
test_begin old_file_stays
mkdir "$here/locked"
echo old >"$here/out.json"
heed run "$micro" "$bad/no-such.png" --backend cpu --quiet --json out.json
expect_exit 3
[ "$(cat "$here/out.json")" = old ] || fail "out.json was changed"
test_end

# A signal ends heed with the code that shells know, at once, whatever it was at.
for signal in INT TERM HUP; do
  test_begin "signal_$signal"
  case $signal in INT) code=130 ;; TERM) code=143 ;; *) code=129 ;; esac
  command="demo --score 100000000 with SIG$signal" status=0
  # A shell without job control ignores SIGINT in what it puts into the background; timeout does not.
  (cd "$here" && exec timeout --preserve-status -k 60 -s "$signal" 1 "$program" demo --score 100000000) >"$out" 2>"$err" || status=$?
  expect_exit $code
  expect_nothing_written
  test_end
done

# A folder that convert writes is whole or not there, whenever the signal comes.
test_begin signal_convert
command="convert with SIGINT after some milliseconds"
for delay in 0.002 0.004 0.006 0.008 0.010 0.012 0.015 0.020 0.025 0.030 0.040 0.050; do
  status=0
  rm -rf "${here:?}/out"
  (cd "$here" && exec timeout --preserve-status -k 60 -s INT "$delay" "$program" convert -o out --weights int8) >"$out" 2>"$err" || status=$?
  case $status in 0 | 130) ;; *) fail "exit code after $delay s: found $status, expected 0 or 130" ;; esac
  [ ! -e "$here/out" ] || [ -s "$here/out/model.safetensors" ] || fail "half a folder after $delay s"
  [ "$(find "$here" -name '*.part*' | wc -l)" -eq 0 ] || fail "temporary files were left after $delay s"
done
test_end

# A pipe has no path that could be resolved; it is written as it is.
if [ -e /dev/fd/1 ]; then
  test_begin to_a_pipe
  command="run ... --json /dev/fd/3 3>&1 | cat" status=0
  (cd "$here" && "$program" run "$micro" "$picture" --backend cpu --quiet --json /dev/fd/3 3>&1 2>"$err"; echo $? >"$bad/code") | cat >"$out"
  status=$(cat "$bad/code")
  expect_exit 0
  expect_stdout_contains '"results"'
  expect_stderr_empty
  expect_nothing_written
  test_end
fi

# One document on stdout; what else is printed goes to stderr.
test_begin json_to_stdout
heed run "$micro" "$picture" --backend cpu --quiet --json out.json --top 1
cp "$here/out.json" "$bad/out.json"
rm "$here/out.json"
heed run "$micro" "$picture" --backend cpu --quiet --json - --top 1
expect_exit 0
sed 's/"milliseconds": [0-9.e+-]*//' "$bad/out.json" >"$bad/expected"
sed 's/"milliseconds": [0-9.e+-]*//' "$out" | cmp -s - "$bad/expected" || fail "stdout: another document than --json out.json writes"
expect_stderr_contains "rgb.png: 640 x 427 pixels"
expect_nothing_written
heed run "$micro" "$picture" "$bad/no.png" "$picture" --backend cpu --quiet --json -
expect_exit 3
python3 -c 'import json, sys; assert ["error" in r for r in json.load(open(sys.argv[1]))["results"]] == [False, True, False]' "$out" || fail "stdout: expected one document with the second of three failed"
test_end

test_begin json_to_stdout_of_other_verbs
heed compare "$micro" "$micro" "$picture" --backend cpu --quiet --json -
expect_exit 0
python3 -m json.tool "$out" /dev/null || fail "stdout of compare: not one document"
heed run "$vectors/sequence/lstm" --tokens 5,3 --backend cpu --quiet --json -
expect_exit 0
python3 -m json.tool "$out" /dev/null || fail "stdout of run --tokens: not one document"
heed demo --scene 7 --backend cpu --quiet --save -
expect_exit 0
python3 -m json.tool "$out" /dev/null || fail "stdout of demo --save: not one document"
expect_nothing_written
test_end

# A reader that has had enough: every file is written, and the code is that of SIGPIPE.
closed_pipe() { # name, arguments...
  test_begin "$1"
  shift
  command="$* | (reads nothing)" status=0
  mkfifo "$bad/pipe"
  sh -c ': <"$1"' sh "$bad/pipe" &
  (cd "$here" && exec timeout 120 "$program" "$@" >"$bad/pipe") 2>"$err" || status=$?
  wait
  rm "$bad/pipe"
  : >"$out"
  expect_exit 141
}
many="$picture $vectors/preprocess/rgb.jpg $vectors/preprocess/exact_224.png"
# shellcheck disable=SC2086 # words
closed_pipe closed_pipe_of_text run "$micro" $many --backend cpu --quiet --layer all --json out.json --save out.safetensors
for file in out.json out-rgb.safetensors out-rgb-2.safetensors out-exact_224.safetensors; do expect_file $file; done
expect_stderr_empty
test_end
# shellcheck disable=SC2086 # words
closed_pipe closed_pipe_of_json run "$micro" $many --backend cpu --quiet --json - --save out.safetensors
for file in out-rgb.safetensors out-rgb-2.safetensors out-exact_224.safetensors; do expect_file $file; done
test_end

# SIGINT among many: whole files or none, and 130.
test_begin signal_many
command="run of many with SIGINT"
awk -v path="$picture" 'BEGIN { for (i = 0; i < 3000; i++) print path }' >"$bad/many"
for delay in 0.3 0.6 1.2; do
  rm -rf "${here:?}"/*
  status=0
  echo old >"$here/out.json"
  (cd "$here" && exec timeout --preserve-status -k 60 -s INT "$delay" "$program" run "$micro" --list "$bad/many" --backend cpu --quiet --json out.json --save out.safetensors) >"$out" 2>"$err" || status=$?
  expect_exit 130
  [ "$(cat "$here/out.json")" = old ] || fail "out.json was changed after $delay s"
  [ "$(find "$here" -name '*.part*' | wc -l)" -eq 0 ] || fail "temporary files were left after $delay s"
  [ "$(find "$here" -name '*.safetensors' -size -1k | wc -l)" -eq 0 ] || fail "half a file was left after $delay s"
done
[ "$(find "$here" -name '*.safetensors' | wc -l)" -gt 0 ] || fail "no picture was done in $delay s"
test_end

# The permissions of what is replaced stay; a new file has the mask's.
test_begin permissions_stay
umask 022
for mode in 600 640 444; do
  rm -f "$here"/out.*
  for file in out.json out.safetensors; do
    echo old >"$here/$file"
    chmod $mode "$here/$file"
  done
  heed run "$micro" "$picture" --backend cpu --quiet --json out.json --save out.safetensors
  expect_exit 0
  for file in out.json out.safetensors; do
    [ "$(stat -c %a "$here/$file")" = $mode ] || fail "$file: found mode $(stat -c %a "$here/$file"), expected $mode"
    grep -q old "$here/$file" && fail "$file was not replaced"
  done
done
test_end

# A name that ends otherwise than its format does is refused; no ending is fine.
for bad_name in "--json out.png" "--json out.safetensors" "--json out.PDF" "--json x.txt" "--json folder.json/a.result" "--save out.json" "--save out.npz.gz" "--save b.tensors" "--maps -"; do
  test_begin "end_of_${bad_name##* }_for_${bad_name%% *}"
  # shellcheck disable=SC2086 # words
  heed run "$micro" "$picture" --backend cpu --quiet $bad_name
  expect_exit 2
  expect_one_sentence run "${bad_name%% *}: the name of another format (found \"${bad_name##* }\", expected OUT"
  expect_stdout_empty
  expect_nothing_written
  test_end
done
wrong_end() { # verb, option, name, arguments...
  test_begin "end_of_$3_for_$1_$2"
  verb=$1 option=$2 bad_name=$3
  shift 3
  heed "$verb" "$@" --backend cpu --quiet "$option" "$bad_name"
  expect_exit 2
  expect_one_sentence "$verb" "$option: the name of another format (found \"$bad_name\", expected OUT"
  expect_nothing_written
  test_end
}
wrong_end demo --picture scene.txt --scene 1
wrong_end demo --save scene.jsonl --scene 1
wrong_end compare --json out.jsonl "$micro" "$micro" "$picture"
wrong_end check --json out.txt --profile keras
test_begin no_ends
heed run "$micro" "$picture" --backend cpu --quiet --json a.JSON --save .hidden
expect_exit 0
heed run "$micro" "$picture" --backend cpu --quiet --json v1.0/out --save v1.png/out
expect_exit 3
mkdir "$here/v1.png"
heed run "$micro" "$picture" --backend cpu --quiet --json v1.png/out --save ./c
expect_exit 0
for file in a.JSON .hidden v1.png/out c; do expect_file $file; done
test_end

# /dev/full takes nothing. It must never be renamed over.
if [ -c /dev/full ]; then
  for output in maps rollout json save; do
    test_begin "dev_full_$output"
    heed run "$micro" "$picture" --backend cpu --quiet "--$output" /dev/full
    expect_exit 3
    expect_one_sentence run "No space left"
    expect_stderr_contains "heed run: /dev/full: "
    [ -c /dev/full ] || fail "/dev/full was replaced"
    expect_nothing_written
    test_end
  done
  test_begin dev_full_stdout
  status=0 command="run ... >/dev/full"
  : >"$out"
  (cd "$here" && exec "$program" run "$micro" "$picture" --backend cpu --quiet) >/dev/full 2>"$err" || status=$?
  expect_exit 3
  expect_stderr_contains "stdout"
  test_end
else
  test_skip dev_full "no /dev/full here"
fi

# A full disk: a tmpfs of one page, in a mount namespace of its own. Runs this file once more inside.
full_disk() {
  disk=$bad/disk
  mkdir -p "$disk"
  if ! unshare --map-root-user --mount sh -c 'mount -t tmpfs -o size=4k tmpfs "$1"' sh "$disk" 2>"$err"; then
    test_skip full_disk "no tmpfs can be mounted here: $(head -n 1 "$err")"
    return
  fi
  for output in maps=.png rollout=.png json=.json save=.safetensors; do
    test_begin "full_disk_${output%%=*}"
    command="run ... --${output%%=*} on a full disk" status=0
    # The listing is made inside: the mount ends with the command.
    # shellcheck disable=SC2016 # for the inner shell
    (cd "$here" && unshare --map-root-user --mount sh -c '
      disk=$1 list=$2
      shift 2
      mount -t tmpfs -o size=4k tmpfs "$disk" || exit 99
      echo old >"$disk/old"
      code=0
      timeout 120 "$@" || code=$?
      ls -A "$disk" >"$list"
      exit $code' sh "$disk" "$bad/list" "$program" run "$micro" "$picture" --backend cpu --quiet "--${output%%=*}" "$disk/out${output#*=}") \
      >"$out" 2>"$err" || status=$?
    expect_exit 3
    expect_one_sentence run "No space left"
    expect_stderr_contains "disk/out${output#*=}: "
    [ "$(cat "$bad/list")" = old ] || fail "left on the disk: $(cat "$bad/list")"
    test_end
  done
}
full_disk

tests_end
