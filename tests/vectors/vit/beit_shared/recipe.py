"""BEiT before fine-tuning: one table for all layers, absolute positions, CLS after the final norm."""
RECIPE = family(dict({key: name for key, name in BEIT.items() if key != "bias"}, positions="embeddings.position_embeddings",
                     shared_bias="encoder.relative_position_bias.relative_position_bias_table"),
                "plain", 1e-12, "beit.", heads=2, pooler=True, biases="qv", table=resize_table,
                config=lambda f: beit_config("beit", f, use_relative_position_bias=False, use_shared_relative_position_bias=True,
                                             use_absolute_position_embeddings=True, use_mean_pooling=False))
