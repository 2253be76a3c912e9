#!/usr/bin/env python3
"""Writes a checkpoint of train.py as a Hugging Face ViT folder: config.json, preprocessor_config.json, model.safetensors (F16).

    export.py CHECKPOINT --to FOLDER [--check path/to/heed]

--check runs `heed eval` on 8 scenes and prints the largest difference of logits and attention from PyTorch with the same rounded weights.
"""
import argparse, json, os, struct, subprocess, sys, tempfile
import numpy as np
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import train as T

NAMES = {torch.float16: "F16", torch.float32: "F32"}


def save(path, tensors, metadata=None):
    header, offset = ({"__metadata__": metadata} if metadata else {}), 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(np.ascontiguousarray(tensor.numpy()).tobytes())


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    return {name: np.frombuffer(data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]], "<f4").reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}


def renamed(state):
    """Names and shapes of ViTForImageClassification; the heads that only training used are left out."""
    out = {"vit.embeddings.cls_token": state["cls"], "vit.embeddings.position_embeddings": state["position"],
           "vit.embeddings.patch_embeddings.projection.weight": state["embed.weight"].view(T.WIDTH, 3, T.PATCH, T.PATCH),
           "vit.embeddings.patch_embeddings.projection.bias": state["embed.bias"]}
    for i in range(T.LAYERS):
        to, of = "vit.encoder.layer.%d." % i, "blocks.%d." % i
        for part, name in enumerate(("query", "key", "value")):
            for kind in ("weight", "bias"):
                out[to + "attention.attention.%s.%s" % (name, kind)] = state[of + "qkv." + kind][part * T.WIDTH:(part + 1) * T.WIDTH]
        for a, b in (("attention.output.dense", "out"), ("intermediate.dense", "up"), ("output.dense", "down"), ("layernorm_before", "before"), ("layernorm_after", "after")):
            for kind in ("weight", "bias"):
                out[to + "%s.%s" % (a, kind)] = state[of + "%s.%s" % (b, kind)]
    for a, b in (("vit.layernorm", "norm"), ("classifier", "classifier")):
        for kind in ("weight", "bias"):
            out["%s.%s" % (a, kind)] = state["%s.%s" % (b, kind)]
    return out


def config():
    return {"architectures": ["ViTForImageClassification"], "model_type": "vit", "image_size": T.SIDE, "patch_size": T.PATCH, "num_channels": 3,
            "hidden_size": T.WIDTH, "num_hidden_layers": T.LAYERS, "num_attention_heads": T.HEADS, "intermediate_size": T.HIDDEN, "hidden_act": "gelu",
            "layer_norm_eps": 1e-12, "qkv_bias": True, "attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0, "torch_dtype": "float16",
            "id2label": {str(i): name for i, name in enumerate(T.SHAPES)}, "label2id": {name: i for i, name in enumerate(T.SHAPES)}}


PREPROCESSOR = {"image_processor_type": "ViTImageProcessor", "do_resize": True, "size": {"height": T.SIDE, "width": T.SIDE}, "resample": 2, "do_rescale": True,
                "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}


def check(state, folder, heed):
    with tempfile.TemporaryDirectory() as work:
        renderer, model = T.Renderer(work), T.Model()
        model.load_state_dict({k: v.half().float() for k, v in state.items()})
        model.eval()
        patches = T.to_tensors(renderer.batch(1, 8, T.FULL))[0]
        with torch.no_grad():
            states, weights = model(patches)
            expected = {"logits": model.logits(states[-1])}
        expected.update({"attention.%d" % i: w for i, w in enumerate(weights)})
        pixels = patches.view(8, T.GRID, T.GRID, 3, T.PATCH, T.PATCH).permute(0, 3, 1, 4, 2, 5).reshape(8, 3, T.SIDE, T.SIDE)
        save(os.path.join(work, "in.safetensors"), {"pixel_values": pixels.contiguous()})
        subprocess.check_call([heed, "eval", folder, os.path.join(work, "in.safetensors"), "-o", os.path.join(work, "out.safetensors"), "--backend", "cpu", "--quiet"])
        found = load(os.path.join(work, "out.safetensors"))
        for name, value in expected.items():
            print("%s: max abs difference %.3g of values to %.3g" % (name, np.abs(found[name] - value.numpy()).max(), value.abs().max().item()))


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("checkpoint")
    parse.add_argument("--to", required=True)
    parse.add_argument("--check")
    args = parse.parse_args()
    os.makedirs(args.to, exist_ok=True)
    state = torch.load(args.checkpoint, map_location="cpu")
    state = state.get("average", state)
    tensors = {name: value.detach().half().contiguous() for name, value in renamed(state).items()}
    save(os.path.join(args.to, "model.safetensors"), tensors, {"format": "pt"})
    for name, value in (("config.json", config()), ("preprocessor_config.json", PREPROCESSOR)):
        with open(os.path.join(args.to, name), "w") as file:
            file.write(json.dumps(value, indent=1) + "\n")
    print("%d parameters, %d bytes" % (sum(t.numel() for t in tensors.values()), os.path.getsize(os.path.join(args.to, "model.safetensors"))))
    if args.check:
        check(state, args.to, args.check)


if __name__ == "__main__":
    main()
