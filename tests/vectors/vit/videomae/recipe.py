"""VideoMAE with a classifier: tokens of 2 of 4 frames and 4 x 4 pixels, sines of their numbers, no biases of keys, a norm of the mean alone."""
FRAMES, TUBELET = 4, 2
RUNS = {"io": (2, 3, 3), "io_wide": (1, 2, 5), "io_small": (1, 1, 1)}


def make_pixels(batch, rows, columns):
    return torch.randn(batch, FRAMES, 3, rows * PATCH, columns * PATCH, dtype=torch.float32)


def make_model(f):
    w, c, layers = Weights(f), f["width"], []
    at = f["prefix"] + "embeddings.patch_embeddings.projection."
    patch = w.take(at + "weight", c, 3, TUBELET, PATCH, PATCH, scale=0.15), w.take(at + "bias", c, scale=0.3)
    for i in range(LAYERS):
        at, layer = f["prefix"] + "encoder.layer.%d." % i, {}
        for name in ("query", "key", "value"):
            layer[name] = w.linear(at + "attention.attention." + name, c, c, biased=False)
        for name in ("query", "value"):
            layer[name] = layer[name][0], w.take(at + "attention.attention.%s_bias" % name[0], c, scale=0.3)
        layer["out"] = w.linear(at + "attention.output.dense", c, c)
        layer["norm1"], layer["norm2"] = w.norm(at + "layernorm_before", c), w.norm(at + "layernorm_after", c)
        layer["fc1"], layer["fc2"] = w.linear(at + "intermediate.dense", f["mlp"], c), w.linear(at + "output.dense", c, f["mlp"])
        layers.append(layer)
    ends = {"norm": w.norm(f["prefix"] + "layernorm", c)} if f["norm"] else {}
    if f["heads_of"]:
        ends.update(fc_norm=w.norm("fc_norm", c), head=w.linear("classifier", CLASSES, c))
    for name, shape in f["extra"]:
        w.take(name, *shape)
    return dict(ends, patch=patch, layers=layers), w.tensors


def sinusoids(tokens, width):
    """get_sinusoid_encoding_table: an angle for each number j of a token; sines of the even ones, cosines of the odd ones."""
    table = np.array([[at / np.power(10000, 2 * (j // 2) / width) for j in range(width)] for at in range(tokens)])
    table[:, 0::2], table[:, 1::2] = np.sin(table[:, 0::2]), np.cos(table[:, 1::2])
    return torch.tensor(table)


def forward(f, model, pixels, rows, columns):
    heads, c, result = f["heads"], f["width"], {}
    # [B, 3, frames, H, W] by a convolution in three dimensions; tokens by time, row, column
    x = torch.nn.functional.conv3d(pixels.permute(0, 2, 1, 3, 4), *model["patch"], stride=(TUBELET, PATCH, PATCH)).flatten(2).transpose(1, 2)
    x = x + sinusoids(x.shape[1], c)
    batch, tokens, _ = x.shape
    for i, layer in enumerate(model["layers"]):
        y = layer_norm(x, layer["norm1"], f["epsilon"])
        q, k, v = (linear(y, layer[name]).reshape(batch, tokens, heads, c // heads).transpose(1, 2) for name in ("query", "key", "value"))
        weights = torch.softmax(q @ k.transpose(2, 3) / (c // heads) ** 0.5, -1)
        result["expect.attention.%d" % i] = weights
        x = x + linear((weights @ v).transpose(1, 2).reshape(batch, tokens, c), layer["out"])
        y = layer_norm(x, layer["norm2"], f["epsilon"])
        x = x + linear(ACTIVATIONS["gelu"](linear(y, layer["fc1"])), layer["fc2"])
    x = layer_norm(x, model["norm"], f["epsilon"]) if "norm" in model else x
    result["expect.last_hidden_state"] = x
    if "head" in model:  # its norm has nn.LayerNorm's own epsilon
        result["expect.logits"] = linear(layer_norm(x.mean(1), model["fc_norm"], 1e-5), model["head"])
    return result


def video_config(f, **more):
    config = hf_config("videomae", f, intermediate_size=f["mlp"], num_frames=FRAMES, tubelet_size=TUBELET, num_labels=CLASSES, use_mean_pooling=True,
                       norm_pix_loss=True, decoder_hidden_size=12, decoder_num_hidden_layers=1)
    return dict(config, **more)


RECIPE = family({}, None, 1e-12, "videomae.", norm="", heads_of=("classifier",), config=video_config)
