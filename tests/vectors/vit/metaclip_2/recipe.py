"""MetaCLIP 2: CLIP's tower with exact GELU, beside the tower of texts of many languages."""
RECIPE = family(CLIP, "plain", 1e-5, "vision_model.", heads=4, patch_bias=False, activation="gelu", norm="cls",
                extra=[("text_model.encoder.layers.0.layer_norm1.weight", (24,)), ("text_model.embeddings.token_embedding.weight", (9, 24)), ("text_projection.weight", (7, 24)),
                       ("logit_scale", (1,))],
                config=lambda f: {"model_type": "metaclip_2", "projection_dim": EMBEDDING, "text_config": {"model_type": "metaclip_2_text_model"},
                                  "vision_config": hf_config("metaclip_2_vision_model", f, intermediate_size=40)})
