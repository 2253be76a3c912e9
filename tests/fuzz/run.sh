#!/bin/sh
# run.sh BUILD FOLDER MINUTES JOBS: all fuzzers of a build (preset `fuzz`), JOBS at a time, for MINUTES in all. FOLDER keeps an input for
# each thing that was reached (FOLDER/corpus/NAME, merged after each run), inputs that failed (FOLDER/failed/NAME) and logs.
# Prints a line a fuzzer. Exit code 1: something failed.
set -eu
if [ "$1" = --one ]; then
  build=$2 folder=$3 seconds=$4 name=$5
  corpus=$folder/corpus/$name failed=$folder/failed/$name log=$folder/$name.log
  mkdir -p "$corpus" "$failed"
  "$build/tests/$name" --write "$corpus" "$folder/$name.dict"
  status=0
  # A fuzzer that fails stops, and the line at the end says so; it starts again with the next run.
  "$build/tests/${name}_engine" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=3072 -max_len=65536 -dict="$folder/$name.dict" \
    -artifact_prefix="$failed/" -print_final_stats=1 "$corpus" >"$log" 2>&1 || status=$?
  rm -rf "$corpus.merged"
  mkdir "$corpus.merged"
  if "$build/tests/${name}_engine" -merge=1 -rss_limit_mb=3072 "$corpus.merged" "$corpus" >"$log.merge" 2>&1; then
    rm -rf "$corpus"
    mv "$corpus.merged" "$corpus"
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  printf '%s: %s executions, %s edges, %s inputs kept, %s\n' "$name" "${executions:-?}" "${covered:-?}" "$(find "$corpus" -type f | wc -l)" \
    "$([ "$status" -eq 0 ] && echo 'nothing failed' || echo "FAILED: $log")"
  printf '%s %s %s %s\n' "$(date -u +%F)" "$name" "${executions:-0}" "$status" >>"$folder/executions.txt"
  exit "$status"
fi

build=$1 folder=$2 minutes=$3 jobs=$4
case $minutes in '' | *[!0-9]* | 0*) echo "MINUTES: not a whole number of minutes (found ${minutes:-nothing}, expected 1 or more)" >&2; exit 2 ;; esac
mkdir -p "$folder"
names=$(cd "$build/tests" && for file in fuzz_*_engine; do echo "${file%_engine}"; done)
count=$(printf '%s\n' "$names" | wc -l)
seconds=$((minutes * 60 * jobs / count))
[ "$seconds" -gt 0 ] || seconds=1
# xargs: 123 where a command failed
printf '%s\n' "$names" | xargs -P "$jobs" -I NAME sh "$0" --one "$build" "$folder" "$seconds" NAME || exit 1
