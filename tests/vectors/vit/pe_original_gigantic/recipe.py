"""The largest PE for dense tasks has no CLS, and counts patches from 0; PE for dense tasks of other sizes has no gains."""
RUNS = {"io": (1, 3, 3), "io_wide": (1, 2, 5)}
RECIPE = family({key: name for key, name in OPEN_CLIP.items() if key not in ("embedding", "cls")}, "bilinear", 1e-5, "visual.",
                width=64, heads=1, mlp=24, half=True, prefix_tokens=(), position_rows=0, patch_bias=False, norm=None,
                rotation={"kind": "axial", "base": 10000, "order": "xy"})
