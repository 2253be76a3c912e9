#!/bin/sh
# heed survey of tar archives: the pictures of webdatasets, compressed ones, stdin, shards, and archives that break off.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

micro=$vectors/vit/micro_32
common="--backend cpu --quiet"
python=python3
for tool in python3 /usr/bin/python3; do
  if "$tool" -c 'import sqlite3, tarfile' 2>/dev/null; then python=$tool; fi
done
if ! "$python" -c 'import sqlite3, tarfile' 2>/dev/null; then
  test_skip survey_tar "no python3 with sqlite3"
  tests_end
  exit 0
fi

# Ten samples in two archives, with labels before and after their pictures, and what is no picture.
"$python" - "$vectors/preprocess" "$bad" <<'P' || exit 1
import io, sys, tarfile
vectors, to = sys.argv[1:3]
pictures = [open(f"{vectors}/{name}", "rb").read() for name in ("rgb.png", "rgb.jpg", "exact_224.png")]
def add(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))
def samples(tar, first, last):
    for i in range(first, last):
        if i % 3 == 0: add(tar, f"s/{i:04}.cls", b"%d\n" % (i + 100))
        add(tar, f"s/{i:04}.json", b"{}")
        add(tar, f"s/{i:04}.{'jpg' if i % 3 == 1 else 'png'}", pictures[i % 3])
        if i % 3 == 1: add(tar, f"s/{i:04}.cls", b"%d" % (i + 100))
    add(tar, "s/._hidden.png", b"no")
for name, mode in ("a.tar", "w"), ("a.tar.gz", "w:gz"), ("a.tar.bz2", "w:bz2"), ("a.tar.xz", "w:xz"), ("named", "w"):
    with tarfile.open(f"{to}/{name}", mode, format=tarfile.PAX_FORMAT) as tar: samples(tar, 0, 5)
with tarfile.open(f"{to}/b.tar", "w", format=tarfile.GNU_FORMAT) as tar: samples(tar, 5, 10)
with tarfile.open(f"{to}/bad.tar", "w") as tar:
    add(tar, "a.png", pictures[0])
    add(tar, "b.png", b"no picture")
    add(tar, "empty.png", b"")
    add(tar, "Ä/" + "x" * 200 + ".png", pictures[0])
    add(tar, "c.png", pictures[2])
whole = open(f"{to}/bad.tar", "rb").read()
cut = whole.rindex(pictures[2][:100]) + len(pictures[2]) // 2
open(f"{to}/cut.tar", "wb").write(whole[:cut])
open(f"{to}/cut.tar.gz", "wb").write(open(f"{to}/a.tar.gz", "rb").read()[:-300])
open(f"{to}/no.tar", "wb").write(b"no archive at all\n" * 100)
open(f"{to}/gap.tar", "wb").write(whole[:1536 + len(pictures[0]) // 512 * 512] + b"\x55" * 2048 + whole[8192:])
P

# Columns of a survey's pictures, without the archive's folder; also in $bad/rows.
rows() { # file, columns
  "$python" - "$1" "$2" "$bad" <<'P' >"$bad/rows"
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(f"SELECT {sys.argv[2]} FROM pictures ORDER BY id"):
    print(*[str(v).replace(sys.argv[3] + "/", "") for v in row])
P
  cat "$bad/rows"
}

test_begin probe
heed survey "$micro" "$bad/a.tar" $common -o probe.sqlite
if grep -q 'this heed has no' "$err"; then
  expect_exit 3
  expect_nothing_written
  test_end
  tests_end
  exit "$broken"
fi
expect_exit 0
expect_stderr_empty
expect_stdout_contains '; 5 images'
test_end

# The same numbers as of the unpacked files, in any packing; labels by the rule of webdatasets.
test_begin as_unpacked
mkdir "$bad/files"
tar -C "$bad/files" -xf "$bad/a.tar"
heed survey "$micro" "$bad/files/s" $common --json files.json
expect_exit 0
for archive in a.tar a.tar.gz a.tar.bz2 a.tar.xz; do
  heed survey "$micro" "$bad/$archive" $common --json "$archive.json"
  expect_exit 0
  cmp -s "$here/$archive.json" "$here/files.json" || fail "$archive: other numbers than of its files"
done
heed survey "$micro" --tar "$bad/named" $common --json named.json
cmp -s "$here/named.json" "$here/files.json" || fail "--tar: other numbers than of its files"
heed survey "$micro" "$bad/a.tar" "$bad/b.tar" $common -o two.sqlite
expect_exit 0
[ "$(rows "$here/two.sqlite" 'path, label')" = "a.tar/s/0000.png 100
a.tar/s/0001.jpg 101
a.tar/s/0002.png None
a.tar/s/0003.png 103
a.tar/s/0004.jpg 104
b.tar/s/0005.png None
b.tar/s/0006.png 106
b.tar/s/0007.jpg 107
b.tar/s/0008.png None
b.tar/s/0009.png 109" ] || fail "other pictures: $(rows "$here/two.sqlite" 'path, label')"
test_end

# stdin is read once; archives stand between files and lists.
test_begin standard_input
command='survey --tar - <a.tar'
(cd "$here" && cat "$bad/a.tar.gz" | "$program" survey "$micro" --tar - $common -o in.sqlite --report in.html) >"$out" 2>"$err" || fail "stdin: exit code $?"
[ "$(rows "$here/in.sqlite" 'path, error')" = "stdin/s/0000.png None
stdin/s/0001.jpg None
stdin/s/0002.png None
stdin/s/0003.png None
stdin/s/0004.jpg None" ] || fail "other pictures of stdin"
echo "$vectors/preprocess/rgb.jpg" >"$bad/list"
heed survey "$micro" "$bad/b.tar" --list "$bad/list" "$vectors/preprocess/rgb.png" --scenes 1 $common -o all.sqlite
expect_exit 0
[ "$(rows "$here/all.sqlite" path | sed 's,.*/preprocess/,,' | tr '\n' ' ')" = \
  "rgb.png b.tar/s/0005.png b.tar/s/0006.png b.tar/s/0007.jpg b.tar/s/0008.png b.tar/s/0009.png rgb.jpg scene:1 " ] ||
  fail "another order: $(rows "$here/all.sqlite" path)"
test_end

# Shards skip forward, --resume goes back to the first picture, and reports find pictures in archives again.
test_begin shards_and_resume
heed survey "$micro" "$bad/a.tar" "$bad/b.tar" $common -o whole.sqlite --json whole.json
for shard in 2 3 1; do
  heed survey "$micro" "$bad/a.tar" "$bad/b.tar" $common --shard "$shard/3" -o "$shard.sqlite"
  heed survey "$micro" "$bad/a.tar" "$bad/b.tar" $common --shard "$shard/3" -o "$shard.sqlite" --resume
  expect_exit 0
done
heed survey --merge 1.sqlite 2.sqlite 3.sqlite -o all.sqlite --json all.json --report all.html
expect_exit 0
cmp -s "$here/all.json" "$here/whole.json" || fail "shards: another survey"
grep -q 'background-image:url(data' "$here/all.html" || fail "the report has no pictures of archives"
test_end

# A member that cannot be read is a row, an archive that breaks off one more.
test_begin broken
heed survey "$micro" "$bad/bad.tar" $common -o bad.sqlite
expect_exit 3
expect_stderr_contains 'images: cannot read all (found 2 bad ones of 5)'
[ "$(rows "$here/bad.sqlite" 'error IS NULL' | tr '\n' ' ')" = '1 0 0 1 1 ' ] || fail "other rows are bad: $(rows "$here/bad.sqlite" 'path, error')"
heed survey "$micro" "$bad/cut.tar" "$bad/a.tar" $common -o cut.sqlite
expect_exit 3
[ "$(rows "$here/cut.sqlite" 'error IS NULL' | tr '\n' ' ')" = '1 0 0 1 0 0 1 1 1 1 1 ' ] || fail "cut.tar: $(rows "$here/cut.sqlite" 'path, error')"
rows "$here/cut.sqlite" error >/dev/null
grep -q '^cut.tar/c.png: cannot read the file (' "$bad/rows" || fail "no sentence of a member that is cut: $(rows "$here/cut.sqlite" error)"
heed survey "$micro" "$bad/cut.tar.gz" "$bad/a.tar" $common -o gz.sqlite
expect_exit 3
rows "$here/gz.sqlite" 'path, error' >/dev/null
grep -q '^cut.tar.gz cut.tar.gz: cannot read the archive to its end (' "$bad/rows" ||
  fail "no row of what is lost: $(rows "$here/gz.sqlite" 'path, error')"
heed survey "$micro" "$bad/gap.tar" "$bad/a.tar" $common -o gap.sqlite
expect_exit 3
rows "$here/gap.sqlite" 'path, error' >/dev/null
grep -q '^gap.tar gap.tar: cannot read the archive to its end (' "$bad/rows" ||
  fail "no row of what is lost behind a gap: $(rows "$here/gap.sqlite" 'path, error')"
heed survey "$micro" "$bad/a.tar" "$bad/none.tar" "$bad/no.tar" $common -o none.sqlite
expect_exit 3
[ "$(rows "$here/none.sqlite" 'error IS NULL' | tr '\n' ' ')" = '1 1 1 1 1 0 0 ' ] || fail "none.tar: $(rows "$here/none.sqlite" 'path, error')"
mkfifo "$bad/pipe.tar"
heed survey "$micro" "$bad/a.tar" "$bad/pipe.tar" $common -o pipe.sqlite
expect_exit 3
heed survey "$micro" "$bad/a.tar" $common --most-bytes 1000 -o large.sqlite
expect_exit 3
expect_stderr_contains 'file too large (--most-bytes N takes larger ones)'
test_end

test_begin refused
heed survey "$micro" "$bad/a.tar" $common --most-images 4
expect_exit 3
expect_one_sentence survey "images: too many in one run (found more than 4, "
heed survey "$micro" "$bad/a.tar" $common --json "$bad/a.tar"
expect_exit 2
cmp -s "$bad/a.tar" "$bad/named" || fail "the archive was overwritten"
test_end
mkdir "$bad/nothing" && tar -C "$bad" -cf "$bad/nothing.tar" nothing
bad_input no_pictures "nothing.tar: an archive without images" survey "$micro" "$bad/nothing.tar" $common

tests_end
