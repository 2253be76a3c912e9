#!/bin/sh
# heed survey: killed at 20 random moments, the file is whole each time and the end is the same; so are 10 shards in any order, and any threads.
# HEED_SEED names the moments; a failing test prints it.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

common="--backend cpu --quiet"
python=python3
for tool in python3 /usr/bin/python3; do
  if "$tool" -c 'import sqlite3' 2>/dev/null; then python=$tool; fi
done
if ! "$python" -c 'import sqlite3' 2>/dev/null; then
  test_skip survey_kills "no python3 with sqlite3"
  tests_end
  exit 0
fi
seed=${HEED_SEED:-$(date +%s)}
mkdir "$bad/p"
cp "$vectors/preprocess/rgb.png" "$bad/p/a.png"
echo no >"$bad/p/b.png"
set -- survey "$vectors/../../runtime/demo/model" "$bad/p" --scenes 150 $common --methods rollout --embeddings e

# Prints one hash of all tables but the identity; the file is whole, and its sums are of its rows.
hash() {
  "$python" - "$1" <<'P'
import hashlib, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
if not db.execute("SELECT 1 FROM sqlite_master").fetchone(): sys.exit(print("empty"))
read, = db.execute("SELECT count(*) FROM pictures WHERE error IS NULL").fetchone()
summed = {n for n, in db.execute("SELECT pictures FROM moments WHERE statistic <> 'twin_weight' UNION SELECT pictures FROM map_sums UNION SELECT pictures FROM layer_moments")} or {read}
assert summed == {read}, (summed, read)
scenes = {n for n, in db.execute("SELECT count(twin_weight) FROM heads GROUP BY layer, head")} or {0}
looked = {n for n, in db.execute("SELECT pictures FROM moments WHERE statistic = 'twin_weight'")} or {0}
assert scenes == looked == {db.execute("SELECT count(*) FROM pictures WHERE path LIKE 'scene:%'").fetchone()[0]}, (scenes, looked)
assert db.execute("SELECT count(*) FROM heads").fetchone()[0] == 20 * read == 20 * db.execute("SELECT count(*) FROM embeddings").fetchone()[0]
of = hashlib.sha256()
for table in "pictures", "heads", "moments", "sums", "layer_moments", "layer_sums", "embeddings", "map_sums", "classes":
    for row in db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3" if table not in ("classes", "embeddings") else f"SELECT * FROM {table} ORDER BY 1"):
        of.update(repr(row).encode())
print(of.hexdigest())
P
}

test_begin one_run
begin=$("$python" -c 'import time; print(time.time())')
heed "$@" -o "$bad/whole.sqlite"
took=$("$python" -c "import time; print(time.time() - $begin)")
if grep -q 'this heed has no SQLite' "$err"; then
  test_end
  tests_end
  exit "$broken"
fi
expect_exit 3
whole=$(hash "$bad/whole.sqlite")
rm -rf "$here/e"
test_end

test_begin "killed_20_times_seed_$seed"
kills=0 runs=0
# up to a third of what all takes, so that a survey is killed several times; what reached its end begins anew
while [ "$kills" -lt 20 ] && [ "$runs" -lt 100 ]; do
  runs=$((runs + 1))
  after=$("$python" -c "import random; print(round(max(0.01, random.Random($seed * 100 + $runs).uniform(0, $took / 3)), 3))")
  (cd "$here" && exec timeout -s KILL "$after" "$program" "$@" --commit 2 -o k.sqlite --resume) >/dev/null 2>&1
  killed=$?
  [ ! -e "$here/k.sqlite" ] || [ -n "$(hash "$here/k.sqlite")" ] || fail "the file is not whole after a kill at $after s"
  if [ "$killed" -eq 137 ]; then
    kills=$((kills + 1))
  else
    [ "$(hash "$here/k.sqlite")" = "$whole" ] || fail "another survey after kills"
    rm "$here/k.sqlite"
  fi
done
[ "$kills" -eq 20 ] || fail "found $kills kills, expected 20"
echo "# $kills kills in $runs runs"
heed "$@" -o k.sqlite --resume
expect_exit 3
[ "$(hash "$here/k.sqlite")" = "$whole" ] || fail "another survey after kills"
test_end

test_begin ten_shards_in_any_order
for shard in 7 3 10 1 5 9 2 8 4 6; do heed "$@" --shard "$shard/10" --threads $((shard % 3 + 1)) -o "s$shard.sqlite"; done
n=0
for order in '1 2 3 4 5 6 7 8 9 10' '10 9 8 7 6 5 4 3 2 1' '4 9 1 10 2 7 3 8 5 6'; do
  n=$((n + 1)) parts=
  for shard in $order; do parts="$parts s$shard.sqlite"; done
  # shellcheck disable=SC2086 # words
  heed survey --merge $parts -o "all$n.sqlite"
  expect_exit 0
  [ "$(hash "$here/all$n.sqlite")" = "$whole" ] || fail "another survey by shards $order"
done
test_end

test_begin threads
for threads in 1 2 7; do
  heed "$@" --threads $threads -o "t$threads.sqlite"
  [ "$(hash "$here/t$threads.sqlite")" = "$whole" ] || fail "another survey with $threads threads"
done
test_end

tests_end
