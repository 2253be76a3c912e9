#!/bin/sh
# What the command line says about attention: modes and the cost of maps in heed inspect --plan, ops in heed bench. No times are judged.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32

test_begin inspect_plan
heed inspect "$micro" --plan --backend cpu
expect_exit 0
expect_stdout_contains "mode, bytes of its maps"
expect_stdout_contains "resident, "
expect_stdout_contains "attention maps: "
test_end

test_begin inspect_plan_json
heed inspect "$micro" --plan --json --backend cpu
expect_exit 0
expect_stdout_contains '"plan": [{"op": "patch_embedding", "output": '
expect_stdout_contains '"dispatches": 1, "flops": '
expect_stdout_contains '"mode": "resident"'
heed inspect "$micro" --json
expect_exit 2
test_end

bench() { # name, what it says, words
  test_begin "bench_$1"
  says=$2
  shift 2
  heed bench --backend cpu --threads 1 --runs 1 --warmup 0 --quiet "$@"
  expect_exit 0
  expect_stdout_contains "$says"
  case "$*" in
    *--in-flight* | *--profile* | *--tokens*,*) ;;
    *) [ "$(wc -l <"$out")" -eq 1 ] || fail "found $(wc -l <"$out") lines, expected one" ;;
  esac
  test_end
}

bench vit "vit shape Ti batch 1 on cpu" --vit Ti
bench vit_maps "vit shape Ti batch 2 with all maps on cpu" --vit Ti --batch 2 --maps
bench vit_json '"what": "vit shape Ti batch 1"' --vit Ti --json
bench tokens "attention 1,1,48,48,64 on cpu" --op attention --tokens 32,48
bench window "attention 1,1,64,64,64 causal window 4 on cpu" --op attention --tokens 64 --causal top_left --window 4
bench streamed "attention 1,2,32,40,8 with weights streamed on cpu" --op attention --shape 1,2,32,40,8 --mode streamed --maps
bench linear_attention "linear_attention 1,1,64,64,64 causal on cpu" --op linear_attention --tokens 64 --causal top_left
bench json '"what": "attention 1,1,32,32,64"' --op attention --tokens 32 --json

bench profile "linear             [5, 12]                     1          1 " --op linear --shape 5,8,12 --profile
bench profile_json '"profile": [{"op": "linear", "shape": "[5, 12]", "steps": 1, "dispatches": 1' --op linear --shape 5,8,12 --profile --json

bench in_flight "stream, 3 in flight: " --op linear --shape 5,8,12 --in-flight 3

wrong() { # name, a part of the sentence, words
  test_begin "bench_$1"
  says=$2
  shift 2
  heed bench --backend cpu --quiet "$@"
  expect_exit 2
  expect_stderr_contains "$says"
  test_end
}

wrong no_such_vit "--vit: unknown size (found \"XL\", expected Ti, S, B or L)" --vit XL
wrong no_such_op "--op: unknown op" --op sorting
wrong no_such_mode "--mode: unknown mode" --op attention --mode fast
wrong no_such_causal "--causal: unknown rule" --op attention --causal right
wrong bad_shape "invalid attention shape" --op attention --shape 1,2,3
wrong bad_tokens "--tokens: invalid list" --op attention --tokens 0
wrong linear_tokens "--tokens: invalid list" --op linear --shape 2,2,2 --tokens 4

tests_end
