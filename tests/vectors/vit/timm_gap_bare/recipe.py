"""SigLIP without its head: the mean of the patches is what a classifier would read."""
RECIPE = family(TIMM, "antialias", 1e-6, width=64, heads=1, mlp=16, prefix_tokens=(), position_rows=0, pool="patches", pooler=True, half=True,
                config=lambda f: {"architecture": "vit_base_patch16_siglip_gap_224", "num_classes": 0, "global_pool": "avg",
                                  "pretrained_cfg": {"input_size": [3, STORED * PATCH, STORED * PATCH]}})
