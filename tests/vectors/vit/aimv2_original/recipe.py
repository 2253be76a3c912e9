"""AIMv2 in Apple's names, with a fused query, key and value."""
RECIPE = family(AIMV2_APPLE, "antialias", 1e-5, prefix_tokens=(), position_rows=0, biases="", map_biases=False, rms=True, gate="split",
                config=lambda f: {"model_type": "aimv2", "image_size": STORED * PATCH, "patch_size": PATCH, "num_channels": 3, "hidden_size": f["width"], "intermediate_size": f["mlp"],
                                  "num_hidden_layers": LAYERS, "num_attention_heads": f["heads"], "rms_norm_eps": 1e-5, "qkv_bias": False, "use_bias": False, "attention_dropout": 0.0})
