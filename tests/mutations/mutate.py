#!/usr/bin/env python3
"""Changes one line of the sources at a time and runs tests until one fails: what share of mistakes does a lane catch?

  mutate.py FOLDER [--count N] [--seed S] [--lanes check,test] [--only PREFIX,...] [--tests PATTERN] [--minutes M]
  mutate.py FOLDER --report           the shares and the survivors so far

FOLDER gets a clone of the commit that is checked out, its builds (release; wasm for web/src) and results.jsonl, one line a
mutant; a second run goes on where the first ended, and takes survivors through lanes that they have not met. Mutants are drawn by
a seed from runtime/, native/ and web/src: comparisons, logic, arithmetic, numbers off by one, statements dropped, arguments
swapped. Comments, strings, messages and tables are left alone. What does not compile, or leaves every program as it was, is drawn
again; so are leaks, which the sanitizers see. The nearest tests run first: those that share most words with the file's path, then the quickest. C is tested natively
alone; sanitizers, other drivers and other machines run the same tests and are not counted. --tests builds and runs the C tests whose
whole name fits a regular expression, and no others: a part of the sources beside what tests it.
"""
import argparse, hashlib, json, os, random, re, signal, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LANES = ["check", "test", "all"]
NEAR = 5
ROOMS = [("runtime/", ".c"), ("native/", ".c"), ("web/src/", ".ts")]
LEFT_OUT = re.compile(r"^runtime/model/families/|^native/(demo|examples|testing)/|\.d\.ts$|/unicode")
NO_PROGRAM = {"style", "package", "js"}
ENVIRONMENT = dict(os.environ, VK_DRIVER_FILES="/nonexistent.json", VK_ICD_FILENAMES="/nonexistent.json", GALLIVM_PERF="nopt")

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===", "&&": "||", "||": "&&",
         "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "+=": "-=", "-=": "+="}
WORD = re.compile(r" (<=|>=|===?|!==?|<|>|&&|\|\||[+*/%-]|[+-]=) ")
NUMBER = re.compile(r"(?<![\w.])(\d+)(u?)(?![\w.])")
NOT = re.compile(r"(?<=[( ])!(?=[a-z(])")
CALL = re.compile(r"\b([a-z_]\w*)\(([\w.>\[\]-]+), ([\w.>\[\]-]+)(?=[,)])")
STATEMENT = re.compile(r"^\s+(\*?[a-z_][\w.>\[\]*-]* [+|&-]?= [^;]*|[a-z_][\w.>-]*\([^;{]*\)|if \([^;{]*\) (return|continue|break)[^;{]*);$")
FREES = re.compile(r"free|destroy|clear|release|close")
TABLE = re.compile(r"^\s*[{}\[\]\d.,xXa-fA-F\su+-]*,?$|^\s*\{|^\s*(case|default|HEED_|static const|import|export \{)\b|^\s*[A-Z_]+\(")


def mask(text, script):
    """The text with comments, strings and lines of the preprocessor as spaces."""
    blank = lambda found: re.sub(r"[^\n]", " ", found.group(0))
    quotes = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'' + (r"|`(?:\\.|[^`\\])*`" if script else "")
    text = re.sub(r"/\*.*?\*/|//[^\n]*|" + quotes, blank, text, flags=re.S)
    return text if script else re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", blank, text, flags=re.M)


def sites(line, shown):
    """(kind, changed line) of everything that can be changed in a line."""
    message = len(line) != len(shown) or any(" " in part for part in re.findall(r'"([^"]*)"|\'([^\']*)\'|`([^`]*)`', line) for part in part)
    if TABLE.match(shown) or message or "ASSERT" in line:
        return
    for found in WORD.finditer(shown):
        word = found.group(1)
        kind = "logic" if word in ("&&", "||") else "arithmetic" if word[0] in "+-*/%" else "comparison"
        yield kind, line[: found.start(1)] + SWAPS[word] + line[found.end(1):]
    for found in NOT.finditer(shown):
        yield "logic", line[: found.start()] + line[found.end():]
    for found in NUMBER.finditer(shown):
        yield "off by one", line[: found.start()] + str(int(found.group(1)) + 1) + found.group(2) + line[found.end():]
    if STATEMENT.match(shown) and shown.count("(") == shown.count(")") and not FREES.search(shown):
        yield "dropped", ""
    for found in CALL.finditer(shown):
        name, first, second = found.groups()
        if first != second and not re.match(r"\s*(async )?[#a-z_]\w*\(.*\) \{$|\S", line):
            yield "swapped", line[: found.start(2)] + second + ", " + first + line[found.end(3):]


def candidates(tree):
    """Every line that can be changed: (file, number, line, [(kind, changed)])."""
    names = subprocess.run(["git", "ls-files"], cwd=tree, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in sorted(names):
        if LEFT_OUT.search(name) or not any(name.startswith(room) and name.endswith(end) for room, end in ROOMS):
            continue
        with open(os.path.join(tree, name), encoding="utf-8") as file:
            text = file.read()
        shown = mask(text, not name.endswith(".c")).split("\n")
        for number, line in enumerate(text.split("\n")):
            found = [site for site in sites(line, shown[number]) if site[1] != line]
            if found:
                yield name, number, line, found


def draw(tree, seed):
    """Mutants without end, the same for a seed and a tree; each line once."""
    lines = list(candidates(tree))
    chance = random.Random(seed)
    chance.shuffle(lines)
    for name, number, line, found in lines:
        kind = chance.choice(sorted({kind for kind, _ in found}))
        changed = chance.choice([text for of, text in found if of == kind])
        yield {"file": name, "line": number + 1, "kind": kind, "before": line.strip(), "after": changed.strip(), "_text": changed}


class Build:
    """A tree of CMake: its tests, what they cost, and the programs that they run."""

    def __init__(self, folder, tree, preset, targets, settings, lanes, wanted=""):
        self.folder, self.preset, self.targets = os.path.join(tree, "build", preset), preset, targets
        self.log = os.path.join(folder, preset + ".log")
        if not os.path.exists(os.path.join(self.folder, "build.ninja")):
            cache = "-DCMAKE_C_COMPILER_LAUNCHER=ccache" if subprocess.run(["which", "ccache"], capture_output=True).returncode == 0 else ""
            subprocess.run(["cmake", "--preset", preset, "-DHEED_TESTS=ON", *settings, *([cache] if cache else [])], cwd=tree, check=True, stdout=subprocess.DEVNULL)
        if wanted:
            known = subprocess.run(["ninja", "-t", "targets", "all"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
            self.targets = [name for name in re.findall(r"^(\w+): phony$", known, re.M) if re.fullmatch(wanted, name)]
        if not self.make():
            sys.exit(f"{preset}: the build of the unchanged tree failed ({self.log})")
        self.hashes = self.programs()
        listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        self.tests = [test for test in map(self.test, json.loads(listed)["tests"]) if test and re.fullmatch(wanted or ".*", test["name"])]
        self.baseline = os.path.join(folder, preset + "-baseline.json")
        self.cost = json.load(open(self.baseline)) if os.path.exists(self.baseline) else {}
        for lane in lanes:
            self.measure(lane)

    def make(self, targets=()):
        with open(self.log, "w") as log:
            return subprocess.run(["ninja", "-j1", *(targets or self.targets)], cwd=self.folder, stdout=log, stderr=log).returncode == 0

    def programs(self):
        """Hash of every program and of every file of the package."""
        found, places = {}, [os.path.join(self.folder, place) for place in ("", "tests", "examples", "tests/demo")]
        package = os.path.join(os.path.dirname(self.folder), "web/package")
        for place in places if self.preset != "wasm" else [root for root, _, _ in os.walk(package)]:
            for entry in os.scandir(place) if os.path.isdir(place) else []:
                if entry.is_file() and (self.preset == "wasm" or os.access(entry.path, os.X_OK)):
                    with open(entry.path, "rb") as file:
                        found[entry.path] = hashlib.sha256(file.read()).digest()
        return found

    def test(self, listed):
        properties = {entry["name"]: entry["value"] for entry in listed.get("properties", [])}
        labels, name = properties.get("LABELS", []), listed["name"]
        lane = next((lane for lane in LANES if lane in labels), None)
        if not lane or NO_PROGRAM & set(labels) or re.match(r"docs_|include_|op_table|web_npm", name) or "command" not in listed:
            return None
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        return {"name": name, "lane": lane, "command": listed["command"], "environment": environment,
                "wanted": properties.get("PASS_REGULAR_EXPRESSION", [""])[0], "place": properties.get("WORKING_DIRECTORY", self.folder)}

    def run(self, test):
        """passed, failed or skipped; and seconds."""
        start, limit = time.time(), max(60, 10 * self.cost.get(test["name"], 60))
        try:
            done = subprocess.run(test["command"], cwd=test["place"], env={**ENVIRONMENT, **test["environment"]}, timeout=limit,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return "failed", time.time() - start
        good = re.search(test["wanted"], done.stdout.decode(errors="replace")) if test["wanted"] else done.returncode in (0, 77)
        return "passed" if good else "failed", time.time() - start

    def measure(self, lane):
        """Each test of a lane on the unchanged tree: one that fails there can show nothing."""
        for test in self.tests:
            if test["lane"] == lane and test["name"] not in self.cost:
                status, seconds = self.run(test)
                self.cost[test["name"]] = seconds if status == "passed" else -1
                if status != "passed":
                    print(f"left out: {test['name']} fails on the unchanged tree", flush=True)
                json.dump(self.cost, open(self.baseline, "w"))

    def order(self, lane, mutant):
        """Tests of a lane, the nearest first."""
        words = set(re.split(r"[/_.]", mutant["file"])) - {"runtime", "native", "web", "src", "c", "js", "ts"}
        for test in sorted(self.tests, key=lambda test: (-len(words & set(test["name"].split("_"))), self.cost.get(test["name"], 0))):
            if test["lane"] == lane and self.cost.get(test["name"], 0) >= 0:
                yield test

    def runs(self, test, changed):
        return self.preset == "wasm" or any(word in changed for word in test["command"])

    def changed(self):
        return {name for name, digest in self.programs().items() if self.hashes.get(name) != digest}


def attempt(build, tree, mutant, lanes):
    """Builds one mutant and runs lanes until a test fails."""
    path = os.path.join(tree, mutant["file"])
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    lines[mutant["line"] - 1] = mutant["_text"]
    start = time.time()
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        met = set()
        # The programs of the nearest tests first: all others take long to link.
        near = [test for test in build.order(lanes[0], mutant) if test["command"][0] in build.hashes][:NEAR]
        for targets in ([[os.path.relpath(test["command"][0], build.folder) for test in near]] if near else []) + [[]]:
            if not build.make(targets):
                return {"outcome": "stillborn"}
            changed = build.changed()
            if not changed and not targets:
                return {"outcome": "equivalent"}
            for lane in lanes[:1] if targets else lanes:
                for test in near if targets else build.order(lane, mutant):
                    if test["name"] in met or not build.runs(test, changed):
                        continue
                    met.add(test["name"])
                    if build.run(test)[0] == "failed":
                        return {"outcome": "caught", "lane": lane, "test": test["name"], "seconds": round(time.time() - start)}
        return {"outcome": "survived", "lanes": lanes, "seconds": round(time.time() - start)}
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def report(results):
    counted = [mutant for mutant in results.values() if mutant["outcome"] in ("caught", "survived")]
    for lane in LANES:
        met = [m for m in counted if m["outcome"] == "caught" or lane in m["lanes"]]
        caught = [m for m in met if m["outcome"] == "caught" and LANES.index(m["lane"]) <= LANES.index(lane)]
        # A mutant that another lane caught has met the lanes before it.
        if any(lane in m.get("lanes", []) or m.get("lane") == lane for m in counted):
            print(f"{lane}: {len(caught)} of {len(met)} caught ({100 * len(caught) / max(1, len(met)):.0f} %)")
    for m in counted:
        if m["outcome"] == "survived":
            print(f"survived {','.join(m['lanes'])}: {m['file']}:{m['line']} {m['kind']}: {m['before']}  ->  {m['after'] or 'nothing'}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lanes", default="check,test")
    parser.add_argument("--only", default="")
    parser.add_argument("--tests", default="")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    folder, lanes = os.path.abspath(arguments.folder), arguments.lanes.split(",")
    tree, file, end = os.path.join(folder, "tree"), os.path.join(folder, "results.jsonl"), time.time() + 60 * arguments.minutes
    os.makedirs(folder, exist_ok=True)
    results = {}
    if os.path.exists(file):
        for line in open(file):
            mutant = json.loads(line)
            results[mutant["file"], mutant["line"], mutant["after"]] = mutant
    if arguments.report:
        return report(results)
    if not os.path.exists(tree):
        subprocess.run(["git", "clone", "-q", "--local", ROOT, tree], check=True)
        os.symlink(os.path.join(ROOT, "node_modules"), os.path.join(tree, "node_modules"))
    # What a run that was ended left changed.
    subprocess.run(["git", "checkout", "-q", "--", "runtime", "native", "web/src"], cwd=tree, check=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    builds = {}

    def build_of(mutant):
        preset = "wasm" if mutant["file"].startswith("web/") else "release"
        if preset not in builds:
            settings = ["-DHEED_VULKAN=ON", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if preset == "release" else []
            pages = preset == "release" or lanes != ["check"]
            builds[preset] = Build(folder, tree, preset, ["all" if pages else "package"], settings, lanes, arguments.tests)
        return builds[preset]

    counted = sum(mutant["outcome"] in ("caught", "survived") for mutant in results.values())
    for mutant in draw(tree, arguments.seed):
        key = mutant["file"], mutant["line"], mutant["after"]
        if not mutant["file"].startswith(tuple(arguments.only.split(","))):
            continue
        known = results.get(key)
        if known and (known["outcome"] != "survived" or set(lanes) <= set(known["lanes"])):
            continue
        if time.time() > end or (not known and counted >= arguments.count):
            if time.time() > end:
                break
            continue
        met = known["lanes"] if known else []
        done = attempt(build_of(mutant), tree, mutant, [lane for lane in lanes if lane not in met])
        if done["outcome"] == "survived":
            done["lanes"] = met + done["lanes"]
        counted += not known and done["outcome"] in ("caught", "survived")
        results[key] = {**{name: mutant[name] for name in mutant if name != "_text"}, **done}
        with open(file, "a") as out:
            out.write(json.dumps(results[key]) + "\n")
        print(f"{counted}: {mutant['file']}:{mutant['line']} {mutant['kind']}: {done['outcome']} {done.get('lane', '')} {done.get('test', '')} {done.get('seconds', '')}", flush=True)
    report(results)


if __name__ == "__main__":
    main()
