"""EVA's giant: no rotation, no gate, biases of query and value beside the fused projection."""
RECIPE = family(dict(TIMM, query_bias="attn.q_bias", value_bias="attn.v_bias", fc_norm="fc_norm"), "antialias", 1e-6, heads=3, biases="qv", pool="patches", norm="mean",
                heads_of=("head",), config=lambda f: dict(timm_config(f), architecture="eva_giant_patch14_224"))
