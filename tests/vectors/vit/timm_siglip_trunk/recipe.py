"""SigLIP as open_clip keeps it, with timm's trunk and a map to the embedding; the architecture's name tells heads and activation."""
RECIPE = family(dict(TIMM, embedding="visual.head.proj.weight", **TIMM_POOL), "antialias", 1e-6, "visual.trunk.", width=64, heads=1, mlp=16, prefix_tokens=(),
                position_rows=0, pool="probe", activation="gelu_pytorch_tanh", config_name="open_clip_config.json", half=True,
                extra=[("text.ln_final.weight", (24,)), ("text.transformer.resblocks.0.ln_1.weight", (24,)), ("logit_scale", (1,)), ("logit_bias", (1,))],
                config=lambda f: {"model_cfg": {"embed_dim": EMBEDDING, "custom_text": True,
                                                "vision_cfg": {"image_size": STORED * PATCH, "timm_model_name": "vit_so400m_patch16_siglip_256",
                                                               "timm_pool": "map", "timm_proj": "linear"},
                                                "text_cfg": {"width": 24}},
                                  "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5], "interpolation": "bicubic", "resize_mode": "squash"}})
