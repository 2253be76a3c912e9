"""Average pooling of the patches, and a norm after it."""
RECIPE = family(dict(TIMM, fc_norm="fc_norm"), "antialias", 1e-6, heads=6, pool="patches", norm="mean", heads_of=("head",),
                config=lambda f: dict(timm_config(f), global_pool="avg", architecture="vit_base_patch16_224.mae"))
