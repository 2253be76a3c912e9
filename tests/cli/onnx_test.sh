#!/bin/sh
# ONNX files in the place of .safetensors: the weights of a traced model are found by their names, whatever form they are stored in.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

reference=$vectors/vit/hf_vit
onnx=$vectors/onnx
set -- --backend cpu --quiet

cp "$reference/config.json" "$bad"
cp "$vectors/pickle/vit/zip.pth" "$bad/vit.pth"
"$program" eval "$bad/vit.pth" "$reference/io.safetensors" -o "$bad/expected.safetensors" "$@" || exit 1

same() { # name, model, options
  test_begin "$1"
  name=$1 model=$2
  shift 2
  heed eval "$model" "$reference/io.safetensors" -o out.safetensors --backend cpu --quiet "$@"
  expect_exit 0
  expect_stderr_empty
  cmp -s "$here/out.safetensors" "$bad/expected.safetensors" || fail "$name: other results than from PyTorch's file"
  test_end
}

mkdir "$bad/plain"
cp "$reference/config.json" "$onnx/model.onnx" "$bad/plain"
same folder "$bad/plain"
same file "$bad/plain/model.onnx"
# As transformers.js lays a model out: config files above a folder onnx/; here the weights are external data.
cp -r "$onnx/vit" "$bad/vit"
same external_folder "$bad/vit"
same external_file "$bad/vit/onnx/model.onnx"
same external_chosen "$bad/vit" --file model.onnx
cp "$onnx/model.onnx" "$bad/plain/weights.bin"
same by_content "$bad/plain/weights.bin"

near() { # name, file: the other forms run too; how near their weights are is the unit test's
  test_begin "$1"
  heed eval "$bad/vit" "$reference/io.safetensors" -o out.safetensors --backend cpu --file "$2"
  expect_exit 0
  expect_stderr_contains "$2: ONNX file as weights of heed's own graph (opset 14 by pytorch"
  test_end
}
near fp16 model_fp16.onnx
near q8 model_quantized.onnx
near q4 model_q4.onnx

refuse() { # name, sentence, model
  bad_input "$1" "$2" eval "$3" "$reference/io.safetensors" -o out.safetensors --backend cpu --quiet
}
outside() { # name, location of 15 characters, sentence
  mkdir -p "$bad/$1/onnx"
  cp "$bad/vit/config.json" "$bad/$1"
  LC_ALL=C sed "s|model.onnx_data|$2|g" "$bad/vit/onnx/model.onnx" >"$bad/$1/onnx/model.onnx"
  refuse "$1" "$3" "$bad/$1"
}
cp "$bad/vit/onnx/model.onnx_data" "$bad/outer.onnx_data"
elsewhere="found a path that leads elsewhere (expected a file in the folder of the model)"
outside climbs "../../ter.onnx_" "$elsewhere"
outside climbs_late "a/../../ter.onn" "$elsewhere"
outside absolute "/tmp/outer.onnx" "$elsewhere"
outside backslash '..\\\\odel.onnx_d' "$elsewhere"
outside missing "nodel.onnx_data" "external data nodel.onnx_data: cannot open"
mkdir -p "$bad/linked/onnx"
outside linked "xodel.onnx_data" "cannot open"
ln -s "$bad/outer.onnx_data" "$bad/linked/onnx/xodel.onnx_data"
refuse symlink "external data xodel.onnx_data: found a link" "$bad/linked"
rm "$bad/linked/onnx/xodel.onnx_data"
ln "$bad/outer.onnx_data" "$bad/linked/onnx/xodel.onnx_data"
refuse hardlink "found a hard link" "$bad/linked"
outside folder_link "under/onnx_data" "cannot open"
ln -s "$bad/vit/onnx" "$bad/folder_link/onnx/under"
refuse parent_link "external data under/onnx_data:" "$bad/folder_link"

mkdir "$bad/several"
cp "$bad/vit/config.json" "$bad/several"
cp "$onnx/model.onnx" "$bad/several/a.onnx"
cp "$onnx/model.onnx" "$bad/several/b.onnx"
refuse several "several weight files (found 2, such as a.onnx and b.onnx, expected one; give the file itself)" "$bad/several"
test_begin graph
heed eval "$bad/plain" "$onnx/io.safetensors" -o out.safetensors --way graph
expect_exit 0
expect_stderr_contains "run as an ONNX graph on heed's kernels (opset 14 by pytorch"
expect_file out.safetensors
test_end
test_begin graph_unrounded
heed eval "$bad/vit" "$onnx/io.safetensors" -o out.safetensors --way graph --file model_quantized.onnx
expect_exit 0
expect_stderr_contains " activations not rounded to 8 bits"
test_end
test_begin graph_wrong_type
LC_ALL=C sed 's/"pixel_values": {"dtype": "F32"/"pixel_values": {"dtype": "I32"/' "$onnx/io.safetensors" >"$bad/whole_numbers.safetensors"
for way in graph reference; do
  heed eval "$onnx/model.onnx" "$bad/whole_numbers.safetensors" -o wrong.safetensors --way $way --quiet
  expect_exit 3
  expect_one_sentence eval "input pixel_values does not fit (found I32 [2, 3, 20, 20], expected FLOAT [?, 3, 20, 20])"
done
[ ! -e "$here/wrong.safetensors" ] || fail "a file was written"
test_end
test_begin graph_many_axes
LC_ALL=C sed 's/"dtype": "F32", "shape": \[2, 3, 20, 20\]/"dtype":"F32","shape":[2,3,4,5,4,5,1]  /' "$onnx/io.safetensors" >"$bad/many_axes.safetensors"
for way in graph reference; do
  heed eval "$onnx/model.onnx" "$bad/many_axes.safetensors" -o wrong.safetensors --way $way --quiet
  expect_exit 3
  expect_one_sentence eval "input pixel_values does not fit (found F32 [2, 3, 4, 5, 4, 5, 1], expected FLOAT [?, 3, 20, 20])"
done
test_end
test_begin graph_without_config
heed eval "$onnx/model.onnx" "$onnx/io.safetensors" -o out.safetensors --way reference --quiet
expect_exit 0
expect_stderr_empty
expect_file out.safetensors
test_end
# The three ways of one model: the same maps, and as many steps for the graph as for heed's own.
for way in weights graph; do
  "$program" inspect "$bad/vit" --plan --way $way >"$bad/$way.plan" || exit 1
  "$program" run "$bad/vit" --way $way --json "$bad/$way.json" --maps "$bad/$way.png" "$@" >"$bad/$way.txt" || exit 1
done
test_begin graph_plan
steps=$(grep ' steps, ' "$bad/weights.plan")
[ "${steps%% steps*}" = 20 ] || fail "heed's own graph has $steps"
steps=$(grep ' steps, ' "$bad/graph.plan")
[ "${steps%% steps*}" = 19 ] || fail "the lowered graph has $steps" # of one image the row of CLS is a view
test_end
test_begin graph_run
cmp -s "$bad/weights.png" "$bad/graph.png" || fail "other maps than from the weights"
grep -q 'class 4' "$bad/graph.txt" || fail "other classes than from the weights"
test_end
test_begin graph_no_file
heed run "$reference" --way graph "$@"
expect_exit 2
expect_stderr_contains "--way graph: not an ONNX file"
test_end
# The same changes as of heed's own graph: the same bits, of each stand-in for a head.
test_begin graph_changes
for stand_in in zero mean uniform; do
  for way in weights graph; do
    heed run "$bad/vit" --way $way --ablate 0.0,1.1 --replace $stand_in --gain 0.1=0.5 --drop '1,2' --cut 5.9,3.2 --temperature 1.5 \
      --save $way.safetensors --json $way.json "$@"
    expect_exit 0
  done
  cmp -s "$here/weights.safetensors" "$here/graph.safetensors" || fail "$stand_in: other numbers than from the weights"
done
heed run "$bad/vit" --way graph --save plain.safetensors "$@"
cmp -s "$here/plain.safetensors" "$here/graph.safetensors" && fail "nothing was changed"
test_end
# heed run of files that no config.json names a family of: as graphs, with the answers that they give through their config.
mkdir "$bad/alone" "$bad/lacks"
cp "$onnx/model.onnx" "$bad/alone"
told() { # what a run found, without times and what only the family tells
  sed -e '/"milliseconds"/d;/"family"/d;/"rules"/d;/"assumed"/d;/"model"/d' "$1"
}
test_begin alone
heed run "$bad/alone/model.onnx" --backend cpu --json alone.json --maps alone.png
expect_exit 0
expect_stderr_contains "run as an ONNX graph on heed's kernels (opset 14 by pytorch"
expect_stdout_contains "assumed: preprocessing of ViT (mean 0.5, std 0.5)"
expect_file alone.png
heed run "$bad/plain/model.onnx" --json plain.json "$@"
told "$here/alone.json" >"$bad/alone.txt"
told "$here/plain.json" >"$bad/plain.txt"
[ "$(wc -c <"$bad/alone.txt")" -gt 3000 ] || fail "nothing to compare"
cmp -s "$bad/alone.txt" "$bad/plain.txt" || fail "other results than through config.json"
test_end
test_begin alone_labels # of a config.json without a family
cp "$onnx/model.onnx" "$bad/lacks"
printf '{"model_type": "other", "image_size": 20, "id2label": {"4": "a boat"}}' >"$bad/lacks/config.json"
printf '{"image_mean": [0.5, 0.5, 0.5], "size": 20}' >"$bad/lacks/preprocessor_config.json"
heed run "$bad/lacks" --top 1 "$@"
expect_exit 0
expect_stdout_contains "a boat (class 4, logit 2.6511)"
grep -q assumed "$out" && fail "something is assumed"
test_end
test_begin alone_open_size # the positions tell it; the pooling attention has its map
heed run "$onnx/graphs/siglip_17_dynamic.onnx" --layer pool --top 1 "$@"
expect_exit 0
expect_stdout_contains "assumed: images of 12 x 12 pixels; preprocessing of ViT"
expect_stdout_contains "pool head 1: entropy"
heed run "$onnx/graphs/dinov2_11_dynamic.onnx" --size 24,16 "$@"
expect_exit 0
expect_stdout_contains "25 tokens"
heed run "$onnx/graphs/siglip_17_dynamic.onnx" --size 24,24 "$@"
expect_exit 3
expect_one_sentence run "its inputs do not fit"
test_end
bad_input alone_text "no vision transformer (found the input input_ids, expected the input [B, C, H, W] alone" run "$onnx/graphs/clip_text_17.onnx" "$@"
bad_input alone_batch "the graph takes batches of 2 and images of 12 x 12 pixels alone" run "$onnx/graphs/clip_14.onnx" "$@"
bad_input alone_size "images of 20 x 20 pixels alone (found 1, 24 x 24)" run "$bad/alone/model.onnx" --size 24,24 "$@"
test_begin alone_changes
heed run "$bad/alone/model.onnx" --ablate 0.1 "$@"
expect_exit 0
expect_stdout_contains "changed: --ablate 0.1"
test_end
test_begin alone_changes_pool # what is dropped is dropped for the pooling attention, too
heed run "$onnx/graphs/siglip_17_dynamic.onnx" --layer pool --drop 1,2 --json pool.json "$@"
expect_exit 0
node -e '
  const [{ pool, grid }] = JSON.parse(require("fs").readFileSync(process.argv[1])).results
  process.exit(pool.every(({ row }) => row[1 * grid[1] + 2] === 0 && row[0] > 0) ? 0 : 1)' "$here/pool.json" || fail "a dropped patch has weight"
test_end
test_begin other_order_changes # CLS, registers and the patches row by row, whatever the graph's order
heed run "$vectors/reports/onnx_registers_last/model.onnx" "$vectors/reports/picture.png" --drop 1,2 --cut 0.19 --json order.json "$@"
expect_exit 0
heed run "$vectors/reports/onnx_registers_last/model.onnx" "$vectors/reports/picture.png" --drop 1,2 --cut 0.19 --query 2,1 --json row.json "$@"
expect_exit 0
node -e '
  const { readFileSync } = require("fs")
  const [all, one] = process.argv.slice(1, 3).map((path) => JSON.parse(readFileSync(path, "utf8")).results[0])
  const patch = (row, column) => all.prefix_tokens + row * all.grid[1] + column
  const none = (row) => row.flatMap((weight, i) => (weight === 0 ? [i] : []))
  if (!all.heads.every(({ row }) => `${none(row)}` === `${[patch(1, 2), patch(3, 3)]}`)) process.exit(1)
  if (!one.heads.every(({ row }) => `${none(row)}` === `${[patch(1, 2)]}`)) process.exit(1)' \
  "$here/order.json" "$here/row.json" || fail "other tokens were dropped or cut"
test_end
# The second layer weighs its tokens by a sigmoid: it has no map, and nothing may be shown in its place.
# Sigmoid has no axis: its attribute (*, field 5) becomes a field that nobody reads (J, field 9).
LC_ALL=C sed 's|layer.1/attention/Softmax"\x07Softmax\*|layer.1/attention/Softmax"\x07SigmoidJ|' "$onnx/model.onnx" >"$bad/alone/lacks.onnx"
cmp -s "$onnx/model.onnx" "$bad/alone/lacks.onnx" && fail "nothing was changed"
bad_input alone_lacks_map "a layer would lack its map" run "$bad/alone/lacks.onnx" "$@"
mkdir "$bad/lacks_map"
cp "$reference/config.json" "$bad/lacks_map"
cp "$bad/alone/lacks.onnx" "$bad/lacks_map/model.onnx"
bad_input graph_lacks_map "a layer would lack its map: weights of all tokens are no softmax of the 1 attentions" run "$bad/lacks_map" --way graph "$@"
test_begin inspect_graph
heed inspect "$onnx/model.onnx"
expect_exit 0
expect_stdout_contains "attention 1: /layer.1/attention/Softmax [1, 3, 26, 26], one op"
expect_stdout_contains "lowered: 120 nodes to 19 of heed's"
test_end
bad_input graph_input "missing tensor pixel_values (an input of" eval "$onnx/model.onnx" "$onnx/expected_q8.safetensors" -o out.safetensors --quiet
LC_ALL=C sed 's/Softmax/Sortmax/g' "$onnx/model.onnx" >"$bad/unknown.onnx"
rm "$bad/config.json"
bad_input graph_op "op not supported (found Sortmax of opset 14)" eval "$bad/unknown.onnx" "$onnx/io.safetensors" -o out.safetensors --quiet
test_begin inspect_refused # the report all the same
heed inspect "$bad/unknown.onnx"
expect_exit 3
expect_stdout_contains "not on heed's kernels: "
expect_stdout_contains "op not supported: Sortmax"
expect_stderr_contains "op not supported (found Sortmax of opset"
test_end
# What onnxruntime's optimiser and quantiser make: on kernels, and in double where those do not round activations.
fused() { # name, way
  test_begin "$1_$2"
  heed eval "$onnx/fused/$1.onnx" "$onnx/fused/$1.safetensors" -o out.safetensors --taps none --backend cpu --way "$2"
  expect_exit 0
  [ "$2" = reference ] || expect_stderr_contains "on heed's kernels"
  node "$(dirname "$0")/near.mjs" "$here/out.safetensors" "$onnx/fused/$1.onnxruntime.safetensors" 4e-6 >>"$err" || fail "other numbers than onnxruntime's"
  test_end
}
fused fused graph
fused fused reference
fused dynamic reference
LC_ALL=C sed 's/transBatchA\x18\x00/transBatchA\x18\x01/' "$onnx/fused/fused.onnx" >"$bad/batch_first.onnx"
cmp -s "$onnx/fused/fused.onnx" "$bad/batch_first.onnx" && fail "nothing was changed"
bad_input fused_attribute "op not supported (found com.microsoft.FusedMatMul of opset 1" eval "$bad/batch_first.onnx" "$onnx/fused/fused.safetensors" \
  -o out.safetensors --quiet
# A graph of 44 bytes, y = Relu(x), cut after each byte; and one whose node reads what it makes.
relu() { # name of what the node reads
  printf '\010\010\072\044\012\014\012\001%s\022\001y\042\004ReluZ\011\012\001x\022\004\012\002\010\001b\011\012\001y\022\004\012\002\010\001B\002\020\021' "$1"
}
printf '\072\000\000\000\000\000\000\000{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}    \000\000\200\077' >"$bad/one.safetensors"
relu x >"$bad/relu.onnx"
test_begin cut_after_each_byte
size=0
while [ "$size" -lt 44 ]; do
  head -c "$size" "$bad/relu.onnx" >"$bad/cut.onnx"
  heed eval "$bad/cut.onnx" "$bad/one.safetensors" -o out.safetensors --quiet
  expect_exit 3
  expect_one_sentence eval "cut.onnx"
  size=$((size + 1))
done
heed eval "$bad/relu.onnx" "$bad/one.safetensors" -o out.safetensors --quiet
expect_exit 0
test_end
test_begin node_without_kernel
relu x | LC_ALL=C sed 's/Relu/Sinh/' >"$bad/sinh.onnx"
heed eval "$bad/sinh.onnx" "$bad/one.safetensors" -o out.safetensors
expect_exit 0
expect_stderr_contains "on heed's kernels (opset 17, 1 nodes, 0 named weights); 1 of 1 nodes in double (Sinh), "
test_end
# A vision transformer whose activations have no kernel: maps and classes are those of the graph in double.
test_begin run_without_kernel
LC_ALL=C sed 's/Erf/Tan/g' "$onnx/graphs/joined_14_dynamic.onnx" >"$bad/tan.onnx"
heed run "$bad/tan.onnx" --save run.safetensors --backend cpu
expect_exit 0
expect_stderr_contains "2 of 303 nodes in double (Tan)"
grep -Eq '^heed: the nodes in double took [0-9]+\.[0-9] of [0-9]+\.[0-9] ms$' "$err" || fail "no time of the nodes in double"
heed eval "$bad/tan.onnx" "$here/run.safetensors" -o reference.safetensors --way reference --quiet
expect_exit 0
node "$(dirname "$0")/near.mjs" "$here/reference.safetensors" "$here/run.safetensors" 2e-5 rollout,pixel_values >>"$err" || fail "other numbers than in double"
heed bench "$bad/tan.onnx" --runs 1 --warmup 0 --backend cpu --profile
expect_exit 0
expect_stdout_contains "host  "
expect_stderr_contains "2 of 303 nodes in double (Tan)"
heed inspect "$bad/tan.onnx" --size 12,12
expect_exit 0
expect_stdout_contains "without a kernel: 2 of 303 nodes in double (Tan)"
test_end
printf '\110\000\000\000\000\000\000\000{"x":{"dtype":"F32","shape":[1,1,1,2,1,1,1],"data_offsets":[0,8]}}      \000\000\200\077\000\000\200\277' >"$bad/seven.safetensors"
test_begin seven_axes
heed eval "$bad/relu.onnx" "$bad/seven.safetensors" -o out.safetensors
expect_exit 0
expect_stderr_contains "in double"
grep -q '"shape":\[1,1,1,2,1,1,1\]' "$here/out.safetensors" || fail "another shape"
test_end
test_begin bench_graph # which no config.json names a family of
heed bench "$onnx/graphs/deit_17.onnx" --way graph --batch 2 --runs 1 --warmup 0 --backend cpu --threads 1 --quiet
expect_exit 0
expect_stdout_contains "ONNX graph "
heed bench "$onnx/graphs/deit_17.onnx" --batch 2 --maps --runs 1 --backend cpu --quiet
expect_exit 0
heed bench "$onnx/graphs/bert_14_dynamic.onnx" --way graph --maps --runs 1 --backend cpu --quiet
expect_exit 3
heed bench "$onnx/graphs/clip_text_17.onnx" --way graph --runs 1 --warmup 0 --backend cpu --quiet # no vision transformer
expect_exit 0
expect_stdout_contains "ONNX graph "
test_end
relu y >"$bad/circle.onnx"
bad_input circle "comes from a later node (expected nodes in the order of their values, without a circle)" eval "$bad/circle.onnx" "$bad/one.safetensors" -o out.safetensors --quiet
relu z >"$bad/lost.onnx"
bad_input lost "input z is missing" eval "$bad/lost.onnx" "$bad/one.safetensors" -o out.safetensors --quiet
tests_end
