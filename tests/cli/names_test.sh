#!/bin/sh
# Whatever a file is called, it is opened by its first bytes: a hundred names, each with weights in four containers and with what are none.
# Each verb gives the results of the weights, or a sentence with exit code 3: the built-in model never answers in their place.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

reference=$vectors/vit/hf_vit
picture=$vectors/preprocess/rgb.png
folder=$bad/folder
mkdir "$folder" "$bad/weights" "$bad/others"
cp "$reference/config.json" "$folder"

stems='vit-s-300ep model.v1.2 checkpoint-0099 last photo.png 4f2a9c01d3'
ends='.pth.tar .pkl .th .pt2 .ckpt .bin .model .PTH .Safetensors .SAFETENSORS .tar .weights .state_dict .pickle .onnx .dat'
names='checkpoint model_best.pth.tar weights.jpg weights.json weights.txt vit.h5 vit.npz vit.gguf vit.msgpack vit.pb a.b.c.d ...x .hidden pytorch_model tmp~ x.pth.1 x.bak'
for stem in $stems; do
  for end in $ends; do names="$names $stem$end"; done
done
names="$names $(repeat n 120).pth.tar"

cp "$reference/model.safetensors" "$bad/weights/safetensors"
cp "$vectors/pickle/vit/zip.pth" "$bad/weights/zip"
cp "$vectors/pickle/vit/legacy.pth" "$bad/weights/legacy"
cp "$vectors/pickle/vit/script.pt" "$bad/weights/script"
: >"$bad/others/empty"
printf 'epoch 3, loss 0.2\n' >"$bad/others/text"
printf '<!DOCTYPE html><html>' >"$bad/others/page"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1646000\n' >"$bad/others/pointer"
printf 'GGUF\003\000\000\000\000\000\000\000' >"$bad/others/gguf"
head -c 3000 "$vectors/pickle/vit/zip.pth" >"$bad/others/cut"
printf '\010\010\022\007pytorch\032\0031.0' >"$bad/others/no_graph"
printf '{"a": 1, "b": [2, 3]}' >"$bad/others/json"
head -c 64 /dev/zero >"$bad/others/zeros"

"$program" eval "$reference" "$reference/io.safetensors" -o "$bad/eval.safetensors" --backend cpu --quiet || exit 1
"$program" run "$reference" "$picture" --backend cpu --quiet | sed 1d >"$bad/run.txt"
"$program" survey "$reference" "$picture" --backend cpu --quiet | sed 1d >"$bad/survey.txt"

# The verb's results are those of the reference.
right() { # verb, file
  case $1 in
    run | survey)
      heed "$1" "$2" "$picture" --backend cpu --quiet --json out.json
      sed -e 1d -e '/^JSON: /d' "$out" | cmp -s - "$bad/$1.txt" || fail "$1: other results than those of the reference"
      ! grep -q demo_model "$here/out.json" || fail "$1: the demo answered" ;;
    eval)
      heed eval "$2" "$reference/io.safetensors" -o out.safetensors --backend cpu --quiet
      cmp -s "$here/out.safetensors" "$bad/eval.safetensors" || fail "eval: other results than those of the reference" ;;
    inspect) heed inspect "$2"; grep -q '2 layers x' "$out" || fail "inspect: not this model" ;;
    bench) heed bench "$2" --backend cpu --quiet; expect_stdout_contains "median" ;;
    convert) heed convert "$2" -o out --weights f16; expect_file out/model.safetensors ;;
    compare) heed compare "$2" "$reference" "$picture" --backend cpu --quiet ;;
  esac
  expect_exit 0
  ! grep -q 'the demo model' "$out" || fail "$1: the demo answered"
}

refused() { # verb, file
  case $1 in
    run | survey) heed "$1" "$2" "$picture" --backend cpu --quiet --json out.json ;;
    eval) heed eval "$2" "$reference/io.safetensors" -o out.safetensors --backend cpu --quiet ;;
    bench) heed bench "$2" --backend cpu --quiet ;;
    inspect) heed inspect "$2" ;;
  esac
  expect_exit 3
  expect_one_sentence "$1" "$(printf '%.60s' "${2##*/}")"
  expect_stdout_empty
  expect_nothing_written
}

verbs='eval inspect bench eval survey'
other_verbs='run survey eval inspect bench'
number=0
for called in $names; do
  for container in safetensors zip legacy script; do
    number=$((number + 1))
    test_begin "${container}_as_$called"
    cp "$bad/weights/$container" "$folder/$called"
    right run "$folder/$called"
    if [ $((number % 4)) -eq $((number / 4 % 4)) ]; then # each container in its turn
      # shellcheck disable=SC2086 # one word a verb
      set -- $verbs
      shift $((number / 5 % 5))
      right "$1" "$folder/$called"
    fi
    test_end
  done
  # A folder with it alone, but for names that say that a file is no weights; and a link without an ending to it.
  case $called in
    *.json | *.txt | *.npz | .* | photo.png* | *.jpg) ;;
    *)
      test_begin "folder_with_$called"
      cp "$reference/config.json" "$folder"
      right run "$folder"
      ln -s "folder/$called" "$bad/link"
      cp "$reference/config.json" "$bad"
      right run "$bad/link"
      rm "$bad/link"
      test_end ;;
  esac
  for other in "$bad/others"/*; do
    number=$((number + 1))
    [ $((number % 3)) -eq 0 ] || continue
    test_begin "${other##*/}_as_$called"
    cp "$other" "$folder/$called"
    # shellcheck disable=SC2086 # one word a verb
    set -- $other_verbs
    shift $((number / 3 % 5))
    refused "$1" "$folder/$called"
    test_end
  done
  rm "$folder/$called"
done

# The other verbs, and files whose names are others' endings.
cp "$bad/weights/zip" "$folder/vit.pth.tar"
for verb in bench convert compare; do
  test_begin "pth_tar_$verb"
  right $verb "$folder/vit.pth.tar"
  test_end
done
rm "$folder/vit.pth.tar"

# ------------------------------------------------------------------------------------------------ neither model nor picture

refuses() { # name, part of the sentence, words...
  label=$1 part=$2
  shift 2
  bad_input "run_$label" "$part" run "$@" --backend cpu --quiet --json out.json
  bad_input "survey_$label" "$part" survey "$@" --backend cpu --quiet --json out.json
}

mkdir "$bad/photos"
cp "$picture" "$bad/photos/a.png"
cp "$vectors/preprocess/rgb.jpg" "$bad/photos/b.JPG"
refuses photos "photos: images and no model (found 2 images, expected a folder with config.json and weights; images come after" "$bad/photos"
refuses photos_and_picture "photos: images and no model" "$bad/photos" "$picture"
refuses missing "nosuch.pth.tar: model not found" nosuch.pth.tar "$picture"
refuses missing_picture "nosuch.png: cannot open" nosuch.png "$picture"
cp "$bad/others/text" "$bad/text.png"
refuses text_called_png "text.png: image format not supported (found bytes 65 70 6F 63" "$bad/text.png" "$picture"
cp "$bad/weights/zip" "$bad/vit.pth.tar"
refuses model_last "vit.pth.tar: image format not supported (found a zip file" "$picture" "$bad/vit.pth.tar"
refuses model_folder_last "folder: a model after an image (found" "$picture" "$folder"
if mkfifo "$bad/pipe"; then
  refuses pipe "pipe: a pipe or a device before other images" "$bad/pipe" "$picture"
  bad_input inspect_pipe "pipe: not a regular file (found a pipe)" inspect "$bad/pipe"
fi
refuses device "/dev/null: a pipe or a device before other images" /dev/null "$picture"
bad_input survey_with_scenes "nosuch.png: cannot open" survey nosuch.png --scenes 1 --backend cpu --quiet
printf '%s\n' "$picture" >"$bad/list"
bad_input run_with_list "nosuch.png: cannot open" run nosuch.png --list "$bad/list" --backend cpu --quiet

# Bytes say more than the name: a picture in whatever name may stand before others.
test_begin picture_without_ending
cp "$picture" "$bad/blob"
heed run "$bad/blob" "$picture" --backend cpu --quiet
expect_exit 0
expect_stdout_contains "the demo model"
test_end

# Several files without a name of weights: nobody says which. A download that has not ended is no model.
mkdir "$bad/two" "$bad/begun"
cp "$bad/weights/zip" "$bad/two/a.pth.tar"
cp "$bad/weights/legacy" "$bad/two/b.pkl"
bad_input two_unnamed "two: several weight files (found 2, such as a.pth.tar and b.pkl, expected one; give the file itself)" inspect "$bad/two"
cp "$reference/config.json" "$bad/begun"
cp "$reference/model.safetensors" "$bad/begun/model.safetensors.incomplete"
bad_input begun "begun/model.safetensors.incomplete: a download that has not ended" run "$bad/begun" "$picture" --backend cpu --quiet

# A file of 8 GiB with holes is not read to tell what it is.
if truncate -s 8G "$bad/huge" 2>/dev/null; then
  bad_input huge "huge: format not supported (found bytes 00 00 00 00" run "$bad/huge" "$picture" --backend cpu --quiet
fi

tests_end
