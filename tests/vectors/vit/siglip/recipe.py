"""SigLIP's vision tower beside a text tower: the pooling attention, 4 heads."""
RECIPE = family(SIGLIP, "plain", 1e-6, "vision_model.", heads=4, prefix_tokens=(), position_rows=0, activation="gelu_pytorch_tanh", pool="probe",
                extra=[("text_model.encoder.layers.0.layer_norm1.weight", (24,)), ("text_model.head.weight", (24, 24)), ("logit_scale", (1,)),
                       ("vision_model.embeddings.position_ids", (1, 25))],
                config=lambda f: {"model_type": "siglip", "text_config": {"model_type": "siglip_text_model"},
                                  "vision_config": dict(hf_config("siglip_vision_model", f, intermediate_size=40), hidden_act="gelu_pytorch_tanh")})
RECIPE["check"] = check_probe
