"""Qwen3-VL's tower in the whole model's file: stored positions resized bilinearly with corners aligned, then rotary ones; mergers that are passed over."""
RECIPE = family(dict(QWEN, positions="pos_embed.weight<", fc1="mlp.linear_fc1", fc2="mlp.linear_fc2"), "bilinear_corners", 1e-6, "model.visual.",
                prefix_tokens=(), position_rows=0, frames=2, norm="", activation="gelu_pytorch_tanh", rotation={"kind": "axial", "base": 10000.0, "half": True},
                extra=[("model.visual.merger.norm.weight", (24,)), ("model.visual.merger.linear_fc1.weight", (8, 96)),
                       ("model.visual.deepstack_merger_list.0.norm.weight", (96,)), ("model.language_model.layers.0.input_layernorm.weight", (8,))],
                config=lambda f: {"model_type": "qwen3_vl", "text_config": {"hidden_size": 8}, "vision_config": {
                    "model_type": "qwen3_vl", "depth": LAYERS, "deepstack_visual_indexes": [0], "hidden_act": "gelu_pytorch_tanh", "hidden_size": f["width"],
                    "in_channels": 3, "intermediate_size": f["mlp"], "num_heads": f["heads"], "num_position_embeddings": STORED * STORED,
                    "out_hidden_size": 8, "patch_size": PATCH, "spatial_merge_size": 2, "temporal_patch_size": 2}})
