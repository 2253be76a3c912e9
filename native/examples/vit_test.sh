#!/bin/sh
# vit_test.sh VIT HEED VECTORS FOLDER: the example prints what heed run --json has of the same model and photo, and its map is a PNG:
# of folders with classes and without, and of an ONNX graph that no config.json names.
set -eu
vit=$1 heed=$2 vectors=$3 folder=$4
export LC_ALL=C
mkdir -p "$folder"
cd "$folder"
photo=$vectors/preprocess/rgb.png
compare() { # model, classes, options of heed run
  model=$1 lines=$(($2 + 1))
  shift 2
  rm -f map.png run.json
  "$vit" "$model" "$photo" map.png >found 2>said || {
    grep -q 'draws no figures' said && { echo "skipped: heed was configured without cairo"; exit 77; }
    cat said
    exit 1
  }
  "$heed" run "$model" "$photo" --backend cpu --quiet --head 0 --json run.json "$@" >run.txt
  # "0.3928  label" of each class, then the head's line without its entropy.
  grep -o '"top": \[[^]]*\]' run.json | grep -o '"label": "[^"]*", "probability": [^,]*' |
    awk -F'"' '{ sub(/^: /, "", $7); printf "%.4f  %s\n", $7, $4 }' >expected
  sed -n 's|^  \(layer [0-9]* head 0: \).*, \(peak patch .* %\) (.*|\1\2|p' run.txt >>expected
  [ "$(wc -l <expected)" -eq "$lines" ] || { echo "$model: heed run gave not $((lines - 1)) classes and a head: $(cat run.txt)"; exit 1; }
  diff expected found || { echo "$model: the example and heed run differ"; exit 1; }
  "$heed" run "$model" map.png --backend cpu --quiet "$@" >run.txt || { echo "$model: map.png is no picture"; exit 1; }
}
compare "$vectors/vit/micro_32" 5
compare "$vectors/vit/hf_deit_distilled" 5
compare "$(dirname "$0")/../../runtime/demo/model" 5
compare "$vectors/vit/siglip" 0 --layer last --query 0,0
compare "$vectors/onnx/graphs/dinov2_11_dynamic.onnx" 5
"$vit" nowhere/at-all "$photo" map.png 2>found && { echo "a model that is not there: exit code 0"; exit 1; }
grep -q "nowhere/at-all: model not found" found || { echo "a model that is not there: $(cat found)"; exit 1; }
