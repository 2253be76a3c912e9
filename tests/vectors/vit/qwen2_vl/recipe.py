"""Qwen2-VL's tower in the whole model's file: keys of its own in the config, patches of two frames, rotary positions by rows and columns."""
RECIPE = family(QWEN, None, 1e-6, "visual.", prefix_tokens=(), position_rows=0, patch_bias=False, frames=2, norm="", activation="quick_gelu", mlp=48,
                rotation={"kind": "axial", "base": 10000.0, "half": True},
                extra=[("visual.merger.ln_q.weight", (24,)), ("visual.merger.ln_q.bias", (24,)), ("visual.merger.mlp.0.weight", (8, 96)),
                       ("model.layers.0.input_layernorm.weight", (8,)), ("model.embed_tokens.weight", (5, 8))],
                config=lambda f: {"model_type": "qwen2_vl", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "vision_config": {
                    "depth": LAYERS, "embed_dim": f["width"], "mlp_ratio": 2, "num_heads": f["heads"], "in_chans": 3, "hidden_size": 8,
                    "patch_size": PATCH, "spatial_merge_size": 2, "spatial_patch_size": PATCH, "temporal_patch_size": 2}})
