"""Makes rotary_*, rms_norm* and layer_norm_no_bias beside it, in double precision.

Those of rotary are written from the published code of models that rotate query and key: DINOv3 (transformers' modeling_dinov3_vit), EVA-02 and
the mixed frequencies of rope-vit (timm's pos_embed_sincos), GPT-NeoX (a part of each head). There, angles are spread over all elements of a
head: y = x cos + rot(x) sin. heed's tables have one angle a pair.

python3 make.py   (needs torch)"""
import json
import math
import os
import struct

import torch

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, op, attrs, source, tensors):
    header, data = {"__metadata__": {"op": op, "attrs": json.dumps(attrs), "source": source}}, b""
    for key, value in tensors.items():
        raw = value.to(torch.float32).contiguous().numpy().tobytes()
        header[key] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(HERE, name + ".safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def numbers(*shape):
    """Values that a float of 32 bits holds, as doubles."""
    return torch.randn(*shape, dtype=torch.float64).to(torch.float32).to(torch.float64)


# ---- rotary: angles [.., tokens, R/2], one a pair

def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def rotate_interleaved(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).reshape(x.shape)


def save_rotary(name, source, x, angles, first, interleaved):
    cos, sin = (f(angles).to(torch.float32).to(torch.float64) for f in (torch.cos, torch.sin))
    spread = (lambda t: t.repeat_interleave(2, -1)) if interleaved else (lambda t: torch.cat((t, t), -1))
    turned, size = x[..., first:, :], 2 * angles.shape[-1]
    rotated, kept = turned[..., :size], turned[..., size:]
    rotated = rotated * spread(cos) + (rotate_interleaved if interleaved else rotate_half)(rotated) * spread(sin)
    y = torch.cat((x[..., :first, :], torch.cat((rotated, kept), -1)), -2)
    save(name, "rotary", {"first": first, "interleaved": interleaved}, source, {"x": x, "cos": cos, "sin": sin, "expect.y": y})


def grid(rows, columns):
    return torch.arange(rows, dtype=torch.float64).repeat_interleave(columns), torch.arange(columns, dtype=torch.float64).repeat(rows)


def dinov3(rows, columns, depth):
    """The angle of y for the first quarter of the elements, of x for the second, both again for the other half."""
    y, x = grid(rows, columns)
    y, x = 2 * (y + 0.5) / rows - 1, 2 * (x + 0.5) / columns - 1
    period = 100.0 ** (4 * torch.arange(depth // 4, dtype=torch.float64) / depth)
    return torch.cat((2 * math.pi * y[:, None] / period, 2 * math.pi * x[:, None] / period), -1)


def eva02(rows, columns, depth, reference):
    y, x = grid(rows, columns)
    bands = 10000.0 ** (-4 * torch.arange(depth // 4, dtype=torch.float64) / depth)
    return torch.cat((y[:, None] * reference / rows * bands, x[:, None] * reference / columns * bands), -1)


def mixed(rows, columns, heads, pairs):
    """Frequencies of both axes are weights, of each head."""
    y, x = grid(rows, columns)
    frequencies = numbers(2, heads, 1, pairs)
    return x[:, None] * frequencies[0] + y[:, None] * frequencies[1]


def text(tokens, size):
    bands = 10000.0 ** (-2 * torch.arange(size // 2, dtype=torch.float64) / size)
    return torch.arange(tokens, dtype=torch.float64)[:, None] * bands


# ---- norms

def save_norm(op, name, source, normed, x, gain, epsilon, bias=None):
    y = normed(x) * gain
    tensors = {"x": x, "gain": gain, "expect.y": y if bias is None else y + bias}
    save(name, op, {"epsilon": epsilon}, source, tensors if bias is None else dict(tensors, bias=bias))


def rms(epsilon):
    return lambda x: x / torch.sqrt((x * x).mean(-1, keepdim=True) + epsilon)


torch.manual_seed(1)
save_rotary("rotary_dinov3", "DINOv3 in float64: CLS, 4 registers, 3 x 4 patches", numbers(2, 3, 17, 16), dinov3(3, 4, 16), 5, False)
save_rotary("rotary_eva02", "EVA-02 in float64: CLS, 3 x 5 patches, reference grid 16", numbers(2, 2, 16, 24), eva02(3, 5, 24, 16), 1, True)
save_rotary("rotary_mixed", "rope-vit's mixed frequencies in float64: CLS, 4 x 3 patches", numbers(2, 3, 13, 20), mixed(4, 3, 3, 10), 1, True)
save_rotary("rotary_partial", "GPT-NeoX in float64: the first 10 of 22 elements", numbers(1, 2, 7, 22), text(7, 10), 0, False)

x, gain, bias = 3 + 2 * numbers(3, 5, 96), numbers(96), numbers(96)
save_norm("rms_norm", "rms_norm", "Zhang & Sennrich 2019 in float64", rms(1e-6), x, gain, 1e-6)
save_norm("rms_norm", "rms_norm_bias", "Zhang & Sennrich 2019 in float64, with a bias", rms(1e-3), x, gain, 1e-3, bias)
save_norm("layer_norm", "layer_norm_no_bias", "PyTorch layer_norm in float64", lambda x: torch.nn.functional.layer_norm(x, (96,), eps=1e-6), x, gain, 1e-6)
