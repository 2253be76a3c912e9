"""CLIP's vision tower inside a model that talks of pictures."""
RECIPE = family({key: name for key, name in CLIP.items() if key != "embedding"}, "plain", 1e-5, "vision_tower.vision_model.", heads=4, patch_bias=False, activation="quick_gelu",
                norm="cls", extra=[("language_model.model.layers.0.input_layernorm.weight", (16,)), ("multi_modal_projector.linear_1.weight", (16, 24))],
                config=lambda f: {"model_type": "llava", "text_config": {"model_type": "llama", "hidden_size": 16},
                                  "vision_config": dict(hf_config("clip_vision_model", f, intermediate_size=40), hidden_act="quick_gelu")})
