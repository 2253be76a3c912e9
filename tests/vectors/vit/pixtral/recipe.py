"""Mistral 3's vision tower, which is Pixtral's: RMS norms, a gate with the config's activation, no biases, rotary positions of staggered frequencies."""
RECIPE = family(PIXTRAL, None, 1e-5, "vision_tower.", prefix_tokens=(), position_rows=0, patch_bias=False, biases="", map_biases=False, rms=True, norm="",
                gate="split", gate_activation="silu", rotation={"kind": "pixtral", "base": 10000.0, "half": True},
                extra=[("multi_modal_projector.norm.weight", (24,)), ("language_model.model.layers.0.input_layernorm.weight", (8,))],
                config=lambda f: {"model_type": "mistral3", "text_config": {"hidden_size": 8}, "vision_config": {
                    "model_type": "pixtral", "attention_dropout": 0.0, "head_dim": f["width"] // f["heads"], "hidden_act": "silu", "hidden_size": f["width"],
                    "image_size": STORED * PATCH, "intermediate_size": f["mlp"], "num_attention_heads": f["heads"], "num_channels": 3,
                    "num_hidden_layers": LAYERS, "patch_size": PATCH, "rope_theta": 10000.0}})
