"""DINOv2 with its classifier on CLS and the mean of the patches."""
RECIPE = family(DINOV2, "plain", 1e-6, "dinov2.", heads=4, mlp=48, pool="both", heads_of=("classifier",),
                config=lambda f: hf_config("dinov2", f, mlp_ratio=2, num_labels=CLASSES))
