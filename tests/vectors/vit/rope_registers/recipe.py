"""Registers, no CLS, rotary positions alone."""
RECIPE = family(dict(EVA, query_bias="attn.q_bias", value_bias="attn.v_bias", fc_norm="fc_norm"), "antialias", 1e-6, heads=3, prefix_tokens=("registers",),
                biases="qv", rotation={"kind": "axial", "base": 10000, "reference": 16}, pool="patches", norm="mean", heads_of=("head",),
                config=lambda f: dict(timm_config(f, num_reg_tokens=3, class_token=False), architecture="vit_betwixt_patch16_rope_reg4_gap_256"))
del RECIPE["names"]["positions"]
