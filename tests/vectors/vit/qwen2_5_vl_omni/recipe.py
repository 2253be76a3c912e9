"""Qwen2.5-Omni's tower in the whole model's file: Qwen2.5-VL's with query, key and value apart, and the config one part deeper."""
RECIPE = family(dict({key: name for key, name in QWEN.items() if key != "qkv"}, query="attn.q", key="attn.k", value="attn.v", gate="mlp.gate_proj",
                     fc1="mlp.up_proj", fc2="mlp.down_proj"), None, 1e-6, "thinker.visual.", prefix_tokens=(), position_rows=0, patch_bias=False, frames=2,
                norm="", rms=True, gate="split", window=2, full=(0,), rotation={"kind": "axial", "base": 10000.0, "half": True},
                extra=[("thinker.visual.merger.ln_q.weight", (24,)), ("thinker.model.layers.0.input_layernorm.weight", (8,)),
                       ("thinker.audio_tower.layers.0.self_attn_layer_norm.weight", (8,))],
                config=lambda f: {"model_type": "qwen2_5_omni", "thinker_config": {"model_type": "qwen2_5_omni_thinker", "vision_config": {
                    "model_type": "qwen2_5_omni_vision_encoder", "depth": LAYERS, "hidden_act": "silu", "hidden_size": f["width"],
                    "intermediate_size": f["mlp"], "num_heads": f["heads"], "in_channels": 3, "out_hidden_size": 8, "patch_size": PATCH,
                    "spatial_merge_size": 2, "window_size": 2 * PATCH, "fullatt_block_indexes": [0], "temporal_patch_size": 2}}})
