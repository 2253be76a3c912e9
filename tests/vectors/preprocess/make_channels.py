"""Writes channels.safetensors beside this file: what Pillow makes of pictures for models of another number of channels
than three. grey.*: convert("L") of RGB and RGBA, resized; float.*: mode F, resized; five.*: five channels, each of them
resized as mode L. Run with a Python that has numpy and Pillow."""
import json, os, struct
import numpy as np
from PIL import Image

random = np.random.default_rng(45)
tensors = {}
sizes = [(11, 8), (40, 31), (19, 13)]  # width, height, of a picture of 19 x 13


def resized(name, images):
    """[height, width, channels] of images of one channel."""
    for resample in range(6):
        for width, height in sizes:
            planes = [np.array(image.resize((width, height), resample)) for image in images]
            tensors[f"{name}.{resample}.{width}.{height}"] = np.stack(planes, axis=-1)


for name, mode, channels in (("grey.rgb", "RGB", 3), ("grey.rgba", "RGBA", 4)):
    picture = random.integers(0, 256, (13, 19, channels)).astype(np.uint8)
    tensors[name] = picture
    tensors[name + ".l"] = np.array(Image.fromarray(picture, mode).convert("L"))
    resized(name, [Image.fromarray(picture, mode).convert("L")])

# Every colour of a lattice, so that each product of the weights is rounded.
steps = np.arange(0, 256, 15, np.uint8)
lattice = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(1, -1, 3)
tensors["lattice.l"] = np.array(Image.fromarray(lattice, "RGB").convert("L"))

whole = random.integers(0, 65536, (13, 19)).astype(np.uint16)
tensors["float.16"] = whole
resized("float.16", [Image.fromarray(whole.astype(np.float32), "F")])
floats = random.normal(size=(13, 19, 2)).astype(np.float32)
tensors["float.2"] = floats
resized("float.2", [Image.fromarray(np.ascontiguousarray(floats[..., c]), "F") for c in range(2)])

five = random.integers(0, 256, (13, 19, 5)).astype(np.uint8)
tensors["five"] = five
resized("five", [Image.fromarray(np.ascontiguousarray(five[..., c]), "L") for c in range(5)])

header, data = {}, b""
kinds = {"float32": "F32", "uint16": "U16", "uint8": "U8"}
for name, value in sorted(tensors.items(), key=lambda item: -item[1].itemsize):
    bytes_ = np.ascontiguousarray(value).tobytes()
    kind, shape = kinds[str(value.dtype)], list(value.shape)
    if kind == "U16":  # bytes, as few readers have that type
        kind, shape = "U8", shape + [2]
    header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_)]}
    data += bytes_
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "channels.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
