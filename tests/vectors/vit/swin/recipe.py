"""Swin with a classifier: two stages of two blocks, windows of 3 x 3 patches that every second block shifts. Grids of 6 x 6 patches, of 7 x 10,
which windows do not divide, and of 5 x 5, whose second stage is one window. The maps are window by window: [B windows, H, n, n]."""
RUNS = {"io": (2, 6, 6), "io_uneven": (1, 7, 10), "io_small": (1, 5, 5)}
HEADS, BLOCKS, WIDTH, HIDDEN = (2, 4), (2, 2), 8, 12  # HIDDEN: of SwinV2's network


def make_model(f):
    w, prefix, v2 = Weights(f), f["prefix"], f["wide_norms"]
    at = prefix + "embeddings.patch_embeddings.projection."
    model = {"patch": (w.take(at + "weight", WIDTH, 3, PATCH, PATCH, scale=0.15), w.take(at + "bias", WIDTH, scale=0.3)),
             "embedded": w.norm(prefix + "embeddings.norm", WIDTH), "stages": []}
    for s, (heads, blocks) in enumerate(zip(HEADS, BLOCKS)):
        c, window, stage = WIDTH << s, f["window"][s], {"blocks": []}
        for i in range(blocks):
            at, block = prefix + "encoder.layers.%d.blocks.%d." % (s, i), {}
            for name in ("query", "key", "value"):
                block[name] = w.linear(at + "attention.self." + name, c, c, biased=name != "key" or not v2)
            if v2:
                block["scale"] = w.take(at + "attention.self.logit_scale", heads, 1, 1, scale=0.5, about=math.log(10))
                if s == i == 0 and f["config"]:  # more than the code takes
                    w.tensors[at + "attention.self.logit_scale"][0] = 4.75
                    block["scale"][0] = float(w.tensors[at + "attention.self.logit_scale"][0])
                block["hidden"] = w.linear(at + "attention.self.continuous_position_bias_mlp.0", HIDDEN, 2)
                block["output"] = w.take(at + "attention.self.continuous_position_bias_mlp.2.weight", heads, HIDDEN, scale=0.4)
            else:
                block["table"] = w.take(at + "attention.self.relative_position_bias_table", (2 * window - 1) ** 2, heads)
            block["out"] = w.linear(at + "attention.output.dense", c, c)
            block["norm1"], block["norm2"] = w.norm(at + "layernorm_before", c), w.norm(at + "layernorm_after", c)
            block["fc1"], block["fc2"] = w.linear(at + "intermediate.dense", 4 * c, c), w.linear(at + "output.dense", c, 4 * c)
            stage["blocks"].append(block)
        if s + 1 < len(HEADS):
            at = prefix + "encoder.layers.%d.downsample." % s
            stage["reduce"] = w.take(at + "reduction.weight", 2 * c, 4 * c, scale=0.4), 0.0
            stage["norm"] = w.norm(at + "norm", 2 * c if v2 else 4 * c)
        model["stages"].append(stage)
    model["norm"] = w.norm(prefix + "layernorm", WIDTH << (len(HEADS) - 1))
    model["head"] = w.linear("classifier", CLASSES, WIDTH << (len(HEADS) - 1)) if f["heads_of"] else None
    # buffers of the class, which tell nothing
    w.tensors[prefix + "encoder.layers.0.blocks.0.attention.self.relative_position_index"] = torch.zeros(f["window"][0] ** 2, f["window"][0] ** 2)
    return model, w.tensors


def partition(x, window):
    """[B, H, W, C] -> [B windows, n, C]"""
    batch, rows, columns, c = x.shape
    return x.reshape(batch, rows // window, window, columns // window, window, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, window * window, c)


def relative_bias(block, window, trained):
    if "table" in block:
        table = block["table"]
    else:
        along = torch.arange(-(window - 1), window, dtype=torch.float64)
        grid = torch.stack(torch.meshgrid(along, along, indexing="ij"), -1).reshape(-1, 2) / (trained - 1) * 8
        grid = torch.sign(grid) * torch.log2(grid.abs() + 1) / math.log2(8)
        table = 16 * torch.sigmoid(torch.relu(linear(grid, block["hidden"])) @ block["output"].T)
    y, x = torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")
    y, x = y.flatten(), x.flatten()
    index = (y[:, None] - y[None] + window - 1) * (2 * window - 1) + x[:, None] - x[None] + window - 1
    return table[index.flatten()].reshape(window**2, window**2, -1).permute(2, 0, 1)


def whole_map(weights, rows, columns, window, shift):
    """[windows, H, n, n] of one picture as [H, T, T]: where each place of each window was before."""
    numbers = torch.full((1, rows + -rows % window, columns + -columns % window, 1), -1.0)
    numbers[0, :rows, :columns, 0] = torch.arange(rows * columns).reshape(rows, columns)
    numbers = partition(torch.roll(numbers, (-shift, -shift), (1, 2)), window)[..., 0].long()
    whole = torch.zeros(weights.shape[1], rows * columns, rows * columns, dtype=torch.float64)
    for of, tokens in zip(weights, numbers):
        there = tokens >= 0
        whole[:, tokens[there][:, None], tokens[there][None]] = of[:, there][:, :, there]
    return whole


def attend(f, block, x, rows, columns, heads, window, trained, shift, result, number):
    batch, _, c = x.shape
    x = x.reshape(batch, rows, columns, c)
    down, right = -rows % window, -columns % window
    x = torch.nn.functional.pad(x, (0, 0, 0, right, 0, down))
    regions = torch.zeros(1, rows + down, columns + right, 1, dtype=torch.float64)
    if shift:
        x = torch.roll(x, (-shift, -shift), (1, 2))
        edges = slice(0, -window), slice(-window, -shift), slice(-shift, None)
        for number_of, (a, b) in enumerate((a, b) for a in edges for b in edges):
            regions[:, a, b] = number_of
    of = partition(regions, window).squeeze(-1)
    mask = torch.where(of[:, :, None] == of[:, None], 0.0, -100.0)  # [windows, n, n]
    y = partition(x, window)
    q, k, v = (linear(y, block[name]).reshape(len(y), -1, heads, c // heads).transpose(1, 2) for name in ("query", "key", "value"))
    if "scale" in block:
        q, k = (torch.nn.functional.normalize(z, dim=-1) for z in (q, k))
        scores = q @ k.transpose(2, 3) * block["scale"].clamp(max=math.log(100)).exp()
    else:
        scores = q @ k.transpose(2, 3) / (c // heads) ** 0.5
    scores = scores + relative_bias(block, window, trained) + mask.repeat(batch, 1, 1)[:, None]
    result["expect.attention.%d" % number] = weights = torch.softmax(scores, -1)
    if rows * columns <= 25:
        result["expect.map.%d" % number] = whole_map(weights, rows, columns, window, shift)
    y = (weights @ v).transpose(1, 2).reshape(batch, (rows + down) // window, (columns + right) // window, window, window, c)
    y = y.permute(0, 1, 3, 2, 4, 5).reshape(batch, rows + down, columns + right, c)
    y = torch.roll(y, (shift, shift), (1, 2)) if shift else y
    return linear(y[:, :rows, :columns].reshape(batch, rows * columns, c), block["out"])


def forward(f, model, pixels, rows, columns):
    result, number, epsilon, v2 = {}, 0, f["epsilon"], f["wide_norms"]
    x = torch.nn.functional.conv2d(pixels, *model["patch"], stride=PATCH).flatten(2).transpose(1, 2)
    x = layer_norm(x, model["embedded"], epsilon)
    for s, stage in enumerate(model["stages"]):
        window = f["window"][s]
        for i, block in enumerate(stage["blocks"]):
            shift = 0 if min(rows, columns) <= window or i % 2 == 0 else window // 2
            y = x if v2 else layer_norm(x, block["norm1"], epsilon)
            y = attend(f, block, y, rows, columns, HEADS[s], window, f["full"][s] if v2 and f["full"][s] else window, shift, result, number)
            x = x + (layer_norm(y, block["norm1"], epsilon) if v2 else y)
            y = x if v2 else layer_norm(x, block["norm2"], epsilon)
            y = linear(ACTIVATIONS["gelu"](linear(y, block["fc1"])), block["fc2"])
            x = x + (layer_norm(y, block["norm2"], epsilon) if v2 else y)
            number += 1
        if "reduce" in stage:
            grid = torch.nn.functional.pad(x.reshape(len(x), rows, columns, -1), (0, 0, 0, columns % 2, 0, rows % 2))
            merged = torch.cat([grid[:, a::2, b::2] for a, b in ((0, 0), (1, 0), (0, 1), (1, 1))], -1)
            rows, columns = merged.shape[1:3]
            merged = merged.reshape(len(x), rows * columns, -1)
            x = layer_norm(linear(merged, stage["reduce"]), stage["norm"], epsilon) if v2 else linear(layer_norm(merged, stage["norm"], epsilon), stage["reduce"])
    result["expect.last_hidden_state"] = x = layer_norm(x, model["norm"], epsilon)
    if model["head"]:
        result["expect.logits"] = linear(x.mean(1), model["head"])
    else:
        result["expect.pooler_output"] = x.mean(1)
    return result


def swin_config(kind, f, **more):
    config = {"model_type": kind, "image_size": 6 * PATCH, "patch_size": PATCH, "num_channels": 3, "embed_dim": WIDTH, "depths": list(BLOCKS),
              "num_heads": list(HEADS), "num_layers": 2, "hidden_size": WIDTH * 2, "window_size": f["window"][0], "mlp_ratio": 4.0, "hidden_act": "gelu",
              "qkv_bias": True, "layer_norm_eps": 1e-5, "use_absolute_embeddings": False, "encoder_stride": 32, "drop_path_rate": 0.1,
              "path_norm": True}
    return dict(config, **more)


RECIPE = family({}, None, 1e-5, "swin.", window=(3, 3), heads_of=("classifier",), config=lambda f: swin_config("swin", f, num_labels=CLASSES))
