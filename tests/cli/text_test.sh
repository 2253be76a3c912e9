#!/bin/sh
# heed run --text: a picture beside texts, what it prints and writes, and what it refuses.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

clip=$vectors/vit/clip_text
picture=$vectors/preprocess/rgb.png

test_begin probabilities
heed run "$clip" "$picture" --text 'a cat' --text 'A  DOG' --backend cpu --quiet --json out.json --save out.safetensors
expect_exit 0
expect_stdout_contains '(softmax over the texts)'
expect_stdout_contains 'a cat (cosine'
expect_stderr_empty
awk '/cosine/ { sum += $1 } END { exit !(sum > 0.9998 && sum < 1.0002) }' "$out" || fail "the probabilities do not sum to 1"
grep -qF '"ids": [28, 7, 15, 29], "tokens": ["<|startoftext|>", "a", "cat", "<|endoftext|>"]' "$here/out.json" || fail "out.json lacks the tokens of a cat"
grep -qF '"ids": [28, 7, 17, 29]' "$here/out.json" || fail "out.json lacks the tokens of a dog"
grep -qF '"rows": [[1,0,0,0], ' "$here/out.json" || fail "out.json: the first token attends to more than itself"
grep -qF '"similarity": [' "$here/out.json" || fail "out.json lacks the similarity of patches"
expect_file out.safetensors
test_end

# What was saved goes through heed eval to the same numbers.
test_begin the_same_by_eval
heed run "$clip" "$picture" --text 'a cat' --text 'a dog' --backend cpu --quiet --save in.safetensors
cp "$here/in.safetensors" "$bad/in.safetensors"
heed eval "$clip" "$bad/in.safetensors" -o out.safetensors --backend cpu --quiet
expect_exit 0
for tensor in logits_per_image text_embeds image_embeds text.attention.1; do
  grep -qaF "\"$tensor\"" "$here/out.safetensors" || fail "eval: no $tensor"
done
test_end

# Ids of 64 bits, as PyTorch has them: a cat, and a number that no I32 holds.
ids() { # file, dtype, bytes of all, the data as printf's octal escapes
  {
    printf '\101\0\0\0\0\0\0\0{"input_ids":{"dtype":"%s","shape":[1,4],"data_offsets":[0,%s]}}' "$2" "$3"
    # shellcheck disable=SC2059 # octal escapes
    printf "$4"
  } >"$bad/$1"
}
zeros='\0\0\0'
ids narrow.safetensors I32 16 "\034$zeros\007$zeros\017$zeros\035$zeros"
ids wide.safetensors I64 32 "\034$zeros\0$zeros\007$zeros\0$zeros\017$zeros\0$zeros\035$zeros\0$zeros"
ids large.safetensors I64 32 "\034$zeros\0$zeros\007$zeros\001$zeros\017$zeros\0$zeros\035$zeros\0$zeros"
test_begin ids_of_64_bits
heed eval "$clip" "$bad/narrow.safetensors" -o narrow.safetensors --backend cpu --quiet
expect_exit 0
heed eval "$clip" "$bad/wide.safetensors" -o wide.safetensors --backend cpu --quiet
expect_exit 0
cmp -s "$here/narrow.safetensors" "$here/wide.safetensors" || fail "other results than from I32"
test_end
test_begin ids_above_32_bits
heed eval "$clip" "$bad/large.safetensors" -o large.safetensors --backend cpu --quiet
expect_exit 3
expect_stderr_contains "tensor input_ids: a number is too large (found 4294967303 at index 1, expected 32 bits)"
expect_nothing_written
test_end

# Without the causal mask tokens attend to padding, whose number must not come from the other texts.
test_begin a_text_without_causal_mask
mkdir "$bad/open"
cp "$vectors"/vit/open_clip_text/* "$clip/tokenizer.json" "$bad/open/"
sed -i 's/"text_cfg": {/"text_cfg": { "no_causal_mask": true,/' "$bad/open/open_clip_config.json"
grep -q no_causal_mask "$bad/open/open_clip_config.json" || fail "the config was not changed"
heed run "$bad/open" "$picture" --text 'a cat' --backend cpu --quiet
expect_exit 0
grep -o 'a cat (cosine [^)]*)' "$out" >"$bad/alone"
heed run "$bad/open" "$picture" --text 'a cat' --text 'a dog a dog' --backend cpu --quiet
expect_exit 0
grep -o 'a cat (cosine [^)]*)' "$out" | cmp -s - "$bad/alone" || fail "the cosine depends on the other text"
test_end

test_begin figures
heed run "$clip" "$picture" --text 'a cat' --text 'a dog' --layer 0 --head 2 --backend cpu --quiet --maps maps.svg --text-maps text.svg
expect_exit 0
expect_file maps.svg
expect_file text.svg
grep -q 'similarity of each patch to each text (not attention)' "$here/maps.svg" || fail "maps.svg does not say what it is"
grep -q 'attention of the text' "$here/text.svg" || fail "text.svg does not say what it is"
grep -qF 'rows are queries, columns are keys: 0 ' "$here/text.svg" || fail "text.svg does not name the tokens"
grep -qE ', 1 [^,]*, 2 [^,]*, 3 ' "$here/text.svg" || fail "text.svg does not name each token"
test_end

test_begin other_size
heed run "$clip" "$picture" --text 'a cat' --text 'a dog' --size 12,16 --backend cpu --quiet --json out.json
expect_exit 0
grep -qF '"grid": [3, 4]' "$here/out.json" || fail "out.json: the grid is not of the size"
test_end

test_begin truncated
heed run "$clip" "$picture" --text 'a a a a a a a a a a a' --backend cpu --quiet
expect_exit 0
expect_stderr_contains 'heed run: --text: truncated to 9 of 13 tokens: a a a'
expect_stdout_contains '1.0000  a a a'
test_end

# SigLIP: each text by itself, and no map of patches.
mkdir -p "$bad/siglip"
cp "$vectors/vit/siglip_text/config.json" "$vectors/vit/siglip_text/model.safetensors" "$clip/tokenizer.json" "$bad/siglip"
test_begin sigmoid
heed run "$bad/siglip" "$picture" --text 'a cat' --text 'a dog' --backend cpu --quiet
expect_exit 0
expect_stdout_contains 'siglip (sigmoid of each text)'
test_end

bad_input no_similarity "--maps: this model does not project its patches, so they have no similarity to a text" run "$bad/siglip" "$picture" --text a --maps maps.svg --backend cpu --quiet
bad_input no_text_tower "no text tower (expected that of CLIP or SigLIP, with token_embedding)" run "$vectors/vit/timm" "$picture" --text a --backend cpu --quiet
bad_input no_tokenizer "tokenizer: no file of one beside the model (expected tokenizer.json, or vocab.json and merges.txt)" run "$vectors/vit/open_clip_text" "$picture" --text a --backend cpu --quiet
mkdir -p "$bad/other"
cp "$clip"/config.json "$clip"/model.safetensors "$bad/other"
cp "$vectors"/tokenizer/clip/tokenizer.json "$bad/other"
bad_input other_tokenizer "tokenizer: it does not fit the model (found id 622, expected ids below 30)" run "$bad/other" "$picture" --text a --backend cpu --quiet

test_begin text_with_query
heed run "$clip" "$picture" --text a --query 1,1
expect_exit 2
expect_stderr_contains 'cannot be given with --text'
expect_nothing_written
test_end

test_begin text_by_another_way
for words in '--way graph' '--tokens 5' '--length 3'; do
  # shellcheck disable=SC2086 # words
  heed run "$clip" "$picture" --text a $words
  expect_exit 2
  expect_stderr_contains 'cannot be given with --text'
done
test_end

test_begin text_of_a_file
heed run "$clip" "$picture" --text a --file nothing.safetensors --backend cpu --quiet
expect_exit 3
expect_stderr_contains 'nothing.safetensors'
test_end

test_begin text_maps_alone
heed run "$clip" "$picture" --text-maps text.png
expect_exit 2
expect_stderr_contains '--text-maps: no text (expected --text TEXT)'
test_end

tests_end
