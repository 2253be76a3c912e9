"""PE for language: a norm before the layers and none after them, positions both learned and rotary, whose grid is the stored one."""
RECIPE = family(dict(EVA, pre_norm="norm_pre"), "antialias", 1e-5, heads=3, patch_bias=False, norm=None,
                rotation={"kind": "axial", "base": 10000, "order": "xy", "offset": 1, "reference": STORED},
                config=lambda f: dict(timm_config(f), architecture="vit_pe_lang_large_patch14_448"))
