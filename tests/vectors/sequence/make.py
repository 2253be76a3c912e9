"""Makes the encoder-decoder models beside it and what PyTorch says of them in double precision: tokens, logits, attention.

python3 make.py          writes transformer, captioner, lstm, gru: config.json, model.safetensors, expect.safetensors
Weights are random; of 80 seeds one is taken whose greedy decoding says several different tokens and never by a
small margin."""
import json
import math
import os
import struct

import numpy
import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
PAD, BOS, EOS = 0, 1, 2
NAMES = {torch.float32: "F32", torch.int32: "I32"}


def save(path, tensors):
    header, data, at = {}, [], 0
    for name, tensor in tensors.items():
        tensor = tensor.detach().contiguous()
        raw = tensor.numpy().tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(raw)]}
        data.append(raw)
        at += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def sinusoid(length, width):
    table = torch.zeros(length, width, dtype=torch.float64)
    for position in range(length):
        for i in range(0, width, 2):
            angle = position / 10000 ** (i / width)
            table[position, i] = math.sin(angle)
            if i + 1 < width:
                table[position, i + 1] = math.cos(angle)
    return table


def spy(attention):
    """Keeps the weights of every head."""
    forward = attention.forward

    def kept(*inputs, **options):
        options.update(need_weights=True, average_attn_weights=False)
        output, attention.kept = forward(*inputs, **options)
        return output, attention.kept

    attention.forward = kept


class Transformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        width = config["d_model"]
        self.transformer = nn.Transformer(width, config["nhead"], config["num_encoder_layers"], config["num_decoder_layers"], config["dim_feedforward"],
                                          dropout=0.0, activation=config["activation"], norm_first=config["norm_first"], batch_first=True)
        if "num_features" in config:
            self.feature_projection = nn.Linear(config["num_features"], width)
        else:
            self.source_embedding = nn.Embedding(config["source_vocab_size"], width)
        self.target_embedding = nn.Embedding(config["target_vocab_size"], width)
        if config["positions"] == "learned":
            self.source_positions = nn.Embedding(config["max_length"], width)
            self.target_positions = nn.Embedding(config["max_length"], width)
        if not config.get("tie_word_embeddings"):
            self.output = nn.Linear(width, config["target_vocab_size"])

    def positions(self, side, length):
        if self.config["positions"] == "learned":
            return getattr(self, side + "_positions").weight[:length]
        return sinusoid(length, self.config["d_model"])

    def forward(self, source, target):
        factor = math.sqrt(self.config["d_model"]) if self.config.get("scale_embedding") else 1.0
        padding = None
        if "num_features" in self.config:
            x = self.feature_projection(source)
        else:
            x = factor * self.source_embedding(source)
            padding = source == PAD
        x = x + self.positions("source", source.shape[1])
        y = factor * self.target_embedding(target) + self.positions("target", target.shape[1])
        causal = torch.triu(torch.ones(target.shape[1], target.shape[1], dtype=torch.bool), 1)
        y = self.transformer(x, y, tgt_mask=causal, src_key_padding_mask=padding, tgt_key_padding_mask=target == PAD, memory_key_padding_mask=padding)
        return y @ self.target_embedding.weight.T if self.config.get("tie_word_embeddings") else self.output(y)

    def watch(self):
        for layer in self.transformer.encoder.layers:
            spy(layer.self_attn)
        for layer in self.transformer.decoder.layers:
            spy(layer.self_attn)
            spy(layer.multihead_attn)

    def attention(self):
        kept = {"encoder.%d.self" % i: layer.self_attn.kept for i, layer in enumerate(self.transformer.encoder.layers)}
        for i, layer in enumerate(self.transformer.decoder.layers):
            kept["decoder.%d.self" % i] = layer.self_attn.kept
            kept["decoder.%d.cross" % i] = layer.multihead_attn.kept
        return kept


class Luong(nn.Module):
    def __init__(self, kind, width, scores, output):
        super().__init__()
        self.kind = kind
        if kind == "general":
            self.wa = nn.Linear(width, width, bias=False)
        if kind == "concat":
            self.wa = nn.Linear(2 * width, scores, bias=False)
            self.va = nn.Linear(scores, 1, bias=False)
        self.wc = nn.Linear(2 * width, output, bias=False)

    def forward(self, states, memory, padding):
        if self.kind == "concat":
            pairs = [torch.cat([states[:, t : t + 1].expand_as(memory), memory], -1) for t in range(states.shape[1])]
            scores = torch.stack([self.va(torch.tanh(self.wa(pair)))[..., 0] for pair in pairs], 1)
        else:
            scores = states @ (self.wa(memory) if self.kind == "general" else memory).transpose(1, 2)
        self.kept = scores.masked_fill(padding[:, None], -math.inf).softmax(-1)
        return torch.tanh(self.wc(torch.cat([self.kept @ memory, states], -1)))


class Recurrent(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        cell = {"lstm": nn.LSTM, "gru": nn.GRU}[config["cell"]]
        width = config["hidden_size"] * (2 if config["bidirectional"] else 1)
        self.source_embedding = nn.Embedding(config["source_vocab_size"], config["embedding_size"])
        self.target_embedding = nn.Embedding(config["target_vocab_size"], config["embedding_size"])
        self.encoder = cell(config["embedding_size"], config["hidden_size"], config["num_layers"], batch_first=True, bidirectional=config["bidirectional"])
        self.decoder = cell(config["embedding_size"], width, config["num_layers"], batch_first=True)
        output = config.get("attention_size", width)
        self.attention_layer = Luong(config["attention"], width, config.get("score_size", width), output)
        self.output = nn.Linear(output, config["target_vocab_size"])

    def join(self, state):
        if not self.config["bidirectional"]:
            return state.contiguous()
        return torch.cat([state[0::2], state[1::2]], -1).contiguous()

    def forward(self, source, target):
        memory, state = self.encoder(self.source_embedding(source))
        state = tuple(self.join(part) for part in state) if isinstance(state, tuple) else self.join(state)
        states, _ = self.decoder(self.target_embedding(target), state)
        return self.output(self.attention_layer(states, memory, source == PAD))

    def watch(self):
        pass

    def attention(self):
        return {"decoder.0.cross": self.attention_layer.kept[:, None]}


def make(config, seed):
    torch.manual_seed(seed)
    model = (Transformer if config["architectures"] == ["HeedTransformer"] else Recurrent)(config).double().eval()
    for name, parameter in model.named_parameters():
        if "norm" in name:
            parameter.data += 0.2 * torch.randn_like(parameter)
        elif parameter.dim() > 1:
            parameter.data = torch.randn_like(parameter) * (1.6 / (1 + seed % 4) / math.sqrt(parameter.shape[1]) if "embedding" not in name else 1.0)
        else:
            parameter.data = 0.1 * torch.randn_like(parameter)
        parameter.data = parameter.data.float().double()
    model.watch()
    return model


def greedy(model, source, most):
    """Tokens [B, n] without the first, recomputed from the start at every step; and the smallest margin."""
    batch = source.shape[0]
    target, ended, margin = torch.full((batch, 1), BOS), torch.zeros(batch, dtype=torch.bool), math.inf
    while target.shape[1] <= most and not ended.all():
        best = model(source, target)[:, -1].topk(2)
        margin = min(margin, (best.values[:, 0] - best.values[:, 1])[~ended].min().item())
        token = best.indices[:, 0].masked_fill(ended, PAD)
        ended |= token == EOS
        target = torch.cat([target, token[:, None]], 1)
    return target, margin


def source_of(config):
    if "num_features" in config:
        return torch.randn(1, 9, config["num_features"]).float().double()
    source = torch.randint(3, config["source_vocab_size"], (2, 7))
    source[1, 5:] = PAD
    return source


def interest(tokens):
    """Different tokens, and that a row ends before the last step."""
    return min(len(set(row.tolist())) for row in tokens) + 2 * bool((tokens[:, 1:-1] == EOS).any())


def choose(config, most):
    best = (-1, 0)
    for seed in range(80):
        model = make(config, seed)
        target, margin = greedy(model, source_of(config), most)
        if margin > 0.01 and target.shape[1] > 6:
            best = max(best, (interest(target[:, 1:]), seed))
    return best[1]


def write(name, config, most=12):
    seed = choose(config, most)
    model = make(config, seed)
    source = source_of(config)
    target, margin = greedy(model, source, most)
    tokens = target[:, 1:]
    logits = model(source, target[:, :-1])
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file, indent=1)
        file.write("\n")
    weights = {key.replace("attention_layer", "attention"): value.float() for key, value in model.state_dict().items()}
    if name == "captioner":  # as the state of an nn.Transformer that is no member
        weights = {key.replace("transformer.", "", 1): value for key, value in weights.items()}
    save(os.path.join(folder, "model.safetensors"), weights)
    expect = {"source": source.float() if "num_features" in config else source.int(), "tokens": tokens.int(), "logits": logits.float()}
    expect.update((key, value.float()) for key, value in model.attention().items())
    save(os.path.join(folder, "expect.safetensors"), expect)
    print(name, "seed", seed, "margin %.3f" % margin, tokens.tolist())


TRANSFORMER = {"architectures": ["HeedTransformer"], "d_model": 16, "nhead": 2, "num_encoder_layers": 2, "num_decoder_layers": 2, "dim_feedforward": 24,
               "target_vocab_size": 13, "max_length": 12, "padding_idx": PAD, "bos_token_id": BOS, "eos_token_id": EOS}
RECURRENT = {"architectures": ["HeedSeq2Seq"], "source_vocab_size": 11, "target_vocab_size": 13, "max_length": 12, "padding_idx": PAD, "bos_token_id": BOS,
             "eos_token_id": EOS}
torch.set_grad_enabled(True)
write("transformer", dict(TRANSFORMER, source_vocab_size=11, activation="relu", norm_first=False, positions="sinusoidal", scale_embedding=True))
write("captioner", dict(TRANSFORMER, num_features=6, activation="gelu", norm_first=True, positions="learned", tie_word_embeddings=True))
write("lstm", dict(RECURRENT, cell="lstm", embedding_size=8, hidden_size=8, num_layers=2, bidirectional=True, attention="general"))
write("gru", dict(RECURRENT, cell="gru", embedding_size=10, hidden_size=12, num_layers=1, bidirectional=False, attention="concat", attention_size=14, score_size=9))
write("lstm_dot", dict(RECURRENT, cell="lstm", embedding_size=6, hidden_size=10, num_layers=1, bidirectional=False, attention="dot"))
