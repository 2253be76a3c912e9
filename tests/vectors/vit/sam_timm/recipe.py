"""SAM's image encoder of timm, on the stored grid, on one that windows do not divide and on one patch."""
with open(os.path.join(HERE, "sam", "recipe.py")) as file:
    exec(file.read())
RUNS = {"io": (1, 5, 5), "io_uneven": (1, 4, 2), "io_small": (1, 1, 1)}
TIMM_SAM = dict(SAM, patch="patch_embed.proj", layer="blocks.%d.", norm1="norm1", norm2="norm2", fc1="mlp.fc1", fc2="mlp.fc2")


def timm_sam_config(f):
    args = {"img_size": STORED * PATCH, "patch_size": PATCH, "embed_dim": f["width"], "depth": DEPTH, "num_heads": f["heads"], "mlp_ratio": 5 / 3}
    return {"architecture": "samvit_base_patch16", "num_classes": 0, "model_args": args, "pretrained_cfg": {"input_size": [3, STORED * PATCH, STORED * PATCH]}}


RECIPE = family(TIMM_SAM, None, 1e-6, config=timm_sam_config, extra=[("neck.0.weight", (6, 24, 1, 1))])
