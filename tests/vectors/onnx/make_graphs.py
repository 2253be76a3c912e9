"""Makes the graphs of this folder: small encoders as torch exports them, each with a file of inputs and of what torch computes of them,
outputs and every attention.

python3 make_graphs.py [FOLDER]   (needs torch and numpy; the vectors were made with torch 1.13). With FOLDER: every model at opsets 11, 14 and 17,
static and dynamic; without: those that the tests read."""
import math
import os
import sys

import torch
from torch import nn

import make

WIDTH, HEADS, HIDDEN, SIDE, PATCH, WORDS, LENGTH = 16, 2, 24, 12, 4, 30, 7


class Attention(nn.Module):
    """form: "eager" as Hugging Face has it, "sdpa" as torch spells scaled_dot_product_attention, "fused" as timm's qkv, "clip" with a scaled query."""

    def __init__(self, form):
        super().__init__()
        self.form = form
        if form == "fused":
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        else:
            self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.dense = nn.Linear(WIDTH, WIDTH)

    def split(self, x):
        return x.view(x.size(0), x.size(1), HEADS, WIDTH // HEADS).permute(0, 2, 1, 3)

    def forward(self, x, mask=None):
        size = WIDTH // HEADS
        if self.form == "fused":
            query, key, value = self.qkv(x).reshape(x.size(0), x.size(1), 3, HEADS, size).permute(2, 0, 3, 1, 4).unbind(0)
            scores = (query * size**-0.5) @ key.transpose(-2, -1)
        elif self.form == "clip":
            query, key, value = self.split(self.query(x) * size**-0.5), self.split(self.key(x)), self.split(self.value(x))
            scores = torch.matmul(query, key.transpose(-1, -2))
        elif self.form == "sdpa":
            query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
            root = math.sqrt(math.sqrt(1 / size))
            scores = torch.matmul(query * root, key.transpose(-1, -2) * root)
        else:
            query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
            scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(size)
        if mask is not None:
            scores = scores + mask
        weights = scores.softmax(-1)
        self.weights = weights.detach()
        merged = torch.matmul(weights, value).permute(0, 2, 1, 3).contiguous()
        return self.dense(merged.view(x.size(0), x.size(1), WIDTH))


class Joined(nn.Module):
    """torch's own nn.MultiheadAttention."""

    def __init__(self, form):
        super().__init__()
        self.inner = nn.MultiheadAttention(WIDTH, HEADS, batch_first=form == "first")

    def forward(self, x, mask=None):
        first = self.inner.batch_first
        y = x if first else x.transpose(0, 1)
        y, weights = self.inner(y, y, y, need_weights=True, average_attn_weights=False)
        self.weights = weights.detach()
        return y if first else y.transpose(0, 1)


class QuickGelu(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class NewGelu(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.rand(WIDTH) + 0.5)

    def forward(self, x):
        return x * self.gamma


class Layer(nn.Module):
    def __init__(self, form, act, pre=True, scale=False):
        super().__init__()
        self.pre = pre
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, 1e-6), nn.LayerNorm(WIDTH, 1e-6)
        self.attention = Joined(form) if form in ("joined", "first") else Attention(form)
        self.fc1, self.fc2, self.act = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH), act
        self.scale1, self.scale2 = (Scale(), Scale()) if scale else (nn.Identity(), nn.Identity())

    def forward(self, x, mask=None):
        if self.pre:
            x = x + self.scale1(self.attention(self.norm1(x), mask))
            return x + self.scale2(self.fc2(self.act(self.fc1(self.norm2(x)))))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.fc2(self.act(self.fc1(x))))


class Vision(nn.Module):
    """prefix: tokens before the patches; pool: cls, mean or probe."""

    def __init__(self, form, act, prefix=1, pool="cls", scale=False, interpolate=False):
        super().__init__()
        count = (SIDE // PATCH) ** 2
        self.patch = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.prefix = nn.Parameter(torch.randn(1, prefix, WIDTH)) if prefix else None
        self.positions = nn.Parameter(torch.randn(1, (16 if interpolate else count) + min(prefix, 1), WIDTH))
        self.layers = nn.ModuleList(Layer(form, act, scale=scale) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH, 1e-6), nn.Linear(WIDTH, 5)
        self.pool, self.interpolate = pool, interpolate
        if pool == "probe":
            self.probe = nn.Parameter(torch.randn(1, 1, WIDTH))
            self.pooling = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def table(self, x):
        if not self.interpolate:
            return self.positions
        grid = self.positions[:, 1:].reshape(1, 4, 4, WIDTH).permute(0, 3, 1, 2)
        grid = nn.functional.interpolate(grid, size=(x.shape[2] // PATCH, x.shape[3] // PATCH), mode="bicubic", align_corners=False)
        return torch.cat((self.positions[:, :1], grid.permute(0, 2, 3, 1).view(1, -1, WIDTH)), 1)

    def forward(self, pixel_values):
        table = self.table(pixel_values)
        x = self.patch(pixel_values).flatten(2).transpose(1, 2)
        if self.prefix is not None:
            x = torch.cat((self.prefix[:, :1].expand(x.shape[0], -1, -1), x), 1)
        x = x + table
        if self.prefix is not None and self.prefix.shape[1] > 1:
            x = torch.cat((x[:, :1], self.prefix[:, 1:].expand(x.shape[0], -1, -1), x[:, 1:]), 1)
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        if self.pool == "mean":
            pooled = x.mean(1)
        elif self.pool == "probe":
            pooled, weights = self.pooling(self.probe.repeat(x.shape[0], 1, 1), x, x, average_attn_weights=False)
            self.weights = weights.detach()
            pooled = pooled[:, 0]
        else:
            pooled = x[:, 0]
        if self.pool == "norm":
            pooled = pooled / pooled.norm(p=2, dim=-1, keepdim=True)
        return self.head(pooled), x


class Text(nn.Module):
    """causal: CLIP's, pooled where the largest id stands; else BERT's, with a mask of padding."""

    def __init__(self, causal):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.kinds = None if causal else nn.Embedding(2, WIDTH)
        self.first = nn.Identity() if causal else nn.LayerNorm(WIDTH, 1e-6)
        self.layers = nn.ModuleList(Layer("clip" if causal else "eager", QuickGelu() if causal else nn.GELU(), pre=causal) for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH, 1e-6) if causal else nn.Identity()
        self.pooler = nn.Linear(WIDTH, WIDTH)
        self.causal = causal

    def forward(self, input_ids, attention_mask):
        places = torch.arange(input_ids.shape[1]).unsqueeze(0)
        x = self.words(input_ids) + self.places(places)
        if self.kinds is not None:
            x = x + self.kinds(torch.zeros_like(input_ids))
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * torch.finfo(torch.float32).min
        if self.causal:
            size = input_ids.shape[1]
            mask = torch.full((size, size), float("-inf")).triu(1)[None, None]
        x = self.first(x)
        for layer in self.layers:
            x = layer(x, mask)
        x = self.norm(x)
        pooled = x[torch.arange(x.shape[0]), input_ids.argmax(-1)] if self.causal else torch.tanh(self.pooler(x[:, 0]))
        return pooled, x


MODELS = {
    "deit": lambda: Vision("fused", nn.GELU(), prefix=2),
    "dinov2": lambda: Vision("eager", nn.GELU(), scale=True, interpolate=True),
    "registers": lambda: Vision("sdpa", nn.SiLU(), prefix=5, scale=True),
    "clip": lambda: Vision("clip", QuickGelu(), pool="norm"),
    "siglip": lambda: Vision("clip", nn.GELU(approximate="tanh"), prefix=0, pool="probe"),
    "mean": lambda: Vision("sdpa", NewGelu(), prefix=0, pool="mean"),
    "joined": lambda: Vision("joined", nn.GELU()),
    "first": lambda: Vision("first", nn.GELU()),
    "bert": lambda: Text(False),
    "clip_text": lambda: Text(True),
}
# What the tests read: a model, its opset, whether its sizes are open.
KEPT = [("deit", 17, False), ("dinov2", 11, True), ("clip", 14, False), ("siglip", 17, True), ("mean", 11, False), ("joined", 14, True), ("bert", 14, True),
        ("clip_text", 17, False)]


def export(name, opset, dynamic, folder):
    torch.manual_seed(len(name))
    model = MODELS[name]().eval()
    with torch.no_grad():
        for part in model.parameters():
            part.copy_(torch.randn_like(part) * (0.3 if part.dim() > 1 else 0.5) + (1 if part.dim() == 1 and part.shape[0] == WIDTH else 0))
    text = isinstance(model, Text)
    pixels = torch.randn(2, 3, SIDE, SIDE)
    ids = torch.randint(1, WORDS - 1, (2, LENGTH))
    ids[:, -2] = WORDS - 1
    mask = torch.ones(2, LENGTH, dtype=torch.int64)
    mask[1, -3:] = 0
    inputs = {"input_ids": ids, "attention_mask": mask} if text else {"pixel_values": pixels}
    names = ["pooled" if text else "logits", "last_hidden_state"]
    axes = {key: {0: "batch", 1: "tokens"} if text else {0: "batch", 2: "height", 3: "width"} for key in inputs} if dynamic else None
    path = os.path.join(folder, "%s_%d%s.onnx" % (name, opset, "_dynamic" if dynamic else ""))
    torch.onnx.export(model, tuple(inputs.values()), path, opset_version=opset, input_names=list(inputs), output_names=names, dynamic_axes=axes)
    with torch.no_grad():
        made = dict(zip(names, model(*inputs.values())))
    made.update({"attention.%d" % i: layer.attention.weights for i, layer in enumerate(model.layers)})
    if hasattr(model, "weights"):
        made["attention.2"] = model.weights
    make.write_safetensors(path[:-5] + ".safetensors", {key: value.numpy() for key, value in {**inputs, **made}.items()})


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(make.HERE, "graphs")
    os.makedirs(folder, exist_ok=True)
    wanted = KEPT if len(sys.argv) == 1 else [(name, opset, dynamic) for name in MODELS for opset in (11, 14, 17) for dynamic in (False, True)]
    for name, opset, dynamic in wanted:
        try:
            export(name, opset, dynamic, os.path.abspath(folder))
        except Exception as error:  # an op that this opset has not
            print(name, opset, dynamic, str(error).splitlines()[0])


if __name__ == "__main__":
    main()
