"""Writes crops.safetensors beside this file: sizes, offsets and pixels of centre crops, by Pillow and numpy.
The rules are torchvision's (transforms/functional.py) and transformers' (image_transforms.py), in Python's integers and
round(), which rounds half to even. Run with a Python that has numpy and Pillow."""
import json, math, os, struct
import numpy as np
from PIL import Image


def resized(width, height, short):
    """torchvision's Resize(int), which transformers' shortest_edge equals."""
    if not short:
        return width, height
    low, high = min(width, height), max(width, height)
    long_side = int(short * high / low)
    return (short, long_side) if width <= height else (long_side, short)


def torch_crop(image, crop):
    """CenterCrop: zeros first, then the offset; [crop, crop, 3] and where it begins."""
    height, width = image.shape[:2]
    left, right = max(crop - width, 0) // 2, (max(crop - width, 0) + 1) // 2
    top, bottom = max(crop - height, 0) // 2, (max(crop - height, 0) + 1) // 2
    image = np.pad(image, ((top, bottom), (left, right), (0, 0)))
    y, x = (int(round((side - crop) / 2.0)) for side in image.shape[:2])
    return image[y : y + crop, x : x + crop], x - left, y - top


def transformers_crop(image, crop):
    """center_crop: offsets by //, zeros by ceil."""
    height, width = image.shape[:2]
    top, left = (height - crop) // 2, (width - crop) // 2
    new = np.zeros((max(crop, height), max(crop, width), 3), image.dtype)
    above, before = math.ceil((new.shape[0] - height) / 2), math.ceil((new.shape[1] - width) / 2)
    new[above : above + height, before : before + width] = image
    y, x = max(0, top + above), max(0, left + before)
    return new[y : y + crop, x : x + crop], x - before, y - above


rules = [transformers_crop, torch_crop]
rows, tensors = [], {}
for rule in range(2):
    cases = [(side, 500 - side, 0) for side in range(200, 301)]
    for fraction in (0.875, 0.9, 0.95, 1.0):
        short = math.floor(224 / fraction)
        cases += [size + (short,) for side in range(200, 301) for size in ((side, 240), (240, side))]
    for width, height, short in cases:
        w, h = resized(width, height, short)
        _, x, y = rules[rule](np.broadcast_to(np.uint8(0), (h, w, 3)), 224)
        rows.append((rule, width, height, short, w, h, x, y))
tensors["sizes"] = np.array(rows, np.int32)

picture = np.random.default_rng(44).integers(0, 256, (37, 53, 3)).astype(np.uint8)
tensors["picture"] = picture
for rule in range(2):
    for short in [0, 11, 13] + list(range(16, 32)):
        w, h = resized(53, 37, short)
        small = np.array(Image.fromarray(picture).resize((w, h), Image.Resampling.BICUBIC))
        crop = 16 if short else 42
        tensors[f"crop.{rule}.{short}.{crop}"] = rules[rule](small, crop)[0]

header, data = {}, b""
for name, value in tensors.items():
    kind = "I32" if value.dtype == np.int32 else "U8"
    bytes_ = np.ascontiguousarray(value).tobytes()
    header[name] = {"dtype": kind, "shape": value.shape, "data_offsets": [len(data), len(data) + len(bytes_)]}
    data += bytes_
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "crops.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
