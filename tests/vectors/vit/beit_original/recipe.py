"""BEiT with absolute positions in the names of microsoft/unilm, without a config: two biases, layer scale as gamma_1, a norm of the mean."""
RECIPE = family(dict(TIMM, scale1="gamma_1", scale2="gamma_2", fc_norm="fc_norm", query_bias="attn.q_bias", value_bias="attn.v_bias"), "antialias", 1e-6,
                width=64, heads=1, mlp=16, half=True, biases="qv", pool="patches", norm="mean", heads_of=("head",))
