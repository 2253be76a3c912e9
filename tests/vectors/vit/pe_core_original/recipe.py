"""PE's core as its authors publish it: open_clip's names, positions resized linearly, rotary ones that count from 1 and are not scaled, and a pooling
attention of 8 heads that reads CLS too, whose state is projected. Without a config: 64 channels a head."""
RUNS = {"io": (2, 3, 3), "io_wide": (1, 3, 6), "io_small": (1, 1, 1)}
RECIPE = family(dict(OPEN_CLIP, probe="attn_pool.probe", pool_qkv="attn_pool.attn.in_proj_", pool_output="attn_pool.attn.out_proj",
                     pool_norm="attn_pool.layernorm", pool_fc1="attn_pool.mlp.c_fc", pool_fc2="attn_pool.mlp.c_proj"), "bilinear", 1e-5, "visual.",
                width=64, heads=1, mlp=24, half=True, patch_bias=False, pool="probe", pool_heads=8, pool_mlp=28,
                rotation={"kind": "axial", "base": 10000, "order": "xy", "offset": 1})
