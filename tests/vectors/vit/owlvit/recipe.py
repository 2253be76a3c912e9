"""OWL-ViT: CLIP's tower with the norm before the layers spelled rightly, and a projection."""
RECIPE = family(dict(CLIP, pre_norm="pre_layernorm"), "plain", 1e-5, "owlvit.vision_model.", heads=4, patch_bias=False, activation="quick_gelu", norm="cls", outer="owlvit.",
                extra=[("owlvit.text_model.encoder.layers.0.layer_norm1.weight", (24,)), ("class_head.dense0.weight", (7, 24)), ("box_head.dense0.weight", (24, 24)),
                       ("layer_norm.weight", (24,))],
                config=lambda f: {"model_type": "owlvit", "projection_dim": EMBEDDING, "text_config": {"model_type": "owlvit_text_model"},
                                  "vision_config": dict(hf_config("owlvit_vision_model", f, intermediate_size=40), hidden_act="quick_gelu")})
