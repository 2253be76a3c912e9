"""The memory that heed predicts for models of published sizes, beside what it takes.

  memory.py HEED FOLDER [THREADS [NAME...]]

Writes the models with random weights into FOLDER (1.9 GB, kept for the next call), runs `heed bench` without and with all
maps, and compares the growth of the process over one that runs a small model. Exit status 1: more than 2 % apart."""
import json
import os
import struct
import subprocess
import sys

import numpy

TOLERANCE = 0.02


class Names:
    """How a family calls its tensors and the sizes in its config."""

    def __init__(self, embeddings, layer, parts, scales, before, after, prefix=""):
        self.embeddings, self.layer, self.parts, self.scales = embeddings, layer, parts, scales
        self.before, self.after, self.prefix = before, after, prefix


VIT = Names(("embeddings.cls_token", "embeddings.position_embeddings", "embeddings.patch_embeddings.projection"),
            "encoder.layer.%d.",
            ("layernorm_before", "attention.attention.query", "attention.attention.key", "attention.attention.value",
             "attention.output.dense", "layernorm_after", "intermediate.dense", "output.dense"), (), None, "layernorm")
DINOV2 = Names(VIT.embeddings, VIT.layer,
               ("norm1", "attention.attention.query", "attention.attention.key", "attention.attention.value",
                "attention.output.dense", "norm2", "mlp.fc1", "mlp.fc2"), ("layer_scale1.lambda1", "layer_scale2.lambda1"),
               None, "layernorm")
CLIP = Names(("embeddings.class_embedding", "embeddings.position_embedding.weight", "embeddings.patch_embedding"),
             "encoder.layers.%d.",
             ("layer_norm1", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj", "layer_norm2",
              "mlp.fc1", "mlp.fc2"), (), "pre_layrnorm", "post_layernorm", "vision_model.")

# name: model_type, names, width, layers, heads, patch, side, registers
MODELS = {
    "dinov2_large": ("dinov2_with_registers", DINOV2, 1024, 24, 16, 14, 518, 4),  # 1374 tokens
    "vit_base": ("vit", VIT, 768, 12, 12, 16, 224, 0),
    "clip_base": ("clip_vision_model", CLIP, 768, 12, 12, 16, 224, 0),
    "small": ("dinov2_with_registers", DINOV2, 48, 1, 2, 14, 28, 4),  # what the others are compared with
}


def shapes(model):
    _, names, width, layers, _, patch, side, registers = MODELS[model]
    clip, rows = names is CLIP, 1 + (side // patch) ** 2
    cls, positions, projection = names.embeddings
    yield cls, (width,) if clip else (1, 1, width)
    yield positions, (rows, width) if clip else (1, rows, width)
    yield projection + ".weight", (width, 3, patch, patch)
    if not clip:
        yield projection + ".bias", (width,)
    if registers:
        yield "embeddings.register_tokens", (1, registers, width)
    sizes = [(width,)] + [(width, width)] * 4 + [(width,), (4 * width, width), (width, 4 * width)]
    for i in range(layers):
        for part, shape in zip(names.parts, sizes):
            yield names.layer % i + part + ".weight", shape
            yield names.layer % i + part + ".bias", shape[:1]
        for scale in names.scales:
            yield names.layer % i + scale, (width,)
    for norm in filter(None, (names.before, names.after)):
        yield norm + ".weight", (width,)
        yield norm + ".bias", (width,)


def write(folder, model):
    kind, names, width, layers, heads, patch, side, registers = MODELS[model]
    folder = os.path.join(folder, model)
    path = os.path.join(folder, "model.safetensors")
    os.makedirs(folder, exist_ok=True)
    config = {"model_type": kind, "hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,
              "patch_size": patch, "image_size": side, "num_channels": 3, "hidden_act": "gelu", "layer_norm_eps": 1e-6}
    config.update({"mlp_ratio": 4, "num_register_tokens": registers} if names is DINOV2 else {"intermediate_size": 4 * width})
    with open(os.path.join(folder, "config.json"), "w") as to:
        json.dump(config, to)
    if os.path.exists(path):
        return folder
    header, at = {}, 0
    for name, shape in shapes(model):
        size = 4 * int(numpy.prod(shape))
        header[names.prefix + name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = numpy.random.default_rng(1)
    with open(path + ".part", "wb") as to:
        to.write(struct.pack("<Q", len(text)) + text)
        for _, shape in shapes(model):
            to.write((random.random(shape, dtype=numpy.float32) - 0.5) * numpy.float32(0.06))
    os.rename(path + ".part", path)
    return folder


def bench(heed, folder, threads, maps):
    words = [heed, "bench", folder, "--backend", "cpu", "--threads", threads, "--runs", "1", "--warmup", "0", "--all-tokens",
             "--quiet", "--json"] + ["--maps"] * maps
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def main():
    heed, folder, threads = sys.argv[1], sys.argv[2], (sys.argv + ["2"])[3]
    base = bench(heed, write(folder, "small"), threads, False)["peak_rss_bytes"]
    worst = 0.0
    for model in sys.argv[4:] or [name for name in MODELS if name != "small"]:
        for maps in (False, True):
            found = bench(heed, write(folder, model), threads, maps)
            parts = {part: found[part + "_bytes"] for part in ("weights", "arena", "workspace")}
            predicted, measured = sum(parts.values()), found["peak_rss_bytes"] - base
            worst = max(worst, abs(measured / predicted - 1))
            print(f"{model}, {'all maps' if maps else 'no maps'}: predicted {predicted / 1e6:.1f} MB (" +
                  ", ".join(f"{part} {size / 1e6:.1f}" for part, size in parts.items()) +
                  f"), measured {measured / 1e6:.1f} MB ({100 * (measured / predicted - 1):+.2f} %)", flush=True)
    return worst > TOLERANCE


if __name__ == "__main__":
    sys.exit(main())
