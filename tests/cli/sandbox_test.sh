#!/bin/sh
# heed --sandbox: a reader that a file took over writes nothing, and starts nothing.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

model=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png
stolen=$bad/stolen
export HEED_TEST_STOLEN="$stolen"

# Both parts of it: a system may have one alone.
has() { # 0: what this system has stops a file, 1: a program
  LD_PRELOAD=$HEED_TEST_READER heed run "$model" "$picture" --backend cpu --quiet
  case $1$status in 090 | 191 | 192) return 1 ;; esac
}

test_begin sandbox_of_a_reader_that_writes
if has 0; then
  expect_exit 3
  [ ! -e "$stolen" ] || fail "a file was written"
else
  lacking="no Landlock here"
fi
test_end

test_begin sandbox_of_a_reader_that_starts_a_program
HEED_TEST_STOLEN=
if has 1; then
  expect_exit 3
  expect_one_sentence run "sandbox: a program was to be started while files were read (found execve, expected none)"
else
  lacking="no seccomp here"
fi
HEED_TEST_STOLEN=$stolen
test_end

# Each verb that has the option is confined.
test_begin sandbox_of_other_verbs
HEED_TEST_STOLEN=
if has 1; then
  for verb in "embed $model $picture -o out.npz --backend cpu --quiet" "run $model $picture --maps out.png --json - --backend cpu --quiet"; do
    # shellcheck disable=SC2086 # words
    LD_PRELOAD=$HEED_TEST_READER heed $verb
    expect_exit 3
    expect_stderr_contains "sandbox: a program was to be started"
    expect_nothing_written
  done
else
  lacking="no seccomp here"
fi
HEED_TEST_STOLEN=$stolen
test_end

# Without it the same reader does as it likes: the test would see it.
test_begin sandbox_off
LD_PRELOAD=$HEED_TEST_READER heed run "$model" "$picture" --backend cpu --quiet --sandbox off
expect_exit 90
rm -f "$stolen"
heed run "$model" "$picture" --backend cpu --sandbox on
expect_exit 2
expect_stderr_contains 'heed run: --sandbox: unknown value (found "on", expected auto or off)'
test_end

# Outputs: in folders that do not lie beside each other, through a link, over a file, into a pipe.
test_begin sandbox_outputs
mkdir "$here/a" "$here/b"
ln -s ../b/linked.png "$here/a/link.png"
heed run "$model" "$picture" --backend cpu --quiet --maps a/link.png --json b/out.json --save a/out.npz
expect_exit 0
[ "$figures" = no ] || [ -s "$here/b/linked.png" ] || fail "nothing behind the link"
[ -s "$here/b/out.json" ] && [ -s "$here/a/out.npz" ] || fail "an output is missing"
heed run "$model" "$picture" --backend cpu --quiet --save -
expect_exit 0
heed convert "$model" -o b/small --weights f16
expect_exit 0
[ -s "$here/b/small/model.safetensors" ] || fail "no converted model"
heed inspect b/small
expect_exit 0
test_end

# Where no fonts were looked at before: what fontconfig found is kept, in a folder that is made.
test_begin sandbox_font_cache
if [ "$figures" = yes ] && [ -d /usr/share/fonts ]; then
  printf '<fontconfig><dir>/usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>\n' >"$bad/fonts.conf"
  FONTCONFIG_FILE="$bad/fonts.conf" XDG_CACHE_HOME="$bad/none" heed run "$model" "$picture" --backend cpu --quiet --maps out.png
  expect_exit 0
  expect_stderr_empty
  [ -d "$bad/none/fontconfig" ] || fail "nothing is kept"
fi
test_end

tests_end
