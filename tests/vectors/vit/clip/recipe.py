"""CLIP's two towers, of which the vision tower is run; the config leaves out what the class knows."""
TEXT = [("text_model.encoder.layers.0.layer_norm1.weight", (16,)), ("text_model.embeddings.token_embedding.weight", (9, 16)), ("text_projection.weight", (7, 16)), ("logit_scale", (1,))]
RECIPE = family(CLIP, "plain", 1e-5, "vision_model.", heads=12, patch_bias=False, activation="quick_gelu", norm="cls", extra=TEXT,
                config=lambda f: {"model_type": "clip", "projection_dim": EMBEDDING, "text_config": {"model_type": "clip_text_model", "hidden_size": 16},
                                  "vision_config": {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": LAYERS, "image_size": 20, "patch_size": 4}})
