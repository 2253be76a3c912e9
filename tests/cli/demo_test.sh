#!/bin/sh
# The demo: scenes drawn, read and written, and what the embedded model makes of them.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

# The number after a word of stdout's last line is at least this.
expect_last_at_least() { # word, least
  found=$(tail -n 1 "$out" | awk -v word="$1" '{ for (i = 1; i < NF; i++) if ($i == word) print $(i + 1) }')
  awk -v found="${found:-0}" -v least="$2" 'BEGIN { exit !(found + 0 >= least + 0) }' || fail "$1: found ${found:-nothing}, expected at least $2"
}

# Share of scenes, in percent, in which the twin head looks from one twin to the other and at nothing else.
expect_twin_head_legible_in() { # least
  found=$(awk '/<- the twin head/ { for (i = 1; i < NF; i++) if ($i == "in") print $(i + 1) }' "$out")
  awk -v found="${found:-0}" -v least="$1" 'BEGIN { exit !(found + 0 >= least + 0) }' || fail "legible in ${found:-0} % of scenes, expected at least $1 %"
}

expect_digest_of() { # the digest found before
  [ "$1" = "$(grep '^answers' "$out")" ] || fail "other answers than before: found $(grep '^answers' "$out"), expected $1"
}

test_begin score_of_fresh_scenes
heed demo --score 300 --seed 500000 --backend cpu --quiet
expect_exit 0
expect_last_at_least accuracy 0.97
expect_twin_head_legible_in 85
expect_stdout_contains "<- the twin head"
digest=$(grep '^answers' "$out")
test_end

test_begin score_on_one_thread
heed demo --score 300 --seed 500000 --backend cpu --threads 1 --quiet
expect_exit 0
expect_digest_of "$digest"
test_end

test_begin scene_of_a_seed
heed demo --scene 7 --picture scene.png --save scene.json --backend cpu --quiet
expect_exit 0
expect_stdout_contains "prediction: "
expect_stdout_contains "twins: "
expect_file scene.png
expect_file scene.json
cp "$here/scene.png" "$here/scene.json" "$bad"
test_end

test_begin scene_of_a_file
heed demo --scene "$bad/scene.json" --picture again.png --backend cpu --quiet
expect_exit 0
cmp -s "$bad/scene.png" "$here/again.png" || fail "the scene read back is another picture"
test_end

test_begin scene_without_twins
printf '{"objects": [{"shape": "star", "colour": "red", "x": 60, "y": 60, "radius": 30}]}' >"$bad/one.json"
heed demo --scene "$bad/one.json" --backend cpu --quiet
expect_exit 0
expect_stdout_contains "twins: none"
test_end

test_begin run_with_a_scene
heed run --scene 7 --query twin --layer all --maps maps.png --backend cpu --quiet
expect_exit 0
expect_stdout_contains "twins: "
expect_file maps.png
test_end

test_begin run_with_a_scene_and_a_picture
heed run "$vectors/preprocess/rgb.png" --scene 7 --backend cpu --quiet
expect_exit 2
expect_stderr_contains "replaces images"
test_end

test_begin query_twin_without_a_scene
heed run "$vectors/preprocess/rgb.png" --query twin --backend cpu --quiet
expect_exit 2
expect_one_sentence run "no twins"
test_end

test_begin model_that_is_not_for_scenes
heed demo "$vectors/vit/micro_32" --backend cpu --quiet
expect_exit 3
expect_one_sentence demo "not a scene model"
test_end

bad_input scene_file_missing "No such file" demo --scene "$bad/none.json" --backend cpu --quiet
printf '{"objects": [{"shape": "blob"}]}' >"$bad/blob.json"
bad_input scene_file_bad_shape "unknown shape" demo --scene "$bad/blob.json" --backend cpu --quiet
printf '{"objects": [' >"$bad/cut.json"
bad_input scene_file_cut "byte" run --scene "$bad/cut.json" --backend cpu --quiet

bad_input seed_of_more_than_64_bits "18446744073709551616: cannot open (No such file" demo --scene 18446744073709551616 --backend cpu --quiet
bad_input seed_of_no_digit "cannot open" demo --scene "" --backend cpu --quiet
bad_input scene_of_a_run_missing "No such file" run --scene "$bad/none.json" --backend cpu --quiet

tests_end
