"""V-JEPA 2 of Hugging Face: tokens of 2 of 6 frames and 4 x 4 pixels, no positions but the rotation of queries and keys by time, row and column.
Of 28 numbers of a head each axis turns 8 and 4 stay. A predictor and a pooler lie beside the encoder."""
FRAMES, TUBELET = 6, 2
RUNS = {"io": (1, 3, 3), "io_wide": (1, 2, 5), "io_small": (1, 1, 1)}


def make_pixels(batch, rows, columns):
    return torch.randn(batch, FRAMES, 3, rows * PATCH, columns * PATCH, dtype=torch.float32)


def make_model(f):
    w, c, layers, at = Weights(f), f["width"], [], f["prefix"]
    name = at + "embeddings.patch_embeddings.proj."
    patch = w.take(name + "weight", c, 3, TUBELET, PATCH, PATCH, scale=0.15), w.take(name + "bias", c, scale=0.3)
    for i in range(LAYERS):
        at, layer = f["prefix"] + "layer.%d." % i, {}
        for name in ("query", "key", "value"):
            layer[name] = w.linear(at + "attention." + name, c, c)
        layer["out"] = w.linear(at + "attention.proj", c, c)
        layer["norm1"], layer["norm2"] = w.norm(at + "norm1", c), w.norm(at + "norm2", c)
        layer["fc1"], layer["fc2"] = w.linear(at + "mlp.fc1", f["mlp"], c), w.linear(at + "mlp.fc2", c, f["mlp"])
        layers.append(layer)
    norm = w.norm(f["prefix"] + "layernorm", c)
    for name, shape in f["extra"]:
        w.take(name, *shape)
    return {"patch": patch, "layers": layers, "norm": norm}, w.tensors


def turn_axis(x, at):
    """rotate_queries_or_keys: pairs 2j and 2j + 1, each element by its own angle; the angles are repeated as a whole, [a b a b]."""
    size = x.shape[-1]
    angles = at[:, None] / 10000 ** (torch.arange(size // 2, dtype=torch.float64) / (size / 2))
    angles = torch.cat([angles, angles], -1)
    crossed = torch.empty_like(x)
    crossed[..., 0::2], crossed[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    return x * torch.cos(angles) + crossed * torch.sin(angles)


def turn(x, steps, rows, columns):
    """x [B, H, T, D]: a third of D for each axis, cut to an even count; the rest stays."""
    third = 2 * (x.shape[-1] // 3 // 2)
    time, y, z = (along.flatten().double() for along in torch.meshgrid(torch.arange(steps), torch.arange(rows), torch.arange(columns), indexing="ij"))
    parts = [turn_axis(x[..., i * third : (i + 1) * third], at) for i, at in enumerate((time, y, z))]
    return torch.cat(parts + [x[..., 3 * third :]], -1)


def forward(f, model, pixels, rows, columns):
    heads, c, result = f["heads"], f["width"], {}
    x = torch.nn.functional.conv3d(pixels.permute(0, 2, 1, 3, 4), *model["patch"], stride=(TUBELET, PATCH, PATCH)).flatten(2).transpose(1, 2)
    batch, tokens, _ = x.shape
    for i, layer in enumerate(model["layers"]):
        y = layer_norm(x, layer["norm1"], f["epsilon"])
        q, k, v = (linear(y, layer[name]).reshape(batch, tokens, heads, c // heads).transpose(1, 2) for name in ("query", "key", "value"))
        q, k = (turn(part, FRAMES // TUBELET, rows, columns) for part in (q, k))
        weights = torch.softmax(q @ k.transpose(2, 3) / (c // heads) ** 0.5, -1)
        result["expect.attention.%d" % i] = weights
        x = x + linear((weights @ v).transpose(1, 2).reshape(batch, tokens, c), layer["out"])
        y = layer_norm(x, layer["norm2"], f["epsilon"])
        x = x + linear(ACTIVATIONS["gelu"](linear(y, layer["fc1"])), layer["fc2"])
    result["expect.last_hidden_state"] = layer_norm(x, model["norm"], f["epsilon"])
    return result


def vjepa2_config(f):
    return {"model_type": "vjepa2", "crop_size": 5 * PATCH, "image_size": 5 * PATCH, "patch_size": PATCH, "in_chans": 3, "frames_per_clip": FRAMES,
            "tubelet_size": TUBELET, "hidden_size": f["width"], "num_hidden_layers": LAYERS, "num_attention_heads": f["heads"], "mlp_ratio": 1.7142857142857142,
            "hidden_act": "gelu", "layer_norm_eps": f["epsilon"], "qkv_bias": True, "num_pooler_layers": 3, "pred_hidden_size": 12, "pred_mlp_ratio": 4.0}


RECIPE = family({}, None, 1e-6, "encoder.", width=56, heads=2, mlp=96, config=vjepa2_config,
                extra=[("predictor.layer.0.norm1.weight", (12,)), ("predictor.embeddings.mask_tokens", (10, 1, 1, 12)), ("pooler.query_tokens", (1, 1, 56))])
