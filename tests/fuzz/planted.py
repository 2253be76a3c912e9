#!/usr/bin/env python3
"""Plants one fault after another in the readers, and sees whether their fuzzers find it.

  planted.py FOLDER [--seconds N] [--only NAME,...] [--enough N]

FOLDER/seeds has the seeds of each fuzzer (seeds.sh). The sources are copied to FOLDER/planted and built there as the preset fuzz does it;
planted.txt has the faults. Each fuzzer first runs its seeds without a fault, then with it for at most N seconds (600). Prints a row a
fault: found or missed, after how many seconds, and by what. Exit code 1: fewer than --enough (default: all but two) were found.
"""
import argparse, os, re, shutil, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def faults():
    """NAME FUZZER PATH, then lines with "- " that become those with "+ ": several pairs for a fault of several lines."""
    found, name = [], None
    with open(os.path.join(ROOT, "tests/fuzz/planted.txt")) as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith("- "):
                found[-1]["changes"].append([line[2:], None])
            elif line.startswith("+ "):
                found[-1]["changes"][-1][1] = line[2:]
            elif line and not line.startswith("#"):
                if len(line.split()) != 3:
                    sys.exit(f"tests/fuzz/planted.txt:{number}: expected NAME FUZZER PATH (found \"{line}\")")
                name, fuzzer, path = line.split()
                found.append({"name": name, "fuzzer": fuzzer, "path": path, "changes": []})
    return found


def run(command, log, **more):
    with open(log, "w") as out:
        return subprocess.run(command, stdout=out, stderr=out, **more).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--only", default="")
    parser.add_argument("--enough", type=int, default=-1)
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    planted = os.path.join(folder, "planted")
    source, build, log = (os.path.join(planted, name) for name in ("source", "build", "log"))
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True).stdout.split("\n")
    for path in filter(None, listed):
        here, there = os.path.join(ROOT, path), os.path.join(source, path)
        if not os.path.isfile(here):
            continue
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if not os.path.exists(there) or open(here, "rb").read() != open(there, "rb").read():
            shutil.copy(here, there)
    environment = dict(os.environ, CCACHE_BASEDIR=source, CCACHE_NOHASHDIR="1", ASAN_OPTIONS="detect_leaks=1:abort_on_error=0",
                       UBSAN_OPTIONS="halt_on_error=1")
    ccache = shutil.which("ccache")
    configure = ["cmake", "--preset", "fuzz", "-B", build, "-DHEED_TESTS=ON"] + ([f"-DCMAKE_C_COMPILER_LAUNCHER={ccache}"] if ccache else [])
    if not os.path.exists(os.path.join(build, "build.ninja")) and run(configure, log, cwd=source, env=environment):
        sys.exit(f"configuring failed: {log}")
    chosen = [fault for fault in faults() if not options.only or fault["name"] in options.only.split(",")]
    count = 0
    print("| fault | fuzzer | found | seconds | by |\n|---|---|---|---|---|", flush=True)
    for fault in chosen:
        fuzzer, path = fault["fuzzer"], os.path.join(source, fault["path"])
        engine = os.path.join(build, "tests", fuzzer + "_engine")
        seeds, corpus = os.path.join(folder, "seeds", fuzzer), os.path.join(planted, "corpus")
        words = os.path.join(planted, "words")
        command = [engine, "-timeout=25", "-rss_limit_mb=3072", "-max_len=65536", f"-dict={words}", f"-artifact_prefix={planted}/found-{fault['name']}-"]
        if run(["ninja", "-C", build, fuzzer, fuzzer + "_engine"], log, env=environment):
            sys.exit(f"the build failed: {log}")
        shutil.rmtree(corpus, ignore_errors=True)
        os.makedirs(corpus)
        if run([os.path.join(build, "tests", fuzzer), "--write", corpus, words], log, env=environment):
            sys.exit(f"{fuzzer} wrote no seeds: {log}")
        if not fault.get("checked") and run(command + ["-runs=0", corpus, seeds], log, env=environment):
            sys.exit(f"{fuzzer} fails without a fault: {log}")
        text = original = open(path).read()
        for old, new in fault["changes"]:
            if text.count(old) != 1:
                sys.exit(f"{fault['path']}: \"{old}\" is there {text.count(old)} times (expected once)")
            text = text.replace(old, new)
        try:
            open(path, "w").write(text)
            if run(["ninja", "-C", build, fuzzer + "_engine"], log, env=environment):
                sys.exit(f"{fault['name']} does not compile: {log}")
            start = time.time()
            status = run(command + [f"-max_total_time={options.seconds}", corpus, seeds], log, env=environment)
            seconds = time.time() - start
        finally:
            open(path, "w").write(original)
        said = re.search(r"SUMMARY: (.*)", open(log, errors="replace").read())
        count += status != 0
        by = re.sub(r"/\S*/", "", said.group(1))[:90] if said else "-"
        print(f"| {fault['name']} | {fuzzer} | {'yes' if status else 'no'} | {seconds:.0f} | {by if status else '-'} |", flush=True)
        for other in chosen:
            if other["fuzzer"] == fuzzer:
                other["checked"] = True
    enough = options.enough if options.enough >= 0 else len(chosen) - 2
    print(f"{count} of {len(chosen)} found (expected at least {enough})")
    sys.exit(count < enough)


if __name__ == "__main__":
    main()
