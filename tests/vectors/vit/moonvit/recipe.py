"""MoonViT in Kimi-VL's file: positions stored as a grid, resized bicubically, then rotary ones in interleaved pairs, columns and rows in turn."""
RECIPE = family(MOONVIT, "plain", 1e-5, "vision_tower.", prefix_tokens=(), position_rows=0, activation="gelu_pytorch_tanh",
                rotation={"kind": "moonvit", "base": 10000.0},
                extra=[("multi_modal_projector.pre_norm.weight", (24,)), ("language_model.model.layers.0.input_layernorm.weight", (8,))],
                config=lambda f: {"model_type": "kimi_vl", "vision_config": {
                    "model_type": "moonvit", "patch_size": PATCH, "num_attention_heads": f["heads"], "num_hidden_layers": LAYERS, "hidden_size": f["width"],
                    "intermediate_size": f["mlp"], "init_pos_emb_height": STORED, "init_pos_emb_width": STORED, "merge_kernel_size": [2, 2]}})
