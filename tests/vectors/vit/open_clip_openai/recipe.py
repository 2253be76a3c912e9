"""OpenAI's files: the same names without a config, quick GELU."""
RECIPE = family(OPEN_CLIP, "antialias", 1e-5, "visual.", width=64, heads=1, mlp=24, patch_bias=False, activation="quick_gelu", norm="cls", half=True)
