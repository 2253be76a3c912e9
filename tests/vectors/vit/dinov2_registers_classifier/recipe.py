"""DINOv2 with registers, which the classifier's mean leaves out."""
RECIPE = family(DINOV2, "antialias", 1e-6, "dinov2_with_registers.", heads=2, mlp=48, prefix_tokens=("cls", "registers"), pool="both", heads_of=("classifier",),
                config=lambda f: hf_config("dinov2_with_registers", f, mlp_ratio=2, num_register_tokens=3, num_labels=CLASSES))
