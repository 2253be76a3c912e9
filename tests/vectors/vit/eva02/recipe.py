"""The small EVA-02: a packed gate, biases of query and value beside the fused projection, the mean of the patches and a norm after it."""
RECIPE = family(dict(TIMM, query_bias="attn.q_bias", value_bias="attn.v_bias", fc_norm="fc_norm"), "antialias", 1e-6, heads=2, biases="qv", gate="packed", mlp=32,
                rotation={"kind": "axial", "base": 10000, "reference": 16}, pool="patches", norm="mean", heads_of=("head",),
                config=lambda f: dict(timm_config(f, mlp_ratio=4 * 2 / 3 / 2), architecture="eva02_tiny_patch14_336"))
