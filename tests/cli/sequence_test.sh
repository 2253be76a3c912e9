#!/bin/sh
# heed run --tokens and --features, and heed inspect, with encoder-decoder models; what is refused.
# The expected tokens are PyTorch's in double precision (vectors/sequence/make.py).
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

models=$vectors/sequence

expect_first_line() { [ "$(head -n 1 "$out")" = "$1" ] || fail "stdout: found \"$(head -n 1 "$out")\", expected \"$1\""; }
expect_in_file() { grep -qF -- "$2" "$here/$1" || fail "$1 does not say $2"; }

decodes() { # model, tokens, expected tokens, a map
  test_begin "tokens_$1"
  heed run "$models/$1" --tokens "$2" --backend cpu --quiet --json out.json --save out.safetensors
  expect_exit 0
  expect_stderr_empty
  expect_first_line "$3"
  expect_stdout_contains "json: out.json"
  expect_in_file out.json "\"source\": [$(echo "$2" | sed 's/,/, /g')]"
  expect_in_file out.json "\"tokens\": [$(echo "$3" | sed 's/,/, /g')]"
  for map in $4; do
    expect_in_file out.json "\"$map\": {\"shape\": ["
    expect_in_file out.safetensors "\"$map\""
  done
  test_end
}

decodes transformer 4,10,10,3,10,5,3 6,10,7,1,6,8,1,6,10,2 "encoder.0.self encoder.1.self decoder.0.self decoder.1.self decoder.0.cross decoder.1.cross"
decodes lstm 8,5,8,4,6,4,6 2 decoder.0.cross
decodes gru 5,3,4,3,9,3,8 8,8,12,6,6,6,6,6,6,6,6,6 decoder.0.cross
decodes lstm_dot 5,3,10,6,5,7,4 3,10,6,11,10,10,9,10,1,10,6,11 decoder.0.cross

# Padding of the source changes nothing; fewer tokens when asked for fewer.
test_begin padded_source
heed run "$models/transformer" --tokens 8,6,8,5,4,0,0 --backend cpu --quiet
expect_exit 0
expect_first_line 6,10,11,2
test_end

test_begin shorter
heed run "$models/transformer" --tokens 4,10,10,3,10,5,3 --length 3 --backend cpu --quiet
expect_exit 0
expect_first_line 6,10,7
expect_stdout_contains "stopped at the maximum length"
test_end

test_begin features
heed run "$models/captioner" --features "$models/captioner/expect.safetensors" --backend cpu --quiet --save out.safetensors
expect_exit 0
expect_first_line 1,7,7,9,5,9,5,9,9,9,9,5
cp "$here/out.safetensors" "$bad/saved.safetensors"
test_end

test_begin features_saved_before
heed run "$models/captioner" --features "$bad/saved.safetensors" --backend cpu --quiet
expect_exit 0
expect_first_line 1,7,7,9,5,9,5,9,9,9,9,5
test_end

test_begin inspect
heed inspect "$models/transformer"
expect_exit 0
expect_stdout_contains "family transformer: from 11 tokens to 13 tokens, 2 + 2 layers x 2 heads"
expect_stdout_contains "encoder.layers.0.self_attn.in_proj_weight"
test_end

test_begin inspect_plan
heed inspect "$models/lstm" --plan
expect_exit 0
expect_stdout_contains "lstm"
expect_stdout_contains "predicted bytes"
test_end

usage_error() { # name, a part of the sentence, words
  test_begin "$1"
  says=$2
  shift 2
  heed run "$@" --backend cpu --quiet --json out.json
  expect_exit 2
  expect_stderr_contains "$says"
  expect_stdout_empty
  expect_nothing_written
  test_end
}

usage_error not_numbers "invalid list of token ids" "$models/transformer" --tokens 5,x
usage_error no_number "invalid list of token ids" "$models/transformer" --tokens ""
usage_error empty_number "invalid list of token ids" "$models/transformer" --tokens 5,,3
usage_error negative "invalid list of token ids" "$models/transformer" --tokens 5,-1
usage_error both "one of the two" "$models/transformer" --tokens 5 --features in.safetensors
usage_error neither "one of the two" "$models/transformer" --length 3
usage_error no_model "one of the two" --tokens 5
usage_error maps_of_pictures "for images" "$models/transformer" --tokens 5 --head mean
usage_error fit_of_pictures "for images" "$models/transformer" --tokens 5 --fit whole
usage_error way_of_pictures "for images" "$models/transformer" --tokens 5 --way graph
usage_error tokens_to_captioner "wrong kind of source" "$models/captioner" --tokens 5,3
usage_error unknown_token "token 1 out of range (found 11, expected 0 to 10)" "$models/transformer" --tokens 5,11
usage_error too_long_source "invalid length (found source 13" "$models/transformer" --tokens 1,1,1,1,1,1,1,1,1,1,1,1,1
usage_error too_long_target "target 13" "$models/transformer" --tokens 1 --length 13

bad_run() { # name, a part of the sentence, words
  name=$1 says=$2
  shift 2
  bad_input "$name" "$says" run "$@" --backend cpu --quiet --json out.json
}

bad_run not_a_sequence "not an encoder-decoder" "$vectors/vit/micro_32" --tokens 5
bad_run no_pictures "takes no images" "$models/transformer" "$vectors/preprocess/rgb.png"
bad_run no_file "cannot open" "$models/captioner" --features missing.safetensors
bad_run no_tensor "missing tensor source" "$models/captioner" --features "$models/captioner/model.safetensors"
bad_run tokens_for_features "expected floats [1 to 12, 6]" "$models/captioner" --features "$models/transformer/expect.safetensors"
safetensors "$bad/wide.safetensors" '{"source":{"dtype":"F32","shape":[2,7],"data_offsets":[0,56]}}' 56
bad_run wide_features "found F32 [2, 7], expected floats [1 to 12, 6]" "$models/captioner" --features "$bad/wide.safetensors"
safetensors "$bad/long.safetensors" '{"source":{"dtype":"F32","shape":[13,6],"data_offsets":[0,312]}}' 312
bad_run long_features "expected floats [1 to 12, 6]" "$models/captioner" --features "$bad/long.safetensors"
{ little_endian 62; printf '%s' '{"source":{"dtype":"F32","shape":[1,6],"data_offsets":[0,24]}}'; head -c 20 /dev/zero; printf '\000\000\300\177'; } >"$bad/nan.safetensors"
bad_run nan_features "non-finite value in tensor source (element 5)" "$models/captioner" --features "$bad/nan.safetensors"

for spoilt in cut_weights other_width no_architecture; do
  mkdir -p "$bad/$spoilt"
  cp "$models/transformer/config.json" "$models/transformer/model.safetensors" "$bad/$spoilt"
  chmod u+w "$bad/$spoilt"/*
done
cut_to "$bad/cut_weights/model.safetensors" 20000
bad_run cut_weights "model.safetensors" "$bad/cut_weights" --tokens 5
edit "$bad/other_width/config.json" 's/"d_model": 16/"d_model": 18/'
bad_run other_width "expected" "$bad/other_width" --tokens 5
edit "$bad/no_architecture/config.json" 's/HeedTransformer/OtherTransformer/'
bad_run no_architecture "missing key hidden_size" "$bad/no_architecture" --tokens 5

tests_end
