"""The tower of SigLIP 2 for any aspect alone, without its pooling attention and without a config."""
RECIPE = family({key: name for key, name in dict(SIGLIP, flat="channels last").items() if "pool" not in key and key != "probe"}, "smooth", 1e-6,
                "vision_model.", width=64, heads=1, mlp=24, half=True, prefix_tokens=(), position_rows=0, activation="gelu_pytorch_tanh")
