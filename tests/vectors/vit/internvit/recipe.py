"""InternViT-300M as OpenGVLab publishes it, in the whole model's file."""
RECIPE = family(INTERNVIT, "plain", 1e-6, "vision_model.", norm="",
                extra=[("mlp1.0.weight", (96,)), ("language_model.model.layers.0.input_layernorm.weight", (8,))],
                config=lambda f: {"model_type": "internvl_chat", "downsample_ratio": 0.5, "vision_config": {
                    "model_type": "intern_vit_6b", "hidden_act": "gelu", "hidden_size": f["width"], "image_size": STORED * PATCH,
                    "intermediate_size": f["mlp"], "layer_norm_eps": 1e-6, "norm_type": "layer_norm", "num_attention_heads": f["heads"],
                    "num_channels": 3, "num_hidden_layers": LAYERS, "patch_size": PATCH, "qk_normalization": False, "qkv_bias": True,
                    "use_flash_attn": True}})
