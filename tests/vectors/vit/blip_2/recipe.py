"""BLIP-2's vision tower beside a Q-Former and a language model: BLIP's names and rules, epsilon 1e-6 by its class's default."""
RECIPE = family(BLIP, "plain", 1e-6, "vision_model.", heads=4, norm="twice",
                extra=[("query_tokens", (1, 5, 24)), ("qformer.encoder.layer.0.attention.attention.query.weight", (24, 24)), ("qformer.layernorm.weight", (24,)),
                       ("language_projection.weight", (16, 24)), ("language_model.model.decoder.layers.0.self_attn.q_proj.weight", (16, 16))],
                config=lambda f: {"model_type": "blip-2", "qformer_config": {"model_type": "blip_2_qformer"}, "text_config": {"model_type": "opt"},
                                  "vision_config": short(hf_config("blip_2_vision_model", f, intermediate_size=40))})


def short(config):
    """As transformers writes it: without the keys that equal the class's defaults."""
    return {key: value for key, value in config.items() if key not in ("layer_norm_eps", "qkv_bias", "hidden_act", "num_channels")}
