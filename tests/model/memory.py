"""The memory that heed predicts for a ViT-L/14 DINOv2 with registers at 518 pixels (1374 tokens),
beside what it takes.  Usage: memory.py HEED FOLDER [THREADS]

Writes the model with random weights into FOLDER (1.2 GB, kept for the next call), reads the
prediction of `heed inspect --plan`, runs `heed bench` without and with all maps, and compares the
growth of the process over one that runs a small model. Exit status 1: more than 2 % apart."""
import json
import os
import struct
import subprocess
import sys

import numpy

WIDTH, LAYERS, HEADS, PATCH, SIDE, REGISTERS = 1024, 24, 16, 14, 518, 4


def shapes(width, layers, patch, side):
    rows = 1 + (side // patch) ** 2
    yield "embeddings.cls_token", (1, 1, width)
    yield "embeddings.register_tokens", (1, REGISTERS, width)
    yield "embeddings.position_embeddings", (1, rows, width)
    yield "embeddings.patch_embeddings.projection.weight", (width, 3, patch, patch)
    yield "embeddings.patch_embeddings.projection.bias", (width,)
    for i in range(layers):
        at = f"encoder.layer.{i}."
        for norm in ("norm1", "norm2"):
            yield at + norm + ".weight", (width,)
            yield at + norm + ".bias", (width,)
        for part in ("attention.query", "attention.key", "attention.value", "output.dense"):
            yield at + "attention." + part + ".weight", (width, width)
            yield at + "attention." + part + ".bias", (width,)
        yield at + "layer_scale1.lambda1", (width,)
        yield at + "layer_scale2.lambda1", (width,)
        for name, to, of in (("fc1", 4 * width, width), ("fc2", width, 4 * width)):
            yield at + "mlp." + name + ".weight", (to, of)
            yield at + "mlp." + name + ".bias", (to,)
    yield "layernorm.weight", (width,)
    yield "layernorm.bias", (width,)


def write(folder, width, layers, heads, patch, side):
    path = os.path.join(folder, "model.safetensors")
    os.makedirs(folder, exist_ok=True)
    config = {
        "model_type": "dinov2_with_registers", "hidden_size": width, "num_hidden_layers": layers,
        "num_attention_heads": heads, "mlp_ratio": 4, "patch_size": patch, "image_size": side,
        "num_channels": 3, "hidden_act": "gelu", "layer_norm_eps": 1e-6, "qkv_bias": True,
        "num_register_tokens": REGISTERS,
    }
    with open(os.path.join(folder, "config.json"), "w") as to:
        json.dump(config, to)
    if os.path.exists(path):
        return folder
    header, at = {}, 0
    for name, shape in shapes(width, layers, patch, side):
        size = 4 * int(numpy.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = numpy.random.default_rng(1)
    with open(path + ".part", "wb") as to:
        to.write(struct.pack("<Q", len(text)) + text)
        for _, shape in shapes(width, layers, patch, side):
            to.write((random.random(shape, dtype=numpy.float32) - 0.5) * numpy.float32(0.06))
    os.rename(path + ".part", path)
    return folder


def bench(heed, model, threads, maps):
    words = [heed, "bench", model, "--backend", "cpu", "--threads", threads, "--runs", "1",
             "--warmup", "0", "--all-tokens", "--json"] + ["--maps"] * maps
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def main():
    heed, folder, threads = sys.argv[1], sys.argv[2], (sys.argv + ["2"])[3]
    small = write(os.path.join(folder, "small"), 48, 1, 2, PATCH, 2 * PATCH)
    large = write(os.path.join(folder, "dinov2_large"), WIDTH, LAYERS, HEADS, PATCH, SIDE)
    base = bench(heed, small, threads, False)["peak_rss_bytes"]
    worst = 0.0
    for maps in (False, True):
        found = bench(heed, large, threads, maps)
        predicted = sum(found[part] for part in ("weights_bytes", "arena_bytes", "workspace_bytes"))
        measured = found["peak_rss_bytes"] - base
        worst = max(worst, abs(measured / predicted - 1))
        print(f"{'all maps' if maps else 'no maps'}: predicted {predicted / 1e6:.1f} MB (weights "
              f"{found['weights_bytes'] / 1e6:.1f}, arena {found['arena_bytes'] / 1e6:.1f}, workspace "
              f"{found['workspace_bytes'] / 1e6:.1f}), measured {measured / 1e6:.1f} MB "
              f"({100 * (measured / predicted - 1):+.2f} %)")
    return worst > 0.02


if __name__ == "__main__":
    sys.exit(main())
