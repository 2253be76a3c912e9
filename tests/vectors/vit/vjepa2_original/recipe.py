"""V-JEPA 2's own file, without a config: timm's names, 64 channels a head, and positions that it does not read."""
with open(os.path.join(HERE, "vjepa2", "recipe.py")) as file:
    exec(file.read())


def make_model(f):
    w, c, layers, at = Weights(f), f["width"], [], f["prefix"]
    patch = w.take(at + "patch_embed.proj.weight", c, 3, TUBELET, PATCH, PATCH, scale=0.15), w.take(at + "patch_embed.proj.bias", c, scale=0.3)
    w.take(at + "pos_embed", 1, 75, c)
    for i in range(LAYERS):
        at, layer = f["prefix"] + "blocks.%d." % i, {}
        weight, bias = w.linear(at + "attn.qkv", 3 * c, c)
        for part, name in enumerate(("query", "key", "value")):
            layer[name] = weight[part * c : (part + 1) * c], bias[part * c : (part + 1) * c]
        layer["norm1"], layer["norm2"] = w.norm(at + "norm1", c), w.norm(at + "norm2", c)
        layer["out"], layer["fc1"], layer["fc2"] = w.linear(at + "attn.proj", c, c), w.linear(at + "mlp.fc1", f["mlp"], c), w.linear(at + "mlp.fc2", c, f["mlp"])
        layers.append(layer)
    return {"patch": patch, "layers": layers, "norm": w.norm(f["prefix"] + "norm", c)}, w.tensors


RECIPE = family({}, None, 1e-6, "backbone.", width=64, heads=1, mlp=24, half=True)
