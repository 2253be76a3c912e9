"""DINOv2 in the names of transformers since 5.18."""
RECIPE = family(dict(DINOV2, query="attention.q_proj", key="attention.k_proj", value="attention.v_proj", projection="attention.o_proj"),
                "plain", 1e-6, "dinov2.", heads=2, mlp=48, cls_pooled=True, config=lambda f: hf_config("dinov2", f, mlp_ratio=2))
