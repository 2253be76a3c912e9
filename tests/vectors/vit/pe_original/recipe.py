"""PE for language as its authors publish it: a gain of each layer's parts, no norm after the layers."""
RUNS = {"io": (2, 3, 3), "io_wide": (1, 3, 6), "io_small": (1, 1, 1)}
RECIPE = family(dict({key: name for key, name in OPEN_CLIP.items() if key != "embedding"}, scale1="ls_1.gamma", scale2="ls_2.gamma"), "bilinear", 1e-5,
                width=64, heads=1, mlp=24, half=True, patch_bias=False, norm=None,
                rotation={"kind": "axial", "base": 10000, "order": "xy", "offset": 1})
