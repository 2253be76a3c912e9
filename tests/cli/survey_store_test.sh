#!/bin/sh
# heed survey -o: shards, interruptions and kills leave the results of one run; bad pictures are rows; docs/surveys.md's SQL runs.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

common="--backend cpu --quiet"
scenes="--scenes 24 $common"
python=python3
for tool in python3 /usr/bin/python3; do
  if "$tool" -c 'import sqlite3' 2>/dev/null; then python=$tool; fi
done
if ! "$python" -c 'import sqlite3' 2>/dev/null; then
  test_skip survey_store "no python3 with sqlite3"
  tests_end
  exit 0
fi
test_begin probe
heed survey --scenes 1 $common -o probe.sqlite
if grep -q 'this heed has no SQLite' "$err"; then
  expect_exit 3
  expect_nothing_written
  test_end
  tests_end
  exit "$broken"
fi
expect_exit 0
expect_stdout_contains 'written: probe.sqlite'
test_end

# Prints one hash of all tables but the identity, after an integrity check.
hash() {
  "$python" - "$1" <<'P'
import hashlib, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
of = hashlib.sha256()
for table in "pictures", "heads", "moments", "sums", "layer_moments", "layer_sums":
    for row in db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3"):
        of.update(repr(row).encode())
print(of.hexdigest())
P
}
# Whether a file of $here holds the same survey as whole.sqlite.
same() { [ "$(hash "$here/$1")" = "$whole" ] || fail "$1: another survey than without interruption"; }

test_begin whole
heed survey $scenes -o whole.sqlite --json whole.json
expect_exit 0
expect_stderr_empty
mv "$here/whole.sqlite" "$here/whole.json" "$bad"
whole=$(hash "$bad/whole.sqlite")
expect_nothing_written
heed survey --merge "$bad/whole.sqlite" --json again.json
expect_exit 0
cmp -s "$here/again.json" "$bad/whole.json" || diff "$here/again.json" "$bad/whole.json" >/dev/null || fail "the stored survey has other numbers"
test_end

# The numbers of each head are those of heed run.
test_begin rows
"$python" - "$bad/whole.sqlite" "$program" <<'P' || fail "rows are others than heed run's"
import json, sqlite3, subprocess, sys
db = sqlite3.connect(sys.argv[1])
names = ["entropy_cls", "entropy_patches", "distance", "distance_renormalised", "prefix_mass", "self_mass", "top5_mass"]
for seed in 1, 24:
    run = json.loads(subprocess.run([sys.argv[2], "run", "--scene", str(seed), "--backend", "cpu", "--quiet", "--json", "-"],
                                    capture_output=True, check=True).stdout)["results"][0]
    row = db.execute("SELECT id, class, error FROM pictures WHERE path = ?", (f"scene:{seed}",)).fetchone()
    assert row[0] == seed - 1 and row[2] is None and row[1] == run["top"][0]["class"], (row, run["top"][0])
    for head in run["heads"]:
        found = db.execute(f"SELECT {', '.join(names)} FROM heads WHERE picture = ? AND layer = ? AND head = ?",
                           (seed - 1, head["layer"], head["head"])).fetchone()
        for name, value in zip(names, found):
            assert abs(value - head[name]) <= 1e-8 * max(1.0, abs(value)), (name, value, head[name])
data, pictures, unit = db.execute("SELECT data, pictures, unit FROM sums WHERE name = 'first_row' AND layer = 0 AND head = 0").fetchone()
row = [int.from_bytes(data[i:i + 8], "little", signed=True) * unit / pictures for i in range(0, len(data), 8)]
assert pictures == 24 and len(row) == 197 and abs(sum(row) - 1) < 1e-5, (pictures, len(row), sum(row))
data, = db.execute("SELECT data FROM sums WHERE name = 'offsets' AND layer = 0 AND head = 0").fetchone()
total = sum(int.from_bytes(data[i:i + 8], "little", signed=True) for i in range(0, len(data), 8)) * unit / pictures
mass, = db.execute("SELECT avg(1 - prefix_mass) FROM heads WHERE layer = 0 AND head = 0").fetchone()
assert len(data) == 27 * 27 * 8 and abs(total - mass) < 1e-5, (len(data), total, mass)
P
test_end

test_begin threads_and_commits
heed survey $scenes --threads 1 --commit 5 -o one.sqlite
same one.sqlite
heed survey $scenes --threads 7 --commit 1 -o seven.sqlite
same seven.sqlite
test_end

# A list is read where it lies: marks of Windows, empty lines, more lines than one mark is for, stdin.
test_begin lists
"$python" - "$vectors/preprocess/rgb.png" "$vectors/preprocess/exact_224.png" >"$bad/list" <<'P'
import sys
print("\ufeff" + "\r\n\n".join(sys.argv[1 + (i % 7 == 0)] for i in range(150)), end="")
P
heed survey "$vectors/vit/micro_32" --list "$bad/list" $common -o list.sqlite
expect_exit 0
cat "$bad/list" | (cd "$here" && "$program" survey "$vectors/vit/micro_32" --list - $common -o stdin.sqlite --commit 7) >"$out" 2>"$err" || fail "stdin: $(cat "$err")"
"$python" - "$here" "$vectors/preprocess/rgb.png" "$vectors/preprocess/exact_224.png" <<'P' || fail "the rows are others than the lines"
import sqlite3, sys
one, two = ([row for row in sqlite3.connect(f"{sys.argv[1]}/{name}.sqlite").execute("SELECT id, path FROM pictures ORDER BY id")] for name in ("list", "stdin"))
assert one == two == [(i, sys.argv[2 + (i % 7 == 0)]) for i in range(150)], one[:9]
P
[ "$(hash "$here/list.sqlite")" = "$(hash "$here/stdin.sqlite")" ] || fail "another survey from stdin"
echo '{}' >"$bad/a.json"
printf '\n%s\n' "$bad/a.json" >>"$bad/list"
heed survey "$vectors/vit/micro_32" --list "$bad/list" $common --json "$bad/a.json"
expect_exit 2
expect_one_sentence survey "a.json: it would overwrite an input (found $bad/a.json of the list"
test_end

test_begin shards
for shard in 3 1 2; do heed survey $scenes --shard "$shard/3" -o "$shard.sqlite"; done
heed survey --merge 2.sqlite 3.sqlite 1.sqlite -o all.sqlite --json all.json
expect_exit 0
expect_stderr_empty
same all.sqlite
cmp -s "$here/all.json" "$bad/whole.json" || fail "JSON: other results than of the whole"
heed survey --merge 2.sqlite 3.sqlite
expect_exit 0
expect_stderr_contains 'not the whole survey (found 2 shards of 3)'
cp "$here/2.sqlite" "$here/twice.sqlite"
heed survey --merge 2.sqlite twice.sqlite -o no.sqlite
expect_exit 2
expect_stderr_contains 'twice.sqlite: shard 2 of 3, which another part is already'
expect_no_file no.sqlite
heed survey --merge 2.sqlite "$bad/whole.sqlite" -o no.sqlite
expect_exit 2
expect_stderr_contains 'a part of another survey (found other shards than in the first part)'
expect_no_file no.sqlite
test_end

# A launcher numbers its processes in the environment.
test_begin launchers
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 heed survey $scenes --shard auto -o 'auto-{}.sqlite'
expect_file auto-2.sqlite
PMI_RANK=0 PMI_SIZE=2 heed survey $scenes --shard auto -o 'auto-{}.sqlite'
expect_file auto-1.sqlite
heed survey --merge auto-1.sqlite auto-2.sqlite -o all.sqlite
same all.sqlite
SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=4 SLURM_PROCID=0 SLURM_NTASKS=1 heed survey $scenes --shard auto -o 'array-{}.sqlite'
expect_file array-2.sqlite
SLURM_PROCID=2 SLURM_NTASKS=3 heed survey $scenes --shard auto -o 'step-{}.sqlite'
expect_file step-3.sqlite
JOB_COMPLETION_INDEX=1 JOB_COMPLETIONS=4 heed survey $scenes --shard auto -o 'index-{}.sqlite'
expect_file index-2.sqlite
heed survey $scenes --shard auto -o no.sqlite
expect_exit 2
expect_no_file no.sqlite
test_end

# Killed at any moment, what was committed is there, and the survey goes on to the same end.
test_begin killed
for after in 0.05 0.1 0.15 0.2 0.3; do
  # shellcheck disable=SC2086
  (cd "$here" && exec timeout -s KILL "$after" "$program" survey $scenes --commit 1 -o k.sqlite --resume) >/dev/null 2>&1
done
heed survey $scenes -o k.sqlite --resume
expect_exit 0
same k.sqlite
test_end

# On storage that machines share there is no write-ahead log, at no moment; the survey is the same, and goes on after kills.
if [ -n "${HEED_SHARED_STORAGE:-}" ]; then
  test_begin shared_storage
  logs() { [ ! -e "$here/n.sqlite-wal" ] && [ ! -e "$here/n.sqlite-shm" ] || fail "a write-ahead log is there"; }
  command='survey with all folders on NFS'
  for after in 0.3 0.6 20; do
    (cd "$here" && LD_PRELOAD=$HEED_SHARED_STORAGE exec timeout -s KILL "$after" "$program" survey $scenes --commit 1 -o n.sqlite --resume) >"$out" 2>"$err"
    logs
  done
  same n.sqlite
  rm "$here/n.sqlite"
  (cd "$here" && LD_PRELOAD=$HEED_SHARED_STORAGE exec "$program" survey --scenes 1 --backend cpu -o n.sqlite) >"$out" 2>"$err" || fail "exit code $?"
  expect_stderr_contains 'heed survey: n.sqlite: a write-ahead log is not safe on storage that machines share; heed uses a rollback journal'
  (cd "$here" && exec timeout -s KILL 3 "$program" survey --scenes 100000 $common -o w.sqlite) >"$out" 2>"$err"
  expect_file w.sqlite-wal # the same without
  test_end
fi

test_begin interrupted
(cd "$here" && exec timeout -s TERM 0.5 "$program" survey --scenes 20000 $common -o s.sqlite) >"$out" 2>"$err"
grep -q 's.sqlite: ended by a signal (found [0-9]* images of 20000; the same command with --resume goes on)' "$err" ||
  [ ! -e "$here/s.sqlite" ] || fail "no sentence says how to go on"
test_end

test_begin other_survey
heed survey $scenes -o "$bad/whole.sqlite"
expect_exit 2
expect_one_sentence survey "whole.sqlite: there is a file (expected a new one; --resume goes on with a survey)"
heed survey $scenes --seed 2 -o "$bad/whole.sqlite" --resume
expect_exit 2
expect_one_sentence survey "another survey (found other images; --resume goes on with the same command)"
heed survey $scenes --precision f16 -o "$bad/whole.sqlite" --resume
[ "$status" -ne 0 ] || fail "other options were taken"
[ "$(hash "$bad/whole.sqlite")" = "$whole" ] || fail "the survey was changed"
cp "$bad/whole.sqlite" "$here/old.sqlite"
"$python" -c "import sqlite3; sqlite3.connect('$here/old.sqlite').execute('PRAGMA user_version = 3')"
for more in "--merge old.sqlite" "--merge $bad/whole.sqlite old.sqlite" "$scenes -o old.sqlite --resume" "--compare $bad/whole.sqlite old.sqlite"; do
  heed survey $more
  expect_exit 3
  expect_one_sentence survey "old.sqlite: a survey of an older heed (found version 3, expected 4; another -o makes it again)"
done
echo text >"$here/text.sqlite"
heed survey --merge text.sqlite
expect_exit 3
expect_one_sentence survey "text.sqlite: "
heed survey --scenes 1 $common --resume
expect_exit 2
heed survey --scenes 1 $common --shard 3/2
expect_exit 2
expect_stderr_contains '--shard: wrong share (found 3/2, expected I/N, as 2/10, or auto under a launcher that heed knows)'
heed survey --merge
expect_exit 2
test_end

# The same path with other weights: the first image is run again and held to its row.
test_begin other_weights
cp -R "$vectors/vit/hf_vit" "$bad/model"
heed survey "$bad/model" "$vectors/preprocess/rgb.png" "$vectors/preprocess/exact_224.png" $common -o w.sqlite
expect_exit 0
heed survey "$bad/model" "$vectors/preprocess/rgb.png" "$vectors/preprocess/exact_224.png" $common -o w.sqlite --resume
expect_exit 0
"$python" - "$bad/model/model.safetensors" <<'P'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
start = 8 + struct.unpack("<Q", data[:8])[0]
for i in range(start, len(data), 4):  # a little smaller, each
    data[i:i + 4] = struct.pack("<f", 0.9 * struct.unpack("<f", data[i:i + 4])[0])
open(sys.argv[1], "wb").write(data)
P
heed survey "$bad/model" "$vectors/preprocess/rgb.png" "$vectors/preprocess/exact_224.png" $common -o w.sqlite --resume
expect_exit 2
expect_one_sentence survey "w.sqlite: another survey (found other numbers of "
test_end

# A file cannot grow further, as on a full disk: what was committed is there, and the survey goes on to the same end.
test_begin full_disk
for blocks in 4000 6000; do # of 512 bytes: some commits
  command="survey with files of at most $blocks blocks" status=0
  # shellcheck disable=SC3045 # dash, bash and busybox have it
  (trap '' XFSZ && cd "$here" && ulimit -f "$blocks" && exec "$program" survey $scenes --commit 1 -o f.sqlite --resume) >"$out" 2>"$err" || status=$?
  expect_exit 3
  expect_stderr_contains 'f.sqlite: cannot write ('
  hash "$here/f.sqlite" >/dev/null || fail "the file is not whole"
done
kept=$("$python" -c "import sqlite3; print(sqlite3.connect('$here/f.sqlite').execute('SELECT count(*) FROM pictures').fetchone()[0])")
case $kept in 0 | 24) fail "found $kept pictures on a full disk, expected some" ;; esac
heed survey $scenes -o f.sqlite --resume
expect_exit 0
same f.sqlite
test_end

test_begin bad_pictures
mkdir -p "$bad/p/deep/deeper"
cp "$vectors/preprocess/rgb.png" "$bad/p/a.png"
cp "$vectors/preprocess/exact_224.png" "$bad/p/deep/deeper/c.png"
echo no >"$bad/p/deep/b.png"
ln -s .. "$bad/p/deep/up"
mkfifo "$bad/p/deep/pipe.png"
ln -s nowhere "$bad/p/deep/gone.png"
"$python" - "$bad/p/deep/bomb.png" <<'P'
import struct, sys, zlib
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 100000, 100000, 8, 2, 0, 0, 0)) +
                              chunk(b"IDAT", zlib.compress(bytes(10**7))) + chunk(b"IEND", b""))
P
heed survey "$vectors/vit/micro_32" "$bad/p" --recursive $common -o p.sqlite
expect_exit 3
expect_stderr_contains "images: cannot read all (found 4 bad ones of 6)"
"$python" - "$here/p.sqlite" <<'P' || fail "the rows are others"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
rows = db.execute("SELECT path, error FROM pictures ORDER BY id").fetchall()
assert [path.rsplit("/", 1)[1] for path, _ in rows] == ["a.png", "b.png", "bomb.png", "gone.png", "pipe.png", "c.png"], rows
assert [error is None for _, error in rows] == [True, False, False, False, False, True] and "b.png: " in rows[1][1], rows
assert "bomb.png: image too large (found 100000 x 100000 pixels, " in rows[2][1] and "gone.png: " in rows[3][1], rows
assert rows[4][1].endswith("pipe.png: not a file (found a pipe, expected an image)"), rows
P
heed survey "$vectors/vit/micro_32" "$bad/p" --recursive $common -o strict.sqlite --strict
expect_exit 3
heed survey "$vectors/vit/micro_32" "$bad/p" --recursive $common -o strict.sqlite --resume
expect_exit 3
[ "$(hash "$here/p.sqlite")" = "$(hash "$here/strict.sqlite")" ] || fail "another survey after --strict and --resume"
test_end

# Which heads moved, beside Python's statistics of the rows. Deviations of 0.55 in the place of the model's change every head a little.
test_begin compare
heed survey $scenes --std 0.55 -o other.sqlite
heed survey --compare "$bad/whole.sqlite" other.sqlite --json compare.json --report compare.html
expect_exit 0
expect_stdout_contains '24 images in both; '
"$python" - "$bad/whole.sqlite" "$here/other.sqlite" "$here/compare.json" <<'P' || fail "the comparison is another than Python's"
import json, math, sqlite3, statistics, sys
a, b = (sqlite3.connect(path) for path in sys.argv[1:3])
found = json.load(open(sys.argv[3]))
assert found["images"] == 24 and len(found["heads"]) == 20
tests = []
for head in found["heads"]:
    for name in [key for key in head if key not in ("layer", "head")]:
        query = f"SELECT {name} FROM heads WHERE layer = {head['layer']} AND head = {head['head']} ORDER BY picture"
        changes = [y - x for (x,), (y,) in zip(a.execute(query), b.execute(query))]
        mean, spread = statistics.mean(changes), statistics.stdev(changes)
        of = head[name]
        assert abs(of["change"] - mean) <= 1e-8 * max(map(abs, changes)) and abs(of["spread"] - spread) <= 1e-7 * spread, (of, mean, spread)
        t = mean / (spread / math.sqrt(24))
        assert abs(of["t"] - t) <= 1e-6 * abs(t), (of, t)
        tests.append((abs(t), of["p"]))
tests.sort(reverse=True)
ps = [p for _, p in tests]
assert len(ps) == 140 and ps == sorted(ps) and ps[0] < 0.05, ps
P
grep -q 'What moved' "$here/compare.html" && grep -q '</html>' "$here/compare.html" || fail "no report of what moved"
heed survey --compare "$bad/whole.sqlite" "$bad/whole.sqlite"
expect_stdout_contains '; 0 of 140 statistics of heads moved'
heed survey "$vectors/vit/micro_32" "$vectors/preprocess/rgb.png" $common -o micro.sqlite
heed survey --compare "$bad/whole.sqlite" micro.sqlite
expect_exit 2
expect_one_sentence survey "micro.sqlite: other heads than the first survey"
heed survey --scenes 24 --seed 100 $common -o later.sqlite
heed survey --compare "$bad/whole.sqlite" later.sqlite
expect_exit 2
expect_one_sentence survey "later.sqlite: no pairs with the first survey (found 0 images"
heed survey --compare "$bad/whole.sqlite"
expect_exit 2
heed survey "$vectors/vit/micro_32" "$vectors/preprocess/rgb.png" "$vectors/preprocess/rgb.png" $common -o twice.sqlite
heed survey --compare twice.sqlite twice.sqlite
expect_exit 2
expect_one_sentence survey "twice.sqlite: the same image twice (found "
test_end

# What is gathered and shown, beside the maps and states that heed run saves: means, shares, norms, typical images.
test_begin exports
heed survey --scenes 4 $common -o e.sqlite --json e.json --save e.safetensors --report e.html --typical 2 --by distance
expect_exit 0
for seed in 1 2 3 4; do
  heed run --scene "$seed" $common --layer all --save-only 'attention.*,layer.*.output' --save "m$seed.safetensors"
  heed demo --scene "$seed" $common --save "scene$seed.json"
done
"$python" "$(dirname "$0")/survey_exports.py" "$here" || fail "a survey shows other numbers than its maps have"
heed survey --merge e.sqlite --report again.html --json again.json --typical 2 --by distance
expect_exit 0
cmp -s "$here/again.json" "$here/e.json" || fail "the stored survey has other exports"
heed survey --scenes 2 $common --report memory.html
expect_exit 0
grep -q '</html>' "$here/memory.html" || fail "no report of a survey that is not stored"
heed survey --scenes 2 $common --by size
expect_exit 2
expect_one_sentence survey "--by: unknown statistic (found size, expected one of entropy_cls, "
heed survey --scenes 2 $common --typical 33
expect_exit 2
expect_one_sentence survey "--typical: wrong number of images (found 33, expected 1 to 32)"
test_end

# Each question of the page, on a real survey.
test_begin questions
"$python" - "$bad/whole.sqlite" "$(dirname "$0")/../../docs/surveys.md" <<'P' || fail "a query of docs/surveys.md fails"
import re, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
queries = re.findall(r"```sql\n(.*?)```", open(sys.argv[2], encoding="utf-8").read(), re.S)
assert len(queries) >= 12, len(queries)
for query in queries:
    rows = db.execute(query).fetchall()
    assert rows or "failed_pictures" in query or "prefix_mass" in query or "unusual" in query, query
P
test_end

tests_end
