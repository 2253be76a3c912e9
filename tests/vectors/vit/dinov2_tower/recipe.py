"""DINOv2 inside a model of depth: its config is a member, the rest is another's. The class's defaults complete it."""
RECIPE = family(DINOV2, "plain", 1e-6, "backbone.", heads=4, mlp=96, extra=[("head.conv1.weight", (4, 4, 3, 3)), ("neck.convs.0.weight", (4, 24, 3, 3))],
                config=lambda f: {"model_type": "depth_anything", "backbone_config": {key: value for key, value in hf_config("dinov2", f).items() if key not in ("num_channels", "qkv_bias")},
                                  "fusion_hidden_size": 64})
