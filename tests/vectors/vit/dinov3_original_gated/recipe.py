"""The same with the gate of the larger models, without a bias of query and value."""
RECIPE = family(dict(ORIGINAL, registers="storage_tokens", periods="rope_embed.periods", gate="mlp.w1", fc1="mlp.w2", fc2="mlp.w3"), "plain", 1e-5, width=64,
                heads=1, mlp=24, half=True, prefix_tokens=("cls", "registers"), biases="", gate="split",
                rotation={"kind": "centred", "base": 100, "half": True})
del RECIPE["names"]["positions"]
