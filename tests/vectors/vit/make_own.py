"""Makes the folders vit_pytorch*, torch_encoder* and own* beside it: tiny ViTs as people write them themselves, with random weights.

Each is a module of PyTorch in double precision whose state_dict() gives the names, so that nn.TransformerEncoderLayer, nn.MultiheadAttention and
nn.Sequential say themselves what they are called and compute what is expected. Weights are rounded to float32 first. A folder has model.safetensors,
names.json where the weights do not tell everything, and the two runs of make.py.

python3 make_own.py [FOLDER...]   (needs torch)"""
import json
import os
import sys

import torch
from torch import nn

from make import CLASSES, HERE, PATCH, RESIZE, RUNS, STORED, save

WIDTH, HEADS, MLP, LAYERS = 24, 3, 40, 2


def resize(positions, prefix, rows, columns):
    """Stored positions [1, prefix + 25, C] for another grid, bicubic."""
    grid = positions[:, prefix:].reshape(1, STORED, STORED, -1).permute(0, 3, 1, 2)
    grid = nn.functional.interpolate(grid, mode="bicubic", align_corners=False, **RESIZE["plain"](rows, columns))
    return torch.cat([positions[:, :prefix], grid.permute(0, 2, 3, 1).reshape(1, rows * columns, -1)], 1)


def pixels_of(image, order):
    """[B, C, H, W] as a row of numbers for each patch, in the order of a pattern such as "chw"."""
    batch, channels, height, width = image.shape
    rows, columns = height // PATCH, width // PATCH
    parts = image.reshape(batch, channels, rows, PATCH, columns, PATCH).permute(0, 2, 4, *(1 + "c_h_w".index(axis) for axis in order))
    return parts.reshape(batch, rows * columns, -1)


def attend(q, k, v, heads, scale):
    split = lambda y: y.reshape(len(y), y.shape[1], heads, -1).transpose(1, 2)
    weights = torch.softmax(split(q) @ split(k).transpose(2, 3) * scale, -1)
    return (weights @ split(v)).transpose(1, 2).reshape(len(q), q.shape[1], -1), weights


class Module(nn.Module):
    """What the layouts share: attention maps are kept, prefix and positions are added."""

    def tokens(self, x, cls, positions, rows, columns):
        prefix = 0 if cls is None else 1
        if prefix:
            x = torch.cat([cls.reshape(1, 1, -1).expand(len(x), -1, -1), x], 1)
        return x + resize(positions.reshape(1, prefix + STORED * STORED, -1), prefix, rows, columns)


# ---------------------------------------------------------------------------------------------------------------- vit-pytorch


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn


class PreNorm(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.norm, self.fn = nn.LayerNorm(WIDTH), fn


class LucidAttention(nn.Module):
    def __init__(self, inner, norm, dropout):
        super().__init__()
        if norm:
            self.norm = nn.LayerNorm(WIDTH)
        self.to_qkv = nn.Linear(WIDTH, 3 * inner, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner, WIDTH), nn.Dropout()) if dropout else nn.Linear(inner, WIDTH)


class LucidMlp(nn.Module):
    def __init__(self, norm):
        super().__init__()
        first = [nn.LayerNorm(WIDTH)] if norm else []
        self.net = nn.Sequential(*first, nn.Linear(WIDTH, MLP), nn.GELU(), nn.Dropout(), nn.Linear(MLP, WIDTH), nn.Dropout())


class VitPytorch2020(Module):
    """Residual(PreNorm(...)), scores divided by the root of the width, a classifier of two maps. Nothing tells the heads."""

    names = {"heads": HEADS}

    def __init__(self):
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.randn(1, 1 + STORED * STORED, WIDTH))
        self.patch_to_embedding = nn.Linear(3 * PATCH * PATCH, WIDTH)
        self.cls_token = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.transformer = nn.Module()
        self.transformer.layers = nn.ModuleList(
            nn.ModuleList([Residual(PreNorm(LucidAttention(WIDTH, False, False))), Residual(PreNorm(LucidMlp(False)))]) for _ in range(LAYERS))
        self.mlp_head = nn.Sequential(nn.Linear(WIDTH, MLP), nn.GELU(), nn.Dropout(), nn.Linear(MLP, CLASSES))

    def forward(self, image, rows, columns, keep):
        x = self.tokens(self.patch_to_embedding(pixels_of(image, "hwc")), self.cls_token, self.pos_embedding, rows, columns)
        for attention, mlp in self.transformer.layers:
            y = attention.fn.fn.to_qkv(attention.fn.norm(x)).chunk(3, -1)
            y, weights = attend(*y, HEADS, WIDTH**-0.5)
            keep(weights)
            x = x + attention.fn.fn.to_out(y)
            x = x + mlp.fn.fn.net(mlp.fn.norm(x))
        return x, self.mlp_head(x[:, 0])


class VitPytorchToday(Module):
    """Norms inside of attention and MLP, patches normed before and after their map, heads wider than the model, the mean of all tokens."""

    names, inner = {"heads": 4, "pool": "tokens"}, 32

    def __init__(self):
        super().__init__()
        self.to_patch_embedding = nn.Sequential(nn.Identity(), nn.LayerNorm(3 * PATCH * PATCH), nn.Linear(3 * PATCH * PATCH, WIDTH), nn.LayerNorm(WIDTH))
        self.pos_embedding = nn.Parameter(torch.randn(1 + STORED * STORED, WIDTH))
        self.cls_token = nn.Parameter(torch.randn(1, WIDTH))
        self.transformer = nn.Module()
        self.transformer.norm = nn.LayerNorm(WIDTH)
        self.transformer.layers = nn.ModuleList(
            nn.ModuleList([LucidAttention(self.inner, True, True), LucidMlp(True)]) for _ in range(LAYERS))
        self.mlp_head = nn.Linear(WIDTH, CLASSES)

    def forward(self, image, rows, columns, keep):
        x = self.tokens(self.to_patch_embedding(pixels_of(image, "hwc")), self.cls_token, self.pos_embedding, rows, columns)
        for attention, mlp in self.transformer.layers:
            y, weights = attend(*attention.to_qkv(attention.norm(x)).chunk(3, -1), 4, (self.inner // 4) ** -0.5)
            keep(weights)
            x = x + attention.to_out(y)
            x = x + mlp.net(x)
        x = self.transformer.norm(x)
        return x, self.mlp_head(x.mean(1))


class SimpleVit(nn.Module):
    """vit-pytorch's SimpleViT: positions are computed, no biases in attention, a classifier on the mean of the patches. Nothing tells heads and size."""

    names = {"heads": HEADS, "image_size": STORED * PATCH}

    def __init__(self):
        super().__init__()
        self.to_patch_embedding = nn.Sequential(nn.Identity(), nn.LayerNorm(3 * PATCH * PATCH), nn.Linear(3 * PATCH * PATCH, WIDTH), nn.LayerNorm(WIDTH))
        self.transformer = nn.Module()
        self.transformer.norm = nn.LayerNorm(WIDTH)
        self.transformer.layers = nn.ModuleList(nn.ModuleList([LucidAttention(WIDTH, True, False), nn.Module()]) for _ in range(LAYERS))
        for attention, mlp in self.transformer.layers:
            attention.to_out = nn.Linear(WIDTH, WIDTH, bias=False)
            mlp.net = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, MLP), nn.GELU(), nn.Linear(MLP, WIDTH))
        self.linear_head = nn.Linear(WIDTH, CLASSES)

    def forward(self, image, rows, columns, keep):
        y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
        omega = 1 / 10000 ** (torch.arange(WIDTH // 4).double() / (WIDTH // 4 - 1))
        y, x = (axis.flatten()[:, None] * omega[None, :] for axis in (y, x))
        x = self.to_patch_embedding(pixels_of(image, "hwc")) + torch.cat((x.sin(), x.cos(), y.sin(), y.cos()), dim=1)
        for attention, mlp in self.transformer.layers:
            y, weights = attend(*attention.to_qkv(attention.norm(x)).chunk(3, -1), HEADS, (WIDTH // HEADS) ** -0.5)
            keep(weights)
            x = x + attention.to_out(y)
            x = x + mlp.net(x)
        x = self.transformer.norm(x)
        return x, self.linear_head(x.mean(1))


# -------------------------------------------------------------------------------------------------------- nn.TransformerEncoder


class Encoder(Module):
    """nn.TransformerEncoder behind a convolution."""

    def __init__(self, before, activation, head):
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, MLP, activation=activation, batch_first=True, norm_first=before)
        self.patch_embedding = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.cls_token = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.pos_embedding = nn.Parameter(torch.randn(1, 1 + STORED * STORED, WIDTH))
        self.encoder = nn.TransformerEncoder(layer, LAYERS)
        self.head = head

    def forward(self, image, rows, columns, keep):
        x = self.tokens(self.patch_embedding(image).flatten(2).transpose(1, 2), self.cls_token, self.pos_embedding, rows, columns)
        for layer in self.encoder.layers:
            y = layer.norm1(x) if layer.norm_first else x
            keep(layer.self_attn(y, y, y, average_attn_weights=False)[1])
            x = layer(x)
        return x, self.head(x[:, 0])


class TorchEncoder(Encoder):
    """As torch has it by default: ReLU, a norm after each part."""

    names = {"heads": HEADS}

    def __init__(self):
        super().__init__(False, "relu", nn.Linear(WIDTH, CLASSES))


class TorchEncoderBefore(Encoder):
    """With norm_first and GELU; the last norm is the classifier's."""

    names = {"heads": HEADS}

    def __init__(self):
        super().__init__(True, "gelu", nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES)))


# ------------------------------------------------------------------------------- nn.MultiheadAttention and nn.Sequential


class AttentionBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer_norm = nn.LayerNorm(WIDTH)
        self.multihead_attn = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)


class MlpBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer_norm = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, MLP), nn.GELU(), nn.Dropout(), nn.Linear(MLP, WIDTH), nn.Dropout())


class OwnBlocks(Module):
    """A block for each of attention and MLP with its norm; nn.Sequential of layers; names of a module that holds the model."""

    names = {"heads": HEADS}

    def __init__(self):
        super().__init__()
        model = self.model = nn.Module()
        model.class_embedding = nn.Parameter(torch.randn(1, 1, WIDTH))
        model.position_embedding = nn.Parameter(torch.randn(1, 1 + STORED * STORED, WIDTH))
        model.patch_embedding = nn.Module()
        model.patch_embedding.patcher = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        model.transformer_encoder = nn.Sequential()
        for i in range(LAYERS):
            block = nn.Module()
            block.msa_block, block.mlp_block = AttentionBlock(), MlpBlock()
            model.transformer_encoder.add_module(str(i), block)
        model.classifier = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES))

    def forward(self, image, rows, columns, keep):
        m = self.model
        x = self.tokens(m.patch_embedding.patcher(image).flatten(2).transpose(1, 2), m.class_embedding, m.position_embedding, rows, columns)
        for block in m.transformer_encoder:
            y = block.msa_block.layer_norm(x)
            y, weights = block.msa_block.multihead_attn(y, y, y, average_attn_weights=False)
            keep(weights)
            x = x + y
            x = x + block.mlp_block.mlp(block.mlp_block.layer_norm(x))
        return x, m.classifier(x[:, 0])


class OwnLinear(Module):
    """Patches as rows of numbers, channels first; no bias in attention; no CLS: the mean of the patches."""

    names = {"heads": HEADS, "epsilon": 1e-6}

    def __init__(self):
        super().__init__()
        self.input_layer = nn.Linear(3 * PATCH * PATCH, WIDTH)
        self.pos_embedding = nn.Parameter(torch.randn(1, STORED * STORED, WIDTH))
        self.transformer = nn.Sequential(*(nn.Module() for _ in range(LAYERS)))
        for block in self.transformer:
            block.layer_norm_1, block.layer_norm_2 = (nn.LayerNorm(WIDTH, eps=1e-6) for _ in range(2))
            block.attn = nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True)
            block.linear = nn.Sequential(nn.Linear(WIDTH, MLP), nn.GELU(), nn.Dropout(), nn.Linear(MLP, WIDTH), nn.Dropout())
        self.mlp_head = nn.Sequential(nn.LayerNorm(WIDTH, eps=1e-6), nn.Linear(WIDTH, CLASSES))

    def forward(self, image, rows, columns, keep):
        x = self.tokens(self.input_layer(pixels_of(image, "chw")), None, self.pos_embedding, rows, columns)
        for block in self.transformer:
            y = block.layer_norm_1(x)
            y, weights = block.attn(y, y, y, average_attn_weights=False)
            keep(weights)
            x = x + y
            x = x + block.linear(block.layer_norm_2(x))
        return x, self.mlp_head(x.mean(1))


# ------------------------------------------------------------------------------------------------------ heads in a ModuleList


class OwnHeads(Module):
    """Each head has maps of its own, which are joined; no final norm. The files tell all."""

    names = None

    def __init__(self):
        super().__init__()
        self.embedding = nn.Module()
        self.embedding.patch_embeddings = nn.Module()
        self.embedding.patch_embeddings.projection = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.embedding.cls_token = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.embedding.position_embeddings = nn.Parameter(torch.randn(1, 1 + STORED * STORED, WIDTH))
        self.encoder = nn.Module()
        self.encoder.blocks = nn.ModuleList(nn.Module() for _ in range(LAYERS))
        for block in self.encoder.blocks:
            block.attention = nn.Module()
            block.attention.heads = nn.ModuleList(nn.Module() for _ in range(HEADS))
            for head in block.attention.heads:
                head.query, head.key, head.value = (nn.Linear(WIDTH, WIDTH // HEADS) for _ in range(3))
            block.attention.output_projection = nn.Linear(WIDTH, WIDTH)
            block.layernorm_1, block.layernorm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            block.mlp = nn.Module()
            block.mlp.dense_1, block.mlp.dense_2 = nn.Linear(WIDTH, MLP), nn.Linear(MLP, WIDTH)
        self.classifier = nn.Linear(WIDTH, CLASSES)

    def forward(self, image, rows, columns, keep):
        e = self.embedding
        x = self.tokens(e.patch_embeddings.projection(image).flatten(2).transpose(1, 2), e.cls_token, e.position_embeddings, rows, columns)
        for block in self.encoder.blocks:
            y = block.layernorm_1(x)
            parts = [attend(head.query(y), head.key(y), head.value(y), 1, (WIDTH // HEADS) ** -0.5) for head in block.attention.heads]
            keep(torch.cat([weights for _, weights in parts], 1))
            x = x + block.attention.output_projection(torch.cat([part for part, _ in parts], -1))
            x = x + block.mlp.dense_2(nn.functional.gelu(block.mlp.dense_1(block.layernorm_2(x))))
        return x, self.classifier(x[:, 0])


class OwnSlices(Module):
    """Each head has maps of its own for its part of a token, and nothing joins them; a softmax may follow the classifier."""

    names = None

    def __init__(self):
        super().__init__()
        self.linear_mapper = nn.Linear(3 * PATCH * PATCH, WIDTH)
        self.class_token = nn.Parameter(torch.randn(1, WIDTH))
        self.register_buffer("positional_embeddings", torch.randn(1 + STORED * STORED, WIDTH))
        self.blocks = nn.ModuleList(nn.Module() for _ in range(LAYERS))
        for block in self.blocks:
            block.norm1, block.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            block.mhsa = nn.Module()
            for maps in ("q_mappings", "k_mappings", "v_mappings"):
                setattr(block.mhsa, maps, nn.ModuleList(nn.Linear(WIDTH // HEADS, WIDTH // HEADS) for _ in range(HEADS)))
            block.mlp = nn.Sequential(nn.Linear(WIDTH, MLP), nn.GELU(), nn.Linear(MLP, WIDTH))
        self.mlp = nn.Sequential(nn.Linear(WIDTH, CLASSES))

    def forward(self, image, rows, columns, keep):
        x = self.tokens(self.linear_mapper(pixels_of(image, "chw")), self.class_token, self.positional_embeddings, rows, columns)
        for block in self.blocks:
            y, a = block.norm1(x).chunk(HEADS, -1), block.mhsa
            parts = [attend(q(s), k(s), v(s), 1, (WIDTH // HEADS) ** -0.5) for q, k, v, s in zip(a.q_mappings, a.k_mappings, a.v_mappings, y)]
            keep(torch.cat([weights for _, weights in parts], 1))
            x = x + torch.cat([part for part, _ in parts], -1)
            x = x + block.mlp(block.norm2(x))
        return x, self.mlp(x[:, 0])


class OwnAfter(Module):
    """One channel, a norm after each part, ReLU, three maps apart, a classifier of two maps: all that names.json can say."""

    names = {"heads": HEADS, "norm": "after", "activation": "relu", "head_activation": "tanh", "pool": "patches", "channels": 1}

    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Linear(PATCH * PATCH, WIDTH)
        self.cls_token = nn.Parameter(torch.randn(WIDTH))
        self.pos_embed = nn.Embedding(1 + STORED * STORED, WIDTH)
        self.layers = nn.ModuleList(nn.Module() for _ in range(LAYERS))
        for block in self.layers:
            block.norm1, block.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            block.self_attention = nn.Module()
            block.self_attention.w_q, block.self_attention.w_k, block.self_attention.w_v, block.self_attention.w_o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
            block.feed_forward = nn.Module()
            block.feed_forward.linear1, block.feed_forward.linear2 = nn.Linear(WIDTH, MLP), nn.Linear(MLP, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Sequential(nn.Dropout(), nn.Linear(WIDTH, 10), nn.Tanh(), nn.Linear(10, CLASSES))

    channels = 1

    def forward(self, image, rows, columns, keep):
        x = self.tokens(self.patch_embed(pixels_of(image, "chw")), self.cls_token, self.pos_embed.weight, rows, columns)
        for block in self.layers:
            a, f = block.self_attention, block.feed_forward
            y, weights = attend(a.w_q(x), a.w_k(x), a.w_v(x), HEADS, (WIDTH // HEADS) ** -0.5)
            keep(weights)
            x = block.norm1(x + a.w_o(y))
            x = block.norm2(x + f.linear2(torch.relu(f.linear1(x))))
        x = self.norm(x)
        return x, self.head(x[:, 1:].mean(1))


class OwnInterleaved(nn.Module):
    """One map whose rows are query, key and value in turn; the positions of every token, CLS too, are sines of its number."""

    names = {"heads": HEADS, "qkv": "interleaved", "positions": "sines", "pool": "tokens", "image_size": STORED * PATCH}

    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.cls_token = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.blocks = nn.ModuleList(nn.Module() for _ in range(LAYERS))
        for block in self.blocks:
            block.norm1, block.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            block.attn = nn.Module()
            block.attn.qkv, block.attn.projection = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            block.mlp = nn.Sequential(nn.Linear(WIDTH, MLP), nn.GELU(), nn.Dropout(), nn.Linear(MLP, WIDTH))
        self.final_norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)

    def positions(self, count):
        angle = torch.arange(count)[:, None] / 10000 ** (torch.arange(0, WIDTH, 2).double() / WIDTH)
        return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)

    def pool(self, x):
        return x.mean(1)

    def split(self, y):
        """[B, T, 3 C] as query, key and value, each [B, T, C]."""
        return (part.flatten(2) for part in y.reshape(*y.shape[:2], HEADS, WIDTH // HEADS, 3).unbind(-1))

    def forward(self, image, rows, columns, keep):
        x = self.patch_embed(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1)
        x = x + self.positions(x.shape[1])
        for block in self.blocks:
            y, weights = attend(*self.split(block.attn.qkv(block.norm1(x))), HEADS, (WIDTH // HEADS) ** -0.5)
            keep(weights)
            x = x + block.attn.projection(y)
            x = x + block.mlp(block.norm2(x))
        x = self.final_norm(x)
        return x, self.head(self.pool(x))


class OwnByHead(OwnInterleaved):
    """The same, whose rows are those of each head together; no positions; CLS."""

    names = {"heads": HEADS, "qkv": "heads", "positions": "none", "image_size": STORED * PATCH}

    def split(self, y):
        return (part.flatten(2) for part in y.reshape(*y.shape[:2], HEADS, 3, WIDTH // HEADS).unbind(-2))

    def positions(self, count):
        return 0

    def pool(self, x):
        return x[:, 0]


FOLDERS = {"vit_pytorch_simple": SimpleVit, "own_interleaved": OwnInterleaved, "own_by_head": OwnByHead, "vit_pytorch": VitPytorchToday, "vit_pytorch_2020": VitPytorch2020, "torch_encoder": TorchEncoder, "torch_encoder_before": TorchEncoderBefore,
           "own_blocks": OwnBlocks, "own_linear": OwnLinear, "own_heads": OwnHeads, "own_slices": OwnSlices, "own_after": OwnAfter}


def spread(model):
    """Weights of such a size that attention is not even, in float32's numbers."""
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if tensor.dim() >= 2 and "pos" not in name and "token" not in name and "class_emb" not in name:
                tensor.copy_(torch.randn_like(tensor) * 1.5 / tensor[0].numel() ** 0.5)
            elif name.endswith("bias"):
                tensor.copy_(torch.randn_like(tensor) * 0.3)
            elif tensor.dim() == 1 and name.endswith("weight"):
                tensor.copy_(1 + torch.randn_like(tensor) * 0.2)
            tensor.copy_(tensor.float())


def make_folder(name, kind):
    torch.manual_seed(sum(name.encode()))
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    torch.set_default_dtype(torch.float64)
    model = kind()
    model.eval()
    spread(model)
    save(os.path.join(folder, "model.safetensors"), model.state_dict())
    if kind.names:
        with open(os.path.join(folder, "names.json"), "w") as file:
            json.dump(kind.names, file, indent=1)
            file.write("\n")
    for run, (batch, rows, columns) in RUNS.items():
        pixels, maps = torch.randn(batch, getattr(kind, "channels", 3), rows * PATCH, columns * PATCH).float(), []
        with torch.no_grad():
            states, logits = model(pixels.double(), rows, columns, maps.append)
        expected = {"expect.attention.%d" % i: weights for i, weights in enumerate(maps)}
        save(os.path.join(folder, run + ".safetensors"),
             dict(expected, **{"expect.last_hidden_state": states, "expect.logits": logits, "pixel_values": pixels}))


if __name__ == "__main__":
    for folder in sys.argv[1:] or FOLDERS:
        make_folder(folder, FOLDERS[folder])
