"""A ViT in Hugging Face's names, forward in float64 and plain Python, as its published code defines it: the oracle of embed_test.sh.

python3 vit_forward.py MODEL SAVED.safetensors...: of each file's pixel_values [1, 3, H, W], one line of JSON with pre_logits (the class token after the
last norm), mean (of its patches), logits, and states (of the last layer, before that norm)."""
import json
import math
import os
import sys

from arrays import load


def norm(x, weight, bias, epsilon):
    mean = sum(x) / len(x)
    scale = 1 / math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + epsilon)
    return [(v - mean) * scale * w + b for v, w, b in zip(x, weight, bias)]


def gelu(x):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


class Model:
    def __init__(self, folder):
        self.config = json.load(open(os.path.join(folder, "config.json")))
        self.weights = {name: values for name, (_, _, values) in load(os.path.join(folder, "model.safetensors")).items()}

    def linear(self, x, name):
        weight, bias = self.weights[name + ".weight"], self.weights[name + ".bias"]
        return [sum(w * v for w, v in zip(weight[i * len(x) : (i + 1) * len(x)], x)) + b for i, b in enumerate(bias)]

    def norm(self, x, name):
        return norm(x, self.weights[name + ".weight"], self.weights[name + ".bias"], self.config["layer_norm_eps"])

    def tokens(self, shape, pixels):
        _, channels, height, width = shape
        side, name = self.config["patch_size"], "vit.embeddings."
        tokens = [self.weights[name + "cls_token"]]
        for row in range(0, height, side):
            for column in range(0, width, side):
                patch = [pixels[(c * height + row + y) * width + column + x] for c in range(channels) for y in range(side) for x in range(side)]
                tokens.append(self.linear(patch, name + "patch_embeddings.projection"))
        positions, size = self.weights[name + "position_embeddings"], self.config["hidden_size"]
        return [[v + p for v, p in zip(token, positions[i * size : (i + 1) * size])] for i, token in enumerate(tokens)]

    def attention(self, x, name):
        query, key, value = ([self.linear(token, f"{name}attention.{part}") for token in x] for part in ("query", "key", "value"))
        size = self.config["hidden_size"] // self.config["num_attention_heads"]
        out = []
        for q in query:
            row = []
            for first in range(0, len(q), size):
                scores = [sum(a * b for a, b in zip(q[first : first + size], k[first : first + size])) / math.sqrt(size) for k in key]
                shares = [math.exp(s - max(scores)) for s in scores]
                row += [sum(p * v[first + d] for p, v in zip(shares, value)) / sum(shares) for d in range(size)]
            out.append(self.linear(row, name + "output.dense"))
        return out

    def __call__(self, shape, pixels):
        x = self.tokens(shape, pixels)
        for layer in range(self.config["num_hidden_layers"]):
            name = f"vit.encoder.layer.{layer}."
            states = self.attention([self.norm(token, name + "layernorm_before") for token in x], name + "attention.")
            x = [[a + b for a, b in zip(*both)] for both in zip(x, states)]
            inner = [self.linear(self.norm(token, name + "layernorm_after"), name + "intermediate.dense") for token in x]
            states = [self.linear([gelu(v) for v in token], name + "output.dense") for token in inner]
            x = [[a + b for a, b in zip(*both)] for both in zip(x, states)]
        last = [self.norm(token, "vit.layernorm") for token in x]
        mean = [sum(column) / len(column) for column in zip(*last[1:])]
        return {"pre_logits": last[0], "mean": mean, "logits": self.linear(last[0], "classifier"), "states": x}


if __name__ == "__main__":
    model = Model(sys.argv[1])
    for path in sys.argv[2:]:
        _, shape, values = load(path)["pixel_values"]
        print(json.dumps(model(shape, values)))
