"""EVA-02-CLIP's tower: a norm on the joined heads, a classifier on CLS, another reference grid."""
UNFUSED = {key: value for key, value in TIMM.items() if key != "qkv"}
RECIPE = family(dict(UNFUSED, query="attn.q_proj", key="attn.k_proj", value="attn.v_proj", gate="mlp.fc1_g", fc1="mlp.fc1_x", mlp_norm="mlp.norm",
                     attention_norm="attn.norm"), "antialias", 1e-6, heads=6, biases="qv", gate="split",
                rotation={"kind": "axial", "base": 10000, "reference": 7}, heads_of=("head",),
                config=lambda f: dict(timm_config(f, ref_feat_shape=[7, 7]), architecture="eva02_large_patch14_clip_224", global_pool="token"))
