#!/bin/sh
# heed explain: which tensors are saved, targets by number and by label, exit codes of what a model or its input has not.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

vit=$vectors/explain/hf_vit
input=$vectors/explain/io/hf_vit.safetensors
judged=$vectors/explain/io/hf_vit.judge.safetensors
lone=$vectors/explain/io/hf_vit.state.safetensors
clip=$vectors/explain/hf_clip

explained() { # --methods, names, perhaps another input
  test_begin "methods_$1"
  heed explain "$vit" "${3:-$input}" -o out.safetensors --methods "$1" --backend cpu --quiet
  expect_exit 0
  expect_stderr_empty
  found=$(saved out.safetensors)
  [ "$found" = "$2" ] || fail "found $found, expected $2"
  test_end
}
explained norms 'norms score'
explained lens,norms 'lens norms score'
explained ledger 'ledger.bias ledger.embeddings ledger.heads ledger.mlps ledger.tokens score'
explained patch 'patch.heads patch.mlps patch.scores patch.states score'
explained outliers,kmeans 'kmeans kmeans.centres outliers outliers.bound score'
explained occlusion 'occlusion occlusion.probability score'

# One head of the second picture is a patch; no source gives zeros.
test_begin ablated
heed explain "$vit" "$input" -o out.safetensors --methods ablation,patch --sites heads --heads 1.2 --target 2 --backend cpu --quiet
expect_exit 0
found=$(saved out.safetensors)
[ "$found" = 'ablation ablation.probability patch.heads patch.scores score' ] || fail "found $found"
test_end
explained deletion 'deletion.pixels deletion.pixels.area deletion.pixels.probability deletion.pixels.probability.area deletion.tokens deletion.tokens.area deletion.tokens.probability deletion.tokens.probability.area score' "$judged"
explained localisation 'localisation.mass localisation.pointing localisation.rank score' "$judged"

# A label is its class.
test_begin target_label
heed explain "$vit" "$input" -o number.safetensors --methods ledger --target 1 --backend cpu --quiet
expect_exit 0
heed explain "$vit" "$input" -o label.safetensors --methods ledger --target 'Label 1' --backend cpu --quiet
expect_exit 0
cmp -s "$here/number.safetensors" "$here/label.safetensors" || fail 'label and number differ'
test_end

# What needs no score is there of a model without classes.
test_begin no_score
heed explain "$clip" "$vectors/explain/io/hf_clip.safetensors" -o out.safetensors --methods ledger --target vector --backend cpu --quiet
expect_exit 3
heed explain "$vectors/explain/hf_dinov3_gated" "$vectors/explain/io/hf_dinov3_gated.safetensors" -o out.safetensors --methods norms --backend cpu --quiet
expect_exit 0
found=$(saved out.safetensors)
[ "$found" = norms ] || fail "found $found, expected norms"
test_end

refused() { # name, exit code, a part of the sentence, arguments
  test_begin "$1"
  code=$2
  part=$3
  shift 3
  heed explain "$@" -o out.safetensors --backend cpu --quiet
  expect_exit "$code"
  expect_one_sentence explain "$part"
  expect_nothing_written
  test_end
}
refused unknown_method 2 'unknown method (found "gradients"' "$vit" "$input" --methods lens,gradients
refused unknown_target 2 'unknown target (found "nothing"' "$vit" "$input" --methods lens --target nothing
refused far_target 2 'class out of range (found 99' "$vit" "$input" --methods lens --target 99
refused far_layer 2 'layer: out of range (found "9"' "$vit" "$input" --methods norms --layer 9
refused state_ledger 3 'ledger: ' "$vit" "$input" --methods ledger --target 'embeddings[0,0]'
refused no_source 3 'source.pixel_values' "$vit" "$lone" --methods patch
refused no_vector 3 'pooler_output' "$vit" "$input" --methods norms --target vector
refused no_classifier 3 'no classifier' "$clip" "$input" --methods lens
refused many_clusters 2 'kmeans: too many clusters (found 99' "$vit" "$input" --methods kmeans --clusters 99
refused no_heads 2 'ablation: no heads' "$vit" "$input" --methods ablation
refused unknown_head 2 'ablation: unknown heads (found "1.9"' "$vit" "$input" --methods ablation --heads 1.9
refused unknown_site 2 'patch: unknown site (found "level"' "$vit" "$input" --methods patch --sites level
refused no_steps 2 'ig-steps: out of range (found "0"' "$vit" "$input" --methods ig --ig-steps 0
refused no_second_picture 3 'atp: missing tensor source.pixel_values' "$vit" "$lone" --methods atp
refused no_map 3 'missing tensor judge.map' "$vit" "$lone" --methods deletion
refused percent_word 2 'percent: invalid list (found "10,x"' "$vit" "$judged" --methods road --percent 10,x
refused percent_all 2 'percentage out of range (found 100' "$vit" "$judged" --methods road --percent 100
refused no_texts 3 'text' "$vit" "$vectors/explain/io/hf_clip.safetensors" --methods norms

tests_end
