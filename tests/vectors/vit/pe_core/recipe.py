"""PE's core: as PE for language, with a final norm, and a pooling attention of 8 heads that reads CLS too; the gain of a layer's parts is absent."""
RECIPE = family(dict({key: name for key, name in EVA.items() if not key.startswith("scale")}, pre_norm="norm_pre", **TIMM_POOL), "antialias", 1e-5, heads=3,
                patch_bias=False, pool="probe", pool_heads=8, pool_mlp=56, heads_of=("head",),
                rotation={"kind": "axial", "base": 10000, "order": "xy", "offset": 1, "reference": STORED},
                config=lambda f: dict(timm_config(f), architecture="vit_pe_core_large_patch14_336", global_pool="map"))
