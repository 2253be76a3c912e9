#!/bin/sh
# The demo model gives the same answers to 1,000 fresh scenes on every backend: digests of 200 each, which web/test/api/score.test.js asks the
# WASM module for too. HEED_TEST_BACKEND: cpu or vulkan.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"
backend=${HEED_TEST_BACKEND:-cpu}

while read -r seed digest; do
  test_begin "${backend}_answers_from_seed_$seed"
  heed demo --score 200 --seed "$seed" --backend "$backend" --device 0 --quiet
  expect_exit 0
  expect_stdout_contains "on $backend ("
  expect_stdout_contains "answers: digest $digest"
  test_end
done <"$vectors/demo/answers.txt"

tests_end
