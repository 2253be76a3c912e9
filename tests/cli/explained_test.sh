#!/bin/sh
# heed run --explain: numbers of the patches' states in JSON, and their figures.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

model=$vectors/vit/dinov3_timm
picture=$vectors/preprocess/rgb.png
if ! python3 -c '' 2>/dev/null; then
  echo "skipped: no python3 here"
  exit 77
fi

# Sums in Python over the states that --save-only writes: similarity by its definition, components by what must hold of them.
test_begin numbers
heed run "$model" "$picture" --backend cpu --quiet --query 1,1 --explain similarity,pca --json out.json
expect_exit 0
cp "$here/out.json" "$bad"
heed run "$model" "$picture" --backend cpu --quiet --save-only last_hidden_state --json states.json
expect_exit 0
python3 - "$bad/out.json" "$here/states.json" 2>>"$err" <<'PYTHON' || fail "the numbers are others"
import json, math, sys
result, other = (json.load(open(path))["results"][0] for path in sys.argv[1:3])
rows, columns = result["grid"]
states = other["values"]["last_hidden_state"]
query, patches = states[result["query_token"]], states[result["prefix_tokens"]:]
near = lambda a, b, most=1e-5: abs(a - b) <= most or (_ for _ in ()).throw(AssertionError((a, b)))
dot = lambda a, b: sum(x * y for x, y in zip(a, b))
n, channels = len(patches), len(query)
assert n == rows * columns and result["query_token"] == result["prefix_tokens"] + columns + 1
assert list(result["explain"]) == ["similarity", "pca"]
for state, cosine in zip(patches, result["explain"]["similarity"]["query"]):
    near(cosine, dot(query, state) / math.sqrt(dot(query, query) * dot(state, state)))

pca = result["explain"]["pca"]
mean = [sum(column) / n for column in zip(*patches)]
centred = [[x - m for x, m in zip(state, mean)] for state in patches]
for a, b in zip(pca["mean"], mean):
    near(a, b)
for k, component in enumerate(pca["components"]):
    scores = [dot(state, component) for state in centred]
    variance, scale = dot(scores, scores) / (n - 1), pca["variance"][0]
    near(pca["variance"][k], variance, 1e-5 * scale)
    for a, b in zip(pca["scores"], scores):
        near(a[k], b, 1e-4)
    # an eigenvector: the covariance times it is its variance times it
    for c in range(channels):
        near(sum(state[c] * score for state, score in zip(centred, scores)) / (n - 1), variance * component[c], 1e-4 * scale)
    near(dot(component, component), 1)
    assert max(component, key=abs) > 0
border = [i for i in range(n) if i // columns in (0, rows - 1) or i % columns in (0, columns - 1)]
sides = [[i for i in range(n) if sign * pca["scores"][i][0] > 0] for sign in (1, -1)]
shares = [len(set(side) & set(border)) / len(side) for side in sides]
side = sides[shares[1] < shares[0]]
assert pca["foreground"] == [int(i in side or len(side) < 5) for i in range(n)]
assert all(0 <= x <= 1 and (x == 0 or shown) for rgb, shown in zip(pca["rgb"], pca["foreground"]) for x in rgb)
PYTHON
test_end

# A figure a method, and one of each picture.
test_begin figures
heed run "$model" "$picture" --backend cpu --quiet --explain pca --rollout rollout.png --explained out.svg
expect_exit 0
expect_file out.svg
expect_stdout_contains "pca: out.svg"
[ "$(grep -c '<image' "$here/out.svg")" -eq 2 ] || fail "found $(grep -c '<image' "$here/out.svg") images, expected the picture and its colours"
grep -q 'principal components' "$here/out.svg" || fail "the figure has no title"
cp "$picture" "$bad/other.png"
heed run "$model" "$picture" "$bad/other.png" --backend cpu --quiet --explain pca,similarity --explained out.png
expect_exit 0
for file in out-pca-rgb out-pca-other out-similarity-rgb out-similarity-other; do expect_file $file.png; done
expect_no_file out.png
test_end

# One component for two pictures: scores of both together have mean 0, and a picture beside itself has the same colours.
test_begin joint
heed run "$model" "$picture" "$bad/other.png" --backend cpu --quiet --explain pca --json alone.json
cp "$here/alone.json" "$bad"
python3 - "$bad/second.png" <<'PYTHON' || exit 1
import struct, sys, zlib
rows = b"".join(b"\0" + bytes((x * x + 3 * y + 60 * c) % 256 for x in range(48) for c in range(3)) for y in range(48))
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 48, 48, 8, 2, 0, 0, 0))
                             + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PYTHON
heed run "$model" "$picture" "$bad/other.png" "$bad/second.png" --backend cpu --quiet --explain pca --joint --json joint.json --explained out.svg
expect_exit 0
grep -q 'compare: the components are those of all images together' "$here/out-second.svg" || fail "the figure does not say so"
python3 - "$here/joint.json" "$bad/alone.json" 2>>"$err" <<'PYTHON' || fail "the numbers are others"
import json, sys
results, alone = (json.load(open(path))["results"] for path in sys.argv[1:3])
found = [result["explain"]["pca"] for result in results]
assert found[0] == found[1] and found[0]["rgb"] != found[2]["rgb"]
for key in "mean", "components", "variance", "colours":
    assert found[0][key] == found[2][key], key
assert found[0]["mean"] != alone[0]["explain"]["pca"]["mean"]
scores = [row for one in found for row in one["scores"]]
for k in range(3):
    column = [row[k] for row in scores]
    assert abs(sum(column)) <= 1e-4 * sum(map(abs, column)), k
    variance = sum(x * x for x in column) / (len(column) - 1)
    assert abs(variance - found[0]["variance"][k]) <= 1e-4 * found[0]["variance"][0]
PYTHON
test_end

test_begin groups
heed run "$vectors/vit/hf_dinov2" "$picture" --backend cpu --quiet --explain kmeans,norms,outliers --clusters 2 --json out.json --explained out.svg
expect_exit 0
for method in kmeans norms outliers; do expect_file out-$method.svg; done
grep -q 'patches in 2 groups' "$here/out-kmeans.svg" || fail "the figure of groups has no title"
python3 - "$here/out.json" 2>>"$err" <<'PYTHON' || fail "the numbers are others"
import json, sys
result = json.load(open(sys.argv[1]))["results"][0]
found, n = result["explain"], result["grid"][0] * result["grid"][1]
assert found["kmeans"]["clusters"] == 2 and set(found["kmeans"]["cluster"]) == {0, 1} and len(found["kmeans"]["cluster"]) == n
levels = len(found["norms"]["levels"])
assert "score" not in found["norms"] and len(found["outliers"]["bound"]) == levels == len(found["outliers"]["levels"])
for norms, bound, outliers in zip(found["norms"]["levels"], found["outliers"]["bound"], found["outliers"]["levels"]):
    assert [int(x > bound) for x in norms[-n:]] == outliers
PYTHON
test_end

# The score's methods are those of heed explain on the same pixels.
vit=$vectors/explain/hf_vit
cp "$vectors/preprocess/rgb.png" "$bad/a.png"
python3 - "$bad/b.png" <<'PYTHON' || exit 1
import struct, sys, zlib
rows = b"".join(b"\0" + bytes((7 * x * y + 40 * c) % 256 for x in range(32) for c in range(3)) for y in range(32))
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0))
                             + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PYTHON
test_begin score
heed run "$vit" "$bad/a.png" --backend cpu --quiet --target 2 --explain ledger,lens,norms,patch --patch-from "$bad/b.png" --json out.json
expect_exit 0
cp "$here/out.json" "$bad"
for letter in a b; do
  heed run "$vit" "$bad/$letter.png" --backend cpu --quiet --save-only logits --json "$letter.json"
  expect_exit 0
  cp "$here/$letter.json" "$bad"
done
python3 - "$bad/out.json" "$bad/a.json" "$bad/b.json" 2>>"$err" <<'PYTHON' || fail "the numbers are others"
import json, sys
result, own, other = (json.load(open(path))["results"][0] for path in sys.argv[1:4])
found = result["explain"]
near = lambda a, b, most=1e-5: abs(a - b) <= most or (_ for _ in ()).throw(AssertionError((a, b)))
def total(value):
    return sum(map(total, value)) if isinstance(value, list) else value
ledger = found["ledger"]
score = own["values"]["logits"][2]
assert list(found) == ["ledger", "lens", "norms", "patch"]
near(ledger["score"], score)
near(sum(total(ledger[part]) for part in ("heads", "mlps", "embeddings", "bias")), score, 1e-4)
near(found["lens"]["levels"][-1][0], score)
layers, heads = len(ledger["heads"]), len(ledger["heads"][0])
assert len(found["norms"]["levels"]) == layers + 1 and all(x > 0 for level in found["norms"]["levels"] for x in level)
near(found["patch"]["scores"][0], score)
near(found["patch"]["scores"][1], other["values"]["logits"][2])
assert len(found["patch"]["heads"]) == layers and len(found["patch"]["heads"][0]) == heads
assert "states" not in found["patch"]
PYTHON
test_end

test_begin score_figures
heed run "$vit" "$bad/a.png" --backend cpu --quiet --explain ledger,lens,norms,patch --patch-from "$bad/b.png" --explained out.svg
expect_exit 0
for method in ledger lens norms patch; do expect_file out-$method.svg; done
grep -q 'what each head adds to the logit of' "$here/out-ledger.svg" || fail "the ledger's figure has no title"
grep -q 'level 1' "$here/out-lens.svg" || fail "the lens has no levels"
test_end

# Maps of gradients are those of heed explain on the same pixels; pixels are summed over each patch.
test_begin gradients
heed run "$vit" "$bad/a.png" --backend cpu --quiet --target 2 --explain gradcam,relevancy,inputxgrad,attnlrp --json out.json
expect_exit 0
cp "$here/out.json" "$bad"
heed run "$vit" "$bad/a.png" --backend cpu --quiet --save in.safetensors
heed explain "$vit" in.safetensors --backend cpu --quiet --target 2 --methods gradcam,relevancy,inputxgrad,attnlrp -o maps.safetensors
expect_exit 0
python3 - "$bad/out.json" "$here/maps.safetensors" 2>>"$err" <<'PYTHON' || fail "the numbers are others"
import array, json, struct, sys
result = json.load(open(sys.argv[1]))["results"][0]
data = open(sys.argv[2], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
def read(name):
    first, end = header[name]["data_offsets"]
    return header[name]["shape"], array.array("f", data[8 + size + first:8 + size + end])
def near(a, b):
    assert len(a) == len(b) and all(abs(x - y) <= 1e-5 * (1 + abs(y)) for x, y in zip(a, b)), (a, b)
found, (rows, columns) = result["explain"], result["grid"]
n = rows * columns
near([found["gradcam"]["score"]], read("score")[1])
for layer, patches in enumerate(found["gradcam"]["layers"]):
    near(patches, read(f"gradcam.{layer}")[1])
near(found["relevancy"]["patches"], read("relevancy.chefer")[1][-n:])
near(found["attnlrp"]["patches"], read("attnlrp.tokens")[1][-n:])
(_, channels, height, width), pixels = read("inputxgrad")
sums = [0.0] * n
for i, value in enumerate(pixels):
    y, x = i // width % height, i % width
    sums[y * rows // height * columns + x * columns // width] += value
near(found["inputxgrad"]["patches"], sums)
assert max(found["relevancy"]["patches"]) > 0 and channels == 3
PYTHON
test_end

test_begin gradient_figures
heed run "$vit" "$bad/a.png" --backend cpu --quiet --explain gradcam,relevancy,gradient_rollout,attnlrp,cplrp,inputxgrad,ig,smoothgrad --explained out.svg
expect_exit 0
for method in gradcam relevancy gradient_rollout attnlrp cplrp inputxgrad ig smoothgrad; do expect_file out-$method.svg; done
grep -q 'Grad-CAM of the logit of' "$here/out-gradcam.svg" || fail "the figure of Grad-CAM has no title"
test_end

refused() { # name, exit code, a part of the sentence, arguments...
  test_begin "$1"
  code=$2 part=$3
  shift 3
  heed run "$@" --backend cpu --quiet
  expect_exit "$code"
  expect_stderr_contains "$part"
  expect_stdout_empty
  expect_nothing_written
  test_end
}
refused unknown_method 2 '--explain: unknown method (found "pcs", expected pca, similarity, kmeans, ledger, ' "$model" "$picture" --explain pca,pcs --json out.json
refused empty_method 2 '--explain: unknown method (found "", ' "$model" "$picture" --explain pca, --json out.json
refused method_twice 2 '--explain: a method twice (found pca, ' "$model" "$picture" --explain pca,pca --json out.json
refused no_file 2 '--explain: missing file (expected --explained FILE or --json FILE)' "$model" "$picture" --explain pca
refused nothing_to_draw 2 '--explained: nothing to draw' "$model" "$picture" --explained out.png
refused one_file 2 'out-pca.png' "$model" "$picture" --explain pca,similarity --explained out.png --maps out-pca.png
refused joint_alone 2 '--joint: no components are asked for' "$model" "$picture" --explain norms --joint --json out.json
refused no_score 2 '--target: no score is explained' "$model" "$picture" --explain pca --target 1 --json out.json
refused no_source 2 '--patch-from: missing' "$vit" "$picture" --explain patch --json out.json
refused nothing_patched 2 '--patch-from: nothing is patched' "$vit" "$picture" --explain ledger --patch-from "$picture" --json out.json
refused changed 2 "--explain: a changed model's score" "$vit" "$picture" --explain ledger --ablate 0.0 --json out.json
refused no_classes 3 'target: the model has no classifier' "$vectors/explain/hf_dinov3_gated" "$picture" --explain ledger --json out.json
refused graph 3 '--explain: no states of the patches (found a graph that runs as it is' "$vectors/onnx/vit" "$picture" --explain pca --json out.json --way graph

tests_end
