#!/bin/sh
# heed check: cases whose expectations have a tolerance or a dtype of their own, logits, offsets; profiles of standards on every CPU level.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

# A case file of this header and these bytes, as octal escapes.
case_file() { # file, header, bytes
  # shellcheck disable=SC2059 # octal escapes
  { little_endian ${#2}; printf '%s' "$2"; printf "$3"; } >"$bad/$1"
}

one='\000\000\200\077' # 1 in F32
# a = 1, b, and what is expected of a + b.
sum_case() { # file, bytes of b, dtype and bytes of what is expected, more metadata
  width=4
  [ "$3" = F32 ] || width=2
  case_file "$1" '{"__metadata__":{"op":"add"'"$5"'},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},"expect.y":{"dtype":"'"$3"'","shape":[1],"data_offsets":[8,'$((8 + width))']}}' \
    "$one$2$4"
}

check_gives() { # name, exit code, file
  test_begin "$1"
  heed check "$bad/$3" --quiet
  expect_exit "$2"
  test_end
}

little='\000\000\200\071' # 2^-12
sum_case f32 "$little" F32 "$one" ''
check_gives off_by_2e-4_fails 1 f32
sum_case near "$little" F32 "$one" ',"tolerance":"1e-3"'
check_gives tolerance_of_the_case 0 near
sum_case apart "$little" F32 "$one" ',"atol":"0","rtol":"1e-3"'
check_gives tolerances_apart 0 apart
sum_case tight "$little" F32 "$one" ',"tolerance":"1e-3","rtol":"0","atol":"1e-4"'
check_gives one_of_them_replaces_both 1 tight
sum_case half "$little" F16 '\000\074' ''
check_gives f16_is_compared_after_rounding 0 half
sum_case half_off '\000\000\200\072' F16 '\000\074' '' # 2^-10, a whole step
check_gives f16_a_step_away_fails 1 half_off
sum_case brain '\000\000\200\072' BF16 '\200\077' ''
check_gives bf16_is_compared_after_rounding 0 brain
sum_case brain_off '\000\000\200\074' BF16 '\200\077' '' # 2^-6
check_gives bf16_two_steps_away_fails 1 brain_off
sum_case words "$little" F32 "$one" ',"tolerance":"much"'
bad_input tolerance_is_a_word 'invalid tolerance (found "much"' check "$bad/words" --quiet
sum_case negative "$little" F32 "$one" ',"rtol":"-1"'
bad_input rtol_is_negative 'invalid rtol (found "-1"' check "$bad/negative" --quiet

# One query, two keys: logits 2 and 3, the second only with an offset of 1.
two='\000\000\000\100' three='\000\000\100\100' hidden='\000\000\200\377'
logits_case() { # file, attributes, bytes of the second logit, tensor in front and its bytes
  case_file "$1" '{"__metadata__":{"op":"attention","attrs":"'"$2"'"},"query":{"dtype":"F32","shape":[1,1,1,1],"data_offsets":[0,4]},"key":{"dtype":"F32","shape":[1,1,2,1],"data_offsets":[4,12]},"value":{"dtype":"F32","shape":[1,1,2,1],"data_offsets":[12,20]},"expect.logits":{"dtype":"F32","shape":[1,1,1,2],"data_offsets":[20,28]}'"$4" \
    "$one$two$three$one$two$two$3$5"
}
logits_case logits '{\"causal\":\"top_left\"}' "$hidden" '}' ''
check_gives logits_of_a_causal_attention 0 logits
logits_case offset '{\"causal\":\"top_left\",\"causal_offset\":1}' "$three" '}' ''
check_gives logits_with_an_offset 0 offset
logits_case no_offset '{\"causal\":\"top_left\"}' "$three" '}' ''
check_gives logits_without_it_differ 1 no_offset
logits_case item '{\"causal\":\"top_left\"}' "$three" ',"causal_offsets":{"dtype":"I32","shape":[1],"data_offsets":[28,32]}}' '\001\000\000\000'
check_gives logits_with_an_offset_of_the_item 0 item

# Profiles.
levels=$("$program" check --profile torch --simd nothing 2>&1 | sed -n 's/.*expected one of \(.*\))$/\1/p')
for level in ${levels:-scalar}; do
  test_begin "profiles_on_$level"
  heed check --profile all --simd "${level%,}" --threads 1 --quiet --json counts.json
  expect_exit 0
  for profile in onnx torch keras; do expect_stdout_contains "$profile: "; done
  [ "$(grep -c ', 0 wrong$' "$out")" -eq 3 ] || fail "a profile has cases that are wrong"
  [ "$(grep -o '"wrong": [0-9]*' "$here/counts.json" | sort -u)" = '"wrong": 0' ] || fail "counts.json has cases that are wrong"
  [ "$(grep -o '"profile": "[a-z]*"' "$here/counts.json" | tr -d '\n')" = '"profile": "onnx""profile": "torch""profile": "keras"' ] || fail "counts.json lacks a profile"
  test_end
done

usage() { # name, sentence, arguments...
  test_begin "$1"
  part=$2
  shift 2
  heed check "$@"
  expect_exit 2
  expect_stderr_contains "$part"
  expect_stdout_empty
  expect_nothing_written
  test_end
}
usage unknown_profile 'unknown profile (found burn, expected onnx, torch, keras or all)' --profile burn
usage profile_and_a_case 'makes its own cases' --profile onnx case.safetensors
usage profile_and_results 'makes its own cases' --profile onnx -o out.safetensors
usage json_without_a_profile '--json goes with --profile' case.safetensors --json out.json

tests_end
