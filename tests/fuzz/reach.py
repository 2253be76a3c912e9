#!/usr/bin/env python3
"""What of each reader its own fuzzers reach: lines and branches by llvm-cov, beside floors.

  reach.py BUILD FOLDER [--make] [--seconds N] [--only READER,...] [--list] [--again]

BUILD is a tree of the preset fuzz-reach; --make configures and builds it, and makes the seeds of each fuzzer in FOLDER/seeds/NAME
(seeds.sh). Each fuzzer has N seconds of processor time (60; 0: seeds alone). In two thirds of them libFuzzer adds to the seeds; in the
last third an allocation or a read of each fails, at one point after another. Nothing else counts. readers.txt has the readers, their
floors and their fuzzers; unreached.txt which statements no input can reach, each with a reason. --list prints what was not reached,
--again reads what the last run reached. Exit code 1: a reader is below its floor, or a line of unreached.txt is none of the source.
"""
import argparse, fnmatch, glob, json, os, shutil, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests/fuzz")


def rows(name):
    with open(os.path.join(HERE, name)) as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                yield number, line.rstrip("\n")


def readers():
    """NAME LINES BRANCHES FUZZER,... PATTERN...: the floors and the sources of a reader."""
    for number, line in rows("readers.txt"):
        name, least_lines, least_branches, fuzzers, *patterns = line.split()
        files = []
        for pattern in patterns:
            found = sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))
            if not found:
                sys.exit(f"tests/fuzz/readers.txt:{number}: {pattern} fits no file (expected one of the sources)")
            files += found
        yield name, {"lines": float(least_lines), "branches": float(least_branches)}, fuzzers.split(","), sorted(set(files))


def excluded():
    """PATTERN | TEXT | REASON: statements with this text, in files that the pattern fits."""
    for number, line in rows("unreached.txt"):
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 3 or not all(parts):
            sys.exit(f"tests/fuzz/unreached.txt:{number}: expected PATTERN | TEXT | REASON (found \"{line}\")")
        yield number, parts[0], parts[1]


def statement(source, at):
    """The lines of the statement that a line is part of, with the `if` before it."""
    first = last = at
    while first > 0 and source[first - 1].strip() and source[first - 1].strip()[-1] not in ";{}/":
        first -= 1
    while last + 1 < len(source) and source[last].rstrip()[-1:] not in (";", "{", "}"):
        last += 1
    return range(first, last + 1)


def tool(name):
    for version in ("", "-14", "-16", "-18", "-19"):
        for folder in os.environ["PATH"].split(":"):
            if os.access(os.path.join(folder, name + version), os.X_OK):
                return name + version
    print(f"skipped: no {name} here", file=sys.stderr)
    sys.exit(77)


def make(build, folder):
    """Builds the fuzzers and what makes their seeds, and makes these."""
    ccache = shutil.which("ccache")
    with open(os.path.join(folder, "make.log"), "w") as log:
        for command in (["cmake", "--preset", "fuzz-reach", "-B", build] + ([f"-DCMAKE_C_COMPILER_LAUNCHER={ccache}"] if ccache else []),
                        ["ninja", "-C", build, "fuzzers", "fuzz_seeds"], ["sh", os.path.join(HERE, "seeds.sh"), build, folder]):
            if subprocess.run(command, cwd=ROOT, stdout=log, stderr=log).returncode:
                sys.exit(f"failed: {' '.join(command)} ({folder}/make.log)")


def grow(command, seconds, log):
    """Runs a fuzzer for so much processor time; each input that reaches something new is kept. 0, or what it failed with."""
    if not seconds:
        return 0
    fuzzer = subprocess.Popen(command, stdout=log, stderr=log, env=dict(os.environ, LLVM_PROFILE_FILE="/dev/null"))
    while fuzzer.poll() is None:
        with open(f"/proc/{fuzzer.pid}/stat") as stat:
            used = sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        if used >= seconds:
            fuzzer.kill()
            fuzzer.wait()
            return 0
        time.sleep(0.2)
    return fuzzer.returncode


def run_fuzzer(build, folder, name, seconds):
    """Runs a fuzzer over its seeds and for some time; returns the profiles."""
    profile, failing = (os.path.join(folder, f"{name}{part}.profraw") for part in ("", "-fail"))
    if seconds < 0:
        return [profile, failing], 0
    corpus = os.path.join(folder, "grown", name)
    subprocess.run(["rm", "-rf", corpus, profile], check=True)
    os.makedirs(corpus)
    seeds = os.path.join(folder, "seeds", name)
    words = os.path.join(folder, f"{name}.dict")
    subprocess.run([os.path.join(build, "tests", name), "--write", corpus, words], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, LLVM_PROFILE_FILE="/dev/null"))
    command = [os.path.join(build, "tests", name + "_engine"), "-timeout=120", "-rss_limit_mb=3072", "-max_len=65536", f"-dict={words}",
               f"-artifact_prefix={folder}/{name}-", "-print_final_stats=1"]
    places = [corpus] + ([seeds] if os.path.isdir(seeds) else [])
    with open(os.path.join(folder, f"{name}.log"), "w") as log:
        status = grow(command + places, seconds * 2 / 3, log)
        # What was reached is what the inputs reach that were kept.
        if not status:
            status = subprocess.run(command + ["-runs=0"] + places, stdout=log, stderr=log, env=dict(os.environ, LLVM_PROFILE_FILE=profile)).returncode
        if not status:
            status = subprocess.run([os.path.join(build, "tests", name), "--fail", str(seconds / 3)] + places, stdout=log, stderr=log,
                                    env=dict(os.environ, LLVM_PROFILE_FILE=failing)).returncode
    if status:
        print(f"{name}: failed: {folder}/{name}.log", file=sys.stderr)
    return [profile, failing], status


def counts(build, fuzzers, profiles, folder, files):
    """(path, line) to a count, and (path, line, column, way) to a count."""
    data = os.path.join(folder, "-".join(fuzzers) + ".profdata")
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", "-o", data] + profiles, check=True)
    engines = [os.path.join(build, "tests", name + "_engine") for name in fuzzers]
    objects = [engines[0]] + [part for engine in engines[1:] for part in ("-object", engine)]
    common = objects + [f"-instr-profile={data}"]
    lines, branches = {}, {}
    text = subprocess.run([tool("llvm-cov"), "export", "-format=lcov"] + common + files, check=True, capture_output=True,
                          text=True).stdout
    path = None
    for row in text.splitlines():
        if row.startswith("SF:"):
            path = os.path.normpath(row[3:])
        elif row.startswith("DA:") and path in files:
            line, count = row[3:].split(",")[:2]
            lines[path, int(line)] = lines.get((path, int(line)), 0) + int(count)
    text = subprocess.run([tool("llvm-cov"), "export", "-format=text", "-skip-functions"] + common + files, check=True,
                          capture_output=True, text=True).stdout

    def take(path, line, column, found):
        for way, count in enumerate(found):
            branches[path, line, column, way] = branches.get((path, line, column, way), 0) + count
    for unit in json.loads(text)["data"]:
        for file in unit["files"]:
            path = os.path.normpath(file["filename"])
            if path not in files:
                continue
            for b in file.get("branches", []):
                take(path, b[0], b[1], b[4:6])
            for expansion in file.get("expansions", []):
                place = expansion["source_region"]
                for b in expansion.get("branches", []):
                    take(path, place[0], (place[1], b[0], b[1]), b[4:6])
    return lines, branches


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    for name in ("llvm-cov", "llvm-profdata", "clang", "clang++"):
        tool(name)
    if options.make:
        make(os.path.abspath(options.build), os.path.abspath(options.folder))
    wanted = [row for row in readers() if not options.only or row[0] in options.only.split(",")]
    left_out = list(excluded())
    used, failed = set(), False
    profiles = {}
    print("| reader | fuzzers | lines | reached | branches | reached |\n|---|---|---|---|---|---|")
    for name, floors, fuzzers, files in wanted:
        for fuzzer in fuzzers:
            if fuzzer not in profiles:
                profiles[fuzzer], status = run_fuzzer(options.build, options.folder, fuzzer, -1 if options.again else options.seconds)
                failed = failed or status != 0
        lines, branches = counts(options.build, fuzzers, [profile for f in fuzzers for profile in profiles[f]], options.folder, files)
        skipped = set()
        for file in files:
            relative = os.path.relpath(file, ROOT)
            source = open(file).read().split("\n")
            for number, pattern, text in left_out:
                if fnmatch.fnmatch(relative, pattern):
                    for at, line in enumerate(source):
                        if text in line:
                            used.add(number)
                            skipped |= {(file, of + 1) for of in statement(source, at)}
        kept = {key: count for key, count in lines.items() if (key[0], key[1]) not in skipped}
        ways = {key: count for key, count in branches.items() if (key[0], key[1]) not in skipped}
        share = {}
        for kind, found in (("lines", kept), ("branches", ways)):
            share[kind] = 100.0 * sum(1 for count in found.values() if count) / max(1, len(found))
        print(f"| {name} | {', '.join(fuzzers)} | {len(kept)} | {share['lines']:.1f} % | {len(ways)} | {share['branches']:.1f} % |", flush=True)
        for kind, floor in floors.items():
            if share[kind] < floor:
                failed = True
                print(f"{name}: too few {kind} are reached (found {share[kind]:.1f} %, expected {floor:.1f} %)", file=sys.stderr)
        if options.list:
            report = {}
            for (file, at), count in kept.items():
                if not count:
                    report.setdefault((file, at), set()).add("line")
            for (file, at, column, way), count in ways.items():
                if not count:
                    report.setdefault((file, at), set()).add("never " + ("true", "false")[way])
            for (file, at), what in sorted(report.items()):
                print(f"  {os.path.relpath(file, ROOT)}:{at}: {', '.join(sorted(what))}: {open(file).read().split(chr(10))[at - 1].strip()}")
    if not options.only:
        for number, pattern, text in left_out:
            if number not in used:
                failed = True
                print(f"tests/fuzz/unreached.txt:{number}: no line has \"{text}\" in {pattern} (expected one of a reader)", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
