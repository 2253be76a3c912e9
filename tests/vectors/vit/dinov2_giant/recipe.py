"""DINOv2 with a gated MLP, as the giant: 24 x 4 x 2/3 = 64."""
RECIPE = family(dict(DINOV2, fc1="mlp.weights_in", fc2="mlp.weights_out"), "plain", 1e-6, heads=4, mlp=64, gate="packed",
                config=lambda f: hf_config("dinov2", f, mlp_ratio=4, use_swiglu_ffn=True))
