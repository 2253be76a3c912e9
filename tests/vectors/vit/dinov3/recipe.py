"""DINOv3 in Hugging Face's names: keys have no bias, the class knows most of the config, the pooled output is CLS."""
DINOV3 = {
    "cls": "embeddings.cls_token", "registers": "embeddings.register_tokens", "mask": "embeddings.mask_token", "patch": "embeddings.patch_embeddings",
    "layer": "layer.%d.", "query": "attention.q_proj", "key": "attention.k_proj", "value": "attention.v_proj", "projection": "attention.o_proj",
    "norm": "norm", "norm1": "norm1", "norm2": "norm2", "fc1": "mlp.up_proj", "gate": "mlp.gate_proj", "fc2": "mlp.down_proj",
    "scale1": "layer_scale1.lambda1", "scale2": "layer_scale2.lambda1",
}
RECIPE = family(DINOV3, "plain", 1e-5, heads=2, prefix_tokens=("cls", "registers"), biases="qv", cls_pooled=True,
                rotation={"kind": "centred", "base": 100, "half": True},
                config=lambda f: {"model_type": "dinov3_vit", "image_size": 20, "patch_size": PATCH, "hidden_size": 24, "intermediate_size": 40,
                                  "num_hidden_layers": LAYERS, "num_attention_heads": 2, "num_register_tokens": 3, "pos_embed_rescale": 2.0})
