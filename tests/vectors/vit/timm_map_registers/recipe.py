"""A pooling attention that reads the register too, which the architecture's name tells."""
RECIPE = family(dict(TIMM, **TIMM_POOL), "antialias", 1e-6, width=64, heads=2, mlp=16, prefix_tokens=("registers",), position_rows=0, pool="probe",
                heads_of=("head",), half=True,
                config=lambda f: {"architecture": "test_vit3", "num_classes": CLASSES, "global_pool": "map",
                                  "pretrained_cfg": {"input_size": [3, STORED * PATCH, STORED * PATCH]}})
