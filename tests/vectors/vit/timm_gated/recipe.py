"""A gated MLP whose two halves are one tensor, as DINOv2's giant in timm."""
RECIPE = family(dict(TIMM, scale1="ls1.gamma", scale2="ls2.gamma"), "antialias", 1e-6, heads=3, mlp=44, gate="packed", config=lambda f: timm_config(f))
