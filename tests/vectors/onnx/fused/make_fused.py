"""Writes fused.onnx and dynamic.onnx: a node for each form that onnxruntime's optimiser and quantiser make, and fused.safetensors and
dynamic.safetensors, their inputs. make_fused.mjs writes what onnxruntime makes of them.

python3 make_fused.py   (needs numpy)"""
import json
import os
import struct

import numpy as np

MICROSOFT = "com.microsoft"
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
NAMES = {"float32": "F32", "uint8": "U8", "int32": "I32", "int64": "I64"}  # of .safetensors
random = np.random.default_rng(1)


# ------------------------------------------------------------------------------- the wire of protocol buffers
def varint(value):
    out = b""
    value &= (1 << 64) - 1
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def real(field, value):
    return varint(field << 3 | 5) + np.float32(value).tobytes()


def attribute(name, value):
    if isinstance(value, float):
        body = real(2, value) + number(20, 1)
    elif isinstance(value, int):
        body = number(3, value) + number(20, 2)
    elif isinstance(value, str):
        body = message(4, value) + number(20, 3)
    elif isinstance(value[0], float):
        body = b"".join(real(7, v) for v in value) + number(20, 6)
    else:
        body = b"".join(number(8, v) for v in value) + number(20, 7)
    return message(1, name) + body


def tensor(name, a):
    return b"".join(number(1, d) for d in a.shape) + number(2, TYPES[str(a.dtype)]) + message(8, name) + message(9, a.tobytes())


def port(name, dtype, shape=None):
    sizes = message(2, b"".join(message(1, number(1, d)) for d in shape)) if shape is not None else b""
    return message(1, name) + message(2, message(1, number(1, TYPES[dtype]) + sizes))


def write_safetensors(path, arrays):
    header, data = {}, b""
    for name, a in sorted(arrays.items(), key=lambda item: -item[1].itemsize):
        header[name] = {"dtype": NAMES[str(a.dtype)], "shape": a.shape, "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    words = json.dumps(header).encode()
    words += b" " * (-len(words) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(words)) + words + data)


class Graph:
    """Nodes beside each other; names of a case begin with its name."""

    def __init__(self):
        self.nodes, self.weights, self.inputs, self.outputs = [], {}, {}, []

    def node(self, op, inputs, outputs, domain="", name="", **attributes):
        words = [message(1, i) for i in inputs] + [message(2, o) for o in outputs] + [message(3, name), message(4, op)]
        words += [message(5, attribute(k, v)) for k, v in attributes.items()] + ([message(7, domain)] if domain else [])
        self.nodes.append(b"".join(words))

    def case(self, name, op, order, weights, inputs, outputs="y", domain=MICROSOFT, whole="", **attributes):
        """order: names of inputs and weights, "-" where one is left out; whole: outputs that are whole numbers, and are cast to floats."""
        own = lambda each: "" if each == "-" else f"{name}.{each}"
        self.weights |= {own(k): v for k, v in weights.items()}
        self.inputs |= {own(k): v for k, v in inputs.items()}
        given = [own(o) + (".whole" if o in whole.split() else "") for o in outputs.split()]
        self.node(op, [own(i) for i in order.split()], given, domain, f"/{name}/{op}", **attributes)
        for output in outputs.split():
            if output in whole.split():
                self.node("Cast", [own(output) + ".whole"], [own(output)], name=f"/{name}/Cast", to=1)
            if output != "-" and output != "unused":
                self.outputs.append(own(output))

    def write(self, name):
        graph = b"".join(message(1, n) for n in self.nodes) + message(2, name)
        graph += b"".join(message(5, tensor(k, a)) for k, a in self.weights.items())
        graph += b"".join(message(11, port(k, str(a.dtype), a.shape)) for k, a in self.inputs.items())
        graph += b"".join(message(12, port(o, "float32")) for o in self.outputs)
        sets = message(8, message(1, "") + number(2, 17)) + message(8, message(1, MICROSOFT) + number(2, 1))
        folder = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(folder, f"{name}.onnx"), "wb") as file:
            file.write(number(1, 8) + message(7, graph) + sets)
        write_safetensors(os.path.join(folder, f"{name}.safetensors"), self.inputs)


# ------------------------------------------------------------------------------------------------- the cases
def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def bytes_of(*shape):
    return random.integers(0, 255, shape).astype(np.uint8)


def signed(*shape):
    return random.integers(-127, 127, shape).astype(np.int8)


def scale(value):
    return np.array(value, np.float32)


def zero(value, dtype=np.uint8):
    return np.array(value, dtype)


def scales(count, factor=0.02):
    return (np.abs(floats(count)) + 0.1) * np.float32(factor)


def products(g):
    for a in (0, 1):
        for b in (0, 1):
            inputs = {"a": floats(2, 5, 3) if a else floats(2, 3, 5), "b": floats(2, 4, 5) if b else floats(2, 5, 4)}
            g.case(f"matmul{a}{b}", "FusedMatMul", "a b", {}, inputs, transA=a, transB=b, alpha=0.25)
    g.case("matmul", "FusedMatMul", "a b", {"b": floats(4, 5)}, {"a": floats(2, 3, 5)}, transB=1, alpha=1.0, transBatchA=0)
    g.case("gemm", "FusedGemm", "a b c", {"b": floats(4, 5), "c": floats(4)}, {"a": floats(3, 5)}, transB=1, alpha=0.5, beta=2.0, activation="LeakyRelu",
           activation_alpha=0.2)
    g.case("gemm_relu", "FusedGemm", "a b", {"b": floats(5, 4)}, {"a": floats(3, 5)}, activation="Relu")
    g.case("conv", "FusedConv", "x w b", {"w": floats(4, 3, 3, 3), "b": floats(4)}, {"x": floats(1, 3, 6, 6)}, kernel_shape=[3, 3], pads=[1, 1, 1, 1],
           activation="Relu")
    g.case("conv_sum", "FusedConv", "x w b z", {"w": floats(4, 3, 2, 2), "b": floats(4)}, {"x": floats(1, 3, 6, 6), "z": floats(1, 4, 3, 3)},
           kernel_shape=[2, 2], strides=[2, 2], activation="HardSigmoid", activation_params=[0.3, 0.4])


def quantised(g):
    pair = lambda: {"as": scale(0.03), "az": zero(100), "bs": scale(0.02), "bz": zero(120)}
    to = {"ys": scale(0.05), "yz": zero(128)}
    order = "a as az b bs bz ys yz"
    g.case("integer", "MatMulIntegerToFloat", "a b as bs az bz bias", pair() | {"b": bytes_of(5, 4), "bias": floats(4)}, {"a": bytes_of(3, 5)})
    g.case("q_matmul", "QLinearMatMul", order, pair() | to | {"b": bytes_of(5, 4)}, {"a": bytes_of(3, 5)}, domain="", whole="y")
    g.case("q_add", "QLinearAdd", order, pair() | to | {"b": bytes_of(3, 5)}, {"a": bytes_of(3, 5)}, whole="y")
    g.case("q_mul", "QLinearMul", order, pair() | to | {"b": bytes_of(3, 5)}, {"a": bytes_of(3, 5)}, whole="y")
    x = {"xs": scale(0.03), "xz": zero(110)}
    conv = {"w": signed(4, 3, 3, 3), "ws": scales(4), "wz": np.zeros(4, np.int8), "b": random.integers(-900, 900, 4).astype(np.int32)}
    g.case("q_conv", "QLinearConv", "x xs xz w ws wz ys yz b", x | conv | to, {"x": bytes_of(1, 3, 6, 6)}, domain="", whole="y", kernel_shape=[3, 3],
           pads=[1, 1, 1, 1])
    for turned in (0, 1):
        gemm = {"b": signed(4, 4), "bs": scales(4), "bz": np.zeros(4, np.int8), "c": random.integers(-900, 900, 4).astype(np.int32)}
        g.case(f"q_gemm{turned}", "QGemm", "a as az b bs bz c", pair() | gemm, {"a": bytes_of(3, 4)}, transB=turned, alpha=1.0)
    g.case("q_gemm_q", "QGemm", "a as az b bs bz - ys yz", pair() | to | {"b": bytes_of(4, 5)}, {"a": bytes_of(3, 4)}, whole="y", alpha=0.5)
    g.case("q_sigmoid", "QLinearSigmoid", "x xs xz ys yz", x | {"ys": scale(1 / 256), "yz": zero(0)}, {"x": bytes_of(3, 5)}, whole="y")
    g.case("q_leaky", "QLinearLeakyRelu", "x xs xz ys yz", x | to, {"x": bytes_of(3, 5)}, whole="y", alpha=0.1)
    g.case("q_pool", "QLinearGlobalAveragePool", "x xs xz ys yz", x | to, {"x": bytes_of(1, 3, 4, 4)}, whole="y", channels_last=0)


MASK = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
MASKS = {"flags": MASK, "ends": np.array([3, 5], np.int32), "starts": np.array([4, 5, 1, 0], np.int32),
         "rows": random.integers(0, 2, (2, 5, 5)).astype(np.int32) | np.eye(5, dtype=np.int32)}


def embeddings(g):
    ids, segments = random.integers(0, 7, (2, 5)).astype(np.int32), random.integers(0, 2, (2, 5)).astype(np.int32)
    tables = {"word": floats(7, 8), "places": floats(6, 8), "gamma": floats(8), "beta": floats(8)}
    both = tables | {"segment": floats(2, 8)}
    op = "EmbedLayerNormalization"
    g.case("embed", op, "ids segments word places segment gamma beta mask", both, {"ids": ids, "segments": segments, "mask": MASK}, "y lengths sum",
           whole="lengths", epsilon=1e-12)
    g.case("embed_words", op, "ids - word places - gamma beta", tables, {"ids": ids}, "y lengths", whole="lengths", epsilon=1e-12)
    g.case("embed_at", op, "ids segments word places segment gamma beta - at", both,
           {"ids": ids, "segments": segments, "at": random.integers(0, 6, (2, 5)).astype(np.int32)}, "y unused", epsilon=1e-12)


def attentions(g):
    weights = lambda: {"w": floats(8, 24) * np.float32(0.4), "b": floats(24)}
    for kind, mask in MASKS.items():
        for causal in (0, 1):
            g.case(f"attention_{kind}{causal}", "Attention", "x w b mask", weights(), {"x": floats(2, 5, 8), "mask": mask}, num_heads=2, unidirectional=causal)
    none = np.zeros((2, 5), np.int32)
    g.case("attention_none", "Attention", "x w b mask", weights(), {"x": floats(2, 5, 8), "mask": none}, num_heads=2, mask_filter_value=-16.0)
    g.case("attention_bias", "Attention", "x w b mask - bias", weights(), {"x": floats(2, 5, 8), "mask": MASK, "bias": floats(2, 2, 5, 5)}, num_heads=2)
    g.case("attention_sizes", "Attention", "x w b", {"w": floats(8, 28), "b": floats(28)}, {"x": floats(2, 5, 8)}, num_heads=2, qkv_hidden_sizes=[8, 8, 12],
           scale=0.3)
    g.case("attention_past", "Attention", "x w b mask past", weights(), {"x": floats(2, 3, 8), "mask": MASK, "past": floats(2, 2, 2, 2, 4)}, "y present",
           num_heads=2, unidirectional=1)
    q = {"w": signed(8, 24), "b": floats(24), "xs": scale(0.02), "xz": zero(128)}
    g.case("q_attention", "QAttention", "x w b xs ws mask xz wz", q | {"ws": scale(0.005), "wz": zero(0, np.int8)}, {"x": bytes_of(2, 5, 8), "mask": MASK},
           num_heads=2)
    g.case("q_attention_columns", "QAttention", "x w b xs ws - xz wz", q | {"ws": scales(24, 0.005), "wz": np.zeros(24, np.int8)}, {"x": bytes_of(2, 5, 8)},
           num_heads=2, unidirectional=1)
    three = lambda: {each: floats(2, 5, 8) for each in "qkv"}
    for kind in ("flags", "ends", "rows"):
        g.case(f"heads_{kind}", "MultiHeadAttention", "q k v b mask", {"b": floats(24)}, three() | {"mask": MASKS[kind]}, num_heads=2)
    g.case("heads_apart", "MultiHeadAttention", "q k v", {}, {"q": floats(2, 5, 8), "k": floats(2, 2, 3, 4), "v": floats(2, 2, 3, 4)}, num_heads=2)
    g.case("heads_bias", "MultiHeadAttention", "q k v - mask bias", {}, three() | {"v": floats(2, 5, 12), "mask": MASK, "bias": floats(1, 2, 5, 5)}, num_heads=2)
    g.case("heads_past", "MultiHeadAttention", "q k v b - - pk pv", {"b": floats(24)}, three() | {"pk": floats(2, 2, 3, 4), "pv": floats(2, 2, 3, 4)},
           "y key value", num_heads=2)


def others(g):
    x = lambda: {"x": floats(2, 5, 8)}
    skip = lambda: x() | {"skip": floats(2, 5, 8)}
    vector = lambda *names: {each: floats(8) for each in names}
    g.case("skip", "SkipLayerNormalization", "x skip g b bias", vector("g", "b", "bias"), skip(), "y - - sum", epsilon=1e-5)
    g.case("skip_one", "SkipLayerNormalization", "x skip g", vector("g"), x() | {"skip": floats(1, 5, 8)}, epsilon=1e-5)
    g.case("skip_rms", "SkipSimplifiedLayerNormalization", "x skip g bias", vector("g", "bias"), skip(), "y - - sum", epsilon=1e-5)
    g.case("bias_gelu", "BiasGelu", "x b", vector("b"), x())
    g.case("fast_gelu", "FastGelu", "x b", vector("b"), x())
    g.case("gelu", "Gelu", "x", {}, x())
    g.case("quick_gelu", "QuickGelu", "x", {}, x(), alpha=1.3)
    angles = np.arange(12).reshape(6, 2).astype(np.float32) * np.float32(0.3)
    tables = {"cos": np.cos(angles), "sin": np.sin(angles)}
    for interleaved in (0, 1):
        g.case(f"rotary{interleaved}", "RotaryEmbedding", "x at cos sin", tables, {"x": floats(2, 2, 5, 4), "at": np.array([[0, 1, 2, 3, 4]] * 2)},
               interleaved=interleaved)
    g.case("rotary_joined", "RotaryEmbedding", "x at cos sin", tables, x() | {"at": np.array([1])})


if __name__ == "__main__":
    fused, dynamic = Graph(), Graph()
    for add in (products, quantised, embeddings, attentions, others):
        add(fused)
    fused.write("fused")
    weights = {"b": bytes_of(5, 4), "bs": scale(0.02), "bz": zero(120), "bias": floats(4)}
    dynamic.case("dynamic", "DynamicQuantizeMatMul", "a b bs bz bias", weights, {"a": floats(3, 5)})
    dynamic.case("dynamic_columns", "DynamicQuantizeMatMul", "a b bs", {"b": signed(5, 4), "bs": scales(4)}, {"a": floats(2, 3, 5)})
    dynamic.write("dynamic")
