"""data2vec-vision: BEiT's rules under another prefix."""
RECIPE = family(BEIT, "plain", 1e-12, "data2vec_vision.", heads=6, norm="mean", pool="patches", pooler=True, heads_of=("classifier",), biases="qv", table=resize_table,
                config=lambda f: beit_config("data2vec-vision", f, num_labels=CLASSES))
