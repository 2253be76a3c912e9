"""Takes reference cases of explanations over: models, inputs, and the expected tensors of the methods named.

keep.py CASES METHOD...: CASES has index.json, a folder a model, and io/. The cases come from an implementation in float64 with
torch's autograd; docs/explain.md has the formulas. Tensors are in the form of .safetensors, the inputs that the methods read beside
the expected ones (expect.NAME)."""
import json
import pathlib
import shutil
import struct
import sys

cases, methods = pathlib.Path(sys.argv[1]), sys.argv[2:]
here = pathlib.Path(__file__).parent
inputs = ["pixel_values", "input_ids", "target.vector"]
if "similarity" in methods or "patch" in methods:
    inputs.append("source.pixel_values")


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
        to = here / run["io"]
        to.parent.mkdir(exist_ok=True)
        to.write_bytes(struct.pack("<Q", len(text)) + text + body)
