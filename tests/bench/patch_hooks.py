"""heed explain --methods patch beside PyTorch with hooks: the output of each head of picture A put into the run of picture B, all heads of all layers.

python3 patch_hooks.py HEED MODEL [--threads 1] [--batch 1]   (needs torch and numpy)

MODEL is a ViT folder as vit_files.mjs writes them (node tests/bench/vit_files.mjs FOLDER vit_b). The script's way is the usual one: a hook before the
projection of each attention replaces one head's part by what a hook saw in the run of A, and the whole model runs for each head. PyTorch's clock starts
with the model loaded and A seen; heed's is that of its whole process, which also starts, loads the model and runs A and B. Scores of both are compared."""
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
from torch import nn


def load(folder):
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        data = file.read()
    return {name: torch.from_numpy(np.frombuffer(data, "<f4", (entry["data_offsets"][1] - entry["data_offsets"][0]) // 4, entry["data_offsets"][0])
                                   .reshape(entry["shape"]).copy()) for name, entry in header.items() if name != "__metadata__"}


class Layer(nn.Module):
    def __init__(self, width, heads, epsilon):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width, epsilon), nn.LayerNorm(width, epsilon)
        self.query, self.key, self.value, self.project = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, n, c = x.shape
        y = self.before(x)
        q, k, v = (part(y).view(b, n, self.heads, -1).transpose(1, 2) for part in (self.query, self.key, self.value))
        y = (torch.softmax(q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5, -1) @ v).transpose(1, 2).reshape(b, n, c)
        x = x + self.project(y)
        return x + self.down(nn.functional.gelu(self.up(self.after(x))))


class ViT(nn.Module):
    def __init__(self, folder):
        super().__init__()
        config = json.load(open(os.path.join(folder, "config.json")))
        width, patch = config["hidden_size"], config["patch_size"]
        weights = load(folder)
        self.side = config["image_size"]
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.cls, self.positions = weights["vit.embeddings.cls_token"], weights["vit.embeddings.position_embeddings"]
        self.layers = nn.ModuleList(Layer(width, config["num_attention_heads"], config["layer_norm_eps"]) for _ in range(config["num_hidden_layers"]))
        self.norm, self.classifier = nn.LayerNorm(width, config["layer_norm_eps"]), nn.Linear(width, config["num_labels"])
        names = {"patches": "vit.embeddings.patch_embeddings.projection", "norm": "vit.layernorm", "classifier": "classifier"}
        parts = {"before": "layernorm_before", "after": "layernorm_after", "query": "attention.attention.query", "key": "attention.attention.key",
                 "value": "attention.attention.value", "project": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense"}
        for i in range(len(self.layers)):
            names |= {f"layers.{i}.{own}": f"vit.encoder.layer.{i}.{stored}" for own, stored in parts.items()}
        self.load_state_dict({f"{own}.{kind}": weights[f"{stored}.{kind}"] for own, stored in names.items() for kind in ("weight", "bias")})

    def forward(self, pixels):
        x = self.patches(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.classifier(self.norm(x[:, 0]))


def sweep(model, a, b, target, batch):
    """scores [L, H] of b with one head's output of a"""
    kept, scores = {}, []
    hooks = [layer.project.register_forward_pre_hook(lambda _, args, i=i: kept.update({i: args[0]})) for i, layer in enumerate(model.layers)]
    model(a)
    for hook in hooks:
        hook.remove()
    begin, used = time.perf_counter(), time.process_time()
    for i, layer in enumerate(model.layers):
        for first in range(0, layer.heads, batch):
            heads = range(first, min(first + batch, layer.heads))

            def replace(_, args):
                z = args[0].clone()
                depth = z.shape[-1] // layer.heads
                for at, head in enumerate(heads):
                    z[at, :, head * depth : (head + 1) * depth] = kept[i][0, :, head * depth : (head + 1) * depth]
                return (z,)

            hook = layer.project.register_forward_pre_hook(replace)
            scores += model(b.expand(len(heads), -1, -1, -1))[:, target].tolist()
            hook.remove()
    return np.array(scores), time.perf_counter() - begin, time.process_time() - used


def write(path, tensors):
    header, data = {}, b""
    for name, value in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + value.nbytes]}
        data += value.tobytes()
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heed")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1, help="heads that PyTorch runs at a time")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model = ViT(args.model).eval()
    torch.manual_seed(1)
    a, b = torch.rand(2, 1, 3, model.side, model.side) * 2 - 1
    with torch.inference_mode(), tempfile.TemporaryDirectory() as folder:
        target = int(model(b).argmax())
        expected, own, own_used = sweep(model, a, b, target, args.batch)
        put, got = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
        write(put, {"pixel_values": b.numpy(), "source.pixel_values": a.numpy()})
        begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([args.heed, "explain", args.model, put, "-o", got, "--methods", "patch", "--sites", "heads", "--target", str(target),
                        "--backend", "cpu", "--threads", str(args.threads), "--quiet"], check=True)
        seconds, now = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(got, "rb") as file:
            size = struct.unpack("<Q", file.read(8))[0]
            entry = json.loads(file.read(size))["patch.heads"]
            file.seek(8 + size + entry["data_offsets"][0])
            found = np.frombuffer(file.read(4 * len(expected)), "<f4")
    heed_used = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    print(f"{len(expected)} heads, largest difference {np.abs(found - expected).max():.2g} of scores up to {np.abs(expected).max():.2g}; "
          f"PyTorch {torch.__version__} {own:.1f} s ({own_used:.1f} s of processor time), heed {seconds:.1f} s ({heed_used:.1f} s), "
          f"ratio {own / seconds:.2f} ({own_used / heed_used:.2f}); threads {args.threads}, PyTorch's batches of {args.batch}")


if __name__ == "__main__":
    main()
