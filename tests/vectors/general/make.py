"""Makes the cases beside it with numpy, in double precision: some of each general op.

python3 make.py   (needs numpy)"""
import json
import os
import struct

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
random = numpy.random.default_rng(3)
TYPES = {"float32": "F32", "int32": "I32"}


def save(name, op, attrs, tensors):
    header, data = {"__metadata__": {"op": op, "attrs": json.dumps(attrs), "source": "numpy in double precision"}}, b""
    for key, value in tensors.items():
        value = numpy.ascontiguousarray(value if value.dtype == numpy.int32 else value.astype(numpy.float32))
        raw = value.tobytes()
        header[key] = {"dtype": TYPES[value.dtype.name], "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(HERE, name + ".safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def numbers(*shape):
    """Values that a float of 32 bits holds, as doubles."""
    return random.standard_normal(shape).astype(numpy.float32).astype(numpy.float64)


a, b = numbers(2, 1, 7, 11), numbers(3, 13, 11)
save("matmul", "matmul", {"transpose_b": True}, {"a": a, "b": b, "expect.y": numpy.matmul(a, numpy.swapaxes(b, -1, -2))})

a, b = numpy.abs(numbers(2, 3, 5)) + 0.1, numbers(3, 1)
save("power", "elementwise", {"kind": "power"}, {"a": a, "b": b, "expect.y": numpy.power(a, b)})
a, b, c = numbers(2, 1, 5), numbers(3, 5), numbers(1)
a[0, 0, 2] = 0
save("select", "elementwise", {"kind": "select"}, {"a": a, "b": b, "c": c, "expect.y": numpy.where(a != 0, b, c)})

x = numbers(2, 3, 4, 5)
save("log_sum_exp", "reduce", {"kind": "log_sum_exp", "axes": [1, 3], "keep_axes": True},
     {"x": x, "expect.y": numpy.log(numpy.exp(x).sum((1, 3), keepdims=True))})
save("argmax", "reduce", {"kind": "argmax", "axes": [2]}, {"x": x, "expect.y": x.argmax(2).astype(numpy.int32)})

x = numbers(4, 9)
save("slice", "slice", {"shape": [4, 4], "start": [3, 1], "step": [-1, 2]}, {"x": x, "expect.y": x[::-1, 1:9:2]})
save("pad", "slice", {"shape": [5, 12], "start": [-1, -2], "value": 2.5},
     {"x": x, "expect.y": numpy.pad(x, ((1, 0), (2, 1)), constant_values=2.5)})

x, i = numbers(3, 5, 4), numpy.array([[0, -1], [4, 2]], numpy.int32)
save("gather", "gather", {"axis": 1}, {"x": x, "indices": i, "expect.y": numpy.take(x, i, 1)})
i = random.integers(-5, 5, (3, 6, 4)).astype(numpy.int32)
save("gather_elements", "gather", {"axis": 1, "elements": True}, {"x": x, "indices": i, "expect.y": numpy.take_along_axis(x, i, 1)})


def windows(x, size, kernel, stride, dilation):
    """[B, C, rows, columns, kernel elements] of x, which has its padding."""
    rows, columns = ([s * i for i in range(n)] for n, s in zip(size, stride))
    taps = [(i * dilation[0], j * dilation[1]) for i in range(kernel[0]) for j in range(kernel[1])]
    return numpy.stack([numpy.stack([numpy.stack([x[:, :, r + i, c + j] for i, j in taps], -1) for c in columns], 2) for r in rows], 2)


x, w, bias = numbers(2, 3, 7, 9), numbers(6, 3, 2), numbers(6)
seen = windows(numpy.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1))), (3, 9), (3, 2), (2, 1), (1, 3))
y = numpy.einsum("bcyxk,cmk->bcmyx", seen, w.reshape(3, 2, 6)).reshape(2, 6, 3, 9) + bias[:, None, None]
save("depthwise", "depthwise", {"stride": [2, 1], "dilation": [1, 3], "before": [1, 2], "after": [0, 1]},
     {"x": x, "weight": w, "bias": bias, "expect.y": y})
padded = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=numpy.nan)
seen = windows(padded, (4, 5), (3, 3), (2, 2), (1, 1))
pool = {"kernel": [3, 3], "stride": [2, 2], "before": [1, 1], "after": [1, 1]}
save("mean_pool", "depthwise", {"kind": "mean", **pool}, {"x": x, "expect.y": numpy.nanmean(seen, -1)})
save("max_pool", "depthwise", {"kind": "max", **pool}, {"x": x, "expect.y": numpy.nanmax(seen, -1)})
