"""The original giant's names: a gated MLP."""
RECIPE = family(dict(ORIGINAL, fc1="mlp.w12", fc2="mlp.w3"), "offset", 1e-6, width=64, heads=1, mlp=24, gate="packed", half=True)
