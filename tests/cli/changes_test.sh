#!/bin/sh
# heed run with the model's attention changed, columns, scores and other rollouts. Numbers are compared with the page's in web/test/browser/code.test.js.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png

classes() { grep ' (class ' "$out"; }

test_begin a_gain_of_nothing_is_a_head_taken_out
heed run --scene 7 --backend cpu --quiet
classes >"$bad/plain"
heed run --scene 7 --backend cpu --quiet --ablate 4.0,2.1
expect_exit 0
expect_stdout_contains "changed: --ablate 4.0,2.1"
classes >"$bad/out"
heed run --scene 7 --backend cpu --quiet --gain 4.0=0,2.1=0.0
expect_exit 0
classes | cmp -s - "$bad/out" || fail "other classes than with the heads taken out"
cmp -s "$bad/plain" "$bad/out" && fail "the same classes as with nothing changed"
test_end

test_begin what_changes_nothing_gives_the_same_numbers
heed run --scene 7 --backend cpu --quiet --gain 1.1=1 --temperature 1.0 --replace mean
expect_exit 0
classes | cmp -s - "$bad/plain" || fail "other classes than with nothing changed"
test_end

test_begin all_at_once_is_saved_with_what_was_changed
heed run "$micro" "$picture" --backend cpu --quiet --ablate 0.1 --replace mean --gain 1.2=0.25 --drop "0,1;1,0" --cut 0.3,1.1 --temperature 0.7 --json out.json --save out.safetensors
expect_exit 0
grep -q '"changes": {"ablate": "0.1", "replace": "mean", "gain": "1.2=0.25", "drop": "0,1;1,0", "cut": "0.3,1.1", "temperature": "0.7"}' "$here/out.json" || fail "out.json: no changes"
cp "$here/out.safetensors" "$bad"
heed maps "$bad/out.safetensors" --layer 1
expect_exit 0
expect_stdout_contains "changed: --ablate 0.1 --replace mean --gain 1.2=0.25 --drop 0,1;1,0 --cut 0.3,1.1 --temperature 0.7"
expect_stdout_contains '"changes": "--ablate 0.1 --replace mean'
test_end

# Each picture has its own means.
test_begin pictures_one_after_another_are_as_each_alone
heed run "$micro" "$vectors/preprocess/gray.jpg" --backend cpu --quiet --ablate 0.1,1.0 --replace mean
classes >"$bad/alone"
heed run "$micro" "$picture" "$vectors/preprocess/gray.jpg" --backend cpu --quiet --ablate 0.1,1.0 --replace mean
expect_exit 0
classes | tail -n 5 | cmp -s - "$bad/alone" || fail "other classes than alone"
test_end

# Heads that give what they gave on the same picture change nothing; on others, and on their mean, they do.
test_begin resampled
heed run "$micro" "$picture" --backend cpu --quiet
classes >"$bad/plain"
heed run "$micro" "$picture" --backend cpu --quiet --ablate 0.1,1.0 --replace-from "$picture" --json out.json
expect_exit 0
expect_stdout_contains "changed: --ablate 0.1,1.0 --replace-from $picture"
grep -q '"replace_from": "' "$here/out.json" || fail "out.json: no replace_from"
classes | cmp -s - "$bad/plain" || fail "other classes than with nothing changed"
mkdir "$bad/others"
cp "$vectors/preprocess/gray.jpg" "$bad/others/a.jpg"
heed run "$micro" "$picture" --backend cpu --quiet --ablate 0.1,1.0 --replace-from "$bad/others"
expect_exit 0
classes >"$bad/one"
cmp -s "$bad/plain" "$bad/one" && fail "the same classes as with nothing changed"
cp "$vectors/preprocess/gray.jpg" "$bad/others/b.jpg"
heed run "$micro" "$picture" --backend cpu --quiet --ablate 0.1,1.0 --replace-from "$bad/others"
classes | cmp -s - "$bad/one" || fail "the mean of a picture and itself is another picture"
cp "$picture" "$bad/others/c.png"
heed run "$micro" "$picture" --backend cpu --quiet --ablate 0.1,1.0 --replace-from "$bad/others"
classes | cmp -s - "$bad/one" && fail "a third picture does not count"
test_end

refused() { # name, sentence, options...
  test_begin "$1"
  sentence=$2
  shift 2
  heed run "$micro" "$picture" --backend cpu --quiet "$@"
  expect_exit 2
  expect_one_sentence run "$sentence"
  test_end
}
refused no_such_layer 'found "2.0", expected LAYER.HEAD[,LAYER.HEAD...], 2 x 4 of them' --ablate 0.0,2.0
refused no_head_of_the_pool 'found "pool.0", expected LAYER.HEAD' --ablate pool.0
refused no_such_head 'unknown head (found "1.4"' --ablate 1.4
refused no_list 'unknown head (found "0.1x"' --ablate 0.1x
refused an_empty_list 'unknown head (found ""' --ablate ""
refused a_list_that_goes_on 'unknown head (found "0.1"' --ablate 0.1,
refused a_number_that_is_too_long 'unknown head (found "99999999999.1"' --ablate 99999999999.1
refused a_gain_without_a_share 'unknown head or invalid factor (found "0.1"' --gain 0.1
refused a_gain_below_nothing 'unknown head or invalid factor (found "0.1=-1"' --gain 0.1=-1
refused a_gain_beyond_floats 'unknown head or invalid factor (found "0.1=1000000000000000000000000000000000000000"' --gain 0.1=1000000000000000000000000000000000000000
refused no_such_patch 'unknown patch (found "2,0", expected ROW,COL[;ROW,COL...], 2 x 2 of them' --drop "1,1;2,0"
refused no_such_token 'unknown pair of tokens (found "0.5"' --cut 0.5
refused no_such_replacement 'found "median", expected zero, mean or uniform' --ablate 0.1 --replace median
refused replaced_twice 'cannot be given with --replace' --ablate 0.1 --replace mean --replace-from "$picture"
refused nothing_replaced 'no head is ablated' --replace-from "$picture"
refused no_temperature 'found "0", expected a number above 0' --temperature 0
refused a_temperature_that_is_no_number 'found "warm"' --temperature warm

refused no_such_score 'found "cooked", expected raw, scaled, masked, softmax or value' --score cooked --json out.json
refused scores_without_a_file 'expected --json OUT.json' --score raw
refused no_such_fusion 'found "sum", expected mean, min or max' --fusion sum --json out.json
refused a_residual_of_nothing 'found "0", expected more than 0, at most 1' --residual 0 --json out.json
refused all_discarded 'found "1", expected 0 or more, less than 1' --discard 1 --json out.json
refused layers_backwards 'found "1-0", expected FIRST-LAST from 0 to 1' --layers 1-0 --json out.json

test_begin columns_scores_and_a_rollout
heed run "$micro" "$picture" --backend cpu --quiet --query 1,0 --reverse --score raw --fusion max --residual 0.25 --discard 0.2 --layers 1-1 --json out.json --maps maps.png --rollout rollout.png
expect_exit 0
expect_stdout_contains "attention to patch (1, 0):"
expect_stdout_contains "peak patch"
for part in '"reverse": true' '"score": "raw"' '"scores": ['; do
  grep -qF "$part" "$here/out.json" || fail "out.json: no $part"
done
sed 's/"scores": [^]]*], //; s/, "scores": [^]]*]//; s/"score": "raw", //' "$here/out.json" | tail -n +2 >"$bad/run.tail"
heed run "$micro" "$picture" --backend cpu --quiet --save out.safetensors
cp "$here/out.safetensors" "$bad"
heed maps "$bad/out.safetensors" --query 1,0 --reverse --fusion max --residual 0.25 --discard 0.2 --layers 1-1 --json out.json --rollout rollout.png
expect_exit 0
tail -n +2 "$here/out.json" | cmp -s - "$bad/run.tail" || fail "other numbers than heed run wrote"
test_end

test_begin an_encoder_decoder_is_not_changed
heed run "$vectors/sequence/captioner" --tokens 1,2 --ablate 0.1
expect_exit 2
test_end

tests_end
