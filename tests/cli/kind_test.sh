#!/bin/sh
# What is given in the place of a model or a picture: it is named, with what was expected and how to go on. Exit code 3, nothing written.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png

# Every verb that takes a model. Run has it first, with a picture after it, so that it could be taken for one.
no_model() { # name, a part of the sentence, the word in the model's place
  bad_input "$1" "$2" run "$3" "$picture" --backend cpu --quiet --json out.json
  bad_input "$1_inspect" "$2" inspect "$3"
  bad_input "$1_eval" "$2" eval "$3" "$micro/io.safetensors" -o out.safetensors --backend cpu --quiet
  bad_input "$1_demo" "$2" demo "$3" --backend cpu --quiet
  bad_input "$1_bench" "$2" bench "$3" --backend cpu --quiet
}

# -------------------------------------------------------------------------------------------------------------- not there

no_model mistyped "nosuch: model not found (found neither a folder nor a file of this name, expected a folder" nosuch
no_model mistyped_path "../models/vit: model not found" ../models/vit
no_model hub_name "google/vit-base-patch16-224: model not found (found what looks like a name on the Hugging Face hub, expected a folder" google/vit-base-patch16-224
bad_input mistyped_alone "model not found" run nosuch --backend cpu --quiet
bad_input hub_name_alone "hf download facebook/dino-vits16 --local-dir" run facebook/dino-vits16 --backend cpu --quiet
bad_input weights_missing "model not found" run nosuch.safetensors "$picture" --backend cpu --quiet
bad_input picture_missing "nosuch.png: cannot open" run nosuch.png --backend cpu --quiet
bad_input picture_missing_in_capitals "NOSUCH.JPG: cannot open" run NOSUCH.JPG --backend cpu --quiet
bad_input second_word_missing "nosuch: cannot open" run "$micro" nosuch --backend cpu --quiet

# ---------------------------------------------------------------------------------------------------- formats of other makers

printf '\010\007\022\007pytorch\032\0031.0' >"$bad/vit.onnx"
no_model onnx "vit.onnx: format not supported (found an ONNX file, expected .safetensors)" "$bad/vit.onnx"
printf 'GGUF\003\000\000\000' >"$bad/vit.gguf"
no_model gguf "vit.gguf: format not supported (found a GGUF file, expected .safetensors)" "$bad/vit.gguf"
printf 'PK\003\004\000\000\010\010' >"$bad/vit.pth"
printf '\200\002\212\012l\374\234F\371 j\250P\031.' >"$bad/old.pt"
for end in pth:vit.pth pt:old.pt; do
  no_model "torch_${end%%:*}" "from safetensors.torch import save_file" "$bad/${end#*:}"
  expect_stderr_contains "${end#*:}: PyTorch's own format is not supported"
done
for end in bin ckpt; do
  cp "$bad/vit.pth" "$bad/vit.$end"
  bad_input "torch_$end" "torch.load('vit.$end'" run "$bad/vit.$end" "$picture" --backend cpu --quiet
done
# shellcheck disable=SC2016 # the name is to stay as it is: a line that is copied must not run what a file's name says
strange='$(date);.bin'
cp "$bad/vit.pth" "$bad/$strange"
bad_input torch_strange_name "torch.load('FILE'" run "$bad/$strange" "$picture" --backend cpu --quiet
for name in pytorch_model.bin model.pth; do
  rm -rf "$bad/folder"
  model folder
  rm "$bad/folder/model.safetensors"
  cp "$bad/vit.pth" "$bad/folder/$name"
  : >"$bad/folder/optimizer.pt"
  no_model "folder_of_$(echo $name | tr . _)" "from safetensors.torch import save_file" "$bad/folder"
  [ "$name" != pytorch_model.bin ] || expect_stderr_contains "folder/pytorch_model.bin: "
done
# Beside weights that are read they do not matter.
test_begin torch_beside_safetensors
cp "$micro/model.safetensors" "$bad/folder"
heed run "$bad/folder" "$picture" --backend cpu --quiet
expect_exit 0
test_end

model lfs
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1646000\n' >"$bad/pointer"
cp "$bad/pointer" "$bad/lfs/model.safetensors"
no_model lfs_weights "lfs/model.safetensors: only a git-lfs pointer (found no content, expected the file from git lfs pull)" "$bad/lfs"
model lfs_config
cp "$bad/pointer" "$bad/lfs_config/config.json"
bad_input lfs_config "config.json: only a git-lfs pointer" inspect "$bad/lfs_config"
cp "$bad/pointer" "$bad/pointer.png"
bad_input lfs_picture "pointer.png: image format not supported (found a git-lfs pointer" run "$micro" "$bad/pointer.png" --backend cpu --quiet
model page
printf '<!DOCTYPE html><html>' >"$bad/page/model.safetensors"
bad_input web_page "found a web page, expected .safetensors" inspect "$bad/page"
cp "$bad/vit.pth" "$bad/page/model.safetensors"
bad_input torch_under_another_name "found a zip file, such as .npz or PyTorch's .pt, expected .safetensors" inspect "$bad/page"

# --------------------------------------------------------------------------------------------------------------- pictures

other_picture() { # end, bytes as printf's, kind
  # shellcheck disable=SC2059 # octal escapes
  printf "$2" >"$bad/photo.$1"
  bad_input "picture_$1" "photo.$1: image format not supported (found $3, expected a PNG or JPEG)" run "$micro" "$bad/photo.$1" --backend cpu --quiet
  bad_input "picture_${1}_alone" "photo.$1: image format not supported" run "$bad/photo.$1" --backend cpu --quiet
}
other_picture webp 'RIFF\044\000\000\000WEBPVP8 ....' "a WebP image"
other_picture gif 'GIF89a\001\000\001\000....' "a GIF image"
other_picture avif '\000\000\000\040ftypavif....' "an AVIF image"
other_picture heic '\000\000\000\030ftypheic....' "a HEIC image"
other_picture tiff 'II*\000\010\000\000\000....' "a TIFF image"

# In the place of tensors a picture is named too.
printf '\377\330\377\340\000\020JFIF\000....' >"$bad/photo.jpg"
bad_input maps_png "rgb.png: format not supported (found a PNG image, expected maps saved as .safetensors" maps "$picture"
bad_input maps_jpeg "photo.jpg: format not supported (found a JPEG image, expected maps saved as .safetensors" maps "$bad/photo.jpg"
bad_input eval_png "rgb.png: format not supported (found a PNG image, expected .safetensors)" eval "$micro" "$picture" -o out.safetensors --backend cpu --quiet
bad_input inspect_png "rgb.png: format not supported (found a PNG image, expected .safetensors)" inspect "$picture"

tests_end
