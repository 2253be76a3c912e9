"""CLIPForImageClassification: the mean of the patches of the last layer, without the final norm."""
RECIPE = family({key: name for key, name in CLIP.items() if key != "embedding"}, "plain", 1e-5, "vision_model.", heads=3, patch_bias=False, norm="cls", pool="patches",
                heads_of=("classifier",),
                config=lambda f: {"model_type": "clip", "num_labels": CLASSES, "vision_config": dict(hf_config("clip_vision_model", f, intermediate_size=40), hidden_act="gelu")})
