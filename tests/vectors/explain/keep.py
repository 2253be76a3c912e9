"""Takes reference cases of explanations over: models, inputs, and the expected tensors of the methods named.

keep.py [--end END] CASES METHOD...: CASES has index.json, a folder a model, and io/. The cases come from an implementation in float64 with
torch's autograd; docs/explain.md has the formulas. Tensors are in the form of .safetensors, the inputs that the methods read beside
the expected ones (expect.NAME). With --end a file's name ends in that, such as .gradient, and runs without such a tensor have none."""
import json
import pathlib
import shutil
import struct
import sys

args = sys.argv[1:]
ending = ""
if args[0] == "--end":
    ending = args[1]
    args = args[2:]
cases, methods = pathlib.Path(args[0]), args[1:]
here = pathlib.Path(__file__).parent
inputs = ["pixel_values", "input_ids", "target.vector"]
if "similarity" in methods or "patch" in methods or "atp" in methods:
    inputs.append("source.pixel_values")
if "smoothgrad" in methods:
    inputs.append("noise")
if {"deletion", "insertion", "flipping", "road", "localisation", "spearman"} & set(methods):
    inputs += ["judge.map", "judge.other", "judge.pixels", "judge.mask"]


def kept(name):
    what = name.split(".")
    return name in inputs or what[0] == "expect" and (what[1] == "score" or what[1] in methods)


for case in json.loads((cases / "index.json").read_text())["cases"]:
    folder = here / case["model"]
    folder.mkdir(exist_ok=True)
    for file in (cases / case["model"]).iterdir():
        shutil.copyfile(file, folder / file.name)
    for run in case["runs"]:
        data = (cases / run["io"]).read_bytes()
        size = struct.unpack("<Q", data[:8])[0]
        header, body = {}, b""
        for name, tensor in json.loads(data[8:8 + size]).items():
            if name == "__metadata__" or not kept(name):
                continue
            first, end = tensor["data_offsets"]
            header[name] = {**tensor, "data_offsets": [len(body), len(body) + end - first]}
            body += data[8 + size + first:8 + size + end]
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        if ending and not any(name.startswith("expect.") and name != "expect.score" for name in header):
            continue
        to = here / run["io"].replace(".safetensors", f"{ending}.safetensors")
        to.parent.mkdir(exist_ok=True)
        to.write_bytes(struct.pack("<Q", len(text)) + text + body)
