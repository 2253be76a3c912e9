"""Makes the ONNX files of this folder: the model tests/vectors/vit/hf_vit as torch exports it, as a file with external data, in fp16, q8 and q4 as
transformers.js lays them out, io.safetensors with an input of it and what torch computes of that,
and expected_q8.safetensors and expected_q4.safetensors, which have the weights that a reader must find in the latter.

python3 make.py   (needs torch and numpy; the vectors were made with torch 1.13)"""
import json
import os
import struct

import numpy as np
import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH, HEADS, HIDDEN, LAYERS, SIDE, PATCH = 24, 3, 40, 2, 20, 4


# ------------------------------------------------------------------------------------------------- the model, with Hugging Face's names
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x):
        query, key, value = (part(x).view(x.size(0), x.size(1), HEADS, WIDTH // HEADS).permute(0, 2, 1, 3) for part in (self.query, self.key, self.value))
        weights = (torch.matmul(query, key.transpose(-1, -2)) / (WIDTH // HEADS) ** 0.5).softmax(-1)
        self.weights = weights.detach()
        merged = torch.matmul(weights, value).permute(0, 2, 1, 3).contiguous()
        return merged.view(x.size(0), x.size(1), WIDTH)


class Dense(nn.Module):
    def __init__(self, size, out):
        super().__init__()
        self.dense = nn.Linear(size, out)

    def forward(self, x):
        return self.dense(x)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layernorm_before, self.layernorm_after = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)
        self.attention = nn.Module()
        self.attention.attention, self.attention.output = Attention(), Dense(WIDTH, WIDTH)
        self.intermediate, self.output = Dense(WIDTH, HIDDEN), Dense(HIDDEN, WIDTH)

    def forward(self, x):
        x = x + self.attention.output(self.attention.attention(self.layernorm_before(x)))
        return x + self.output(nn.functional.gelu(self.intermediate(self.layernorm_after(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.vit = nn.Module()
        embeddings = self.vit.embeddings = nn.Module()
        embeddings.cls_token = nn.Parameter(torch.zeros(1, 1, WIDTH))
        embeddings.position_embeddings = nn.Parameter(torch.zeros(1, 1 + (SIDE // PATCH) ** 2, WIDTH))
        embeddings.patch_embeddings = nn.Module()
        embeddings.patch_embeddings.projection = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.vit.encoder = nn.Module()
        self.vit.encoder.layer = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.vit.layernorm = nn.LayerNorm(WIDTH, 1e-12)
        self.classifier = nn.Linear(WIDTH, 5)

    def forward(self, pixel_values):
        embeddings = self.vit.embeddings
        x = embeddings.patch_embeddings.projection(pixel_values).flatten(2).transpose(1, 2)
        x = torch.cat((embeddings.cls_token.expand(x.shape[0], -1, -1), x), 1) + embeddings.position_embeddings
        for layer in self.vit.encoder.layer:
            x = layer(x)
        x = self.vit.layernorm(x)
        return self.classifier(x[:, 0, :]), x


# ------------------------------------------------------------------------------------------------- protocol buffers: a message is a list of (field, value)
def varint(number):
    out = b""
    while True:
        out += bytes([number & 0x7F | (0x80 if number > 0x7F else 0)])
        number >>= 7
        if not number:
            return out


def encode(fields):
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value & (1 << 64) - 1)
        else:
            value = value.encode() if isinstance(value, str) else encode(value) if isinstance(value, list) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def decode(data):
    at, fields = 0, []

    def take():
        nonlocal at
        number = shift = 0
        while True:
            number |= (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                return number

    while at < len(data):
        tag = take()
        if tag & 7 == 0:
            fields.append((tag >> 3, take()))
        elif tag & 7 == 2:
            size = take()
            fields.append((tag >> 3, data[at:at + size]))
            at += size
        else:
            raise ValueError("a field of fixed size")
    return fields


def every(fields, number):
    return [value for field, value in fields if field == number]


def text(fields, number):
    return (every(fields, number) or [b""])[0].decode()


TYPES = {"float32": 1, "uint8": 2, "int8": 3, "float16": 10}


def tensor(name, array):
    return (5, [(1, size) for size in array.shape] + [(2, TYPES[str(array.dtype)]), (8, name), (9, array.tobytes())])


def node(op, name, inputs, outputs, domain="", **attributes):
    fields = [(1, value) for value in inputs] + [(2, value) for value in outputs] + [(3, name), (4, op)]
    fields += [(5, [(1, key), (3, value), (20, 2)]) for key, value in attributes.items()]
    return (1, fields + ([(7, domain)] if domain else []))


def array_of(fields):
    return np.frombuffer(every(fields, 9)[0], np.float32).reshape(every(fields, 1))


# ------------------------------------------------------------------------------------------------- other ways to store the same weights
def rewrite(data, weight, product):
    """Each float initializer by weight(name, array), each MatMul with one by product(fields, array)."""
    model = dict(decode(data))
    graph = decode(model[7])
    arrays = {text(decode(value), 8): array_of(decode(value)) for value in every(graph, 5) if dict(decode(value))[2] == 1}
    sums = [every(decode(value), 1) for value in every(graph, 1) if text(decode(value), 4) == "Add"]
    names = {part.decode(): pair[0].decode().replace("bias", "weight") for pair in sums if len(pair) == 2 for part in pair}
    factors, made = set(), []
    for field, value in graph:
        fields = decode(value) if field == 1 else []
        inputs = [name.decode() for name in every(fields, 1)]
        if product and field == 1 and text(fields, 4) == "MatMul" and inputs[1] in arrays:
            factors.add(inputs[1])
            made += product(fields, inputs, arrays[inputs[1]], names[text(fields, 2)])
        else:
            made.append((field, value))
    kept = []
    for field, value in made:
        name = text(decode(value), 8) if field == 5 and isinstance(value, bytes) else ""
        if name not in factors:
            kept.append(weight(name, arrays[name]) if name in arrays else (field, value))
    return encode([(field, kept if field == 7 else value) for field, value in decode(data)])


def half_tensor(fields):
    """A TensorProto of floats in 16 bits, others as they are."""
    if dict(fields)[2] != 1:
        return fields
    most = np.finfo(np.float16).max
    halves = np.clip(np.frombuffer(dict(fields)[9], np.float32), -most, most).astype(np.float16)
    return [(2, 10) if field == 2 else (9, halves.tobytes()) if field == 9 else (field, value) for field, value in fields]


def half_attribute(op, value):
    """The value of a Constant, and what a Cast casts to."""
    if op not in ("Constant", "Cast"):
        return value
    fields = decode(value)
    if op == "Cast":
        return [(3, 10) if item == (3, 1) else item for item in fields]
    return [(field, half_tensor(decode(part)) if field == 5 else part) for field, part in fields]


def to_half(data):
    """The file with all its floats in 16 bits; inputs, outputs and the sizes of a Resize stay as they are, as converters have it."""
    graph = decode(dict(decode(data))[7])
    sizes = [name for value in every(graph, 1) if text(decode(value), 4) == "Resize" for name in every(decode(value), 1)[1:]]
    outside = {field: [text(decode(value), 1) for value in every(graph, field) if b"\x08\x01" in dict(decode(value))[2][:6]] for field in (11, 12)}
    inner = {name: name + "_half" for names in outside.values() for name in names}
    made = [node("Cast", name + "_cast", [name], [inner[name]], to=10) for name in outside[11]]
    for field, value in graph:
        fields = decode(value) if field in (1, 5) else value
        if field == 5:
            made.append((5, half_tensor(fields)))
        elif field == 1:
            op = "" if every(fields, 2)[0] in sizes else text(fields, 4)
            fields = [(number, inner.get(part.decode(), part) if number in (1, 2) else half_attribute(op, part) if number == 5 else part) for number, part in fields]
            made.append((1, fields))
        elif field != 13:
            made.append((field, value))
    made += [node("Cast", name + "_cast", [inner[name]], [name], to=1) for name in outside[12]]
    return encode([(field, made if field == 7 else value) for field, value in decode(data)])


def to_q8(expected):
    def product(fields, inputs, array, target):
        name, out, base = text(fields, 3), text(fields, 2), inputs[1]
        scale = np.float32(np.abs(array).max() / 127)
        zero = np.uint8(128)
        stored = np.clip(np.round(array / scale) + 128, 0, 255).astype(np.uint8)
        expected[target] = ((stored.astype(np.float32) - np.float32(128)) * scale).T
        return [node("DynamicQuantizeLinear", name + "_input", [inputs[0]], [out + "_q", out + "_s", out + "_z"]),
                node("MatMulInteger", name + "_quant", [out + "_q", base + "_quantized", out + "_z", base + "_zero_point"], [out + "_i"]),
                node("Cast", name + "_cast", [out + "_i"], [out + "_f"], to=1),
                node("Mul", name + "_scales", [out + "_s", base + "_scale"], [out + "_m"]),
                node("Mul", name + "_output", [out + "_f", out + "_m"], [out]),
                tensor(base + "_quantized", stored), tensor(base + "_scale", scale.reshape(())), tensor(base + "_zero_point", zero.reshape(()))]
    return product


def to_q4(expected, block=16):
    def product(fields, inputs, array, target):
        name, out, base = text(fields, 3), text(fields, 2), inputs[1]
        rows, depth = array.shape[1], array.shape[0]
        blocks = -(-depth // block)
        padded = np.zeros((rows, blocks * block), np.float32)
        padded[:, :depth] = array.T
        parts = padded.reshape(rows, blocks, block)
        scale = (np.abs(parts).max(-1) / 7).astype(np.float32)
        stored = np.clip(np.round(parts / scale[..., None]) + 8, 0, 15).astype(np.uint8)
        expected[target] = ((stored.astype(np.float32) - np.float32(8)) * scale[..., None]).reshape(rows, -1)[:, :depth]
        packed = stored[..., 0::2] | stored[..., 1::2] << 4
        return [node("MatMulNBits", name + "_Q4", [inputs[0], base + "_Q4", base + "_scales"], [out], "com.microsoft", K=depth, N=rows, bits=4,
                     block_size=block), tensor(base + "_Q4", packed), tensor(base + "_scales", scale.reshape(-1))]
    return product


def external(data, location):
    """The same file with its floats in another one."""
    stored, fields = b"", []
    for field, value in decode(data):
        if field == 7:
            made = []
            for inner, part in decode(value):
                if inner == 5 and dict(decode(part))[2] == 1:
                    raw = every(decode(part), 9)[0]
                    stored += b"\0" * (-len(stored) % 64)
                    pairs = [("location", location), ("offset", str(len(stored))), ("length", str(len(raw)))]
                    part = encode([item for item in decode(part) if item[0] != 9] + [(13, [(1, key), (2, text)]) for key, text in pairs] + [(14, 1)])
                    stored += raw
                made.append((inner, part))
            value = made
        fields.append((field, value))
    return encode(fields), stored


def write_safetensors(name, arrays):
    header, data = {}, b""
    for key, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[key] = {"dtype": {"float32": "F32", "int64": "I64"}[str(array.dtype)], "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    words = json.dumps(header).encode()
    write(name, struct.pack("<Q", len(words)) + words + data)


def write(name, data):
    path = os.path.join(HERE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def main():
    model = Model().eval()
    model.load_state_dict(torch.load(os.path.join(HERE, "../pickle/vit/zip.pth")))
    path = os.path.join(HERE, "model.onnx")
    picture = torch.zeros(1, 3, SIDE, SIDE)
    axes = {"pixel_values": {0: "batch"}}
    torch.onnx.export(model, (picture,), path, opset_version=14, input_names=["pixel_values"], output_names=["logits", "last_hidden_state"], dynamic_axes=axes)
    with open(path, "rb") as file:
        data = file.read()
    torch.manual_seed(3)
    picture = torch.randn(2, 3, SIDE, SIDE)
    with torch.no_grad():
        logits, states = model(picture)
    made = {"pixel_values": picture, "logits": logits, "last_hidden_state": states}
    made.update({"attention.%d" % i: layer.attention.attention.weights for i, layer in enumerate(model.vit.encoder.layer)})
    write_safetensors("io.safetensors", {name: value.numpy() for name, value in made.items()})
    q8, q4 = {}, {}
    write("vit/onnx/model_fp16.onnx", to_half(data))
    write("vit/onnx/model_quantized.onnx", rewrite(data, tensor, to_q8(q8)))
    write("vit/onnx/model_q4.onnx", rewrite(data, tensor, to_q4(q4)))
    outside, stored = external(data, "model.onnx_data")
    write("vit/onnx/model.onnx", outside)
    write("vit/onnx/model.onnx_data", stored)
    write_safetensors("expected_q8.safetensors", q8)
    write_safetensors("expected_q4.safetensors", q4)
    with open(os.path.join(HERE, "../vit/hf_vit/config.json"), "rb") as file:
        write("vit/config.json", file.read())


if __name__ == "__main__":
    main()
