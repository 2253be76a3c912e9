"""DeiT-III in the names of facebookresearch/deit, without a config: layer scale as gamma_1 and gamma_2, and no position of CLS."""
RECIPE = family(dict(TIMM, scale1="gamma_1", scale2="gamma_2"), "antialias", 1e-6, width=64, heads=1, mlp=16, half=True, position_rows=0, heads_of=("head",))
