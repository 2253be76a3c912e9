"""SigLIP's vision tower inside a model that talks of pictures: no head."""
RECIPE = family({key: name for key, name in SIGLIP.items() if key != "probe"}, "plain", 1e-6, "vision_tower.vision_model.", heads=3, prefix_tokens=(),
                position_rows=0, activation="gelu_pytorch_tanh",
                extra=[("language_model.model.layers.0.input_layernorm.weight", (16,)), ("multi_modal_projector.linear.weight", (16, 24))],
                config=lambda f: {"model_type": "paligemma", "text_config": {"model_type": "gemma", "hidden_size": 16},
                                  "vision_config": {key: value for key, value in
                                                    hf_config("siglip_vision_model", f, intermediate_size=40, vision_use_head=False).items()
                                                    if key not in ("hidden_act", "layer_norm_eps")}})
