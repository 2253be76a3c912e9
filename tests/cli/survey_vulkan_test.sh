#!/bin/sh
# heed survey on a Vulkan device: several readers beside its one session, its maps mapped or copied, under validation, equal to the CPU within tolerance.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

python=python3
if ! "$program" devices | grep -q '^0 ' || ! "$python" -c '' 2>/dev/null; then
  test_skip survey_vulkan "no Vulkan device, or no python3"
  tests_end
  exit 0
fi
device="--backend vulkan --device 0 --quiet"
mkdir "$bad/p"
cp "$vectors/preprocess/rgb.png" "$bad/p/a.png"
echo no >"$bad/p/b.png"
set -- survey "$vectors/../../runtime/demo/model" "$bad/p" --scenes 10 --methods rollout

near() { # JSON, expected
  "$python" - "$1" "$2" <<'P' || fail "$1: other numbers than on the CPU"
import json, sys
a, b = (json.load(open(path)) for path in sys.argv[1:3])
assert a["images"] == b["images"] == 11 and a["failed"] == b["failed"] == 1, (a["images"], a["failed"])
assert a["backend"] != b["backend"]
worst = 0
for x, y in zip(a["heads"], b["heads"]):
    for name in "entropy_cls", "entropy_patches", "distance", "prefix_mass", "self_mass", "top5_mass":
        for of in "mean", "spread", "least", "largest":
            worst = max(worst, abs(x[name][of] - y[name][of]) / max(1, abs(y[name]["largest"])))
    for name in "first_row", "prefix":
        worst = max(worst, *(abs(p - q) for p, q in zip(x[name], y[name])))
    worst = max(worst, *(abs(p - q) for r, s in zip(x["by_offset"], y["by_offset"]) for p, q in zip(r, s)))
for x, y in zip(a["layers"], b["layers"]):
    worst = max(worst, *(abs(p - q) / q for p, q in zip(x["norms"], y["norms"])))
worst = max(worst, *(abs(p - q) for p, q in zip(a["maps"]["rollout"], b["maps"]["rollout"])))
print(f"largest difference {worst:.1e}")
assert 0 < worst <= 2e-5, worst
P
}

test_begin cpu
heed "$@" --backend cpu --quiet --json "$bad/cpu.json"
expect_exit 3
test_end

test_begin device
heed "$@" $device --json one.json
expect_exit 3
near "$here/one.json" "$bad/cpu.json"
test_end

for copies in mapped HEED_VULKAN_FORCE_STAGING; do
  test_begin "validated_$copies"
  HEED_VULKAN_VALIDATE=sync
  export HEED_VULKAN_VALIDATE
  [ "$copies" = mapped ] || export "$copies=1"
  heed "$@" $device --json two.json
  unset HEED_VULKAN_VALIDATE HEED_VULKAN_FORCE_STAGING
  expect_exit 3
  near "$here/two.json" "$bad/cpu.json"
  test_end
done

test_begin resumed
heed "$@" $device -o v.sqlite --commit 1
if ! grep -q 'this heed has no SQLite' "$err"; then
  heed "$@" $device -o v.sqlite --resume --json again.json
  expect_exit 3
  near "$here/again.json" "$bad/cpu.json"
fi
test_end

tests_end
