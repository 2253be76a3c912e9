"""The encoder of a model that writes text."""
RECIPE = family(VIT, "plain", 1e-12, "encoder.", heads=2, extra=[("decoder.model.decoder.layers.0.self_attn.k_proj.weight", (16, 16))],
                config=lambda f: {"model_type": "vision-encoder-decoder", "encoder": hf_config("vit", f, intermediate_size=40), "decoder": {"model_type": "trocr", "d_model": 16}})
