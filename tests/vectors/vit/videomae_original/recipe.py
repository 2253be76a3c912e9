"""VideoMAE's own file of a classifier, without a config: timm's names, 64 channels a head, the norm of the mean with the epsilon of the others."""
with open(os.path.join(HERE, "videomae", "recipe.py")) as file:
    exec(file.read())
RUNS = {"io": (2, 3, 3), "io_wide": (1, 2, 4), "io_small": (1, 1, 1)}
hugging_face = forward


def make_model(f):
    w, c, layers, at = Weights(f), f["width"], [], f["prefix"]
    patch = w.take(at + "patch_embed.proj.weight", c, 3, TUBELET, PATCH, PATCH, scale=0.15), w.take(at + "patch_embed.proj.bias", c, scale=0.3)
    for i in range(LAYERS):
        at, layer = f["prefix"] + "blocks.%d." % i, {}
        joined, _ = w.linear(at + "attn.qkv", 3 * c, c, biased=False)
        bias = {name: w.take(at + "attn.%s_bias" % name[0], c, scale=0.3) for name in ("query", "value")}
        for part, name in enumerate(("query", "key", "value")):
            layer[name] = joined[part * c : (part + 1) * c], bias.get(name, torch.zeros(c, dtype=torch.float64))
        layer["norm1"], layer["norm2"] = w.norm(at + "norm1", c), w.norm(at + "norm2", c)
        layer["out"], layer["fc1"], layer["fc2"] = w.linear(at + "attn.proj", c, c), w.linear(at + "mlp.fc1", f["mlp"], c), w.linear(at + "mlp.fc2", c, f["mlp"])
        for name, scaled in (("gamma_1", "out"), ("gamma_2", "fc2")) if f["gate"] == "gains" else ():
            gain = w.take(at + name, c, scale=0.2, about=0.7)
            layer[scaled] = layer[scaled][0] * gain[:, None], layer[scaled][1] * gain
        layers.append(layer)
    ends = {"norm": w.norm(f["prefix"] + "norm", c)} if f["norm"] else {}
    if f["heads_of"]:
        ends.update(fc_norm=w.norm("fc_norm", c), own_head=w.linear("head", CLASSES, c))
    for name, shape in f["extra"]:
        w.take(name, *shape)
    return dict(ends, patch=patch, layers=layers), w.tensors


def forward(f, model, pixels, rows, columns):
    result = hugging_face(f, model, pixels, rows, columns)
    if "own_head" in model:
        mean = result["expect.last_hidden_state"].mean(1)
        result["expect.logits"] = linear(layer_norm(mean, model["fc_norm"], f["epsilon"]), model["own_head"])
    return result


RECIPE = family({}, None, 1e-6, width=64, heads=1, mlp=16, norm="", heads_of=("head",), half=True)
