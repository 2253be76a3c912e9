"""SigLIP in timm's names with a classifier behind the pooling attention, whose queries and keys are normed."""
RECIPE = family(dict(TIMM, pool_query_norm="attn_pool.q_norm", pool_key_norm="attn_pool.k_norm", **TIMM_POOL), "antialias", 1e-6, heads=3,
                prefix_tokens=(), position_rows=0, pool="probe", heads_of=("head",), pool_mlp=56,
                config=lambda f: dict(timm_config(f, class_token=False, mlp_ratio=5 / 3), global_pool="map"))
