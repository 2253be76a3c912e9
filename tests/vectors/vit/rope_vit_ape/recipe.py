"""The same beside learned positions, of patches alone."""
RECIPE = family(dict(EVA), "antialias", 1e-6, heads=3, position_rows=0, rotation={"kind": "axial", "base": 100, "order": "xy"}, heads_of=("head",),
                config=lambda f: dict(timm_config(f, no_embed_class=True), architecture="vit_base_patch16_rope_ape_224", global_pool="token"))
