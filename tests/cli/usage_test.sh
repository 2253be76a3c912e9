#!/bin/sh
# The words of the command line: help, versions, and exit code 2 for what is not a command of heed's.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

usage_error() { # name, a part of the sentence, arguments...
  test_begin "$1"
  part=$2
  shift 2
  heed "$@"
  expect_exit 2
  expect_stderr_contains "$part"
  expect_stdout_empty
  expect_nothing_written
  test_end
}

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png

# The verbs, as help names them.
verbs=$("$program" help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
test_begin verbs
[ "$(echo "$verbs" | wc -l)" -ge 14 ] || fail "heed help names $(echo "$verbs" | wc -l) verbs, expected 14 or more"
heed --help
expect_exit 0
expect_stdout_contains "Exit codes:"
heed help
expect_exit 0
test_end

for verb in $verbs; do
  test_begin "help_$verb"
  heed $verb --help
  expect_exit 0
  expect_stdout_contains "usage: heed $verb"
  expect_stdout_contains "--help"
  expect_stderr_empty
  sh "$vectors/../package/words.sh" --help "$out" >&2 || fail "its words: see stderr"
  cp "$out" "$bad/help"
  heed help $verb
  expect_exit 0
  cmp "$bad/help" "$out" || fail "heed help $verb is not heed $verb --help"
  test_end
done

# Each option with a value, given twice: a line says which holds. Given once, none does.
for verb in $verbs; do
  test_begin "twice_$verb"
  "$program" $verb --help | sed 's/^  -[a-z], /  /' >"$bad/help"
  sed -n 's/^  \(--*[a-z-]*\)  .*/\1/p' "$bad/help" >"$bad/flags"
  options=$(sed -n 's/^  \(--*[a-z-]*\) [^ ].*/\1/p' "$bad/help" | grep -vx -e --text | grep -vxF -f "$bad/flags" || :)
  # shellcheck disable=SC2046 # words
  heed $verb $(for option in $options; do echo "$option 1"; done) --help
  expect_exit 0
  expect_stderr_empty
  # shellcheck disable=SC2046 # words
  heed $verb $(for option in $options; do echo "$option 1 $option 2"; done) --help
  expect_exit 0
  for option in $options; do
    expect_stderr_contains "heed $verb: $option: given twice (the last one holds: \"2\")"
  done
  test_end
done

for word in --version -V version; do
  test_begin "version_by_$word"
  heed $word
  expect_exit 0
  expect_stdout_contains "heed 0."
  test_end
done

usage_error nothing "usage: heed"
usage_error no_such_verb 'unknown verb (found "dance", expected run, embed, eval, explain, judge, check, inspect, maps, survey, devices, bench, demo, convert, compare, help, completion or man)' dance
usage_error verb_with_a_slip '); did you mean run?' rnu
usage_error verb_cut_short '); did you mean inspect?' insp
usage_error help_of_no_verb 'unknown verb (found "dance"' help dance
usage_error help_of_two_verbs 'too many arguments (found 2, expected at most one VERB)' help run eval
usage_error completion_of_no_shell 'unknown shell (found "tcsh", expected bash, zsh or fish)' completion tcsh
usage_error completion_of_none 'unknown shell (found none' completion
usage_error man_with_a_word 'unexpected argument (found "run")' man run
# shellcheck disable=SC2046 # words
usage_error too_many_texts "--text: given too often (found more than 256" run $(repeat "--text a " 300)
usage_error no_such_option "unknown option" run --dance
usage_error option_with_a_slip 'unknown option (found "--mpas"); did you mean --maps? See heed run --help' run --mpas a.png
usage_error option_with_one_dash 'unknown option (found "-maps"); did you mean --maps?' run -maps a.png
usage_error option_cut_short 'unknown option (found "--temp=2"); did you mean --temperature?' run --temp=2
usage_error unknown_letter 'unknown option (found "-x"); see heed run --help' run -x
usage_error letter_of_another_verb 'unknown option (found "-l"); see heed eval --help' eval -l 2
for option in --json --maps --save; do
  usage_error "no_name_of_$option" "$option: missing name of a file (found \"\", expected OUT" run "$option="
done
usage_error option_without_value "missing value" run --top
# The option that follows is none: a file named --json was written, and no JSON.
usage_error option_as_value 'missing value (found "--maps")' run "$micro" "$picture" --maps --json out.json
usage_error option_as_text 'missing value (found "--text")' run "$micro" "$picture" --text --quiet
usage_error option_not_a_number "whole number" run --top five
usage_error number_too_large "whole number" run --top 99999999999999999999
usage_error no_such_fit "expected model or whole" run --fit crop --backend cpu --quiet
usage_error flag_with_value "takes no value" run --quiet=yes
usage_error no_such_backend "cuda" run --backend cuda --quiet "$micro" "$picture"
usage_error no_such_simd "mmx" run --backend cpu --simd mmx --quiet "$micro" "$picture"
usage_error bf16_is_not_of_vulkan "bf16 not supported (found --backend vulkan, expected cpu)" run --backend vulkan --precision bf16 --quiet "$micro" "$picture"
usage_error bf16_is_of_one_level "bf16 not supported (found --simd avx2, expected avx512)" run --backend cpu --simd avx2 --precision bf16 --quiet "$micro" "$picture"

# Letters are the options whose names they stand for.
test_begin letters
heed run "$micro" "$picture" -b cpu -q -l last -m maps.png -j short.json
expect_exit 0
expect_stderr_empty
expect_file maps.png
sed 's/"milliseconds": [0-9.e-]*//' "$here/short.json" >"$bad/short.json"
heed run "$micro" "$picture" --backend cpu --quiet --layer 1 --maps maps.png --json long.json
expect_exit 0
sed 's/"milliseconds": [0-9.e-]*//' "$here/long.json" | cmp "$bad/short.json" - || fail "the letters gave another document"
test_end

usage_error no_such_layer "0 to 1, last or all" run --backend cpu --quiet "$micro" "$picture" --layer 2 --maps out.png
usage_error no_such_scale "expected auto, uniform, share, log or own" run --backend cpu --quiet "$micro" "$picture" --scale linear --maps out.png
usage_error end_below_uniform '--end: out of range (found "0.5", expected 1 to 5 times uniform)' run --backend cpu --quiet "$micro" "$picture" --end 0.5 --maps out.png
usage_error end_above_the_row '--end: out of range (found "5.5", expected 1 to 5 times uniform)' run --backend cpu --quiet "$micro" "$picture" --end 5.5 --maps out.png
usage_error end_no_number '--end: out of range (found "4x"' run --backend cpu --quiet "$micro" "$picture" --end 4x --maps out.png
usage_error end_of_own_scales "have no common end (found --scale own" run --backend cpu --quiet "$micro" "$picture" --end 4 --scale own --maps out.png
usage_error no_such_head "0 to 3" run --backend cpu --quiet "$micro" "$picture" --head 4 --maps out.png
usage_error no_such_patch "--query" run --backend cpu --quiet "$micro" "$picture" --query 2,0 --maps out.png
usage_error query_not_a_pair "--query" run --backend cpu --quiet "$micro" "$picture" --query 1 --maps out.png
usage_error eval_without_words "expected MODEL" eval
usage_error eval_without_output "-o" eval "$micro" "$micro/io.safetensors"
usage_error check_without_cases "at least one" check

tests_end
