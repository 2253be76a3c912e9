"""DINOv3's own files: stored periods, a masked bias of the keys, a norm that only training uses."""
RECIPE = family(dict(ORIGINAL, registers="storage_tokens", periods="rope_embed.periods"), "plain", 1e-5, width=64, heads=1, mlp=24, half=True,
                prefix_tokens=("cls", "registers"), biases="masked", rotation={"kind": "centred", "base": 100, "half": True},
                extra=[("local_cls_norm.weight", (64,)), ("local_cls_norm.bias", (64,))])
del RECIPE["names"]["positions"]
