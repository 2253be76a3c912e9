"""MAE with its decoder, which is not run."""
RECIPE = family(VIT, "plain", 1e-12, "vit.", heads=6, extra=[("decoder.mask_token", (1, 1, 16)), ("decoder.decoder_layers.0.layernorm_before.weight", (16,))],
                config=lambda f: hf_config("vit_mae", f, intermediate_size=40))
