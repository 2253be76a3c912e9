#!/bin/sh
# --save-only, and --layer, --head and --query: the files have what is asked for, with the numbers of the whole ones.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png
scripts=$(cd "$(dirname "$0")" && pwd)
if ! python3 -c '' 2>/dev/null; then
  echo "skipped: no python3 here"
  exit 77
fi
"$program" run "$micro" "$picture" --backend cpu --quiet --json "$bad/all.json" --save "$bad/all.safetensors" >/dev/null
"$program" run "$micro" "$picture" --query 1,0 --backend cpu --quiet --save "$bad/query.npz" >/dev/null
python3 "$scripts/vit_forward.py" "$micro" "$bad/all.safetensors" >"$bad/expected"

# A check in Python: `heads` of out.json, `whole` those of all.json, `saved` and `all` the arrays of out.npz and all.safetensors.
check() { # code
  python3 - "$scripts" "$here" "$bad" "$1" 2>>"$err" <<'PYTHON' || fail "the files are others"
import json, os, sys
sys.path.insert(0, sys.argv[1])
from arrays import load, metadata
def near(a, b):
    return len(a) == len(b) and max(abs(x - y) for x, y in zip(a, b)) < 1e-5
def numbers(head):
    return [v / 100 if key.startswith("distance") else v for key, value in head.items() for v in (value if isinstance(value, list) else [value])]
def rows(array, heads, row):
    (_, (_, _, n, _), values) = array
    return [v for h in heads for v in values[(h * n + row) * n:(h * n + row + 1) * n]]
here, bad = sys.argv[2:4]
result = json.load(open(here + "/out.json"))["results"][0]
heads, whole = result.get("heads"), json.load(open(bad + "/all.json"))["results"][0]
saved, all_ = load(here + "/out.npz"), load(bad + "/all.safetensors")
expected = json.load(open(bad + "/expected"))
maps = {name: value for name, value in saved.items() if name.startswith("attention.")}
exec(sys.argv[4])
PYTHON
}
run_narrow() { heed run "$micro" "$picture" --backend cpu --quiet --json out.json --save out.npz "$@"; }

test_begin layer
run_narrow --layer 1
expect_exit 0
check 'assert [(h["layer"], h["head"]) for h in heads] == [(1, h) for h in range(4)]
assert all(near(numbers(h), numbers(w)) for h, w in zip(heads, whole["heads"][4:])) and "rollout" not in result and "rollout" not in saved
assert list(maps) == ["attention.1"] and near(maps["attention.1"][2], all_["attention.1"][2]) and maps["attention.1"][1] == (1, 4, 5, 5)
assert saved["narrowed"][2] == ["layer 1"] and near(saved["logits"][2], all_["logits"][2])'
test_end

test_begin head
run_narrow --head 2
expect_exit 0
check 'assert heads == whole["heads"][2::4]
assert all(maps[f"attention.{l}"][1] == (1, 1, 5, 5) for l in (0, 1)) and saved["narrowed"][2] == ["head 2"]
assert all(maps[f"attention.{l}"][2] == all_[f"attention.{l}"][2][50:75] for l in (0, 1))'
test_end

test_begin query
run_narrow --query 1,0
expect_exit 0
check 'assert [set(h) for h in heads] == [{"layer", "head", "entropy", "row"}] * 8
assert all(near(h["row"], rows(all_["attention.%d" % h["layer"]], [h["head"]], 3)) for h in heads)
assert all(maps[f"attention.{l}"][1] == (1, 4, 1, 5) for l in (0, 1)) and saved["narrowed"][2] == ["query patch (1, 0)"]
assert all(near(maps[f"attention.{l}"][2], rows(all_[f"attention.{l}"], range(4), 3)) for l in (0, 1))'
run_narrow --query cls
check 'assert [h["row"] for h in heads] == [h["row"] for h in whole["heads"]] or all(near(h["row"], w["row"]) for h, w in zip(heads, whole["heads"]))'
test_end

test_begin all_three
run_narrow --layer 0 --head 3 --query 1,0
expect_exit 0
check 'assert len(heads) == 1 and near(heads[0]["row"], rows(all_["attention.0"], [3], 3))
assert list(maps) == ["attention.0"] and maps["attention.0"][1] == (1, 1, 1, 5) and near(maps["attention.0"][2], heads[0]["row"])
assert saved["narrowed"][2] == ["layer 0, head 3, query patch (1, 0)"]'
test_end

test_begin all_of_them
run_narrow --layer all --head mean
expect_exit 0
check 'assert heads == whole["heads"] and "rollout" in result and "narrowed" not in saved
assert maps == {n: v for n, v in all_.items() if n.startswith("attention.")} and saved["rollout"] == all_["rollout"]'
test_end

# What is asked for beside: the rollout, scores, what the query receives.
test_begin with_a_rollout
run_narrow --layer 1 --rollout rollout.png
expect_exit 0
check 'assert result["rollout"] == whole["rollout"] and heads == whole["heads"][4:]'
test_end
test_begin with_scores
run_narrow --layer 1 --head 0 --query 1,0 --score value
expect_exit 0
check 'assert len(heads) == 1 and len(heads[0]["scores"]) == 5 and near(heads[0]["row"], rows(all_["attention.1"], [0], 3))'
test_end
test_begin reverse
run_narrow --layer 1 --query 1,0 --reverse
expect_exit 0
check 'assert near(heads[0]["row"], all_["attention.1"][2][3:25:5]) and near(maps["attention.1"][2][:5], heads[0]["row"])'
test_end
test_begin pooling_attention
heed run "$vectors/vit/siglip" "$picture" --backend cpu --quiet --layer pool --json out.json
expect_exit 0
python3 -c 'import json, sys; r = json.load(open(sys.argv[1]))["results"][0]; assert r["heads"] == [] and r["pool"] and "pool_rollout" not in r' "$here/out.json" || fail "other maps than of the pool"
test_end

# Saved maps are narrowed the same way.
test_begin saved_maps
heed maps "$bad/all.safetensors" --layer 1 --head 2 --json out.json
expect_exit 0
cp "$bad/query.npz" "$here/out.npz"
check 'assert len(heads) == 1 and heads[0]["row"] == whole["heads"][6]["row"] and "rollout" not in result'
test_end

test_begin save_only
run_narrow --save-only 'cls,mean,logits,embedding,layer.1.output'
expect_exit 0
check 'assert sorted(n for n in saved if saved[n][0] == "<f4") == ["cls", "embedding", "layer.1.output", "logits", "mean"]
assert heads is None and sorted(result["values"]) == ["cls", "embedding", "layer.1.output", "logits", "mean"]
assert saved["layer.1.output"][1] == (1, 5, 32) and saved["cls"][1] == (1, 32)
states = [v for row in expected["states"] for v in row]
for name, value in ("cls", expected["pre_logits"]), ("embedding", expected["pre_logits"]), ("mean", expected["mean"]), ("layer.1.output", states):
    assert near(saved[name][2], value), name
assert near(result["values"]["cls"], expected["pre_logits"]) and near(sum(result["values"]["layer.1.output"], []), states)'
heed run "$micro" "$picture" --backend cpu --quiet --save out.npy --save-only cls
expect_exit 0
heed run "$micro" "$picture" --backend cpu --quiet --save - --save-only cls
expect_exit 0
test_end

test_begin save_only_maps
run_narrow --save-only 'attention.*'
expect_exit 0
check 'assert list(maps) == ["attention.0", "attention.1"] and all(near(maps[n][2], all_[n][2]) for n in maps)'
run_narrow --save-only attention.0 --query 1,0
check 'assert list(maps) == ["attention.0"] and near(maps["attention.0"][2], rows(all_["attention.0"], range(4), 3))'
test_end

refused() { # name, a part of the sentence, arguments...
  test_begin "$1"
  part=$2
  shift 2
  heed run "$micro" "$picture" --backend cpu --quiet "$@"
  expect_exit 2
  expect_stderr_contains "$part"
  expect_stdout_empty
  expect_nothing_written
  test_end
}
refused no_file "--save-only: missing file" --save-only cls
refused no_such_value '--save-only: unknown value (found "clss", expected ' --save-only clss --save out.npz

# Rows of one query need no maps: what the arena has for 785 tokens shows whether they are kept.
test_begin memory
heed run "$micro" "$picture" --size 448,448 --backend cpu --quiet --json out.json
whole=$(wc -c <"$here/out.json")
heed run "$micro" "$picture" --size 448,448 --backend cpu --quiet --json out.json --layer 1 --head 0 --query cls --top 1
[ "$(wc -c <"$here/out.json")" -lt $((whole / 4)) ] || fail "out.json: found $(wc -c <"$here/out.json") bytes, expected fewer than a quarter of $whole"
most() { python3 -c 'import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$program" run "$micro" "$picture" --size 768,768 --backend cpu --threads 1 --quiet "$@"; }
if [ -z "${HEED_TEST_SANITIZED:-}" ]; then
  all=$(most --json "$here/out.json") one=$(most --json "$here/out.json" --query cls)
  # 2 layers x 4 heads x 2305 x 2305 weights are 170 MB
  [ "$((all - one))" -gt 150000 ] || fail "memory: found $one kB of one query and $all kB of all, expected 150000 kB less"
fi
test_end

tests_end
