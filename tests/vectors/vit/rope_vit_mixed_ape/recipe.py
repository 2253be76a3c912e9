"""The same beside learned positions, of patches alone."""
RECIPE = family(dict(EVA, frequencies="rope.freqs"), "antialias", 1e-6, heads=6, position_rows=0, rotation={"kind": "mixed"}, heads_of=("head",),
                config=lambda f: dict(timm_config(f, no_embed_class=True), architecture="vit_base_patch16_rope_mixed_ape_224", global_pool="token"))
