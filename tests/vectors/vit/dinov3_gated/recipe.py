"""The larger DINOv3: a gate with the activation of the config, no biases of query and value, another base; layers named as later releases may."""
DINOV3 = {
    "cls": "embeddings.cls_token", "registers": "embeddings.register_tokens", "mask": "embeddings.mask_token", "patch": "embeddings.patch_embeddings",
    "layer": "model.layer.%d.", "query": "attention.q_proj", "key": "attention.k_proj", "value": "attention.v_proj", "projection": "attention.o_proj",
    "norm": "norm", "norm1": "norm1", "norm2": "norm2", "fc1": "mlp.up_proj", "gate": "mlp.gate_proj", "fc2": "mlp.down_proj",
    "scale1": "layer_scale1.lambda1", "scale2": "layer_scale2.lambda1",
}
RECIPE = family(DINOV3, "plain", 1e-6, heads=3, mlp=32, prefix_tokens=("cls", "registers"), biases="", cls_pooled=True, gate="split",
                gate_activation="quick_gelu", rotation={"kind": "centred", "base": 37.5, "half": True},
                config=lambda f: dict(hf_config("dinov3_vit", f, intermediate_size=32, num_register_tokens=3, use_gated_mlp=True, rope_theta=37.5, query_bias=False,
                                                value_bias=False), hidden_act="quick_gelu"))
