"""SigLIP 2 for any aspect (NaFlex), beside a text tower: a linear map of patches whose pixels lie channels last, positions of so many patches."""
RECIPE = family(dict(SIGLIP, flat="channels last"), "smooth", 1e-6, "vision_model.", heads=4, prefix_tokens=(), position_rows=0,
                activation="gelu_pytorch_tanh", pool="probe",
                extra=[("text_model.encoder.layers.0.layer_norm1.weight", (24,)), ("text_model.head.weight", (24, 24)), ("logit_scale", (1,))],
                config=lambda f: {"model_type": "siglip2", "text_config": {"model_type": "siglip2_text_model"}, "vision_config": naflex(f)})
RECIPE["check"] = check_probe


def naflex(f):
    config = dict(hf_config("siglip2_vision_model", f, intermediate_size=40), num_patches=STORED * STORED, hidden_act="gelu_pytorch_tanh")
    return {key: value for key, value in config.items() if key not in ("image_size", "qkv_bias", "layer_norm_eps")}
