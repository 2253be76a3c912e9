"""Reads the arrays of .npz, .npy and .safetensors files by their formats alone, without NumPy, for the tests beside it.

load(path) is {name: (descr, shape, values)}: descr as NumPy has it, values flat; texts of .npz too. metadata(path) is that of a .safetensors file.
python3 arrays.py A B: exit code 1 where two files have other arrays. The texts of no dimension of an .npz are the metadata of .safetensors.
Where NumPy is here, it must read the same from .npz and .npy."""
import ast
import json
import math
import struct
import sys
import zipfile

KINDS = {"<f4": "f", "<i4": "i", "<f2": "e", "|u1": "B", "|i1": "b", "<i8": "q", "|b1": "?"}
SAFETENSORS = {"F32": "<f4", "I32": "<i4", "F16": "<f2", "U8": "|u1", "I8": "|i1", "I64": "<i8", "BOOL": "|b1"}


def unpack(descr, shape, data):
    count = math.prod(shape)
    if descr.startswith("<U"):
        width = int(descr[2:])
        assert len(data) == 4 * width * count
        points = struct.unpack(f"<{width * count}I", data)
        return ["".join(map(chr, points[i * width : (i + 1) * width])).rstrip("\0") for i in range(count)]
    return list(struct.unpack(f"<{count}{KINDS[descr]}", data))


def npy(data):
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    size = 10 + struct.unpack("<H", data[8:10])[0]
    assert size % 64 == 0 and data[size - 1 : size] == b"\n"
    head = ast.literal_eval(data[10:size].decode("latin1"))
    assert head["fortran_order"] is False and len(head) == 3
    return head["descr"], head["shape"], unpack(head["descr"], head["shape"], data[size:])


def safetensors(path):
    data = open(path, "rb").read()
    size = 8 + struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:size])
    texts = head.pop("__metadata__", {})
    arrays = {}
    for name, of in head.items():
        first, last = of["data_offsets"]
        descr, shape = SAFETENSORS[of["dtype"]], tuple(of["shape"])
        arrays[name] = descr, shape, unpack(descr, shape, data[size + first : size + last])
    return arrays, texts


def metadata(path):
    return safetensors(path)[1]


def load(path):
    if path.endswith(".npy"):
        return {"": npy(open(path, "rb").read())}
    if not path.endswith(".npz"):
        return safetensors(path)[0]
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        assert all(name.endswith(".npy") for name in file.namelist())
        return {name[:-4]: npy(file.read(name)) for name in file.namelist()}


def by_numpy(path, arrays):
    try:
        import numpy
    except ImportError:
        return
    read = {"": numpy.load(path)} if path.endswith(".npy") else numpy.load(path)
    assert sorted(read.keys()) == sorted(arrays)
    for name, (descr, shape, values) in arrays.items():
        assert read[name].dtype.str == descr and read[name].shape == shape, name
        assert read[name].reshape(-1).tolist() == values, name


def comparable(path):
    arrays = load(path)
    if not path.endswith(".safetensors"):
        by_numpy(path, arrays)
    else:
        for name, text in metadata(path).items():
            texts = json.loads(text) if text.startswith("[") else text
            arrays[name] = texts if isinstance(texts, list) else [texts]
    return {name: value[2] if isinstance(value, tuple) and value[0].startswith("<U") else value for name, value in arrays.items()}


if __name__ == "__main__":
    one, other = map(comparable, sys.argv[1:3])
    for name in sorted(one.keys() | other.keys()):
        if one.get(name) != other.get(name):
            sys.exit(f"{name}: found {str(one.get(name))[:200]} and {str(other.get(name))[:200]}")
