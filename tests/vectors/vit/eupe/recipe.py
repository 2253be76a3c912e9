"""EUPE's own files: those of DINOv3, with the maps to its teachers, which only training uses."""
RECIPE = family(dict(ORIGINAL, registers="storage_tokens", periods="rope_embed.periods"), "plain", 1e-5, width=64, heads=1, mlp=24, half=True,
                prefix_tokens=("cls", "registers"), biases="masked", rotation={"kind": "centred", "base": 100, "half": True},
                extra=[("projectors.pe_core.cls.0.weight", (8, 64)), ("projectors.pe_core.cls.0.bias", (8,)), ("projectors.dinov3.patch.2.weight", (8, 8))])
del RECIPE["names"]["positions"]
