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
if [ -e /dev/stdout ]; then
  test_begin to_a_pipe
  command="run ... --json /dev/stdout | cat" status=0
  (cd "$here" && "$program" run "$micro" "$picture" --backend cpu --quiet --json /dev/stdout 2>"$err"; echo $? >"$bad/code") | cat >"$out"
  status=$(cat "$bad/code")
  expect_exit 0
  expect_stdout_contains '"results"'
  expect_stderr_empty
  expect_nothing_written
  test_end
fi

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
