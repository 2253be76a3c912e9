"""Swin in timm's names, with the merge before its stage, and timm's config."""
with open(os.path.join(HERE, "swin", "recipe.py")) as file:
    exec(file.read())
made = make_model


def renamed(name, merge):
    """A name of transformers as timm has it; merge: how many stages later a merge lies."""
    name = name.replace("encoder.layers", "layers").replace("embeddings.patch_embeddings.projection", "patch_embed.proj")
    name = name.replace("embeddings.norm", "patch_embed.norm").replace("layernorm_before", "norm1").replace("layernorm_after", "norm2")
    name = name.replace("attention.output.dense", "attn.proj").replace("attention.self.", "attn.").replace("intermediate.dense", "mlp.fc1")
    name = name.replace("output.dense", "mlp.fc2").replace("layernorm", "norm").replace("classifier", "head.fc" if merge else "head")
    name = name.replace("continuous_position_bias_mlp", "cpb_mlp")
    return name.replace("layers.0.downsample", "layers.%d.downsample" % merge)


def join(tensors, merge):
    """Query, key and value as one map; biases of query and value alone are tensors apart, as in SwinV2."""
    result = {}
    for name, tensor in tensors.items():
        to = renamed(name, merge)
        if ".query." in to:
            parts = [tensors.get(name.replace("query", part)) for part in ("query", "key", "value")]
            if parts[1] is not None:
                result[to.replace("query", "qkv")] = torch.cat(parts)
            else:
                result[to.replace("query.bias", "q_bias")], result[to.replace("query.bias", "v_bias")] = parts[0], parts[2]
        elif ".key." not in to and ".value." not in to:
            result[to] = tensor
    return result


def make_model(f):
    model, tensors = made(f)
    return model, join(tensors, f["frames"])


def timm_swin_config(architecture):
    return {"architecture": architecture, "num_classes": CLASSES, "pretrained_cfg": {"input_size": [3, 6 * PATCH, 6 * PATCH]}}


RECIPE = family({}, None, 1e-5, "", window=(3, 3), frames=1, heads_of=("classifier",), config=lambda f: timm_swin_config("swin_tiny_patch4_window3_24"))
