#!/bin/sh
# Every line of shell in README.md and docs/ that calls heed runs as it stands, beside folders and files of its names.
# They are small: the demo model, models and pictures of tests/vectors; 10000 scenes become 3.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

root=$(cd "$vectors/../.." && pwd)
lines=$3/lines
sequence=$vectors/sequence
mkdir "$3/bin"
ln -s "$program" "$3/bin/heed"
PATH=$3/bin:$PATH VK_DRIVER_FILES=/nonexistent.json VK_ICD_FILENAMES=/nonexistent.json
export PATH VK_DRIVER_FILES VK_ICD_FILENAMES

# "FILE COMMAND" of each line that calls heed in a block of shell.
for path in "$root/README.md" "$root"/docs/*.md; do
  sed -n '/^```sh$/,/^```$/p' "$path" | grep -E '(^|\| )(build/release/)?heed ' |
    sed "s|^|${path#"$root/"} |; s|build/release/heed|heed|; s|10000|3|g" || true
done >"$lines"

# The files and folders that the documents name. MODEL of docs/sequences.md is an encoder-decoder.
put_names() { # document, command
  case "$1 $2" in
    docs/sequences.md*--features*) model=$sequence/captioner ;;
    docs/sequences.md*) model=$sequence/transformer ;;
    *) model=$root/runtime/demo/model ;;
  esac
  (
    cd "$here" || exit
    mkdir -p photos path/to frames
    for frame in 1 2 3 4; do cp "$vectors/preprocess/rgb.png" frames/$frame.png; done
    for photo in photo.jpg photos/one.jpg photos/two.jpg a.jpg other.jpg; do cp "$vectors/image/sampling_1.jpg" $photo; done
    cp "$vectors/preprocess/rgb.png" b.png
    cp "$sequence/captioner/expect.safetensors" input.safetensors
    ln -s "$model" MODEL
    ln -s "$root/runtime/demo/model" path/to/vit-base-patch16-224
    ln -s "$root/runtime/demo/model" f16
    ln -s "$vectors/vit/clip_text" CLIP
    ln -s "$vectors/vit/videomae" VIDEOMAE
    ln -s "$sequence/transformer" ENCODER_DECODER
    case $2 in *" IN.safetensors"*) heed run MODEL photo.jpg --save IN.safetensors --quiet >/dev/null ;; esac
    case $2 in *demo8*--s[ce]*) heed convert -o demo8 --weights int8-float ;; esac
  )
}

count=0
while read -r document command; do
  count=$((count + 1))
  test_begin "$document: $command"
  case "$figures $command" in no*" --maps "*) lacking='heed was configured without cairo' ;; esac
  put_names "$document" "$command"
  status=0
  (cd "$here" && exec timeout 120 sh -euc "$command") >"$out" 2>"$err" </dev/null || status=$?
  expect_exit 0
  for file in $(printf '%s\n' "$command" | grep -oE '(--json|--maps|--save|--text-maps) [^ ]+' | cut -d ' ' -f 2); do
    case $command in *a.jpg*) file=maps-a.png ;; esac # a figure for each of several pictures
    expect_file "$file"
  done
  test_end
done <"$lines"

test_begin all_of_them
[ "$count" -ge 20 ] || fail "found $count lines of code, expected at least 20"
test_end

tests_end
