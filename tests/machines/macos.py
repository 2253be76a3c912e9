"""macos.py BUILD: the C sources of runtime/ and native/ pass clang's checks for macOS, on the processor of BUILD.

There is no SDK here. The headers of musl stand for Apple's, and those of other libraries are this machine's. What is seen: the paths
under __APPLE__, types, declarations, warnings. What is not: Apple's own headers, linking, running. Exit code 77: no clang or no musl.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys

clang = next((path for path in map(shutil.which, ("clang", "clang-19", "clang-14")) if path), None)
musl = "/usr/include/x86_64-linux-musl"
if not clang or not os.path.isdir(musl):
    print("skipped: no clang, or no headers of musl (musl-tools)")
    sys.exit(77)

system = ["-nostdlibinc", "-isystem", musl, "-idirafter", "/usr/include", "-idirafter", "/usr/include/x86_64-linux-gnu"]
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
seen, failed = set(), 0
for entry in json.load(open(os.path.join(sys.argv[1], "compile_commands.json"))):
    source = entry["file"]
    if source in seen or not source.startswith((root + "/runtime/", root + "/native/")):
        continue
    seen.add(source)
    words = shlex.split(entry["command"])
    kept, take = [], False
    for word in words:
        if take or word.startswith(("-D", "-I", "-std", "-m")) and word != "-march=native":
            kept.append(word)
        take = word == "-isystem"
        if take:
            kept.append(word)
    target = "arm64" if any("aarch64" in word for word in words[:2]) else "x86_64"
    command = [clang, f"--target={target}-apple-macos12", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-warning-option",
               "-Wno-missing-field-initializers", *kept, *system, source]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=entry["directory"])
    if found.returncode:
        failed += 1
        print(source, found.stderr[:1500], sep="\n")
print(f"{len(seen)} sources, {failed} with a finding")
sys.exit(1 if failed or len(seen) < 100 else 0)
