#!/usr/bin/env python3
"""Trains the sorter of the page that teaches: a causal transformer that writes six letters in the order of the alphabet.

    train.py --out first.safetensors [--steps 4000] [--seed 1] [--threads 2]
    train.py --start first.safetensors --out model.safetensors --steps 600 --rate 1e-3 --calm 1 --large 5 --seed 2
    train.py --measure model.safetensors [--count 20000] [--seed 2]

Tokens are the letters A to Z; the model sees the six given ones and what it has written so far (11 places at most), and says the next. Names
of the tensors are those of PyTorch's nn.TransformerEncoderLayer, so that each block is a case of `heed check` as it stands. Letters are drawn
anew for each step: half of the sequences from the whole alphabet, half from a few letters, so that equal letters occur. Besides the letters the
loss has a term (--teach) that asks head 0 of the last block to look, where a letter is about to be written, at the places that hold this very
letter. Another (--calm) asks scores to stay within --large or so, the second line within less: small enough to be read, and for float32 to give
weights to 1e-6. --measure says how many sequences are right, and how much of its attention each head gives to the letter that is about to be
written.
"""
import argparse, json, math, struct, time
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

LETTERS, GIVEN, WIDTH, HEADS, LAYERS, HIDDEN = 26, 6, 36, 3, 2, 72
PLACES = 2 * GIVEN - 1


class Attention(nn.Module):
    """nn.MultiheadAttention, which does not tell its scores."""

    def __init__(self):
        super().__init__()
        self.in_proj_weight, self.in_proj_bias = nn.Parameter(torch.empty(3 * WIDTH, WIDTH)), nn.Parameter(torch.zeros(3 * WIDTH))
        self.out_proj = nn.Linear(WIDTH, WIDTH)
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.out_proj.bias)

    def forward(self, x, barred):
        batch, count = x.shape[:2]
        parts = F.linear(x, self.in_proj_weight, self.in_proj_bias).view(batch, count, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        weights = scores.masked_fill(barred, -math.inf).softmax(-1)
        return self.out_proj((weights @ parts[2]).transpose(1, 2).reshape(batch, count, WIDTH)), weights, scores.masked_fill(barred, 0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = Attention()
        self.linear1, self.linear2 = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x, barred):
        y, *told = self.self_attn(self.norm1(x), barred)
        x = x + y
        return x + self.linear2(F.relu(self.linear1(self.norm2(x)))), told


class Sorter(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, LETTERS)
        for table in (self.letters, self.places):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, letters):
        count = letters.shape[1]
        x, maps, scores = self.letters(letters) + self.places.weight[:count], [], []
        barred = torch.ones(count, count, dtype=torch.bool).triu(1)
        for layer in self.layers:
            x, (weights, raw) = layer(x, barred)
            maps.append(weights)
            scores.append(raw)
        return self.out(self.norm(x)), maps, scores


def found(weights, given, answer):
    """[B, H, 6]: where a letter is about to be written, the attention to the given places that hold this very letter."""
    at = (given[:, None, :] == answer[:, :, None]).float()
    return (weights[:, :, GIVEN - 1:, :GIVEN] * at[:, None]).sum(-1)


def sequences(generator, count):
    """[count, 6] letters, half of them from 1 to 8 letters of the alphabet."""
    whole = torch.randint(LETTERS, (count, GIVEN), generator=generator)
    orders = torch.rand(count, LETTERS, generator=generator).argsort(1)
    sizes = torch.randint(1, 9, (count, 1), generator=generator)
    few = orders.gather(1, (torch.rand(count, GIVEN, generator=generator) * sizes).long())
    return torch.where(torch.arange(count)[:, None] % 2 == 0, whole, few)


def save(path, tensors, metadata):
    header, offset = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [offset, offset + 2 * tensor.numel()]}
        offset += 2 * tensor.numel()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.detach().half().numpy().tobytes())


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    first = 8 + struct.unpack("<Q", data[:8])[0]
    entries = {name: entry for name, entry in json.loads(data[8:first]).items() if name != "__metadata__"}
    of = lambda entry: np.frombuffer(data[first + entry["data_offsets"][0]:first + entry["data_offsets"][1]], "<f2").astype("f4").reshape(entry["shape"])
    model = Sorter()
    model.load_state_dict({name: torch.from_numpy(of(entry)) for name, entry in entries.items()})
    return model.eval()


def train(options):
    torch.manual_seed(options.seed)
    generator, model = torch.Generator().manual_seed(options.seed), load(options.start).train() if options.start else Sorter()
    print(f"{sum(p.numel() for p in model.parameters())} parameters")
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=options.decay, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, step / 200) * (0.5 + 0.5 * math.cos(math.pi * step / options.steps)))
    start = time.time()
    for step in range(options.steps):
        given = sequences(generator, options.batch)
        answer = given.sort(1).values
        said, maps, scores = model(torch.cat([given, answer[:, :-1]], 1))
        loss = F.cross_entropy(said[:, GIVEN - 1:].reshape(-1, LETTERS), answer.reshape(-1))
        loss = loss - options.teach * found(maps[-1], given, answer)[:, 0].clamp_min(1e-6).log().mean()
        loss = loss + options.calm * sum(F.relu(raw.abs() - options.large).square().mean() for raw in scores)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        schedule.step()
        if step % 500 == 499:
            right = (said[:, GIVEN - 1:].argmax(-1) == answer).all(1).float().mean()
            print(f"step {step + 1}, loss {loss.item():.4f}, sequences right {right:.4f}, {time.time() - start:.0f} s", flush=True)
    metadata = {"task": "six letters in the order of the alphabet", "seed": str(options.seed), "steps": str(options.steps), "heads": str(HEADS)}
    save(options.out, model.state_dict(), metadata)


def measure(path, count, seed):
    """Greedy writing, with the weights as they are stored."""
    model, generator = load(path), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, which in (("whole alphabet", 0), ("few letters", 1)):
            given = sequences(generator, 2 * count)[which::2]
            answer, tokens = given.sort(1).values, given
            for _ in range(GIVEN):
                said, maps, scores = model(tokens)
                tokens = torch.cat([tokens, said[:, -1:].argmax(-1)], 1)
            right = (tokens[:, GIVEN:] == answer).all(1).sum().item()
            largest = max(raw.abs().max().item() for raw in scores)
            print(f"{name}: largest score {largest:.1f}; {right} of {count} sequences right ({100 * right / count:.2f} %)")
            for layer, weights in enumerate(maps):
                shares = found(weights, given, answer).mean((0, 2))
                print(f"  layer {layer}: attention to the letter to write, by head: " + ", ".join(f"{100 * share:.1f} %" for share in shares))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    parser.add_argument("--measure")
    parser.add_argument("--start", help="weights to go on from")
    for name, kind, default in (("steps", int, 4000), ("batch", int, 64), ("seed", int, 1), ("rate", float, 3e-3), ("decay", float, 0.01), ("teach", float, 0.1), ("calm", float, 0.1), ("large", float, 8), ("threads", int, 2), ("count", int, 20000)):
        parser.add_argument(f"--{name}", type=kind, default=default)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.out:
        train(options)
    if options.measure:
        measure(options.measure, options.count, options.seed)


if __name__ == "__main__":
    main()
