#!/bin/sh
# heed judge: maps of scenes and of pictures by several metrics, the same for any threads; what it refuses.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

reference=$vectors/vit/hf_vit

# The truth has all of its mass inside, a better deletion than chance, and its curves end where the other's begin.
test_begin scenes
heed judge --scenes 3 --methods chance,ledger,truth --metrics deletion,insertion,pointing,mass,rank --steps 4 --backend cpu --quiet --json out.json
expect_exit 0
expect_stderr_empty
expect_stdout_contains '3 pictures'
python3 - "$here/out.json" <<'PYTHON' || fail 'JSON: another result'
import json, sys
found = json.load(open(sys.argv[1]))
maps = {of["name"]: {metric["name"]: metric for metric in of["metrics"]} for of in found["maps"]}
assert found["pictures"] == 3 and list(maps) == ["chance", "ledger", "truth"]
truth, chance, ledger = maps["truth"], maps["chance"], maps["ledger"]
assert truth["mass"]["mean"] == truth["rank"]["mean"] == truth["pointing"]["mean"] == 1
assert truth["deletion"]["mean"] < chance["deletion"]["mean"] and ledger["rank"]["mean"] > chance["rank"]["mean"]
for map in maps.values():
    out, into = map["deletion"], map["insertion"]
    assert len(out["curve"]) == 5 and out["count"] == 3 and "curve" not in map["mass"]
    assert out["curve"][0] == into["curve"][4]
    area = (sum(out["curve"]) - (out["curve"][0] + out["curve"][4]) / 2) / 4
    assert abs(area - out["mean"]) < 1e-6
PYTHON
test_end

# Every number of this map is negative: no share of its sum is one, which is said and no number.
test_begin no_number
heed judge --scenes 2 --methods unlike --metrics mass,rank --backend cpu --quiet --json out.json
expect_exit 0
expect_stdout_contains 'mass of unlike: 2 of 2 pictures are left out, as it is no number there'
! grep -q 'rank of unlike' "$out" || fail 'a metric that is a number counts as left out'
grep -q '"name": "mass", "mean": null, "interval": null, "count": 0' "$here/out.json" || fail 'JSON: another mean than null'
test_end

test_begin threads
heed judge --scenes 2 --methods attention,gradcam --metrics deletion,flipping --steps 2 --backend cpu --quiet --threads 1 --json one.json
expect_exit 0
heed judge --scenes 2 --methods attention,gradcam --metrics deletion,flipping --steps 2 --backend cpu --quiet --threads 3 --json three.json
expect_exit 0
python3 - "$here" <<'PYTHON' || fail 'another result with 3 threads'
import json, sys
one, three = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("one", "three"))
assert one.pop("backend") != three.pop("backend") and one == three and one["maps"]
PYTHON
test_end

refused() { # name, exit code, a part of the sentence, arguments
  test_begin "$1"
  code=$2
  part=$3
  shift 3
  heed judge "$@" --backend cpu --quiet
  expect_exit "$code"
  expect_one_sentence judge "$part"
  test_end
}
refused no_images 2 'images: none given (expected IMAGE'
refused unknown_map 2 'methods: unknown name (found "nothing"' --scenes 1 --methods nothing
refused unknown_metric 2 'metrics: unknown name (found "mess"' --scenes 1 --metrics mess
refused no_steps 2 'steps: out of range (found 0' --scenes 1 --steps 0
refused both 2 'images are given too' "$vectors/preprocess/rgb.png" --scenes 1
refused other_model 3 'not a scene model' "$reference" --scenes 1
refused far_target 2 'class out of range' --scenes 1 --target 99 --methods chance --metrics deletion

tests_end
