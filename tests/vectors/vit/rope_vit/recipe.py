"""Rotary positions of row and column numbers."""
RECIPE = family(dict(EVA), "antialias", 1e-6, heads=2, rotation={"kind": "axial", "base": 100, "order": "xy"}, heads_of=("head",),
                config=lambda f: dict(timm_config(f), architecture="vit_small_patch16_rope_224", global_pool="token"))
del RECIPE["names"]["positions"]
