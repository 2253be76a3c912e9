"""Makes lstm_stacked and gru_stacked beside it: layers over layers, in both directions, with initial states, from the definitions of
nn.LSTM and nn.GRU (gates i f g o and r z n) in double precision, with their parameter names.

python3 make.py"""
import json
import math
import os
import random
import struct

HERE = os.path.dirname(os.path.abspath(__file__))


def flat(x):
    return [x] if not isinstance(x, list) else [v for part in x for v in flat(part)]


def shape(x):
    return [len(x)] + shape(x[0]) if isinstance(x, list) else []


def save(name, op, attrs, tensors):
    header, data = {"__metadata__": {"op": op, "attrs": json.dumps(attrs), "source": "nn.%s in double precision" % op.upper()}}, b""
    for key, value in tensors.items():
        raw = struct.pack("<%df" % len(flat(value)), *flat(value))
        header[key] = {"dtype": "F32", "shape": shape(value), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(HERE, name + ".safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def numbers(*sizes):
    """Uniform in [-0.6, 0.6], as a float of 32 bits has them."""
    if not sizes:
        return struct.unpack("<f", struct.pack("<f", random.uniform(-0.6, 0.6)))[0]
    return [numbers(*sizes[1:]) for _ in range(sizes[0])]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def product(weight, x, bias):
    return [sum(w * v for w, v in zip(row, x)) + b for row, b in zip(weight, bias)]


def lstm(a, b, h, c, size):
    i, f, g, o = ([a[k * size + j] + b[k * size + j] for j in range(size)] for k in range(4))
    c = [sigmoid(f[j]) * c[j] + sigmoid(i[j]) * math.tanh(g[j]) for j in range(size)]
    return [sigmoid(o[j]) * math.tanh(c[j]) for j in range(size)], c


def gru(a, b, h, c, size):
    r, z = ([sigmoid(a[k * size + j] + b[k * size + j]) for j in range(size)] for k in range(2))
    n = [math.tanh(a[2 * size + j] + r[j] * b[2 * size + j]) for j in range(size)]
    return [(1 - z[j]) * n[j] + z[j] * h[j] for j in range(size)], c


def make(name, cell, gates, batch, steps, inputs, size, layers, directions):
    tensors = {"x": numbers(batch, steps, inputs), "h0": numbers(layers * directions, batch, size)}
    if cell is lstm:
        tensors["c0"] = numbers(layers * directions, batch, size)
    x, last_h, last_c = tensors["x"], [], []
    for layer in range(layers):
        y = [[[] for _ in range(steps)] for _ in range(batch)]
        for direction in range(directions):
            end = "_l%d%s" % (layer, "_reverse" if direction else "")
            for what, sizes in (("weight_ih", (gates * size, len(x[0][0]))), ("weight_hh", (gates * size, size)), ("bias_ih", (gates * size,)), ("bias_hh", (gates * size,))):
                tensors[what + end] = numbers(*sizes)
            index = layer * directions + direction
            last_h.append([])
            last_c.append([])
            for b in range(batch):
                h, c = tensors["h0"][index][b], tensors["c0"][index][b] if cell is lstm else None
                for t in reversed(range(steps)) if direction else range(steps):
                    from_x, from_h = product(tensors["weight_ih" + end], x[b][t], tensors["bias_ih" + end]), product(tensors["weight_hh" + end], h, tensors["bias_hh" + end])
                    h, c = cell(from_x, from_h, h, c, size)
                    y[b][t] = y[b][t] + h
                last_h[-1].append(h)
                last_c[-1].append(c)
        x = y
    tensors["expect.y"], tensors["expect.h"] = x, last_h
    if cell is lstm:
        tensors["expect.c"] = last_c
    save(name, cell.__name__, {"num_layers": layers, "bidirectional": directions == 2}, tensors)


random.seed(1)
make("lstm_stacked", lstm, 4, 2, 5, 3, 4, 2, 2)
make("gru_stacked", gru, 3, 2, 4, 5, 3, 3, 1)
