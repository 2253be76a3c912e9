"""Makes the folders of text towers: tiny models of image and text, whose vision tower is made as make.py makes it.

The forward pass of the text is written from the definitions of the published code (transformers' modeling_clip and modeling_siglip;
openai/CLIP's model.py; open_clip's transformer.py), in double precision. Each folder has two runs: io.safetensors with texts as long as
the stored positions, and io_short.safetensors. expect.text.attention.N and the like are of the text, as `heed eval` names them beside a
picture's; logits_per_image is exp(logit_scale) times the cosines, plus logit_bias where there is one.

python3 make_text.py [FOLDER...]   (needs torch)"""
import json
import os
import sys

import torch

import make
from make import EMBEDDING, LAYERS, PATCH, Weights

MLP, IDS, POSITIONS = 40, 30, 9
HF = {"tokens": "embeddings.token_embedding.weight", "positions": "embeddings.position_embedding.weight", "layer": "encoder.layers.%d.", "query": "self_attn.q_proj",
      "key": "self_attn.k_proj", "value": "self_attn.v_proj", "projection": "self_attn.out_proj", "norm": "final_layer_norm",
      "norm1": "layer_norm1", "norm2": "layer_norm2", "fc1": "mlp.fc1", "fc2": "mlp.fc2"}
OPEN_CLIP = {"tokens": "token_embedding.weight", "positions": "positional_embedding", "layer": "transformer.resblocks.%d.", "qkv": "attn.in_proj_",
             "projection": "attn.out_proj", "norm": "ln_final", "norm1": "ln_1", "norm2": "ln_2", "fc1": "mlp.c_fc", "fc2": "mlp.c_proj"}


# head: the projection; with a '^' stored transposed, with a '.' a linear map with a bias. end: the id that ends a text. fill: the id after it.
def text(names, prefix, head, width=24, heads=3, epsilon=1e-5, activation="quick_gelu", causal=True, end=IDS - 1, fill=IDS - 1, half=False, vision=None,
         bias=False, tokenizer=False, config=None, config_name="config.json", rms=False):
    return locals()


def hf_text(f, **more):
    return dict({"vocab_size": IDS, "hidden_size": f["width"], "intermediate_size": MLP, "num_hidden_layers": LAYERS, "num_attention_heads": f["heads"],
                 "max_position_embeddings": POSITIONS, "hidden_act": f["activation"], "layer_norm_eps": f["epsilon"]}, **more)


def clip_config(f):
    vision = make.hf_config("clip_vision_model", f["vision"], intermediate_size=MLP, hidden_act="quick_gelu")
    return {"model_type": "clip", "projection_dim": EMBEDDING, "text_config": hf_text(f, model_type="clip_text_model", eos_token_id=f["end"]),
            "vision_config": vision}


def siglip_config(f):
    vision = dict(make.hf_config("siglip_vision_model", f["vision"], intermediate_size=MLP), hidden_act="gelu_pytorch_tanh")
    return {"model_type": "siglip", "text_config": hf_text(f, model_type="siglip_text_model"), "vision_config": vision}


def open_clip_config(f):
    return {"model_cfg": {"embed_dim": EMBEDDING,
                          "vision_cfg": {"image_size": make.STORED * PATCH, "layers": LAYERS, "width": 24, "head_width": 8, "patch_size": PATCH, "mlp_ratio": 5 / 3},
                          "text_cfg": {"context_length": POSITIONS, "vocab_size": IDS, "width": f["width"], "heads": f["heads"], "layers": LAYERS, "mlp_ratio": 5 / 3}}}


def vision(names, **more):
    return make.family(names, "plain", 1e-5, norm="cls", patch_bias=False, **more)


FOLDERS = {
    "clip_text": text(HF, "text_model.", "text_projection.weight", width=32, heads=4, tokenizer=True, config=clip_config,
                      vision=vision(make.CLIP, prefix="vision_model.", activation="quick_gelu")),
    "siglip_text": text(HF, "text_model.", "text_model.head.", epsilon=1e-6, activation="gelu_pytorch_tanh", causal=False, fill=1, bias=True,
                        vision=make.family(make.SIGLIP, "plain", 1e-6, "vision_model.", heads=4, prefix_tokens=(), position_rows=0, activation="gelu_pytorch_tanh",
                                           pool="probe"),
                        config=siglip_config),
    # Beside the tower, not under a prefix, without a config: 64 channels a head, in half precision to be small; ids are filled up with 0.
    "open_clip_text_openai": text(OPEN_CLIP, "", "text_projection^", width=64, heads=1, fill=0, half=True,
                                  vision=dict(vision(dict(make.OPEN_CLIP, embedding="visual.proj^"), prefix="visual.", width=64, heads=1, activation="quick_gelu", half=True),
                                              resize="antialias")),
    "open_clip_text": text(OPEN_CLIP, "text.", "text.text_projection^", activation="gelu", fill=0, config=open_clip_config, config_name="open_clip_config.json",
                           vision=dict(vision(make.OPEN_CLIP, prefix="visual."), resize="antialias")),
    # PE's core as its authors publish it.
    "pe_text": text(OPEN_CLIP, "", "text_projection^", width=64, heads=1, activation="gelu", fill=0, half=True,
                    vision=make.family(dict(make.OPEN_CLIP, embedding="visual.proj^", probe="attn_pool.probe", pool_qkv="attn_pool.attn.in_proj_",
                                            pool_output="attn_pool.attn.out_proj", pool_norm="attn_pool.layernorm", pool_fc1="attn_pool.mlp.c_fc",
                                            pool_fc2="attn_pool.mlp.c_proj"), "bilinear", 1e-5, "visual.", width=64, heads=1, half=True, patch_bias=False,
                                       pool="probe", pool_heads=8, rotation={"kind": "axial", "base": 10000, "order": "xy", "offset": 1})),
}


def make_tower(f):
    w, n, c, prefix = Weights(f), f["names"], f["width"], f["prefix"]
    tower = {"tokens": w.take(prefix + n["tokens"], IDS, c), "positions": w.take(prefix + n["positions"], POSITIONS, c), "layers": []}
    for i in range(LAYERS):
        at = prefix + n["layer"] % i
        layer = {name: w.norm(at + n[name], c) for name in ("norm1", "norm2")}
        if "qkv" in n:
            weight, bias = w.linear(at + n["qkv"], 3 * c, c)
            for part, name in enumerate(("query", "key", "value")):
                layer[name] = (weight[part * c : (part + 1) * c], bias[part * c : (part + 1) * c])
        else:
            layer.update((name, w.linear(at + n[name], c, c)) for name in ("query", "key", "value"))
        layer["projection"], layer["fc1"], layer["fc2"] = w.linear(at + n["projection"], c, c), w.linear(at + n["fc1"], MLP, c), w.linear(at + n["fc2"], c, MLP)
        tower["layers"].append(layer)
    tower["norm"] = w.norm(prefix + n["norm"], c)
    tower["head"] = w.linear(f["head"][:-1], c, c) if f["head"].endswith(".") else (w.embedding(f["head"], EMBEDDING, c), 0.0)
    tower["scale"] = w.take("logit_scale", scale=0.1, about=2.3)
    tower["bias"] = w.take("logit_bias", scale=0.1, about=-3.0) if f["bias"] else 0.0
    return tower, w.tensors


def forward(f, tower, ids):
    batch, tokens = ids.shape
    heads, c, result = f["heads"], f["width"], {}
    x = tower["tokens"][ids.long()] + tower["positions"][:tokens]
    later = torch.ones(tokens, tokens).triu(1).bool() if f["causal"] else torch.zeros(tokens, tokens).bool()
    for i, layer in enumerate(tower["layers"]):
        y = make.layer_norm(x, layer["norm1"], f["epsilon"])
        q, k, v = (make.linear(y, layer[name]).reshape(batch, tokens, heads, c // heads).transpose(1, 2) for name in ("query", "key", "value"))
        scores = (q @ k.transpose(2, 3) / (c // heads) ** 0.5).masked_fill(later, -torch.inf)
        result["expect.text.attention.%d" % i] = weights = torch.softmax(scores, -1)
        x = x + make.linear((weights @ v).transpose(1, 2).reshape(batch, tokens, c), layer["projection"])
        y = make.linear(make.layer_norm(x, layer["norm2"], f["epsilon"]), layer["fc1"])
        x = x + make.linear(make.ACTIVATIONS[f["activation"]](y), layer["fc2"])
    x = make.layer_norm(x, tower["norm"], f["epsilon"])
    row = (ids == f["end"]).long().argmax(-1) if f["causal"] else torch.full((batch,), tokens - 1)
    result["expect.text.last_hidden_state"] = x
    result["expect.text.pooler_output"] = pooled = x[torch.arange(batch), row]
    result["expect.text_embeds"] = pooled @ tower["head"][0].T + tower["head"][1]
    if not f["causal"]:  # SigLIP's is after its head
        result["expect.text.pooler_output"] = result["expect.text_embeds"]
    return result


def make_ids(f, lengths, tokens):
    """Random ids, the one that ends the text, and what fills the row up."""
    ids = torch.full((len(lengths), tokens), f["fill"], dtype=torch.int32)
    for row, length in enumerate(lengths):
        ids[row, : length - 1] = torch.randint(2, IDS - 2, (length - 1,), dtype=torch.int32)
        ids[row, length - 1] = f["end"]
    return ids


def tokenizer():
    """CLIP's kind of tokenizer with the few letters of "a cat of a dog"; other letters are unknown, which is the end's id."""
    letters, merges = list("acdfgot"), ["c a", "ca t</w>", "d o", "do g</w>", "o f</w>"]
    tokens = letters + [letter + "</w>" for letter in letters] + [merge.replace(" ", "") for merge in merges]
    vocabulary = dict({token: index for index, token in enumerate(tokens)}, **{"<|startoftext|>": IDS - 2, "<|endoftext|>": IDS - 1})
    special = [{"id": vocabulary[text], "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
               for text in ("<|startoftext|>", "<|endoftext|>")]
    pattern = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    return {"added_tokens": special,
            "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}, {"type": "Lowercase"}]},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True},
                                                                    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}]},
            "post_processor": {"type": "RobertaProcessing", "sep": ["<|endoftext|>", IDS - 1], "cls": ["<|startoftext|>", IDS - 2]},
            "model": {"type": "BPE", "unk_token": "<|endoftext|>", "end_of_word_suffix": "</w>", "vocab": vocabulary, "merges": merges}}


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def make_folder(name, f, seed):
    torch.manual_seed(seed)
    folder = os.path.join(make.HERE, name)
    os.makedirs(folder, exist_ok=True)
    tower, tensors = make_tower(f)
    if f["vision"]:
        model, others = make.make_model(f["vision"])
        tensors.update(others)
    make.save(os.path.join(folder, "model.safetensors"), tensors, f["half"])
    if f["config"]:
        with open(os.path.join(folder, f["config_name"]), "w") as file:
            json.dump(f["config"](f), file, indent=1)
            file.write("\n")
    if f["tokenizer"]:
        with open(os.path.join(folder, "tokenizer.json"), "w") as file:
            json.dump(tokenizer(), file, indent=1)
            file.write("\n")
    for run, (lengths, tokens) in {"io": ((5, 9, 3), 9), "io_short": ((6, 2), 6)}.items():
        ids = make_ids(f, lengths, tokens)
        result = dict(forward(f, tower, ids), input_ids=ids)
        if f["vision"]:
            pixels = torch.randn(2, 3, 3 * PATCH, 4 * PATCH, dtype=torch.float32)
            result.update(make.forward(f["vision"], model, pixels.double(), 3, 4), pixel_values=pixels)
            cosines = unit(result["expect.image_embeds"]) @ unit(result["expect.text_embeds"]).T
            result["expect.logits_per_image"] = torch.exp(tower["scale"]) * cosines + tower["bias"]
        make.save(os.path.join(folder, run + ".safetensors"), result)


if __name__ == "__main__":
    for number, (key, recipe) in enumerate(FOLDERS.items()):
        if len(sys.argv) == 1 or key in sys.argv[1:]:
            make_folder(key, recipe, 300 + number)
