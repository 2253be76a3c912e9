"""BEiT in timm's names: biases of query and value beside the fused weight; the table's stored distances spread over the new grid."""
RECIPE = family(TIMM_BEIT, "antialias", 1e-6, heads=4, norm="mean", pool="patches", heads_of=("head",), biases="qv", table=spread_table,
                extra=[("blocks.%d.attn.relative_position_index" % i, (26, 26)) for i in range(LAYERS)],
                config=lambda f: dict(timm_config(f, use_rel_pos_bias=True, use_abs_pos_emb=False, init_values=0.1), architecture="beit_base_patch16_224", global_pool="avg"))
