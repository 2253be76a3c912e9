"""EVA-02-CLIP as open_clip keeps it: the trunk's classifier gives the embedding, since timm_proj is null."""
UNFUSED = {key: value for key, value in TIMM.items() if key != "qkv"}
RECIPE = family(dict(UNFUSED, query="attn.q_proj", key="attn.k_proj", value="attn.v_proj", gate="mlp.fc1_g", fc1="mlp.fc1_x", mlp_norm="mlp.norm",
                     attention_norm="attn.norm"), "antialias", 1e-6, "visual.trunk.", outer="visual.trunk.", width=64, heads=1, mlp=16, biases="qv",
                gate="split", rotation={"kind": "axial", "base": 10000, "reference": 16}, heads_of=("head",), embeds=True,
                half=True, config_name="open_clip_config.json",
                config=lambda f: {"model_cfg": {"embed_dim": CLASSES, "custom_text": True,
                                                "vision_cfg": {"image_size": STORED * PATCH, "timm_model_name": "eva02_base_patch16_clip_224",
                                                               "timm_model_pretrained": False, "timm_pool": "token", "timm_proj": None},
                                                "text_cfg": {"width": 24}}})
