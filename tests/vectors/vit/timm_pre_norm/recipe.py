"""A norm before the layers, patches without a bias, quick GELU and an epsilon by the architecture's name."""
RECIPE = family(dict(TIMM, pre_norm="norm_pre"), "antialias", 1e-5, heads=4, patch_bias=False, activation="quick_gelu", heads_of=("head",),
                config=lambda f: dict(timm_config(f, pre_norm=True), architecture="vit_base_patch32_clip_quickgelu_224"))
