"""heed embed beside PyTorch, on the same pictures and weights: the largest difference of the embeddings, and pictures a second of both.

python3 embed.py HEED PICTURES [--model s|ti|small] [--threads N] [--batch N]   (needs torch, numpy and Pillow)

PICTURES is a folder of images, or of folders of them, such as those of small_photos.py. The model is a ViT-S/16 at 224 pixels with random weights,
a ViT-Ti/16, or four layers of width 96; its forward in PyTorch is written from the published code. Both read the files, resize them as Pillow does,
and run batches; the model is loaded before PyTorch's clock starts, and within heed's. The processor's time of both, of all threads, is printed too."""
import argparse
import json
import os
import resource
import struct
import subprocess
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

MODELS = {"s": (384, 12, 6), "ti": (192, 12, 3), "small": (96, 4, 3)}  # width, layers, heads


def processor(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def make(folder, width, layers, heads):
    torch.manual_seed(1)
    weights, prefix = {}, "vit."
    def add(name, *shape, scale=0.02):
        weights[prefix + name] = torch.randn(*shape) * scale
    add("embeddings.cls_token", 1, 1, width)
    add("embeddings.position_embeddings", 1, 197, width)
    add("embeddings.patch_embeddings.projection.weight", width, 3, 16, 16)
    add("embeddings.patch_embeddings.projection.bias", width)
    def norm(name):
        weights[prefix + name + ".weight"] = 1 + 0.1 * torch.randn(width)
        add(name + ".bias", width)
    def linear(name, out, into):
        add(name + ".weight", out, into, scale=into**-0.5)
        add(name + ".bias", out)
    for i in range(layers):
        layer = f"encoder.layer.{i}."
        norm(layer + "layernorm_before")
        norm(layer + "layernorm_after")
        for part in ("attention.attention.query", "attention.attention.key", "attention.attention.value", "attention.output.dense"):
            linear(layer + part, width, width)
        linear(layer + "intermediate.dense", 4 * width, width)
        linear(layer + "output.dense", width, 4 * width)
    norm("layernorm")
    header, data = {}, b""
    for name, value in weights.items():
        bytes_ = value.numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    config = {"model_type": "vit", "image_size": 224, "patch_size": 16, "num_channels": 3, "hidden_size": width, "num_hidden_layers": layers,
              "num_attention_heads": heads, "intermediate_size": 4 * width, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "qkv_bias": True}
    json.dump(config, open(os.path.join(folder, "config.json"), "w"))
    prepare = {"do_resize": True, "size": {"height": 224, "width": 224}, "resample": 2, "do_rescale": True, "rescale_factor": 1 / 255,
               "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    json.dump(prepare, open(os.path.join(folder, "preprocessor_config.json"), "w"))
    return weights, heads


def forward(weights, heads, pixels, dtype=torch.float32):
    w = lambda name: weights["vit." + name]
    linear = lambda x, name: F.linear(x, w(name + ".weight"), w(name + ".bias"))
    norm = lambda x, name: F.layer_norm(x, x.shape[-1:], w(name + ".weight"), w(name + ".bias"), 1e-12)
    x = F.conv2d(pixels, w("embeddings.patch_embeddings.projection.weight"), w("embeddings.patch_embeddings.projection.bias"), stride=16)
    x = torch.cat([w("embeddings.cls_token").expand(len(x), -1, -1), x.flatten(2).transpose(1, 2)], 1) + w("embeddings.position_embeddings")
    b, n, c = x.shape
    layers = sum(name.endswith("layernorm_before.weight") for name in weights)
    for i in range(layers):
        layer = f"encoder.layer.{i}."
        y = norm(x, layer + "layernorm_before")
        q, k, v = (linear(y, layer + "attention.attention." + part).view(b, n, heads, -1).transpose(1, 2) for part in ("query", "key", "value"))
        y = (torch.softmax(q @ k.transpose(-1, -2) * (c // heads) ** -0.5, -1) @ v).transpose(1, 2).reshape(b, n, c)
        x = x + linear(y, layer + "attention.output.dense")
        y = F.gelu(linear(norm(x, layer + "layernorm_after"), layer + "intermediate.dense"))
        x = x + linear(y, layer + "output.dense")
    return norm(x[:, 0], "layernorm")


def read(path):
    image = Image.open(path).convert("RGB").resize((224, 224), Image.BILINEAR)
    return (torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255 - 0.5) / 0.5


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("heed")
    parser.add_argument("pictures")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--model", choices=MODELS, default="s")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    with tempfile.TemporaryDirectory() as folder:
        weights, heads = make(folder, *MODELS[args.model])
        out = os.path.join(folder, "out.npz")
        begin = time.perf_counter()
        subprocess.run([args.heed, "embed", folder, args.pictures, "-o", out, "--backend", "cpu", "--quiet", "--threads", str(args.threads),
                        "--batch", str(args.batch), "--values", "cls"], check=True, stdout=subprocess.DEVNULL)
        seconds, heed_processor = time.perf_counter() - begin, processor(resource.RUSAGE_CHILDREN)
        found = np.load(out)
        names = found["names"].tolist()
        begin, most, used = time.perf_counter(), 0.0, processor(resource.RUSAGE_SELF)
        with torch.inference_mode():
            for i in range(0, len(names), args.batch):
                expected = forward(weights, heads, torch.stack([read(path) for path in names[i : i + args.batch]]))
                most = max(most, np.abs(expected.numpy() - found["cls"][i : i + args.batch]).max())
        own, used = time.perf_counter() - begin, processor(resource.RUSAGE_SELF) - used
    print(f"{len(names)} pictures, largest difference {most:.2g}; heed {len(names) / seconds:.1f} a second, PyTorch {torch.__version__} "
          f"{len(names) / own:.1f}, ratio {own / seconds:.2f}; processor {heed_processor:.1f} s and {used:.1f} s, ratio {used / heed_processor:.2f}; "
          f"threads {args.threads}, batches of {args.batch}")
