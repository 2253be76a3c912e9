"""Norms of query and key."""
RECIPE = family(dict(TIMM, query_norm="attn.q_norm", key_norm="attn.k_norm"), "antialias", 1e-6, heads=4, heads_of=("head",), config=lambda f: timm_config(f, qk_norm=True))
