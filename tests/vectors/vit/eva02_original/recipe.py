"""EVA-02's own names, without a config; the buffers of its rotation are another grid's."""
UNFUSED = {key: value for key, value in TIMM.items() if key != "qkv"}
RECIPE = family(dict(UNFUSED, query="attn.q_proj", key="attn.k_proj", value="attn.v_proj", query_bias="attn.q_bias", value_bias="attn.v_bias",
                     attention_norm="attn.inner_attn_ln", gate="mlp.w1", fc1="mlp.w2", fc2="mlp.w3", mlp_norm="mlp.ffn_ln"), "antialias", 1e-6, width=64, heads=1,
                mlp=24, half=True, biases="qv", gate="split", rotation={"kind": "axial", "base": 10000, "reference": 16},
                extra=[("rope.freqs_cos", (25, 64)), ("rope.freqs_sin", (25, 64)), ("blocks.0.attn.rope.freqs_cos", (25, 64)), ("mask_token", (1, 1, 64))])
