#!/bin/sh
# No output takes the place of another, or of what was read: pictures of one name have files of their own; everything else is refused with
# exit code 2 and a sentence that names both, before anything runs.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

picture=$vectors/preprocess/rgb.png
model micro
micro=$bad/micro

# What is there before stays as it was: the sums of all files under $bad.
sums() { find "$bad" -type f -exec cksum {} + | sort; }

refused() { # name, one path of the sentence, the other, verb, arguments...
  test_begin "$1"
  one=$2 other=$3
  shift 3
  [ -z "$prepare" ] || (cd "$here" && eval "$prepare")
  before=$(sums) listed=$(ls -A "$here")
  heed "$@"
  expect_exit 2
  expect_one_sentence "$1" "$one"
  expect_stderr_contains "$other"
  expect_stdout_empty
  [ "$before" = "$(sums)" ] || fail "an input was changed"
  [ "$listed" = "$(ls -A "$here")" ] || fail "files were left: $(ls -A "$here")"
  test_end
}
prepare=''
run() { refused_name=$1 one=$2 other=$3; shift 3; refused "$refused_name" "$one" "$other" run "$@" --backend cpu --quiet; }

# ------------------------------------------------------------------------------------------------------- pictures of one name

mkdir "$bad/d1" "$bad/d2" "$bad/d3"
cp "$picture" "$bad/d1/cat.png"
cp "$picture" "$bad/d1/c.png"
cp "$picture" "$bad/d1/b-c.png"
cp "$vectors/preprocess/exact_224.png" "$bad/d2/cat.png"
cp "$vectors/preprocess/rgb.jpg" "$bad/d2/cat.jpg"
cp "$vectors/preprocess/exact_224.png" "$bad/d3/cat-2.png"
test_begin pictures_of_one_name
for alone in d2/cat.png d2/cat.jpg; do
  heed run "$micro" "$bad/$alone" --backend cpu --quiet --maps maps.png --save out.safetensors
  mv "$here/maps.png" "$bad/${alone#*.}.alone.png"
done
rm -f "$here"/*
heed run "$micro" "$bad/d1/cat.png" "$bad/d2/cat.png" "$bad/d2/cat.jpg" --backend cpu --quiet --maps maps.png --rollout rollout.png --save out.safetensors --json out.json
expect_exit 0
for file in maps-cat.png maps-cat-2.png maps-cat-3.png rollout-cat.png rollout-cat-2.png rollout-cat-3.png out-cat.safetensors out-cat-2.safetensors out-cat-3.safetensors out.json; do
  expect_file $file
  expect_stdout_contains ": $file"
done
cmp -s "$here/maps-cat-2.png" "$bad/png.alone.png" || fail "maps-cat-2.png is not that of the second picture"
cmp -s "$here/maps-cat-3.png" "$bad/jpg.alone.png" || fail "maps-cat-3.png is not that of the third picture"
expect_stdout_contains "maps-cat-2.png (numbered: another image has this name)"
test_end

test_begin a_number_that_is_taken
heed run "$micro" "$bad/d1/cat.png" "$bad/d2/cat.png" "$bad/d3/cat-2.png" "$bad/d1/cat.png" --backend cpu --quiet --maps maps.png
expect_exit 0
# shellcheck disable=SC2012 # plain names
[ "$(ls "$here" | tr '\n' ' ')" = "maps-cat-2-2.png maps-cat-2.png maps-cat-3.png maps-cat.png " ] || fail "found $(ls "$here")"
test_end

# ------------------------------------------------------------------------------------------------------ two outputs, one file

run maps_and_json "--json: the same file as --maps" "found out and out" "$micro" "$picture" --maps out --json out
run dot_slash "found ./out and out" "--maps" "$micro" "$picture" --maps out --json ./out
run rollout_and_maps "--rollout" "--maps" "$micro" "$picture" --maps out.png --rollout out.png
run save_and_json "--save" "--json" "$micro" "$picture" --json out --save out
prepare='mkdir sub'
run up_and_down "found sub/../out and out" "--json" "$micro" "$picture" --maps out --json sub/../out
prepare='echo old >old; ln -s old link'
run a_link "found old and link" "--maps" "$micro" "$picture" --maps link --json old
prepare='ln -s nowhere link'
run a_link_to_nothing_yet "found nowhere and link" "--maps" "$micro" "$picture" --maps link --json nowhere
prepare='mkdir real; ln -s real folder'
run a_linked_folder "found folder/out and real/out" "--maps" "$micro" "$picture" --maps real/out --json folder/out
prepare='echo old >old; ln old twin'
run a_hard_link "found twin and old" "--maps" "$micro" "$picture" --maps old --json twin
prepare=''
run a_name_that_is_made "maps-cat.png" "--json" "$micro" "$bad/d1/cat.png" "$bad/d2/cat.jpg" --maps maps.png --json maps-cat.png
run two_names_that_are_made "a-b-c.png" "--rollout" "$micro" "$bad/d1/c.png" "$bad/d1/b-c.png" --maps a.png --rollout a-b.png

test_begin a_device_for_all
heed run "$micro" "$picture" --backend cpu --quiet --maps /dev/null --json /dev/null
expect_exit 0
[ -c /dev/null ] || fail "/dev/null was replaced"
test_end

test_begin an_old_file_is_replaced
echo old >"$here/out.json"
heed run "$micro" "$picture" --backend cpu --quiet --json out.json
expect_exit 0
grep -q '"results"' "$here/out.json" || fail "out.json was not replaced"
test_end

# --------------------------------------------------------------------------------------------------------- an output, an input

ln -s micro "$bad/linked"
cp "$micro/model.safetensors" "$bad/in.safetensors" # none of these is read before the names are refused
cp "$micro/model.safetensors" "$bad/case.safetensors"
cp "$micro/model.safetensors" "$bad/saved.safetensors"
mkdir "$bad/hub"
cp "$micro/config.json" "$bad/hub"
ln -s ../micro/model.safetensors "$bad/hub/model.safetensors"
for spelling in "$micro/model.safetensors" "$bad/./micro/model.safetensors" "$bad/linked/model.safetensors"; do
  run "weights_$(echo "$spelling" | cksum | cut -d ' ' -f 1)" "--save: it would overwrite an input" "found $spelling, " "$micro" "$picture" --save "$spelling"
done
run weights_behind_a_link "--save" "$bad/hub/model.safetensors" "$bad/hub" "$picture" --save "$micro/model.safetensors"
run weight_file "--save" "$micro/model.safetensors" "$micro/model.safetensors" "$picture" --save "$bad/linked/model.safetensors"
run config_beside_a_weight_file "--json" "$micro/config.json" "$micro/model.safetensors" "$picture" --json "$micro/config.json"
run config "--json" "$micro/config.json" "$micro" "$picture" --json "$micro/config.json"
run a_picture "--maps" "$bad/d1/cat.png" "$micro" "$bad/d1/cat.png" --maps "$bad/d2/../d1/cat.png"
printf '{"objects": [{"shape": "star", "colour": "red", "x": 60, "y": 60, "radius": 30}]}' >"$bad/scene.json"
run a_scene "--json" "$bad/scene.json" --scene "$bad/scene.json" --json "$bad/scene.json"
refused eval_input "-o" "$bad/in.safetensors" eval "$micro" "$bad/in.safetensors" -o "$bad/in.safetensors" --backend cpu --quiet
refused eval_model "-o" "$micro/model.safetensors" eval "$micro" "$bad/in.safetensors" -o "$bad/linked/model.safetensors" --backend cpu --quiet
refused check_case "-o" "$bad/case.safetensors" check "$bad/case.safetensors" -o "$bad/case.safetensors" --quiet
refused maps_saved "--json" "$bad/saved.safetensors" maps "$bad/saved.safetensors" --json "$bad/saved.safetensors"
refused maps_outputs "--rollout" "--maps" maps "$bad/saved.safetensors" --maps out.png --rollout out.png
refused demo_scene "--save" "$bad/scene.json" demo --scene "$bad/scene.json" --save "$bad/scene.json" --backend cpu --quiet
refused demo_outputs "--save" "--picture" demo --picture out --save out --backend cpu --quiet
refused demo_model "--picture" "$micro/config.json" demo "$micro" --picture "$micro/config.json" --backend cpu --quiet
run sequence_outputs "--save" "--json" "$vectors/sequence/lstm" --tokens 5,3 --json out --save out
run sequence_features "--save" "$bad/in.safetensors" "$vectors/sequence/captioner" --features "$bad/in.safetensors" --save "$bad/in.safetensors"

tests_end
