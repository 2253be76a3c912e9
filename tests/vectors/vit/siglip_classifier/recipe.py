"""SiglipForImageClassification: the mean of all normed states; the head is there and not read."""
RECIPE = family(SIGLIP, "plain", 1e-6, "vision_model.", heads=2, prefix_tokens=(), position_rows=0, activation="gelu_pytorch_tanh", pool="patches",
                heads_of=("classifier",),
                config=lambda f: {"model_type": "siglip", "num_labels": CLASSES,
                                  "vision_config": dict(hf_config("siglip_vision_model", f, intermediate_size=40), hidden_act="gelu_pytorch_tanh")})
