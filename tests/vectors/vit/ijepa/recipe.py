"""I-JEPA with a classifier: no CLS, the mean of the patches."""
RECIPE = family(VIT, "plain", 1e-12, "ijepa.", heads=2, prefix_tokens=(), position_rows=0, pool="patches", heads_of=("classifier",),
                config=lambda f: hf_config("ijepa", f, intermediate_size=40, num_labels=CLASSES))
