"""CLIP in open_clip's names beside a text tower, with open_clip's config."""
TEXT = [("transformer.resblocks.0.ln_1.weight", (16,)), ("token_embedding.weight", (9, 16)), ("text_projection", (16, 7)), ("logit_scale", (1,))]
RECIPE = family(OPEN_CLIP, "antialias", 1e-5, "visual.", heads=3, patch_bias=False, norm="cls", extra=TEXT, config_name="open_clip_config.json",
                config=lambda f: {"model_cfg": {"embed_dim": EMBEDDING, "vision_cfg": {"image_size": 20, "layers": LAYERS, "width": 24, "head_width": 8, "patch_size": 4, "mlp_ratio": 40 / 24},
                                                "text_cfg": {"context_length": 77, "width": 16}}, "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}})
