"""BEiT in timm's names with one table for all layers, and absolute positions."""
RECIPE = family(dict({key: name for key, name in TIMM_BEIT.items() if key != "bias"}, positions="pos_embed", shared_bias="rel_pos_bias.relative_position_bias_table"),
                "antialias", 1e-6, heads=2, norm="mean", pool="patches", heads_of=("head",), biases="qv", table=spread_table,
                config=lambda f: dict(timm_config(f, use_shared_rel_pos_bias=True), architecture="beit_base_patch16_224", global_pool="avg"))
