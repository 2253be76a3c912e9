#!/bin/sh
# Names and labels from files reach the terminal without what a terminal obeys: controls of ASCII, of Latin-1 and of writing direction, and what
# is no character, are shown as ?, results as much as sentences. In JSON they are exact, and valid whatever a file is called.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

picture=$vectors/preprocess/rgb.png
escape=$(printf '\033') eight_bit=$(printf '\302\233') override=$(printf '\342\200\256') isolate=$(printf '\342\201\246') none=$(printf '\357\277\277') latin=$(printf '\351')
hostile='a\u001b[2J\u0007\u007f\u009b\u202e\u2066\uffff\n   2  0.9999  fake' # as JSON writes it
shown="a?[2J???????   2  0.9999  fake"

# Nothing but whole lines of what may be shown; as many of them as expected (0: not counted).
expect_plain() { # lines of stdout
  for file in "$out" "$err"; do
    tr -d '\n' <"$file" | grep -q '[[:cntrl:]]' && fail "a control character: $(tr -d '\n' <"$file" | od -c | grep -m 1 '\\[abfrtv]\|033\|177')"
    for bytes in "$eight_bit" "$override" "$isolate" "$none" "$latin"; do
      grep -qF -- "$bytes" "$file" && fail "a character that a terminal obeys, or none of UTF-8"
    done
  done
  [ "$1" -eq 0 ] || [ "$(wc -l <"$out")" -eq "$1" ] || fail "stdout: found $(wc -l <"$out") lines, expected $1"
}

# How far many images are: on a terminal, which must not stay quiet.
on_terminal() { # name, arguments; what the terminal got is in $out
  test_begin "progress_$1"
  command="$2 (on a terminal)"
  if command -v script >/dev/null 2>&1; then
    (cd "$here" && timeout 120 script -qec "$program $2 >results" /dev/null) >"$out" 2>&1 </dev/null || fail "exit code $?"
  else
    lacking='there is no script here, which makes terminals'
  fi
}
on_terminal survey "survey $vectors/vit/micro_32 $picture $picture $picture --backend cpu --threads 1"
expect_stdout_contains 'images: 1 of 3'
test_end
on_terminal run "run $vectors/vit/micro_32 $picture $picture --backend cpu --threads 1 --json out.json"
expect_stdout_contains 'images: 1 of 2'
test_end
on_terminal compare "compare $vectors/vit/micro_32 $vectors/vit/micro_32 $picture $picture --threads 1"
expect_stdout_contains 'images: 1 of 2'
test_end
on_terminal demo "demo --score 3 --backend cpu --threads 1"
expect_stdout_contains 'images: 1 of 3'
test_end
on_terminal quiet "survey $vectors/vit/micro_32 $picture $picture --backend cpu --quiet"
expect_stdout_empty
test_end
on_terminal one "run $vectors/vit/micro_32 $picture --backend cpu --threads 1"
! grep -q 'images:' "$out" || fail 'one image has no progress'
test_end

model labels
edit "$bad/labels/config.json" 's/"num_labels": 5/"num_labels": 5, "id2label": {"0": "@", "1": "@", "2": "@", "3": "@", "4": "@"}/'
# shellcheck disable=SC1003 # a backslash is meant
edit "$bad/labels/config.json" "s/@/$(printf '%s' "$hostile" | sed 's/\\/\\\\/g')/g"
test_begin labels_of_run
heed run "$vectors/vit/micro_32" "$picture" --backend cpu --quiet
lines=$(wc -l <"$out")
heed run "$bad/labels" "$picture" --backend cpu --quiet --json out.json --maps out.svg
expect_exit 0
! grep -qF -- "$none" "$here/out.svg" || fail 'out.svg: U+FFFF, which is no character of XML'
expect_plain $((lines + 2)) # and those of files: out.svg, out.json
expect_stdout_contains "$shown"
grep -qF '"label": "a\u001b[2J\u0007\u007f\u009b\u202e\u2066\uffff\u000a   2  0.9999  fake"' "$here/out.json" || fail "out.json: another label: $(grep -o '"label": "[^"]*"' "$here/out.json" | head -n 1)"
test_end

mkdir "$bad/scenes"
cp "$vectors/../../runtime/demo/model"/* "$bad/scenes"
chmod u+w "$bad/scenes"/*
for shape in disc ring triangle square star heart crescent cross arrow hourglass; do
  sed "s/: \"$shape\"/: \"$(printf '%s' "$hostile" | sed 's/\\/\\\\/g')\"/" "$bad/scenes/config.json" >"$bad/config" && mv "$bad/config" "$bad/scenes/config.json"
done
test_begin labels_of_demo
heed demo "$bad/scenes" --backend cpu --quiet
expect_exit 0
expect_plain 3
expect_stdout_contains "prediction: $shown"
test_end

# A second shard with a tensor of a hostile name, which nothing uses.
model names
heed inspect "$bad/names"
mv "$bad/names/model.safetensors" "$bad/names/model-1.safetensors"
safetensors "$bad/names/model-2.safetensors" "{\"$hostile\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}" 4
{
  printf '{"weight_map": {"%s": "model-2.safetensors"' "$hostile"
  awk '$1 == "F32" { for (i = 1; i <= NF; i++) if ($i ~ /\]$/) { print $(i + 2); break } }' "$out" | while read -r tensor; do printf ', "%s": "model-1.safetensors"' "$tensor"; done
  printf '}}'
} >"$bad/names/model.safetensors.index.json"
test_begin names_of_tensors
heed inspect "$bad/names"
expect_exit 0
expect_plain 0
expect_stdout_contains "$shown  (not used)"
test_end

safetensors "$bad/saved.safetensors" "{\"__metadata__\":{\"provenance\":\"$hostile\",\"changes\":\"$hostile\"},\"attention.0\":{\"dtype\":\"F32\",\"shape\":[1,5,5],\"data_offsets\":[0,100]}}" 100
test_begin metadata_of_maps
heed maps "$bad/saved.safetensors"
expect_exit 0
expect_plain 5
expect_stdout_contains "from: $shown"
expect_stdout_contains "changed: $shown"
test_end

# Names of files, such as a folder of somebody else's pictures brings along.
strange="${escape}[2J$eight_bit$override$latin"
cp "$picture" "$bad/$strange.png"
cp "$bad/saved.safetensors" "$bad/$strange.safetensors"
for verb in run maps check eval inspect bench; do
  test_begin "file_name_$verb"
  case $verb in
    run) heed run "$vectors/vit/micro_32" "$bad/$strange.png" --backend cpu --quiet --maps "$strange.png" --json "$strange.json" ;;
    maps) heed maps "$bad/$strange.safetensors" --rollout "$strange.png" ;;
    eval) heed eval "$vectors/vit/micro_32" "$bad/$strange.safetensors" -o out.safetensors --backend cpu --quiet ;;
    bench) heed bench "$bad/$strange" --backend cpu --quiet ;;
    *) heed $verb "$bad/$strange.safetensors" ;;
  esac
  expect_plain 0
  cat "$out" "$err" >"$bad/both"
  grep -qF '?[2J' "$bad/both" || fail "the name is not shown"
  test_end
done
test_begin file_name_in_json
heed run "$vectors/vit/micro_32" "$bad/$strange.png" --backend cpu --quiet --json out.json
expect_exit 0
grep -qF "\\u001b[2J\\u009b\\u202e\\ufffd.png\"" "$here/out.json" || fail "out.json: $(head -c 300 "$here/out.json")"
if command -v iconv >/dev/null; then iconv -f UTF-8 -t UTF-8 "$here/out.json" >/dev/null || fail "out.json is not UTF-8"; fi
test_end
for words in "$strange" "run --$strange" "run --top $strange" "inspect --graph $strange a" "devices $strange"; do
  test_begin "wrong_word_$(printf '%s' "$words" | cksum | cut -d ' ' -f 1)"
  # shellcheck disable=SC2086 # words
  heed $words
  expect_exit 2
  expect_plain 0
  expect_stderr_contains "?[2J"
  test_end
done

# An ONNX graph of one op whose names are hostile to terminals, and to DOT. A field of a message: its number, the length and the bytes of stdin.
field() { # number
  cat >"$bad/field"
  # shellcheck disable=SC2059 # octal bytes
  printf "\\$(printf %o $(($1 * 8 + 2)))\\$(printf %o "$(wc -c <"$bad/field")")"
  cat "$bad/field"
}
dims() { printf '\010\001\022\004\012\002\010\001'; } # F32 [1]
onnx_name() { printf 'a"];x [URL="b\\c"];//%s[2J\a\n%s' "$escape" "$override"; }
{ printf x | field 1; onnx_name | field 2; printf Relu | field 4; } >"$bad/node"
{ printf x | field 1; dims | field 1 >"$bad/type"; field 2 <"$bad/type"; } >"$bad/input"
{ onnx_name | field 1; field 2 <"$bad/type"; } >"$bad/output"
{ field 1 <"$bad/node"; field 11 <"$bad/input"; field 12 <"$bad/output"; } >"$bad/graph"
{ printf '\010\010'; field 7 <"$bad/graph"; printf '\102\004\012\000\020\021'; } >"$bad/hostile.onnx"
for flags in '' --plan '--graph dot'; do
  test_begin "names_of_onnx_$(printf '%s' "$flags" | tr -d ' -')"
  # shellcheck disable=SC2086 # flags
  heed inspect "$bad/hostile.onnx" $flags
  expect_exit 0
  expect_plain 0
  case $flags in
    --plan) expect_stdout_contains 'a"];x [URL="b\c"];//?[2J???' ;;
    *dot) expect_stdout_contains 'na\"];x [URL=\"b\\c\"];//?[2J??? [1]"];' ;;
  esac
  test_end
done

tests_end
