"""DeiT-III: layer scale, and no position of CLS."""
RECIPE = family(dict(TIMM, scale1="ls1.gamma", scale2="ls2.gamma"), "antialias", 1e-6, heads=4, position_rows=0, heads_of=("head",), config=lambda f: timm_config(f, no_embed_class=True))
