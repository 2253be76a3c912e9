#!/bin/sh
# Files of PyTorch in the place of .safetensors: every verb takes them, and the same weights give the same bits in whatever file they are.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

reference=$vectors/vit/hf_vit
pickles=$vectors/pickle/vit
picture=$vectors/preprocess/rgb.png
set -- --backend cpu --quiet

"$program" eval "$reference" "$reference/io.safetensors" -o "$bad/expected.safetensors" "$@" || exit 1

same() { # name, model
  test_begin "$1"
  heed eval "$2" "$reference/io.safetensors" -o out.safetensors --backend cpu --quiet
  expect_exit 0
  expect_stderr_empty
  cmp -s "$here/out.safetensors" "$bad/expected.safetensors" || fail "other results than from .safetensors"
  test_end
}

folder() { # name, file, its name there
  mkdir -p "$bad/$1"
  cp "$reference/config.json" "$bad/$1"
  cp "$pickles/$2" "$bad/$1/$3"
}

for file in zip.pth legacy.pth trained.ckpt double.pt shared.pth shared_legacy.pth module.pt script.pt; do
  rm -rf "$bad/single"
  folder single $file $file
  same "file_$(echo $file | tr . _)" "$bad/single/$file"
  same "folder_$(echo $file | tr . _)" "$bad/single"
done
folder hub zip.pth pytorch_model.bin
: >"$bad/hub/optimizer.pt"
: >"$bad/hub/training_args.bin"
: >"$bad/hub/tf_model.h5"
cp "$pickles/legacy.pth" "$bad/hub/rng_state.pth"
same hub_folder "$bad/hub"
mkdir "$bad/sharded"
cp "$reference/config.json" "$pickles/sharded"/* "$bad/sharded"
same sharded "$bad/sharded"
folder capitals zip.pth VIT.PTH
same capitals "$bad/capitals/VIT.PTH"
# By content, not by name.
folder misnamed legacy.pth model.safetensors
same torch_named_safetensors "$bad/misnamed"
mkdir "$bad/misnamed_too"
cp "$reference/config.json" "$bad/misnamed_too"
cp "$reference/model.safetensors" "$bad/misnamed_too/model.bin"
same safetensors_named_bin "$bad/misnamed_too/model.bin"
# As the Hugging Face cache has it: links into a folder of blobs, whose names are sums.
mkdir -p "$bad/cache/blobs" "$bad/cache/snapshots/4f2a"
cp "$reference/config.json" "$bad/cache/blobs/11aa"
cp "$pickles/zip.pth" "$bad/cache/blobs/22bb"
ln -s ../../blobs/11aa "$bad/cache/snapshots/4f2a/config.json"
ln -s ../../blobs/22bb "$bad/cache/snapshots/4f2a/pytorch_model.bin"
same cache_folder "$bad/cache/snapshots/4f2a"
same cache_file "$bad/cache/snapshots/4f2a/pytorch_model.bin"
# .safetensors come first.
folder both legacy.pth pytorch_model.bin
cp "$reference/model.safetensors" "$bad/both"
printf 'PK\003\004' >"$bad/both/pytorch_model.bin"
same beside_safetensors "$bad/both"

verb() { # name, what it prints, verb, arguments...
  test_begin "$1"
  part=$2
  shift 2
  heed "$@"
  expect_exit 0
  expect_stdout_contains "$part"
  test_end
}
folder inspected double.pt double.pt
verb run "class" run "$bad/hub" "$picture" --backend cpu --quiet
verb inspect "vit.encoder.layer.0.attention.attention.query.weight" inspect "$bad/single/script.pt"
verb inspect_double "F64" inspect "$bad/inspected/double.pt"
verb bench "ms" bench "$bad/hub" --backend cpu --quiet

# ------------------------------------------------------------------------------------------------------------------- refused

cp "$pickles/zip.pth" "$bad/hub/epoch_2.pth"
rm "$bad/hub/pytorch_model.bin"
cp "$pickles/zip.pth" "$bad/hub/epoch_1.pth"
bad_input several "several weight files (found 2, such as epoch_1.pth and epoch_2.pth, expected one; give the file itself)" run "$bad/hub" "$picture" "$@"
rm "$bad/sharded/pytorch_model-00002-of-00002.bin"
bad_input shard_missing "pytorch_model.bin.index.json: the file pytorch_model-00002-of-00002.bin is missing" run "$bad/sharded" "$picture" "$@"
size=$(wc -c <"$pickles/legacy.pth")
cp "$pickles/legacy.pth" "$bad/cut.pth"
cut_to "$bad/cut.pth" $((size - 1))
bad_input cut "cut.pth: storage " run "$bad/cut.pth" "$picture" "$@"

# A pickle that would make a file when Python loads it: heed makes none, and names the call.
mark=$bad/made_by_the_pickle
command="touch $mark"
{
  printf '\200\002\212\012l\374\234F\371 j\250P\031.\200\002M\351\003.\200\002}.\200\002cos\nsystem\nU'
  # shellcheck disable=SC2059 # an octal escape
  printf "\\$(printf '%03o' ${#command})%s" "$command"
  printf '\205R.\200\002].'
} >"$bad/hostile.pth"
bad_input hostile "hostile.pth: unsafe file (found a call of os.system, which loading it in Python would run; expected weights alone)" run "$bad/hostile.pth" "$picture" "$@"
test_begin nothing_was_run
[ ! -e "$mark" ] || fail "the pickle was run"
test_end

test_begin adapter
mkdir "$bad/adapter"
cp "$reference/config.json" "$reference/model.safetensors" "$bad/adapter"
cp "$reference/model.safetensors" "$bad/adapter/adapter_model.safetensors"
heed eval "$bad/adapter" "$reference/io.safetensors" -o out.safetensors --backend cpu --quiet
expect_exit 0
expect_stderr_contains "adapter_model.safetensors: this adapter is not applied: the model's own weights are used"
cmp -s "$here/out.safetensors" "$bad/expected.safetensors" || fail "other results than of the model's own weights"
test_end

# ------------------------------------------------------------------------------------------------ copies in one file

copies=$pickles/copies.pth
said='the weights of its entry "state_dict_ema" are used, by the custom of timm (found "state_dict" too; --weights-key KEY'

# All 2 x 10 x 64 states of a copy are one number.
expect_states() { # number
  found=$(od -An -v -w4 -tf4 "$here/out.safetensors" | grep -cx " *$1")
  [ "$found" -eq 1280 ] || fail "states: found $found of $1, expected 1280"
}

states() { # number, options...
  number=$1
  shift
  heed eval "$copies" "$reference/io.safetensors" -o out.safetensors --backend cpu --quiet "$@"
  expect_exit 0
  expect_states "$number"
}

test_begin copy_by_custom
states 2
expect_stderr_contains "$said"
test_end
for choice in 1=state_dict 2=state_dict_ema 3=best; do
  test_begin "copy_${choice#*=}"
  states "${choice%=*}" --weights-key "${choice#*=}"
  ! grep -q custom "$err" || fail "a choice was said that was not heed's"
  test_end
done

# What the training wrote beside them: taken, contradicted, and whose it was; what a user says comes before.
hints='heads=2 (args.heads of the training); not args.patch_size=8 of the training: the weights have patch_size=4; preprocessing of the original MAE, by args.norm_pix_loss of the training'
verb arguments_of_a_training_inspect "$hints" inspect "$copies"
verb arguments_of_a_training_run "$hints (mean 0.485,0.456,0.406; std 0.229,0.224,0.225; --mean, --std, --resample and --crop set others)" run "$copies" "$picture" --backend cpu --quiet
verb hints_before_arguments '1 layers x 4 heads' inspect "$copies" --hints heads=4

# A verb that opens a file twice says it once.
for verb in inspect bench; do
  test_begin "copy_said_once_$verb"
  heed $verb "$copies"
  expect_exit 0
  found=$(grep -cF "$said" "$err")
  [ "$found" -eq 1 ] || fail "the choice was said $found times"
  test_end
done

for verb in "inspect" "bench --backend cpu --quiet"; do
  no_entries='found "model" for a file without entries, expected one of PyTorch'
  # shellcheck disable=SC2086 # words
  set -- $verb
  bad_input "wrong_key_$1" 'no weights under that key (found "ema", expected one of its entries: state_dict, state_dict_ema, best)' "$@" "$copies" --weights-key ema
  bad_input "key_of_safetensors_$1" "$no_entries" "$@" "$reference/model.safetensors" --weights-key model
  bad_input "key_of_a_folder_$1" "$no_entries" "$@" "$reference" --weights-key model
done

tests_end
