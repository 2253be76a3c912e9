#!/bin/sh
# heed survey --embeddings and --methods: embeddings as heed embed writes them, and means of the maps that heed explain gives, in numpy's double.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

common="--backend cpu --quiet"
model=$vectors/../../runtime/demo/model
python=/usr/bin/python3
if ! "$python" -c 'import numpy, sqlite3' 2>/dev/null; then
  test_skip survey_extras "no python3 with numpy and sqlite3"
  tests_end
  exit 0
fi
test_begin probe
heed survey --scenes 1 $common -o probe.sqlite
if grep -q 'this heed has no SQLite' "$err"; then
  test_end
  tests_end
  exit "$broken"
fi
test_end

mkdir "$bad/p"
for seed in 1 2 3 4 5; do (cd "$bad/p" && "$program" demo --scene "$seed" --picture "$seed.png" $common) >/dev/null || exit 1; done
echo no >"$bad/p/3b.png" # a bad picture has no embedding

test_begin embeddings
heed embed "$model" "$bad/p" $common -o e.npz
heed survey "$model" "$bad/p" $common -o s.sqlite --embeddings e
expect_exit 3
expect_stdout_contains 'embeddings: e: 5 of '
"$python" - "$here" <<'P' || fail "other embeddings than heed embed's"
import numpy, sys
embed = numpy.load(sys.argv[1] + "/e.npz")
rows, ids = numpy.load(sys.argv[1] + "/e/embeddings-00000.npy"), numpy.load(sys.argv[1] + "/e/ids-00000.npy")
assert ids.tolist() == [0, 1, 2, 4, 5] and ids.dtype == numpy.int32, ids
expected = embed["embeddings"]
assert rows.shape == expected.shape and rows.dtype == numpy.float32 and numpy.abs(rows - expected).max() <= 1e-5 * numpy.abs(expected).max(), numpy.abs(rows - expected).max()
assert len({row.tobytes() for row in rows}) == 5
P
heed survey "$model" "$bad/p" $common --threads 1 -o 1.sqlite --shard 1/2 --embeddings no
expect_no_file no
heed survey "$model" "$bad/p" $common --threads 3 -o 2.sqlite --shard 2/2 --embeddings no
heed survey --merge 2.sqlite 1.sqlite --embeddings m
expect_exit 0
cmp -s "$here/m/embeddings-00000.npy" "$here/e/embeddings-00000.npy" || fail "other bits by shards"
cmp -s "$here/m/ids-00000.npy" "$here/e/ids-00000.npy" || fail "other ids by shards"
heed survey "$model" "$bad/p" $common --resume -o s.sqlite
expect_exit 2
expect_one_sentence survey "another survey (found other options"
test_end

# The statistics of 50 pictures beside numpy's in double, of the maps that heed embed saves.
test_begin numbers_of_50_pictures
mkdir "$bad/q"
"$python" - "$bad/q" <<'P'
import numpy, sys
random = numpy.random.default_rng(5)
for i in range(50):  # blocks of colour, of many sizes
    side = int(random.choice([2, 4, 7, 14, 28, 56, 112]))
    blocks = random.integers(0, 256, (224 // side, 224 // side, 3), dtype=numpy.uint8)
    numpy.save(f"{sys.argv[1]}/{i:02}.npy", blocks.repeat(side, 0).repeat(side, 1))
P
ls "$bad"/q/*.npy >"$bad/q.txt"
heed survey "$model" --list "$bad/q.txt" $common --json q.json
expect_exit 0
"$python" - "$here" "$program" "$bad/q.txt" "$model" <<'P' || fail "other statistics than numpy's"
import json, numpy, subprocess, sys
here, program, paths, model = sys.argv[1:5]
found = json.load(open(here + "/q.json"))
assert found["images"] == found["mapped"] == 50
y, x = numpy.divmod(numpy.arange(196), 14)
distance = 16 * numpy.hypot(y[:, None] - y, x[:, None] - x)
offset = ((y[None] - y[:, None] + 13) * 27 + x[None] - x[:, None] + 13).ravel()
pairs = numpy.bincount(offset, minlength=729)
names = ["entropy_cls", "entropy_patches", "distance", "distance_renormalised", "prefix_mass", "self_mass", "top5_mass"]
rows, first, by_offset = [], 0, 0
lines = open(paths).read().split()
for i in range(0, 50, 5):
    open(here + "/five", "w").write("\n".join(lines[i:i + 5]))
    subprocess.run([program, "embed", model, "--list", "five", "--values", "attention.*", "-o", "a.npz", "--backend", "cpu", "--quiet"], check=True, cwd=here, stdout=subprocess.DEVNULL)
    saved = numpy.load(here + "/a.npz")
    for k in range(5):
        maps = numpy.concatenate([saved[f"attention.{layer}"][k] for layer in range(5)]).astype(float)
        entropy = -(maps * numpy.log(numpy.where(maps > 0, maps, 1))).sum(-1)
        patches = maps[:, 1:, 1:]
        reach, mass = (patches * distance).sum(-1), patches.sum(-1)
        rows.append(numpy.stack([entropy[:, 0], entropy[:, 1:].mean(-1), reach.mean(-1), (reach / mass).mean(-1), maps[:, 1:, 0].mean(-1),
                                 numpy.einsum("hii->hi", patches).mean(-1), numpy.sort(maps[:, 1:], -1)[..., -5:].sum(-1).mean(-1)], -1))
        first = first + maps[:, 0]
        by_offset = by_offset + numpy.stack([numpy.bincount(offset, m.ravel(), 729) for m in patches])
rows = numpy.array(rows)
def close(of, expected, what): assert numpy.abs(numpy.array(of) - expected).max() <= 1e-6 * max(1, numpy.abs(expected).max()), (what, of, expected)
for h, head in enumerate(found["heads"]):
    for s, name in enumerate(names):
        of, values = head[name], rows[:, h, s]
        for key, expected in ("mean", values.mean()), ("spread", values.std(ddof=1)), ("least", values.min()), ("largest", values.max()): close(of[key], expected, (h, name, key))
        for key, share in ("p5", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p95", 0.95):
            exact = numpy.sort(values)[max(1, int(numpy.ceil(share * 50))) - 1]
            assert abs(of[key] - exact) <= found["quantile_error"][name], (h, name, key, of[key], exact)
    close(head["first_row"], first[h] / 50, (h, "first_row"))
    close(numpy.array(head["by_offset"]).ravel(), by_offset[h] / 50 / pairs, (h, "by_offset"))
P
test_end

test_begin without_embeddings
heed survey --scenes 1 $common -o plain.sqlite
heed survey --merge plain.sqlite --embeddings no
expect_exit 2
expect_one_sentence survey "--embeddings: the survey has none (expected one that was made with --embeddings)"
heed survey --scenes 1 $common --embeddings no
expect_exit 2
test_end

# The mean of each map beside numpy's mean in double of what heed explain gives for each picture.
test_begin methods
heed survey "$model" "$bad/p" $common --methods ledger,rollout,relevancy -o m.sqlite --json m.json --save m.npz --report m.html
expect_exit 3
"$python" - "$here" "$program" "$bad" "$model" <<'P' || fail "other mean maps than of heed explain"
import json, numpy, subprocess, sys
here, program, bad, model = sys.argv[1:5]
found = json.load(open(here + "/m.json"))["maps"]
saved = numpy.load(here + "/m.npz")
assert sorted(found) == ["ledger", "relevancy", "rollout"], sorted(found)
sums = {name: numpy.zeros(196) for name in found}
for seed in 1, 2, 3, 4, 5:
    for words in ("run", f"{bad}/p/{seed}.png", "--save", "in.safetensors", "--layer", "0"), (
            "explain", model, "in.safetensors", "-o", "out.npz", "--methods", "attention,ledger,relevancy"):
        subprocess.run([program, *words, "--backend", "cpu", "--quiet"], check=True, cwd=here, stdout=subprocess.DEVNULL)
    out = {name: value.astype(float) for name, value in numpy.load(here + "/out.npz").items() if value.dtype == numpy.float32}
    sums["ledger"] += out["ledger.heads"][0, :, :, -196:].sum((0, 1)) + out["ledger.embeddings"].reshape(-1)[-196:]
    sums["relevancy"] += out["relevancy.chefer"].reshape(-1)[-196:]
    sums["rollout"] += out["attention.rollout"].reshape(-1)[-196:]
for name in sums:
    mean, of = sums[name] / 5, numpy.array(found[name])
    assert numpy.abs(of - mean).max() <= 1e-6 * numpy.abs(mean).max() + 1e-7, (name, numpy.abs(of - mean).max(), numpy.abs(mean).max())
    assert numpy.array_equal(saved["map." + name].reshape(-1), of.astype(numpy.float32)), name
    assert of.std() > 0
P
grep -q 'What answers rest on' "$here/m.html" || fail "the report has no maps"
heed survey "$model" "$bad/p" $common --threads 1 --methods ledger,rollout,relevancy --shard 1/2 -o 1.sqlite
heed survey "$model" "$bad/p" $common --threads 5 --methods ledger,rollout,relevancy --shard 2/2 -o 2.sqlite
heed survey --merge 1.sqlite 2.sqlite -o all.sqlite --json all.json
expect_exit 0
cmp -s "$here/all.json" "$here/m.json" || fail "other maps by shards and threads"
heed survey --scenes 1 $common --methods rollout,size
expect_exit 2
expect_one_sentence survey '--methods: unknown map (found "size", expected some of '
test_end

tests_end
