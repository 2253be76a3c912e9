"""The largest PE has no CLS, and counts patches from 0."""
RECIPE = family(dict(EVA, pre_norm="norm_pre"), "antialias", 1e-5, heads=2, prefix_tokens=(), position_rows=0, patch_bias=False, norm=None,
                rotation={"kind": "axial", "base": 10000, "order": "xy", "reference": STORED},
                config=lambda f: dict(timm_config(f, class_token=False), architecture="vit_pe_spatial_gigantic_patch14_448"))
