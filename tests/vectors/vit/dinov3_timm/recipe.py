"""DINOv3 in timm: biases of query and value beside the fused projection, and a classifier on the mean of the patches."""
RECIPE = family(dict(EVA, query_bias="attn.q_bias", value_bias="attn.v_bias"), "antialias", 1e-5, heads=6, prefix_tokens=("cls", "registers"), biases="qv",
                rotation={"kind": "centred", "base": 100, "half": True}, pool="patches", heads_of=("head",),
                config=lambda f: dict(timm_config(f, dynamic_img_size=True), architecture="vit_small_patch16_dinov3_qkvb"))
del RECIPE["names"]["positions"]
