#!/bin/sh
# heed survey under mpirun: 1, 2 and 4 ranks give the tables of one process, bad pictures too; what a killed rank leaves goes on.
# HEED is a build with MPI.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

common="--backend cpu --threads 1"
python=/usr/bin/python3
if ! command -v mpirun >/dev/null || ! "$python" -c 'import sqlite3' 2>/dev/null; then
  test_skip survey_ranks "no mpirun, or no python3 with sqlite3"
  tests_end
  exit 0
fi
# Open MPI's: a container's root, one machine, more ranks than cores
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader OMPI_MCA_plm=isolated
OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_btl OMPI_MCA_plm
export OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_btl_vader_single_copy_mechanism

ranks() { # how many, arguments...
  count=$1 status=0
  shift
  command="$* under mpirun -n $count"
  (cd "$here" && exec mpirun -n "$count" "$program" "$@") >"$out" 2>"$err" </dev/null || status=$?
}

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

mkdir "$bad/p"
cp "$vectors/preprocess/rgb.png" "$bad/p/a.png"
echo no >"$bad/p/b.png"
set -- survey "$vectors/../../runtime/demo/model" "$bad/p" --scenes 90 $common

test_begin one_process
heed "$@" --quiet -o "$bad/whole.sqlite" --json "$bad/whole.json"
expect_exit 3
whole=$(hash "$bad/whole.sqlite")
test_end

for n in 1 2 4; do
  test_begin "ranks_$n"
  ranks "$n" "$@" --quiet -o all.sqlite --json all.json
  [ "$status" -ne 0 ] || fail "a bad picture, and exit code 0"
  expect_stderr_contains 'heed survey: images: cannot read all (found 1 bad ones of 92)'
  [ "$(hash "$here/all.sqlite")" = "$whole" ] || fail "another survey than of one process"
  cmp -s "$here/all.json" "$bad/whole.json" || fail "other JSON than of one process"
  rm -f "$here/all.sqlite" "$here/all.json"
  expect_nothing_written # the ranks' own files
  test_end
done

# A rank is killed in the middle; mpirun ends the others. The same command goes on.
test_begin killed
command='survey under mpirun, rank 1 killed'
cat >"$bad/kill_one" <<'S'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 1 ] || exec "$@"
"$@" &
for try in $(seq 600); do # until it has committed something
  [ ! -s all.sqlite.rank-1-wal ] || [ "$(wc -c <all.sqlite.rank-1-wal)" -lt 1000000 ] || break
  sleep 0.1
done
kill -KILL $!
wait
exit 1
S
chmod +x "$bad/kill_one"
(cd "$here" && exec mpirun -n 3 "$bad/kill_one" "$program" survey "$vectors/../../runtime/demo/model" "$bad/p" --scenes 4000 $common --quiet --commit 1 -o all.sqlite --resume) \
  >"$out" 2>"$err" </dev/null && fail "a killed rank, and exit code 0"
expect_no_file all.sqlite
expect_file all.sqlite.rank-1
done_of=$("$python" -c "
import sqlite3, glob
print(sum(sqlite3.connect(f).execute('SELECT count(*) FROM pictures').fetchone()[0] for f in glob.glob('$here/all.sqlite.rank-?')))")
[ "$done_of" -gt 0 ] && [ "$done_of" -lt 4002 ] || fail "found $done_of pictures of 4002 after the kill"
test_end

test_begin resumed
for after in 1 2; do
  (cd "$here" && exec timeout -s KILL "$after" mpirun -n 2 "$program" "$@" --quiet --commit 1 -o all.sqlite --resume) >/dev/null 2>&1 </dev/null
done
ranks 2 "$@" --quiet -o all.sqlite --resume
[ -e "$here/all.sqlite" ] && [ "$(hash "$here/all.sqlite")" = "$whole" ] || fail "another survey after kills"
test_end

test_begin refused
: >"$here/all.sqlite"
ranks 2 survey --scenes 2 $common --quiet -o all.sqlite
[ "$status" -ne 0 ] || fail "a file was replaced"
expect_stderr_contains 'all.sqlite: there is a file (expected a new one; --resume goes on with the parts of the ranks)'
test_end

tests_end
