"""Makes the files of this folder: tensors as PyTorch saves them, and what they hold as .safetensors.

small.safetensors is what small.pth, small_legacy.pth and small_protocol_4.pth hold: every element type, views of shared storages, transposed and
sliced tensors, odd names. vit/ is the model tests/vectors/vit/hf_vit as people find it: in both forms of torch.save, in a checkpoint of a
training, in doubles, as views of one storage, as shards, as a whole module and as TorchScript. copies.pth is a training of timm's, whose
weights, their average and a third copy differ in the last norm, so that all states are 1, 2 or 3.

python3 make.py   (needs torch; the vectors were made with 1.13)"""
import argparse
import json
import os
import struct
import warnings

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32,
         "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool, "C64": torch.complex64}


def path(*parts):
    return os.path.join(HERE, *parts)


def raw(tensor):
    tensor = tensor.detach().contiguous()
    return bytes(tensor.reshape(-1).view(torch.uint8).tolist()) if tensor.numel() else b""


def write_safetensors(name, tensors):
    names = {dtype: name for name, dtype in TYPES.items()}
    header, data = {}, b""
    for key, tensor in tensors.items():
        header[key] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw(tensor))]}
        data += raw(tensor)
    text = json.dumps(header).encode()
    with open(name, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(name):
    with open(name, "rb") as file:
        bytes_ = file.read()
    length = struct.unpack("<Q", bytes_[:8])[0]
    tensors = {}
    for key, entry in json.loads(bytes_[8:8 + length]).items():
        if key != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[key] = torch.frombuffer(bytearray(bytes_[begin:end]), dtype=TYPES[entry["dtype"]]).reshape(entry["shape"]).clone()
    return tensors


def small():
    base = torch.arange(24, dtype=torch.float32) / 7
    rows = base.reshape(4, 6)
    tensors = {"plain": torch.tensor([[1.5, -2.0, 3.25], [float("inf"), 0.0, -0.0]]), "scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3),
               "whole": rows, "shared": base[6:12], "transposed": rows.t(), "permuted": base.reshape(2, 3, 4).permute(2, 0, 1),
               "columns": rows[:, 1:4], "every_other": rows[::2, ::3], "one_row": rows[2:3, :].t(),
               "parameter": torch.nn.Parameter(torch.ones(2)), "named \"é\\\n\u2713": torch.zeros(1),
               "half": (base[:5] - 1).half(), "brain": (base[:5] - 1).bfloat16(), "double": torch.tensor([0.1, 1e-50, -3.0], dtype=torch.float64),
               "long": torch.tensor([1 << 40, -1]), "int": torch.tensor([7, -9], dtype=torch.int32), "short": torch.tensor([300, -2], dtype=torch.int16),
               "char": torch.tensor([-128, 127], dtype=torch.int8), "byte": torch.tensor([0, 255], dtype=torch.uint8),
               "bool": torch.tensor([True, False, True]), "complex": torch.tensor([1 + 2j])}
    write_safetensors(path("small.safetensors"), tensors)
    torch.save(tensors, path("small.pth"))
    torch.save(tensors, path("small_protocol_4.pth"), pickle_protocol=4)
    torch.save(tensors, path("small_legacy.pth"), _use_new_zipfile_serialization=False)


class Part(torch.nn.Module):  # any module, as its names come from the weights
    def forward(self, x):
        return x


def module_of(tensors):
    root = Part()
    for name, tensor in tensors.items():
        *folders, last = name.split(".")
        at = root
        for folder in folders:
            if folder not in at._modules:
                at.add_module(folder, Part())
            at = at._modules[folder]
        at.register_parameter(last, torch.nn.Parameter(tensor, requires_grad=False))
    return root


def trained(tensors):
    """A checkpoint as training scripts write it, some of its matrices stored transposed."""
    weights = {"module." + name: torch.nn.Parameter(tensor.t().contiguous().t() if tensor.dim() == 2 else tensor) for name, tensor in tensors.items()}
    moments = {i: {"step": torch.tensor(3.0), "exp_avg": torch.ones(4)} for i in range(3)}
    return {"epoch": 3, "state_dict": weights, "best_acc1": torch.tensor(12.5),
            "args": argparse.Namespace(lr=0.1, arch="vit", betas=(0.9, 0.999)), "optimizer": {"state": moments, "param_groups": [{"lr": 1e-3, "params": [0, 1, 2]}]}}


def shared(tensors):
    """All of them in one storage, matrices transposed and with a gap after each of their rows."""
    whole = torch.zeros(sum(t.numel() + 3 * (t.shape[-1] if t.dim() == 2 else 1) for t in tensors.values()))
    views, at = {}, 0
    for name, tensor in tensors.items():
        size, stride = list(tensor.shape), tensor.stride()
        if tensor.dim() == 2:
            stride = (1, size[0] + 3)
        views[name] = torch.as_strided(whole, size, stride, at)
        views[name].copy_(tensor)
        at += tensor.numel() + 3 * (size[-1] if tensor.dim() == 2 else 1)
    return views


def shards(tensors):
    names = list(tensors)
    parts = {"pytorch_model-00001-of-00002.bin": names[::2], "pytorch_model-00002-of-00002.bin": names[1::2]}
    for file, part in parts.items():
        torch.save({name: tensors[name] for name in part}, path("vit", "sharded", file))
    weight_map = {name: file for file, part in parts.items() for name in part}
    with open(path("vit", "sharded", "pytorch_model.bin.index.json"), "w") as file:
        json.dump({"metadata": {"total_size": sum(len(raw(t)) for t in tensors.values())}, "weight_map": weight_map}, file, indent=1)


def vit():
    os.makedirs(path("vit", "sharded"), exist_ok=True)
    tensors = read_safetensors(path("..", "vit", "hf_vit", "model.safetensors"))
    torch.save(tensors, path("vit", "zip.pth"))
    torch.save(tensors, path("vit", "legacy.pth"), _use_new_zipfile_serialization=False)
    torch.save(trained(tensors), path("vit", "trained.ckpt"))
    torch.save({name: tensor.double() for name, tensor in tensors.items()}, path("vit", "double.pt"))
    torch.save(shared(tensors), path("vit", "shared.pth"))
    torch.save({"model": shared(tensors)}, path("vit", "shared_legacy.pth"), _use_new_zipfile_serialization=False)
    torch.save(module_of(tensors), path("vit", "module.pt"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(module_of(tensors), torch.zeros(1)), path("vit", "script.pt"))
    shards(tensors)


def copies():
    base = torch.arange(12288).remainder(7).sub(3).mul(0.0625).half()
    shapes = {"cls_token": (1, 1, 64), "pos_embed": (1, 10, 64), "patch_embed.proj.weight": (64, 3, 4, 4), "patch_embed.proj.bias": (64,),
              "blocks.0.norm1.weight": (64,), "blocks.0.norm1.bias": (64,), "blocks.0.attn.qkv.weight": (192, 64),
              "blocks.0.attn.qkv.bias": (192,), "blocks.0.attn.proj.weight": (64, 64), "blocks.0.attn.proj.bias": (64,),
              "blocks.0.norm2.weight": (64,), "blocks.0.norm2.bias": (64,), "blocks.0.mlp.fc1.weight": (64, 64),
              "blocks.0.mlp.fc1.bias": (64,), "blocks.0.mlp.fc2.weight": (64, 64), "blocks.0.mlp.fc2.bias": (64,)}
    same = {name: base[:torch.Size(shape).numel()].view(shape) for name, shape in shapes.items()}
    last = {k: {"norm.weight": torch.zeros(64).half(), "norm.bias": torch.full((64,), k).half()} for k in (1.0, 2.0, 3.0)}
    torch.save({"epoch": 3, "state_dict": {**same, **last[1.0]}, "state_dict_ema": {**same, **last[2.0]}, "best": {**same, **last[3.0]},
                "args": argparse.Namespace(model="vit_tiny_patch4_12", heads=2, patch_size=8, norm_pix_loss=False)},
               path("vit", "copies.pth"))


if __name__ == "__main__":
    torch.manual_seed(0)
    small()
    vit()
    copies()
