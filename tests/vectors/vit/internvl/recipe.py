"""InternVL's vision tower in Hugging Face's names, in the whole model's file: sizes as pairs, layer scale, no final norm."""
RECIPE = family(INTERNVL, "plain", 1e-6, "vision_tower.", norm="",
                extra=[("multi_modal_projector.layer_norm.weight", (96,)), ("language_model.model.layers.0.input_layernorm.weight", (8,))],
                config=lambda f: {"model_type": "internvl", "downsample_ratio": 0.5, "vision_config": {
                    "model_type": "internvl_vision", "attention_bias": True, "hidden_act": "gelu", "hidden_size": f["width"], "image_size": [STORED * PATCH] * 2,
                    "intermediate_size": f["mlp"], "layer_norm_eps": 1e-6, "norm_type": "layer_norm", "num_attention_heads": f["heads"], "num_channels": 3,
                    "num_hidden_layers": LAYERS, "patch_size": [PATCH] * 2, "use_absolute_position_embeddings": True, "use_mask_token": False,
                    "use_mean_pooling": True, "use_qk_norm": False, "layer_scale_init_value": 0.1}})
