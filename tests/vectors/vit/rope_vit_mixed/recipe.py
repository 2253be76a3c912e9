"""Learned frequencies of each layer and head."""
RECIPE = family(dict(EVA, frequencies="rope.freqs"), "antialias", 1e-6, heads=3, rotation={"kind": "mixed"}, heads_of=("head",),
                config=lambda f: dict(timm_config(f), architecture="vit_small_patch16_rope_mixed_224", global_pool="token"))
del RECIPE["names"]["positions"]
