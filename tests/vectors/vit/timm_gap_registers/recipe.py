"""Registers without CLS: average pooling after the final norm."""
RECIPE = family(TIMM, "antialias", 1e-6, heads=2, prefix_tokens=("registers",), position_rows=0, pool="patches", heads_of=("head",),
                config=lambda f: dict(timm_config(f, reg_tokens=3, no_embed_class=True, class_token=False, fc_norm=False), global_pool="avg"))
