"""SigLIP's tower as Idefics 3 and SmolVLM keep it: positions of the nearest patch before."""
RECIPE = family({key: name for key, name in SIGLIP.items() if key != "probe"}, "nearest", 1e-6, "model.vision_model.", heads=2, prefix_tokens=(),
                position_rows=0, activation="gelu_pytorch_tanh",
                extra=[("model.text_model.layers.0.input_layernorm.weight", (16,)), ("model.connector.modality_projection.proj.weight", (16, 24)), ("lm_head.weight", (8, 16))],
                config=lambda f: {"model_type": "smolvlm", "vision_config": dict(hf_config("smolvlm_vision", f, intermediate_size=40), hidden_act="gelu_pytorch_tanh")})
