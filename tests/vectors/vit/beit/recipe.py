"""BEiT with a classifier: a table of relative positions in each layer, keys without a bias, the mean of the patches with a norm behind it."""
RECIPE = family(BEIT, "plain", 1e-12, "beit.", heads=3, norm="mean", pool="patches", pooler=True, heads_of=("classifier",), biases="qv", table=resize_table,
                extra=[("beit.encoder.layer.%d.attention.attention.relative_position_bias.relative_position_index" % i, (26, 26)) for i in range(LAYERS)],
                config=lambda f: beit_config("beit", f, num_labels=CLASSES))
