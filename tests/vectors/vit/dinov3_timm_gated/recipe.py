"""The larger sizes in timm, without a config: 64 channels a head."""
RECIPE = family(dict(EVA, gate="mlp.fc1_g", fc1="mlp.fc1_x"), "antialias", 1e-5, width=64, heads=1, mlp=24, half=True, prefix_tokens=("cls", "registers"),
                biases="", gate="split", rotation={"kind": "centred", "base": 100, "half": True})
del RECIPE["names"]["positions"]
