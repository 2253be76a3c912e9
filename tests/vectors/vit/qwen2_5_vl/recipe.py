"""Qwen2.5-VL's tower in the whole model's file: RMS norms, a gate with biases, windows of 2 x 2 patches in layer 0, which the picture's borders cut."""
RECIPE = family(dict(QWEN, gate="mlp.gate_proj", fc1="mlp.up_proj", fc2="mlp.down_proj"), None, 1e-6, "visual.", prefix_tokens=(), position_rows=0,
                patch_bias=False, frames=2, norm="", rms=True, gate="split", window=2, full=(1,),
                rotation={"kind": "axial", "base": 10000.0, "half": True},
                extra=[("visual.merger.ln_q.weight", (24,)), ("visual.merger.mlp.0.weight", (8, 96)), ("model.layers.0.input_layernorm.weight", (8,))],
                config=lambda f: {"model_type": "qwen2_5_vl", "hidden_size": 8, "vision_config": {
                    "model_type": "qwen2_5_vl", "depth": LAYERS, "hidden_act": "silu", "hidden_size": f["width"], "intermediate_size": f["mlp"],
                    "num_heads": f["heads"], "in_chans": 3, "out_hidden_size": 8, "patch_size": PATCH, "spatial_merge_size": 2,
                    "spatial_patch_size": PATCH, "window_size": 3 * PATCH, "fullatt_block_indexes": [1], "tokens_per_second": 2,
                    "temporal_patch_size": 2}})
