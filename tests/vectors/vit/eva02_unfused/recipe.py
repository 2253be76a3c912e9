"""The larger EVA-02 inside transformers' wrapper: projections apart, a gate of its own and a norm before the second map."""
UNFUSED = {key: value for key, value in TIMM.items() if key != "qkv"}
RECIPE = family(dict(UNFUSED, query="attn.q_proj", key="attn.k_proj", value="attn.v_proj", gate="mlp.fc1_g", fc1="mlp.fc1_x", mlp_norm="mlp.norm", fc_norm="fc_norm"),
                "antialias", 1e-6, "timm_model.", heads=3, biases="qv", gate="split", rotation={"kind": "axial", "base": 10000, "reference": 16},
                pool="patches", norm="mean", heads_of=("head",), outer="timm_model.",
                config=lambda f: dict(timm_config(f), model_type="timm_wrapper", architecture="eva02_base_patch14_448"))
