"""Makes the folders of FAMILIES beside it, and those that have a recipe.py (RECIPE = family(...)): tiny ViTs of every family, run on grids that are not the stored one.

The forward pass is written from the definitions of the published code (transformers' modeling_vit, modeling_deit, modeling_dinov2 and
modeling_dinov2_with_registers, modeling_dinov3_vit; timm's vision_transformer and eva; facebookresearch/dinov2's and dinov3's vision_transformer),
in double precision. Positions are
resized by torch.nn.functional.interpolate, as that code does it. Each folder gets the weights (model.safetensors), config.json where such
files have one, and two runs: io.safetensors (3 x 3 patches) and io_wide.safetensors (3 x 6), from 5 x 5 stored positions.
A recipe may have its own make_model, make_pixels, forward and RUNS (videomae, swin).

python3 make.py [FOLDER...]   (needs torch; torchvision for the folder of that name)"""
import json
import math
import os
import struct
import sys

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
STORED, PATCH, LAYERS, CLASSES, EMBEDDING = 5, 4, 2, 5, 7
RUNS = {"io": (2, 3, 3), "io_wide": (1, 3, 6)}  # pictures, rows, columns

# How stored positions [1, C, 5, 5] become those of rows x columns: F.interpolate's options.
RESIZE = {
    "plain": lambda rows, columns: {"size": (rows, columns)},
    "antialias": lambda rows, columns: {"size": (rows, columns), "antialias": True},
    "bilinear": lambda rows, columns: {"size": (rows, columns), "mode": "bilinear"},
    "bilinear_corners": lambda rows, columns: {"size": (rows, columns), "mode": "bilinear", "align_corners": True},
    "smooth": lambda rows, columns: {"size": (rows, columns), "mode": "bilinear", "antialias": True},
    "corners": lambda rows, columns: {"size": (rows, columns), "align_corners": True},
    "offset": lambda rows, columns: {"scale_factor": ((rows + 0.1) / STORED, (columns + 0.1) / STORED)},
}

BLIP = {
    "cls": "embeddings.class_embedding", "positions": "embeddings.position_embedding", "patch": "embeddings.patch_embedding",
    "layer": "encoder.layers.%d.", "qkv": "self_attn.qkv", "projection": "self_attn.projection", "norm": "post_layernorm", "norm1": "layer_norm1",
    "norm2": "layer_norm2", "fc1": "mlp.fc1", "fc2": "mlp.fc2",
}
HF = {
    "cls": "embeddings.cls_token", "distillation": "embeddings.distillation_token", "registers": "embeddings.register_tokens",
    "positions": "embeddings.position_embeddings", "patch": "embeddings.patch_embeddings.projection", "layer": "encoder.layer.%d.",
    "query": "attention.attention.query", "key": "attention.attention.key", "value": "attention.attention.value",
    "projection": "attention.output.dense", "norm": "layernorm",
}
VIT = dict(HF, norm1="layernorm_before", norm2="layernorm_after", fc1="intermediate.dense", fc2="output.dense")
DINOV2 = dict(HF, norm1="norm1", norm2="norm2", fc1="mlp.fc1", fc2="mlp.fc2", scale1="layer_scale1.lambda1", scale2="layer_scale2.lambda1",
              mask="embeddings.mask_token")
TIMM = {
    "cls": "cls_token", "registers": "reg_token", "positions": "pos_embed", "patch": "patch_embed.proj", "layer": "blocks.%d.",
    "qkv": "attn.qkv", "projection": "attn.proj", "norm": "norm", "norm1": "norm1", "norm2": "norm2", "fc1": "mlp.fc1", "fc2": "mlp.fc2",
    "head": "head",
}
CLIP = {
    "cls": "embeddings.class_embedding<", "positions": "embeddings.position_embedding.weight<", "patch": "embeddings.patch_embedding",
    "layer": "encoder.layers.%d.", "pre_norm": "pre_layrnorm", "query": "self_attn.q_proj", "key": "self_attn.k_proj", "value": "self_attn.v_proj",
    "projection": "self_attn.out_proj", "norm": "post_layernorm", "norm1": "layer_norm1", "norm2": "layer_norm2", "fc1": "mlp.fc1", "fc2": "mlp.fc2",
    "embedding": "visual_projection.weight",
}
OPEN_CLIP = {
    "cls": "class_embedding<", "positions": "positional_embedding<", "patch": "conv1", "layer": "transformer.resblocks.%d.", "pre_norm": "ln_pre",
    "qkv": "attn.in_proj_", "projection": "attn.out_proj", "norm": "ln_post", "norm1": "ln_1", "norm2": "ln_2", "fc1": "mlp.c_fc", "fc2": "mlp.c_proj",
    "embedding": "visual.proj^",
}
SIGLIP = dict({key: name for key, name in CLIP.items() if key not in ("cls", "pre_norm", "embedding")}, probe="head.probe",
              pool_qkv="head.attention.in_proj_", pool_output="head.attention.out_proj", pool_norm="head.layernorm", pool_fc1="head.mlp.fc1",
              pool_fc2="head.mlp.fc2")
TIMM_POOL = {"probe": "attn_pool.latent", "pool_query": "attn_pool.q", "pool_kv": "attn_pool.kv", "pool_output": "attn_pool.proj",
             "pool_norm": "attn_pool.norm", "pool_fc1": "attn_pool.mlp.fc1", "pool_fc2": "attn_pool.mlp.fc2"}
BEIT = dict({key: name for key, name in VIT.items() if key != "positions"}, scale1="lambda_1", scale2="lambda_2", fc_norm="pooler.layernorm",
            mask="embeddings.mask_token", bias="attention.attention.relative_position_bias.relative_position_bias_table")
TIMM_BEIT = dict({key: name for key, name in TIMM.items() if key != "positions"}, scale1="gamma_1", scale2="gamma_2", fc_norm="fc_norm",
                 query_bias="attn.q_bias", value_bias="attn.v_bias", bias="attn.relative_position_bias_table")
TORCHVISION = {
    "cls": "class_token", "positions": "encoder.pos_embedding", "patch": "conv_proj", "layer": "encoder.layers.encoder_layer_%d.",
    "qkv": "self_attention.in_proj_", "projection": "self_attention.out_proj", "norm": "encoder.ln", "norm1": "ln_1", "norm2": "ln_2",
    "fc1": "mlp.0", "fc2": "mlp.3",
}
ORIGINAL = dict(TIMM, registers="register_tokens", scale1="ls1.gamma", scale2="ls2.gamma", mask="mask_token")
EVA = dict(TIMM, scale1="gamma_1", scale2="gamma_2")
PIXTRAL = {
    "patch": "patch_conv", "pre_norm": "ln_pre", "layer": "transformer.layers.%d.", "query": "attention.q_proj", "key": "attention.k_proj",
    "value": "attention.v_proj", "projection": "attention.o_proj", "norm1": "attention_norm", "norm2": "ffn_norm", "gate": "feed_forward.gate_proj",
    "fc1": "feed_forward.up_proj", "fc2": "feed_forward.down_proj",
}
MOONVIT = {
    "positions": "patch_embed.pos_emb.weight+", "patch": "patch_embed.proj", "layer": "encoder.blocks.%d.", "qkv": "wqkv", "projection": "wo",
    "norm1": "norm0", "norm2": "norm1", "fc1": "mlp.fc0", "fc2": "mlp.fc1", "norm": "encoder.final_layernorm",
}
AIMV2 = {
    "positions": "embeddings.position_embedding.weight<", "patch": "embeddings.patch_embed", "embedded_norm": "embeddings.rms_norm",
    "layer": "encoder.layers.%d.", "query": "attention.q_proj", "key": "attention.k_proj", "value": "attention.v_proj",
    "projection": "attention.out_proj", "norm1": "rms_norm1", "norm2": "rms_norm2", "gate": "ffn.gate_proj", "fc1": "ffn.up_proj", "fc2": "ffn.down_proj",
    "norm": "rms_norm",
}
AIMV2_APPLE = {
    "positions": "preprocessor.pos_embed", "patch": "preprocessor.patchifier.proj", "embedded_norm": "preprocessor.patchifier.norm",
    "layer": "trunk.blocks.%d.", "qkv": "attn.qkv", "projection": "attn.proj", "norm1": "norm_1", "norm2": "norm_2", "gate": "mlp.fc1", "fc1": "mlp.fc3",
    "fc2": "mlp.fc2", "norm": "trunk.post_trunk_norm",
}
INTERNVIT = {
    "cls": "embeddings.class_embedding", "positions": "embeddings.position_embedding", "patch": "embeddings.patch_embedding", "layer": "encoder.layers.%d.",
    "qkv": "attn.qkv", "projection": "attn.proj", "norm1": "norm1", "norm2": "norm2", "scale1": "ls1", "scale2": "ls2", "fc1": "mlp.fc1", "fc2": "mlp.fc2",
}
INTERNVL = dict({key: name for key, name in VIT.items() if key != "norm"}, query="attention.q_proj", key="attention.k_proj", value="attention.v_proj",
                projection="attention.projection_layer", scale1="lambda_1", scale2="lambda_2", fc1="mlp.fc1", fc2="mlp.fc2")
QWEN = {key: name for key, name in TIMM.items() if key not in ("cls", "registers", "positions", "norm", "head")}


def hf_config(model_type, family, **more):
    config = {"model_type": model_type, "image_size": STORED * PATCH, "patch_size": PATCH, "num_channels": 3, "hidden_size": family["width"],
              "num_hidden_layers": LAYERS, "num_attention_heads": family["heads"], "hidden_act": "gelu", "layer_norm_eps": family["epsilon"],
              "qkv_bias": True}
    return dict(config, **more)


def beit_config(model_type, family, **more):
    config = hf_config(model_type, family, intermediate_size=40, use_relative_position_bias=True, use_mask_token=True, use_mean_pooling=True)
    del config["qkv_bias"]
    return dict(config, **more)


def timm_config(family, **args):
    args = dict({"img_size": STORED * PATCH, "patch_size": PATCH, "embed_dim": family["width"], "depth": LAYERS, "num_heads": family["heads"]}, **args)
    return {"architecture": "vit_tiny_patch16_224", "num_classes": CLASSES if family["heads_of"] else 0, "model_args": args,
            "pretrained_cfg": {"input_size": [3, STORED * PATCH, STORED * PATCH]}}


# position_rows: of the prefix tokens, which come before those of the patches. mlp: the hidden width, of a gated one too. gate: "packed" in fc1.
# pool: what the classifier reads. norm: where the final one is, "states", "mean" (after pooling), "cls" (of the pooled CLS alone) or
# "twice" (states, and the pooled CLS again).
# embeds: the classifier gives the image's embedding.
# outer: of what lies beside the model. extra: tensors of other parts, by name. biases: of "qkv", or of query and value alone ("qv"), of which a fused
# projection keeps two tensors, or of none (""); "masked": of all three, of which that of the keys counts as zeros. rotation: of ANGLES, with its numbers.
# rms: RMS norms, which have no bias. map_biases: whether the maps behind the attention have biases. frames: of patch weights. window: its side in
# patches, for the layers that are not in full.
# wide_norms: queries and keys are normed over all heads.
# cls_pooled: CLS of the final states is the pooled output. pooler: what the classifier reads is. pool_heads: of the pooling attention, else as the
# layers. pool_mlp: its hidden width, else as theirs. table: how BEiT's table of relative positions is resized.
def family(names, resize, epsilon, prefix="", width=24, heads=3, mlp=40, prefix_tokens=("cls",), position_rows=1, heads_of=(), half=False, config=None,
           activation="gelu", gate=None, patch_bias=True, pool="cls", norm="states", outer="", extra=(), config_name="config.json", biases="qkv", rotation=None,
           rms=False, map_biases=True, frames=0, window=0, full=(), wide_norms=False, cls_pooled=False, gate_activation="silu", pooler=False, pool_heads=None, pool_mlp=None, table=None, embeds=False):
    return locals()


FAMILIES = {
    "hf_vit": family(VIT, "plain", 1e-12, "vit.", heads_of=("classifier",), config=lambda f: hf_config("vit", f, intermediate_size=40, num_labels=CLASSES)),
    "hf_deit_distilled": family(VIT, "plain", 1e-12, "deit.", prefix_tokens=("cls", "distillation"), position_rows=2,
                                heads_of=("cls_classifier", "distillation_classifier"),
                                config=lambda f: hf_config("deit", f, intermediate_size=40, num_labels=CLASSES)),
    "hf_dino": family(VIT, "plain", 1e-12, config=lambda f: hf_config("vit", f, intermediate_size=40)),
    "hf_dinov2": family(DINOV2, "plain", 1e-6, mlp=48, config=lambda f: hf_config("dinov2", f, mlp_ratio=2)),
    "hf_dinov2_registers": family(DINOV2, "antialias", 1e-6, mlp=48, prefix_tokens=("cls", "registers"),
                                  config=lambda f: hf_config("dinov2_with_registers", f, mlp_ratio=2, num_register_tokens=3)),
    "timm": family(TIMM, "antialias", 1e-6, heads_of=("head",), config=timm_config),
    "timm_registers": family(TIMM, "antialias", 1e-6, prefix_tokens=("cls", "registers"), position_rows=0, heads_of=("head",),
                             config=lambda f: timm_config(f, reg_tokens=3, no_embed_class=True)),
    # Without a config: 64 channels a head, and in half precision to be small.
    "dinov2_original": family(ORIGINAL, "offset", 1e-6, width=64, heads=1, mlp=16, half=True),
    "dinov2_original_registers": family(ORIGINAL, "antialias", 1e-6, width=64, heads=1, mlp=16, prefix_tokens=("cls", "registers"), half=True),
}


def save(path, tensors, half=False):
    header, data = {"__metadata__": {"source": "tests/vectors/vit/make.py"}}, b""
    for key, value in tensors.items():
        ids = value.dtype == torch.int32
        raw = value.to(value.dtype if ids else torch.float16 if half else torch.float32).contiguous().numpy().tobytes()
        header[key] = {"dtype": "I32" if ids else "F16" if half else "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


class Weights:
    """Random tensors by name, rounded to the precision of the file, then used in double."""

    def __init__(self, family):
        self.family, self.tensors = family, {}

    def take(self, name, *shape, scale=1.0, about=0.0):
        value = torch.randn(shape, dtype=torch.float64) * scale + about
        value = value.to(torch.float16 if self.family["half"] else torch.float32)
        self.tensors[name] = value
        return value.double()

    def flat(self, name, *shape):
        """A '<' at the end: stored without the leading axes of 1; a '+': as a square grid."""
        value = self.take(name.rstrip("<+"), *shape)
        if name.endswith("+"):
            side = math.isqrt(shape[1])
            self.tensors[name[:-1]] = self.tensors[name[:-1]].reshape(side, side, shape[2])
        if name.endswith("<"):
            self.tensors[name[:-1]] = self.tensors[name[:-1]].reshape([size for size in shape if size > 1])
        return value

    def linear(self, name, rows, columns, scale=1.5, biased=True):
        name += "" if name.endswith("_") else "."
        weight = self.take(name + "weight", rows, columns, scale=scale / columns**0.5)
        return weight, self.take(name + "bias", rows, scale=0.3) if biased else torch.zeros(rows, dtype=torch.float64)

    def embedding(self, name, rows, columns):
        """A '^' at the end: stored transposed."""
        value = self.take(name.rstrip("^"), rows, columns, scale=1.5 / columns**0.5)
        if name.endswith("^"):
            self.tensors[name[:-1]] = self.tensors[name[:-1]].T.contiguous()
        return value

    def norm(self, name, width):
        weight = self.take(name + ".weight", width, scale=0.2, about=1.0)
        return weight, None if self.family["rms"] else self.take(name + ".bias", width, scale=0.2)


def make_model(f):
    w, n, c, prefix = Weights(f), f["names"], f["width"], f["prefix"]
    model = {"prefix": [w.flat(prefix + n[token], 1, 3 if token == "registers" else 1, c) for token in f["prefix_tokens"]]}
    model["positions"] = w.flat(prefix + n["positions"], 1, f["position_rows"] + STORED * STORED, c) if "positions" in n else None
    if "periods" in n:  # rounded to bfloat16
        periods = f["rotation"]["base"] ** (torch.arange(c // f["heads"] // 4, dtype=torch.float64) * 4 * f["heads"] / c)
        w.tensors[prefix + n["periods"]] = periods.to(torch.bfloat16).to(torch.float32)
        model["periods"] = periods.to(torch.bfloat16).double()
    if "frequencies" in n:
        model["frequencies"] = w.take(prefix + n["frequencies"], 2, LAYERS, f["heads"], c // f["heads"] // 2, scale=0.7)
    distances = (2 * STORED - 1) ** 2 + 3
    model["bias"] = w.take(prefix + n["shared_bias"], distances, f["heads"]) if "shared_bias" in n else None
    if "mask" in n:
        w.take(prefix + n["mask"], 1, c)  # of training; not used
    if f["frames"]:  # a picture is repeated in time
        patch_weight = w.take(prefix + n["patch"] + ".weight", c, 3, f["frames"], PATCH, PATCH, scale=0.2).sum(2)
    else:
        patch_weight = w.take(prefix + n["patch"] + ".weight", c, 3, PATCH, PATCH, scale=0.2)
    if "flat" in n:  # a linear map: of rows, columns and channels, or as it is
        order = (0, 2, 3, 1) if n["flat"] == "channels last" else (0, 1, 2, 3)
        w.tensors[prefix + n["patch"] + ".weight"] = w.tensors[prefix + n["patch"] + ".weight"].permute(order).reshape(c, -1).contiguous()
    if "pixels" in n:  # that the model normalises itself
        model["pixels"] = w.take(n["pixels"] + ".norm_mean", 3, 1, 1, scale=0.1, about=0.45), w.take(n["pixels"] + ".norm_std", 3, 1, 1, scale=0.02, about=0.25)
    model["patch"] = (patch_weight, w.take(prefix + n["patch"] + ".bias", c, scale=0.3) if f["patch_bias"] else 0.0)
    model["embedded_norm"] = w.norm(prefix + n["embedded_norm"], c) if "embedded_norm" in n else None
    model["pre_norm"] = w.norm(prefix + n["pre_norm"], c) if "pre_norm" in n else None
    model["layers"] = []
    for i in range(LAYERS):
        at, layer = prefix + n["layer"] % i, {}
        layer["norm1"], layer["norm2"] = w.norm(at + n["norm1"], c), w.norm(at + n["norm2"], c)
        if "qkv" in n:
            weight, bias = w.linear(at + n["qkv"], 3 * c, c, biased=f["biases"] in ("qkv", "masked"))
            if f["biases"] == "qv":
                bias[:c], bias[2 * c :] = w.take(at + n["query_bias"], c, scale=0.3), w.take(at + n["value_bias"], c, scale=0.3)
            if f["biases"] == "masked":
                bias = torch.cat([bias[:c], torch.zeros(c, dtype=torch.float64), bias[2 * c :]])
                w.tensors[at + n["qkv"] + ".bias_mask"] = (torch.arange(3 * c) // c != 1).float()
            for part, name in enumerate(("query", "key", "value")):
                layer[name] = (weight[part * c : (part + 1) * c], bias[part * c : (part + 1) * c])
        else:
            for name in ("query", "key", "value"):
                biased = name[0] in f["biases"]
                layer[name] = w.linear(at + n[name], c, c, biased=biased and name + "_bias" not in n)
                if biased and name + "_bias" in n:
                    layer[name] = (layer[name][0], w.take(at + n[name + "_bias"], c, scale=0.3))
        layer["attention_norm"] = w.norm(at + n["attention_norm"], c) if "attention_norm" in n else None
        layer["bias"] = w.take(at + n["bias"], distances, f["heads"]) if "bias" in n else None
        layer["projection"] = w.linear(at + n["projection"], c, c, biased=f["map_biases"])
        for name in ("query_norm", "key_norm"):
            layer[name] = w.norm(at + n[name], c if f["wide_norms"] else c // f["heads"]) if name in n else None
        if f["gate"] == "split":
            layer["gate"], layer["fc1"] = (w.linear(at + n[name], f["mlp"], c, biased=f["map_biases"]) for name in ("gate", "fc1"))
        elif f["gate"]:  # the gate's rows are the first half
            weight, bias = w.linear(at + n["fc1"], 2 * f["mlp"], c)
            layer["gate"], layer["fc1"] = (weight[: f["mlp"]], bias[: f["mlp"]]), (weight[f["mlp"] :], bias[f["mlp"] :])
        else:
            layer["fc1"] = w.linear(at + n["fc1"], f["mlp"], c, biased=f["map_biases"])
        layer["mlp_norm"] = w.norm(at + n["mlp_norm"], f["mlp"]) if "mlp_norm" in n else None
        layer["fc2"] = w.linear(at + n["fc2"], c, f["mlp"], biased=f["map_biases"])
        for name in ("scale1", "scale2"):
            layer[name] = w.take(at + n[name], c, scale=0.2, about=0.7) if name in n else 1.0
        model["layers"].append(layer)
    model["norm"] = w.norm(prefix + n["fc_norm" if f["norm"] == "mean" else "norm"], c) if f["norm"] else None
    model["probe"] = make_probe(f, w, n, prefix, c) if "probe" in n else None
    model["heads"] = [w.linear(f["outer"] + name, CLASSES, 2 * c if f["pool"] == "both" else c) for name in f["heads_of"]]
    model["embedding"] = w.embedding(f["outer"] + n["embedding"], EMBEDDING, c) if "embedding" in n else None
    for name, shape in f["extra"]:
        w.take(name, *shape)
    return model, w.tensors


def make_probe(f, w, n, prefix, c):
    """The pooling attention: its query, key and value are one tensor (torch's MultiheadAttention), or a query beside key and value (timm's)."""
    pool, hidden, depth = {"probe": w.take(prefix + n["probe"], 1, 1, c)}, f["pool_mlp"] or f["mlp"], c // (f["pool_heads"] or f["heads"])
    if "pool_qkv" in n:
        joined = w.linear(prefix + n["pool_qkv"], 3 * c, c)
    else:
        joined = [torch.cat(two) for two in zip(w.linear(prefix + n["pool_query"], c, c), w.linear(prefix + n["pool_kv"], 2 * c, c))]
    for part, name in enumerate(("query", "key", "value")):
        pool[name] = [half[part * c : (part + 1) * c] for half in joined]
    for name in ("query_norm", "key_norm"):
        pool[name] = w.norm(prefix + n["pool_" + name], depth) if "pool_" + name in n else None
    pool["output"], pool["norm"] = w.linear(prefix + n["pool_output"], c, c), w.norm(prefix + n["pool_norm"], c)
    pool["fc1"], pool["fc2"] = w.linear(prefix + n["pool_fc1"], hidden, c), w.linear(prefix + n["pool_fc2"], c, hidden)
    return pool


def layer_norm(x, weights, epsilon):
    if weights[1] is None:  # an RMS norm
        return x * torch.rsqrt((x**2).mean(-1, keepdim=True) + epsilon) * weights[0]
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + epsilon) * weights[0] + weights[1]


ACTIVATIONS = {
    "gelu": lambda y: 0.5 * y * (1 + torch.erf(y / 2**0.5)),
    "silu": lambda y: y * torch.sigmoid(y),
    "gelu_pytorch_tanh": lambda y: 0.5 * y * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (y + 0.044715 * y**3))),
    "quick_gelu": lambda y: y * torch.sigmoid(1.702 * y),
    "gelu_pytorch_tanh": lambda y: 0.5 * y * (1 + torch.tanh((2 / math.pi) ** 0.5 * (y + 0.044715 * y**3))),
}


def linear(x, weights):
    return x @ weights[0].T + weights[1]


def embed(f, model, pixels, rows, columns):
    batch, c = len(pixels), f["width"]
    if "pixels" in model:
        pixels = (pixels - model["pixels"][0]) / model["pixels"][1]
    # Patches in raster order, each [3, P, P].
    patches = pixels.reshape(batch, 3, rows, PATCH, columns, PATCH).permute(0, 2, 4, 1, 3, 5).reshape(batch, rows * columns, 3 * PATCH * PATCH)
    x = patches @ model["patch"][0].reshape(c, -1).T + model["patch"][1]
    x = layer_norm(x, model["embedded_norm"], f["epsilon"]) if model["embedded_norm"] else x
    if model["positions"] is None:
        return torch.cat([token.expand(batch, -1, -1) for token in model["prefix"]] + [x], 1)
    stored = model["positions"][:, f["position_rows"] :].reshape(1, STORED, STORED, c).permute(0, 3, 1, 2)
    if f["resize"] == "nearest":  # the patch at or before
        resized = stored[:, :, [i * STORED // rows for i in range(rows)]][:, :, :, [j * STORED // columns for j in range(columns)]]
    elif f["resize"] == "cut":  # out of the square of the longer side
        side = max(rows, columns)
        resized = torch.nn.functional.interpolate(stored, size=(side, side), mode="bilinear", align_corners=True)[:, :, :rows, :columns]
    else:
        resized = torch.nn.functional.interpolate(stored, **dict({"mode": "bicubic", "align_corners": False}, **RESIZE[f["resize"]](rows, columns)))
    assert resized.shape[2:] == (rows, columns)
    x = x + resized.permute(0, 2, 3, 1).reshape(1, rows * columns, c)
    if not model["prefix"]:
        return x
    prefix = torch.cat(model["prefix"], 1)
    prefix[:, : f["position_rows"]] += model["positions"][:, : f["position_rows"]]
    return torch.cat([prefix.expand(batch, -1, -1), x], 1)


# The angle of every patch and pair of a head of D numbers: [N, D/2], or [H, N, D/2] where heads differ.
def centred(f, model, layer, rows, columns, base):
    """DINOv3's: coordinates of patch centres in -1 .. 1, one revolution for a period of 1; y before x."""
    size = f["width"] // f["heads"]
    y, x = (2 * (torch.arange(n, dtype=torch.float64) + 0.5) / n - 1 for n in (rows, columns))
    periods = model.get("periods", base ** (torch.arange(size // 4, dtype=torch.float64) * 4 / size))
    y, x = (2 * torch.pi * along[:, None] / periods for along in (y, x))
    return torch.cat([y.repeat_interleave(columns, 0), x.repeat(rows, 1)], -1)


def axial(f, model, layer, rows, columns, base, order="yx", offset=0, reference=None):
    size = f["width"] // f["heads"]
    frequencies = base ** (-torch.arange(size // 4, dtype=torch.float64) * 4 / size)
    y, x = ((torch.arange(n, dtype=torch.float64) + offset) * (reference / n if reference else 1) for n in (rows, columns))
    angles = {"y": (y[:, None] * frequencies).repeat_interleave(columns, 0), "x": (x[:, None] * frequencies).repeat(rows, 1)}
    return torch.cat([angles[axis] for axis in order], -1)


def mixed(f, model, layer, rows, columns):
    y = torch.arange(rows, dtype=torch.float64).repeat_interleave(columns)[:, None]
    x = torch.arange(columns, dtype=torch.float64).repeat(rows)[:, None]
    along_x, along_y = model["frequencies"][:, layer, :, None]
    return x * along_x + y * along_y


def pixtral(f, model, layer, rows, columns, base):
    """PixtralRotaryEmbedding: of all D/2 frequencies the rows have the even ones, the columns the odd ones."""
    size = f["width"] // f["heads"]
    frequencies = 1.0 / base ** (torch.arange(0, size, 2, dtype=torch.float64) / size)
    h = torch.outer(torch.arange(rows, dtype=torch.float64), frequencies[::2])
    w = torch.outer(torch.arange(columns, dtype=torch.float64), frequencies[1::2])
    return torch.cat([h[:, None, :].repeat(1, columns, 1), w[None, :, :].repeat(rows, 1, 1)], -1).reshape(rows * columns, -1)


def moonvit(f, model, layer, rows, columns, base):
    """Rope2DPosEmb: the angles of column and row in turn."""
    size, flat = f["width"] // f["heads"], torch.arange(rows * columns)
    frequencies = 1.0 / base ** (torch.arange(0, size, 4, dtype=torch.float64) / size)
    x, y = torch.outer((flat % columns).double(), frequencies), torch.outer((flat // columns).double(), frequencies)
    return torch.stack([x, y], -1).reshape(rows * columns, -1)


ANGLES = {"pixtral": pixtral, "moonvit": moonvit, "centred": centred, "axial": axial, "mixed": mixed}


def rotate(f, model, layer, rows, columns, y):
    """The pairs of y [B, H, T, D] turned as complex numbers; tokens before the patches stay."""
    if not f["rotation"]:
        return y
    numbers = dict(f["rotation"])
    half, kind = numbers.pop("half", False), numbers.pop("kind")
    angles = ANGLES[kind](f, model, layer, rows, columns, **numbers)
    first = y.shape[2] - rows * columns
    patches = y[:, :, first:]
    a, b = patches.chunk(2, -1) if half else (patches[..., 0::2], patches[..., 1::2])
    turned = torch.complex(a, b) * torch.exp(1j * angles)
    turned = torch.cat([turned.real, turned.imag], -1) if half else torch.stack([turned.real, turned.imag], -1).flatten(-2)
    return torch.cat([y[:, :, :first], turned], 2)
def resize_table(table, rows, columns):
    """Hugging Face's BEiT: [distances, H] as a picture."""
    side = 2 * STORED - 1
    picture = table.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    resized = torch.nn.functional.interpolate(picture, size=(2 * rows - 1, 2 * columns - 1), mode="bilinear", align_corners=False)
    return resized.permute(0, 2, 3, 1).reshape((2 * rows - 1) * (2 * columns - 1), -1)


def spread_table(table, rows, columns):
    """timm's: the stored distances lie at 1, 1 + q, 1 + q + q^2 ... of the new grid; linear between them."""
    def distances(count):
        low, high = 1.01, 1.5
        while high - low > 1e-6:
            q = (low + high) / 2
            low, high = (low, q) if (1 - q ** (STORED - 1)) / (1 - q) > count - 1 else (q, high)
        at = [sum(q**power for power in range(terms)) for terms in range(STORED)]
        return [-x for x in at[:0:-1]] + at
    side, grid = 2 * STORED - 1, table.numpy()
    grid = grid.reshape(side, side, -1)
    x, y = (np.arange(-(count - 1), count) for count in (columns, rows))
    wide = np.stack([[np.interp(x, distances(columns), row[:, head]) for row in grid] for head in range(grid.shape[2])])
    tall = np.stack([[np.interp(y, distances(rows), column) for column in head.T] for head in wide])  # [H, columns, rows]
    return torch.tensor(tall.transpose(2, 1, 0).reshape(len(y) * len(x), -1))


def position_bias(f, tables, rows, columns):
    """[H, T, T]: a row of the table for each distance between two patches, and three of CLS."""
    total = 0
    for table in tables:
        if table is None:
            continue
        grid = f["table"](table[:-3], rows, columns).reshape(2 * rows - 1, 2 * columns - 1, -1)
        bias = torch.empty(f["heads"], 1 + rows * columns, 1 + rows * columns, dtype=torch.float64)
        for i in range(rows * columns):
            for j in range(rows * columns):
                bias[:, 1 + i, 1 + j] = grid[i // columns - j // columns + rows - 1, i % columns - j % columns + columns - 1]
        bias[:, 0, :], bias[:, :, 0], bias[:, 0, 0] = table[-3][:, None], table[-2][:, None], table[-1]
        total = total + bias
    return total


def outside_windows(side, rows, columns):
    """[T, T]: -Inf from a patch to those outside its window, as the lengths of get_window_index cut them."""
    number = torch.arange((rows + side - 1) // side * ((columns + side - 1) // side)).reshape((rows + side - 1) // side, -1)
    of = number.repeat_interleave(side, 0).repeat_interleave(side, 1)[:rows, :columns].flatten()
    return torch.where(of[:, None] == of[None], 0.0, -math.inf).double()


def attend_probe(f, model, x, result):
    pool, heads = model["probe"], f["pool_heads"] or f["heads"]
    split = lambda y: y.reshape(len(y), -1, heads, f["width"] // heads).transpose(1, 2)
    q, k, v = (split(linear(y, pool[name])) for y, name in ((pool["probe"].expand(len(x), -1, -1), "query"), (x, "key"), (x, "value")))
    q, k = (layer_norm(y, pool[name], f["epsilon"]) if pool[name] else y for y, name in ((q, "query_norm"), (k, "key_norm")))
    result["expect.pool.attention.weights"] = weights = torch.softmax(q @ k.transpose(2, 3) / q.shape[3] ** 0.5, -1)
    y = linear((weights @ v).transpose(1, 2).reshape(len(x), 1, -1), pool["output"])
    result["attended"] = y
    hidden = ACTIVATIONS[f["activation"]](linear(layer_norm(y, pool["norm"], f["epsilon"]), pool["fc1"]))
    return (y + linear(hidden, pool["fc2"]))[:, 0]


def check_probe(f, model, tensors):
    """The pooling attention against torch's own."""
    pool, x = model["probe"], torch.randn(2, 7, f["width"], dtype=torch.float64)
    own = torch.nn.MultiheadAttention(f["width"], f["heads"], batch_first=True).double()
    own.load_state_dict({"in_proj_weight": torch.cat([pool[name][0] for name in ("query", "key", "value")]),
                         "in_proj_bias": torch.cat([pool[name][1] for name in ("query", "key", "value")]),
                         "out_proj.weight": pool["output"][0], "out_proj.bias": pool["output"][1]})
    result = {}
    attend_probe(f, model, x, result)
    output, weights = own(pool["probe"].expand(2, -1, -1), x, x, average_attn_weights=False)
    assert torch.allclose(output, result["attended"], atol=1e-12) and torch.allclose(weights, result["expect.pool.attention.weights"], atol=1e-12)


def forward(f, model, pixels, rows, columns):
    heads, size, result = f["heads"], f["width"] // f["heads"], {}
    x = embed(f, model, pixels, rows, columns)
    x = layer_norm(x, model["pre_norm"], f["epsilon"]) if model["pre_norm"] else x
    batch, tokens, c = x.shape
    for i, layer in enumerate(model["layers"]):
        y = layer_norm(x, layer["norm1"], f["epsilon"])
        q, k, v = (linear(y, layer[name]).reshape(batch, tokens, heads, size).transpose(1, 2) for name in ("query", "key", "value"))
        if f["wide_norms"]:  # over all heads
            normed = (layer_norm(linear(y, layer[name]), layer[name + "_norm"], f["epsilon"]) for name in ("query", "key"))
            q, k = (part.reshape(batch, tokens, heads, size).transpose(1, 2) for part in normed)
        else:
            q, k = (layer_norm(part, layer[name], f["epsilon"]) if layer[name] else part for part, name in ((q, "query_norm"), (k, "key_norm")))
        q, k = (rotate(f, model, i, rows, columns, y) for y in (q, k))
        bias = position_bias(f, (layer["bias"], model["bias"]), rows, columns)
        if f["window"] and i not in f["full"]:
            bias = bias + outside_windows(f["window"], rows, columns)
        weights = torch.softmax(q @ k.transpose(2, 3) / size**0.5 + bias, -1)
        result["expect.attention.%d" % i] = weights
        y = (weights @ v).transpose(1, 2).reshape(batch, tokens, c)
        y = layer_norm(y, layer["attention_norm"], f["epsilon"]) if layer["attention_norm"] else y
        x = x + layer["scale1"] * linear(y, layer["projection"])
        y = layer_norm(x, layer["norm2"], f["epsilon"])
        if f["gate"]:
            gate = linear(y, layer["gate"])
            y = ACTIVATIONS[f["gate_activation"]](gate) * linear(y, layer["fc1"])
        else:
            y = ACTIVATIONS[f["activation"]](linear(y, layer["fc1"]))
        y = layer_norm(y, layer["mlp_norm"], f["epsilon"]) if layer["mlp_norm"] else y
        x = x + layer["scale2"] * linear(y, layer["fc2"])
    x = layer_norm(x, model["norm"], f["epsilon"]) if f["norm"] in ("states", "twice") else x
    result["expect.last_hidden_state"] = x
    patches = x[:, len(model["prefix"]) and sum(token.shape[1] for token in model["prefix"]) :].mean(1)
    if f["norm"] == "mean":
        patches = layer_norm(patches, model["norm"], f["epsilon"])
    if model["heads"] and f["pool"] == "cls":  # DeiT's two classifiers, of the tokens CLS and distillation, are averaged
        result["expect.logits"] = sum(linear(x[:, token], head) for token, head in enumerate(model["heads"])) / len(model["heads"])
    elif model["heads"]:
        result["expect.logits"] = linear(torch.cat([x[:, 0], patches], -1) if f["pool"] == "both" else patches, model["heads"][0])
    if f["embeds"]:
        result["expect.image_embeds"] = result.pop("expect.logits")
    if f["cls_pooled"] or f["embeds"]:
        result["expect.pooler_output"] = x[:, 0]
    if f["pooler"]:
        result["expect.pooler_output"] = x[:, 0] if f["pool"] == "cls" else patches
    if model["probe"]:
        result["expect.pooler_output"] = pooled = attend_probe(f, model, x, result)
        del result["attended"]
        if f["pool"] == "probe" and model["heads"]:
            result["expect.logits"] = linear(pooled, model["heads"][0])
        elif not model["heads"]:
            result["expect.image_embeds"] = pooled if model["embedding"] is None else pooled @ model["embedding"].T
    if f["norm"] in ("cls", "twice"):
        result["expect.pooler_output"] = pooled = layer_norm(x[:, 0], model["norm"], f["epsilon"])
        if model["embedding"] is not None:
            result["expect.image_embeds"] = pooled @ model["embedding"].T
    return result


def make_pixels(batch, rows, columns):
    return torch.randn(batch, 3, rows * PATCH, columns * PATCH, dtype=torch.float32)


def make_folder(name, f, seed, how):
    """how: make_model, make_pixels, forward and RUNS, of which a recipe may have its own."""
    torch.manual_seed(seed)
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    model, tensors = how["make_model"](f)
    save(os.path.join(folder, "model.safetensors"), tensors, f["half"])
    if f["config"]:
        with open(os.path.join(folder, f["config_name"]), "w") as file:
            json.dump(f["config"](f), file, indent=1)
            file.write("\n")
    for run, (batch, rows, columns) in how["RUNS"].items():
        pixels = how["make_pixels"](batch, rows, columns)
        save(os.path.join(folder, run + ".safetensors"), dict(how["forward"](f, model, pixels.double(), rows, columns), pixel_values=pixels))
    if "check" in f:
        f["check"](f, model, tensors)


def main(wanted):
    for seed, (name, f) in enumerate(FAMILIES.items()):
        if not wanted or name in wanted:
            make_folder(name, f, 100 + seed, globals())
    for name in sorted(os.listdir(HERE)):
        path = os.path.join(HERE, name, "recipe.py")
        if os.path.exists(path) and (not wanted or name in wanted):
            recipe = dict(globals())
            with open(path) as file:
                exec(compile(file.read(), path, "exec"), recipe)
            make_folder(name, recipe["RECIPE"], sum(name.encode()), recipe)


if __name__ == "__main__":
    main(sys.argv[1:])
