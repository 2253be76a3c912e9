"""Holds docs/json.md against what heed writes: every key of the page is seen, every key that is seen is on the page, with its type. Then the page's Python.

python3 json_page.py HEED ROOT FOLDER. Keys in italics need not be seen where a document lacks them, but once in all of a section: but for those of devices,
which need a Vulkan driver. Python blocks run where NumPy is here. Prints TAP."""
import json
import os
import re
import subprocess
import sys

heed, root, folder = sys.argv[1:4]
vectors = os.path.join(root, "tests/vectors")
micro, picture = vectors + "/vit/micro_32", vectors + "/preprocess/rgb.png"
page = open(os.path.join(root, "docs/json.md")).read()
os.makedirs(folder, exist_ok=True)
bad = os.path.join(folder, "bad.png")
open(bad, "w").write("text")

KINDS = {"integer": lambda v: type(v) is int, "number": lambda v: v is None or type(v) in (int, float), "string": lambda v: type(v) is str,
         "boolean": lambda v: type(v) is bool, "object": lambda v: type(v) is dict, "object of strings": lambda v: all(type(x) is str for x in v.values()),
         "object of arrays": lambda v: all(type(x) is list for x in v.values()), "object of objects": lambda v: all(type(x) is dict for x in v.values())}
LEAVES = re.compile(r"\[[^\]]*\]$")


def section(title):
    """{key: (type, whether it may lack)} of the table below a heading."""
    body = page.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    keys = {}
    for line in body.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if len(cells) < 2 or cells[0] == "key":
            continue
        for key in cells[0].strip("*").split(", "):
            keys[key] = cells[1].rstrip(" |"), cells[0].startswith("*")
    return keys


def fits(value, kind):
    shape = LEAVES.search(kind)
    if not shape:
        return KINDS[kind](value)
    return nested(value, 1 + shape.group().count(","), KINDS[kind[: shape.start()].strip()])


def nested(value, depth, own):
    """Whether it is lists in lists, `depth` of them, of what `own` takes."""
    return own(value) if not depth else type(value) is list and all(nested(part, depth - 1, own) for part in value)


def walk(value, path, keys, seen):
    """Notes what is seen; yields what is not on the page."""
    if path in keys and not (path.endswith("[]") and type(value) is dict):
        kind = keys[path][0]
        seen.add(path)
        if not fits(value, kind):
            yield f"{path}: found {str(value)[:80]}, expected {kind}"
        if kind.startswith("object") or LEAVES.search(kind):
            return
        if type(value) not in (dict, list):
            return
    if type(value) is dict:
        if path in keys:
            seen.add(path)
        for key, child in value.items():
            yield from walk(child, f"{path}.{key}" if path else key, keys, seen)
    elif type(value) is list:
        if path + "[]" in keys:
            seen.add(path + "[]")
        for child in value:
            yield from walk(child, path + "[]", keys, seen)
    elif path not in keys:
        yield f"{path}: not on the page"


def run(*arguments, codes=(0,)):
    done = subprocess.run([heed, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode in codes, (arguments, done.returncode, done.stderr[-400:])
    return done.stdout


def documents(*arguments, codes=(0,)):
    text = run(*arguments, "--json", "-", codes=codes) if "--json" not in arguments and "json" not in arguments else run(*arguments, codes=codes)
    return [json.loads(text)]


quiet = ("--backend", "cpu", "--quiet")
number = [0]


def check(title, found, without=(), may_lack=lambda key: False):
    keys = {**section("All documents"), **section(title)}
    for key in without:
        keys.pop(key)
    wrong, seen = [], set()
    for document in found:
        own = set()
        wrong += walk(document, "", keys, own)
        wrong += [f"{key}: lacks in a document" for key, (_, optional) in keys.items()
                  if not optional and "results[]" not in key and key not in own]
        seen |= own
    wrong += [f"{key}: on the page, and never written" for key in keys if key not in seen and not may_lack(key)]
    report(title, wrong)


def report(title, wrong):
    number[0] += 1
    for line in sorted(set(wrong)):
        print(f"{title}: {line}")
    print(f"{'not ok' if wrong else 'ok'} {number[0]} - {title}")
    failed[0] |= bool(wrong)


failed = [False]
run("run", micro, picture, "--save", "maps.safetensors", *quiet)
check("heed run", [
    *documents("run", micro, picture, bad, *quiet, codes=(3,)),
    *documents("run", vectors + "/vit/siglip", picture, "--fit", "whole", *quiet),
    *documents("run", micro, picture, "--ablate", "0.1", "--reverse", "--score", "raw", *quiet),
    *documents("run", micro, picture, "--save-only", "cls", *quiet),
    *documents("run", micro, picture, "--explain", "pca,similarity,kmeans,outliers", "--clusters", "2", *quiet),
    *documents("run", micro, picture, "--explain", "ledger,lens,norms,patch", "--patch-from", picture, *quiet),
    *documents("run", micro, picture, "--explain", "gradcam,relevancy,gradient_rollout,attnlrp,cplrp,inputxgrad,ig,smoothgrad", *quiet),
    *documents("run", vectors + "/vit/dinov3_original", picture, *quiet),
    *documents("run", vectors + "/vit/videomae", picture, *quiet),
], may_lack=lambda key: key in ("results[].each_class", "results[].from", "results[].backend", "results[].device", "results[].explain.ledger.pool"))
# of graphs with a sigmoid, of heed maps, of lines, of a pooling attention with a classifier
run("maps", "maps.safetensors", "--json", "maps.json")
report("heed maps", list(walk(json.load(open(os.path.join(folder, "maps.json"))), "", {**section("All documents"), **section("heed run")}, set())))
run("run", micro, picture, bad, "--json", "lines.jsonl", *quiet, codes=(3,))
lines = {key[len("results[]."):]: value for key, value in section("heed run").items() if key.startswith("results[].")}
lines["schema"] = section("All documents")["schema"]
report("lines of heed run", [w for line in open(os.path.join(folder, "lines.jsonl")) for w in walk(json.loads(line), "", lines, set())])
classes = os.path.join(folder, "classes/cat")
os.makedirs(classes, exist_ok=True)
for source in picture, bad:
    open(os.path.join(classes, os.path.basename(source)), "wb").write(open(source, "rb").read())
run("embed", micro, os.path.dirname(classes), "-o", "embed.json", *quiet, codes=(3,))
check("heed embed", [json.load(open(os.path.join(folder, "embed.json")))])
check("heed run --text", documents("run", vectors + "/vit/clip_text", picture, "--text", "a cat", *quiet), may_lack=lambda key: key == "assumed")
check("heed run --tokens", documents("run", vectors + "/sequence/transformer", "--tokens", "5,3", *quiet))
check("heed judge", documents("judge", micro, picture, "--methods", "chance,ledger", "--metrics", "deletion,flipping", *quiet)
      + documents("judge", "--scenes", "1", "--target", "2", "--methods", "truth", "--metrics", "insertion,mass", *quiet))
survey = os.path.join(folder, "a.sqlite")
if os.path.exists(survey):
    os.remove(survey)  # of a run before: heed does not replace it
run("survey", "--scenes", "2", "-o", "a.sqlite", *quiet, codes=(0, 3))
if os.path.exists(survey):  # this heed has SQLite
    check("heed survey", documents("survey", micro, picture, "--methods", "rollout", *quiet) + documents("survey", "--merge", "a.sqlite"))
    check("heed survey --compare", documents("survey", "--compare", "a.sqlite", "a.sqlite"))
check("heed compare", documents("compare", micro, micro, picture, *quiet) + documents("compare", micro, micro, picture, "--rollout", *quiet))
check("heed check --profile", documents("check", "--profile", "keras", *quiet), without=("heed",))
check("heed devices", documents("devices", "--json", "--self-check", codes=(0, 1, 4)), may_lack=lambda key: key.startswith("devices[]"))
check("heed bench --json", documents("bench", micro, "--json", "--profile", "--runs", "1", *quiet),
      may_lack=lambda key: key in ("in_flight", "stream_ms", "profile[].ceiling_percent", "profile[].mode") or "kernels" in key or "ceiling" in key)
check("heed inspect --graph json", documents("inspect", micro, "--graph", "json"))
check("heed inspect --plan --json", documents("inspect", micro, "--plan", "--json"), may_lack=lambda key: "kernels" in key)

run("embed", micro, picture, "-o", "embeddings.npz", *quiet)
run("embed", micro, picture, "-o", "embeddings.csv", *quiet)
run("run", micro, picture, "--save", "maps.npz", "--json", "out.json", *quiet)
run("run", micro, picture, bad, "--json", "out.jsonl", *quiet, codes=(3,))
pythons = [python for python in ("/usr/bin/python3", sys.executable)
           if os.path.exists(python) and subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0]
for i, block in enumerate(re.findall(r"```python\n(.*?)```", page, re.S)):
    if "numpy" in block and not pythons:
        number[0] += 1
        print(f"ok {number[0]} - Python block {i + 1} # SKIP no NumPy here")
        continue
    done = subprocess.run([pythons[0] if pythons else sys.executable, "-c", block], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    report(f"Python block {i + 1}", [] if done.returncode == 0 and done.stdout else [done.stdout.decode()[-400:] or "it printed nothing"])
print(f"1..{number[0]}")
sys.exit(failed[0])
