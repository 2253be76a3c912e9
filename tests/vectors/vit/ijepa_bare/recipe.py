"""I-JEPA without config.json: 64 channels a head, and in half precision to be small."""
RECIPE = family({key: name for key, name in VIT.items() if key != "cls"}, "plain", 1e-12, width=64, heads=1, mlp=16, prefix_tokens=(), position_rows=0, half=True)
