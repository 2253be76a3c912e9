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
no_model onnx "vit.onnx: not an ONNX model (found 0 graphs, expected one)" "$bad/vit.onnx"
printf 'GGUF\003\000\000\000' >"$bad/vit.gguf"
no_model gguf "vit.gguf: format not supported (found a GGUF file, expected .safetensors, .onnx, .pth, .pt, .bin or .ckpt); its model's page" "$bad/vit.gguf"
printf '\211HDF\r\n\032\n' >"$bad/tf_model.h5"
no_model keras "found a TensorFlow or Keras file (.h5), expected .safetensors, .onnx, .pth, .pt, .bin or .ckpt); with transformers: AutoModel" "$bad/tf_model.h5"
for kind in saved_model.pb:SavedModel flax_model.msgpack:Flax vit.ckpt.index:"TensorFlow checkpoint" ViT-B_16.npz:numpy vit.tflite:"TensorFlow Lite"; do
  rm -rf "$bad/other"
  mkdir "$bad/other"
  printf '\010\001' >"$bad/other/${kind%%:*}"
  bad_input "other_$(echo "${kind%%:*}" | tr . _)" "other/${kind%%:*}: format not supported (found a" run "$bad/other" "$picture" --backend cpu --quiet
  expect_stderr_contains "${kind#*:}"
done

# Files of PyTorch by name whose content is something else.
printf 'PK\003\004\000\000\010\010' >"$bad/vit.pth"
no_model torch_truncated "vit.pth: truncated (found no directory at the end of the zip file; was it downloaded whole?)" "$bad/vit.pth"
printf '\200\002\212\012l\374\234F\371 j\250P\031.' >"$bad/old.pt"
no_model torch_old_truncated "old.pt: truncated" "$bad/old.pt"
printf '\200\003]q\000.' >"$bad/list.bin"
bad_input pickle "list.bin: format not supported (found a Python pickle without PyTorch's mark" inspect "$bad/list.bin"
printf 'GGUF\003\000\000\000' >"$bad/gguf.bin"
bad_input gguf_as_bin "gguf.bin: format not supported (found a GGUF file, expected .safetensors, .onnx, .pth" inspect "$bad/gguf.bin"
printf 'epoch 3\n' >"$bad/text.ckpt"
bad_input text_as_ckpt "text.ckpt: format not supported (found neither a zip file nor a pickle, expected a file that torch.save wrote" inspect "$bad/text.ckpt"

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
bad_input torch_under_another_name "page/model.safetensors: truncated (found no directory at the end of the zip file" inspect "$bad/page"

# --------------------------------------------------------------------------------------------------------------- pictures

other_picture() { # end, bytes as printf's, kind
  # shellcheck disable=SC2059 # octal escapes
  printf "$2" >"$bad/photo.$1"
  bad_input "picture_$1" "photo.$1: image format not supported (found $3, expected a PNG, JPEG, " run "$micro" "$bad/photo.$1" --backend cpu --quiet
  bad_input "picture_${1}_alone" "photo.$1: image format not supported" run "$bad/photo.$1" --backend cpu --quiet
}
other_picture gif 'GIF89a\001\000\001\000....' "a GIF image"
other_picture avif '\000\000\000\040ftypavif....' "an AVIF image"
other_picture heic '\000\000\000\030ftypheic....' "a HEIC image"

# In the place of tensors a picture is named too.
printf '\377\330\377\340\000\020JFIF\000....' >"$bad/photo.jpg"
bad_input maps_png "rgb.png: format not supported (found a PNG image, expected maps saved as .safetensors" maps "$picture"
bad_input maps_jpeg "photo.jpg: format not supported (found a JPEG image, expected maps saved as .safetensors" maps "$bad/photo.jpg"
bad_input eval_png "rgb.png: format not supported (found a PNG image, expected .safetensors)" eval "$micro" "$picture" -o out.safetensors --backend cpu --quiet
bad_input inspect_png "rgb.png: format not supported (found a PNG image, expected .safetensors, .onnx, .pth, .pt, .bin or .ckpt)" inspect "$picture"

tests_end
