"""DPT's ViT, whose positions are resized bilinearly."""
RECIPE = family(VIT, "bilinear", 1e-12, "dpt.", heads=6, extra=[("neck.convs.0.weight", (8, 24, 3, 3)), ("head.head.0.weight", (8, 8, 3, 3))],
                config=lambda f: hf_config("dpt", f, intermediate_size=40))
