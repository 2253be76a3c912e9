#!/bin/sh
# How many threads the CPU has by default: one per core that the process may use, and why fewer.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
picture=$vectors/preprocess/rgb.png
cores=$(getconf _NPROCESSORS_ONLN)
allowed=$(taskset -cp $$ 2>/dev/null | sed 's/.*: //') # such as 0-3,8
first=${allowed%%[!0-9]*}
if [ -z "$first" ]; then
  echo "skipped: no taskset here"
  exit 77
fi

# As `heed`, on the first CPU alone.
program_of=$program
cat >"$bad/on_one" <<SCRIPT
#!/bin/sh
exec taskset -c $first "$program_of" "\$@"
SCRIPT
chmod +x "$bad/on_one"

test_begin all_cores
heed run "$micro" "$picture" --backend cpu --json out.json
expect_exit 0
cp "$here/out.json" "$bad/all.json"
test_end

program=$bad/on_one
test_begin affinity_of_one_core
heed run "$micro" "$picture" --backend cpu --json out.json
expect_exit 0
if [ "$cores" -gt 1 ]; then
  expect_stderr_contains ", 1 thread; CPU affinity allows 1 of $cores cores)"
else
  expect_stderr_contains ", 1 thread)"
fi
grep -o '"logits":[^]]*' "$here/out.json" >"$bad/one"
grep -o '"logits":[^]]*' "$bad/all.json" | cmp -s - "$bad/one" || fail "other logits than on all cores"
test_end

# What was asked for stands, and needs no reason.
test_begin threads_asked_for
heed run "$micro" "$picture" --backend cpu --threads 3
expect_exit 0
expect_stderr_contains ", 3 threads)"
test_end

tests_end
