"""MSN with a classifier."""
RECIPE = family(VIT, "plain", 1e-6, "vit.", heads=4, heads_of=("classifier",), config=lambda f: hf_config("vit_msn", f, intermediate_size=40, num_labels=CLASSES))
