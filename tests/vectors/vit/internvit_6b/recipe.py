"""InternViT-6B alone: RMS norms, also of queries and keys over all heads, and no biases of these."""
RECIPE = family(dict(INTERNVIT, query_norm="attn.q_norm", key_norm="attn.k_norm"), "plain", 1e-6, norm="", biases="", rms=True, wide_norms=True,
                config=lambda f: {
                    "model_type": "intern_vit_6b", "hidden_act": "gelu", "hidden_size": f["width"], "image_size": STORED * PATCH,
                    "intermediate_size": f["mlp"], "layer_norm_eps": 1e-6, "num_attention_heads": f["heads"],
                    "num_channels": 3, "num_hidden_layers": LAYERS, "patch_size": PATCH, "qk_normalization": True, "qkv_bias": False,
                    "use_flash_attn": True})
