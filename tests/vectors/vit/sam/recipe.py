"""SAM's image encoder of Hugging Face: windows of 3 x 3 patches but in layer 1, scores that grow by what the query gives for relative rows and columns.
Grids of 5 x 5 patches, the stored one, of 7 x 4, which windows do not divide, and of 2 x 2, which is smaller than a window. The maps of layers with
windows are window by window, [B windows, H, n, n]. The neck is not used.
expect.map.N is of the first picture over all of its tokens."""
RUNS = {"io": (2, 5, 5), "io_uneven": (1, 7, 4), "io_small": (1, 2, 2)}
WINDOW, WHOLE, DEPTH = 3, (1,), 3
SAM = {"patch": "patch_embed.projection", "layer": "layers.%d.", "norm1": "layer_norm1", "norm2": "layer_norm2", "fc1": "mlp.lin1", "fc2": "mlp.lin2"}


def make_model(f):
    w, c, n, layers = Weights(f), f["width"], f["names"], []
    at, size = f["prefix"], f["width"] // f["heads"]
    model = {"positions": w.take(at + "pos_embed", 1, STORED, STORED, c),
             "patch": (w.take(at + n["patch"] + ".weight", c, 3, PATCH, PATCH, scale=0.2), w.take(at + n["patch"] + ".bias", c, scale=0.3)), "layers": layers}
    for i in range(DEPTH):
        at, layer, side = f["prefix"] + n["layer"] % i, {}, STORED if i in WHOLE else WINDOW
        layer["norm1"], layer["norm2"] = w.norm(at + n["norm1"], c), w.norm(at + n["norm2"], c)
        layer["qkv"], layer["out"] = w.linear(at + "attn.qkv", 3 * c, c), w.linear(at + "attn.proj", c, c)
        layer["rows"], layer["columns"] = (w.take(at + "attn.rel_pos_" + axis, 2 * side - 1, size, scale=0.4) for axis in "hw")
        layer["fc1"], layer["fc2"] = w.linear(at + n["fc1"], f["mlp"], c), w.linear(at + n["fc2"], c, f["mlp"])
        layers.append(layer)
    for name, shape in f["extra"]:
        w.take(f["prefix"] + name, *shape)
    return model, w.tensors


def relative(table, count):
    """get_rel_pos: [count, count, D]"""
    if len(table) != 2 * count - 1:
        table = torch.nn.functional.interpolate(table.T[None], size=2 * count - 1, mode="linear")[0].T
    along = torch.arange(count)
    return table[along[:, None] - along[None] + count - 1]


def attend(f, layer, x):
    """x [N, rows, columns, C]; the scores are added as add_decomposed_rel_pos does it."""
    n, rows, columns, c = x.shape
    heads, size = f["heads"], c // f["heads"]
    q, k, v = linear(x, layer["qkv"]).reshape(n, rows * columns, 3, heads, size).permute(2, 0, 3, 1, 4)
    scores = q / size**0.5 @ k.transpose(2, 3)
    r = q.reshape(n, heads, rows, columns, size)
    down = torch.einsum("nhyxd,yjd->nhyxj", r, relative(layer["rows"], rows))
    across = torch.einsum("nhyxd,xid->nhyxi", r, relative(layer["columns"], columns))
    scores = (scores.reshape(n, heads, rows, columns, rows, columns) + down[..., None] + across[..., None, :]).reshape(scores.shape)
    weights = torch.softmax(scores, -1)
    return weights, linear((weights @ v).transpose(1, 2).reshape(n, rows, columns, c), layer["out"])


def partition(x):
    """[B, rows, columns, ...] filled up with zeros -> [B windows, WINDOW, WINDOW, ...]"""
    batch, rows, columns, c = x.shape
    x = torch.nn.functional.pad(x, (0, 0, 0, -columns % WINDOW, 0, -rows % WINDOW))
    return x.reshape(batch, (rows + WINDOW - 1) // WINDOW, WINDOW, -1, WINDOW, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, WINDOW, WINDOW, c)


def whole_map(weights, rows, columns):
    """The windows of one picture, [windows, H, n, n], as [H, T, T]."""
    numbers = partition(torch.arange(1, rows * columns + 1).reshape(1, rows, columns, 1)).reshape(len(weights), -1) - 1  # -1: beyond the grid
    whole = torch.zeros(weights.shape[1], rows * columns, rows * columns, dtype=torch.float64)
    for of, tokens in zip(weights, numbers):
        there = tokens >= 0
        whole[:, tokens[there][:, None], tokens[there][None]] = of[:, there][:, :, there]
    return whole


def forward(f, model, pixels, rows, columns):
    result, c = {}, f["width"]
    x = torch.nn.functional.conv2d(pixels, *model["patch"], stride=PATCH).permute(0, 2, 3, 1)
    positions = model["positions"].permute(0, 3, 1, 2)
    if (rows, columns) != (STORED, STORED):
        positions = torch.nn.functional.interpolate(positions, size=(rows, columns), mode="bicubic", antialias=True, align_corners=False)
    x = x + positions.permute(0, 2, 3, 1)
    for i, layer in enumerate(model["layers"]):
        y = layer_norm(x, layer["norm1"], f["epsilon"])
        if i in WHOLE:
            result["expect.attention.%d" % i], y = attend(f, layer, y)
        else:
            batch, down, across = len(y), (rows + WINDOW - 1) // WINDOW, (columns + WINDOW - 1) // WINDOW
            result["expect.attention.%d" % i], y = attend(f, layer, partition(y))
            y = y.reshape(batch, down, across, WINDOW, WINDOW, c).permute(0, 1, 3, 2, 4, 5).reshape(batch, down * WINDOW, across * WINDOW, c)[:, :rows, :columns]
        result["expect.map.%d" % i] = result["expect.attention.%d" % i][0] if i in WHOLE else whole_map(result["expect.attention.%d" % i][: down * across], rows, columns)
        x = x + y
        y = layer_norm(x, layer["norm2"], f["epsilon"])
        x = x + linear(ACTIVATIONS["gelu"](linear(y, layer["fc1"])), layer["fc2"])
    result["expect.last_hidden_state"] = x.reshape(len(x), rows * columns, c)
    return result


def sam_config(f):
    tower = {"hidden_size": f["width"], "output_channels": 6, "num_hidden_layers": DEPTH, "num_attention_heads": f["heads"], "num_channels": 3,
             "image_size": STORED * PATCH, "patch_size": PATCH, "hidden_act": "gelu", "layer_norm_eps": f["epsilon"], "qkv_bias": True, "mlp_ratio": 4.0,
             "use_abs_pos": True, "use_rel_pos": True, "window_size": WINDOW, "global_attn_indexes": list(WHOLE), "num_pos_feats": 3, "mlp_dim": f["mlp"],
             "model_type": "sam_vision_model"}
    return {"model_type": "sam", "vision_config": tower, "mask_decoder_config": {"hidden_size": 6}, "initializer_range": 0.02}


NECK = [("neck.conv1.weight", (6, 24, 1, 1)), ("neck.layer_norm1.weight", (6,)), ("neck.layer_norm1.bias", (6,)), ("neck.conv2.weight", (6, 6, 3, 3))]
RECIPE = family(SAM, None, 1e-6, "vision_encoder.", config=sam_config, extra=NECK)
