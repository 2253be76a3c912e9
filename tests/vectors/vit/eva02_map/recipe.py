"""An own training of timm's EVA-02 with a pooling attention of other heads than the layers: it reads CLS too, and its MLP has exact GELU beside gates of SiLU."""
RECIPE = family(dict(TIMM, query_bias="attn.q_bias", value_bias="attn.v_bias", **TIMM_POOL), "antialias", 1e-6, heads=2, biases="qv", gate="packed", mlp=32,
                rotation={"kind": "axial", "base": 10000, "reference": 16}, pool="probe", pool_heads=3, pool_mlp=32, heads_of=("head",),
                config=lambda f: dict(timm_config(f, mlp_ratio=4 * 2 / 3 / 2, attn_pool_num_heads=3, global_pool="map"), architecture="eva02_tiny_patch14_336"))
