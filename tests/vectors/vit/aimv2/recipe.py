"""AIMv2 in Hugging Face's names: RMS norms, also of the patches before their positions, no CLS, no biases but that of the patches."""
RECIPE = family(AIMV2, "antialias", 1e-5, prefix_tokens=(), position_rows=0, biases="", map_biases=False, rms=True, gate="split",
                config=lambda f: {"model_type": "aimv2_vision_model", "image_size": STORED * PATCH, "patch_size": PATCH, "num_channels": 3, "hidden_size": f["width"], "intermediate_size": f["mlp"],
                                  "num_hidden_layers": LAYERS, "num_attention_heads": f["heads"], "rms_norm_eps": 1e-5, "qkv_bias": False, "mlp_bias": False, "hidden_act": "silu",
                                  "is_native": False, "use_head": False})
