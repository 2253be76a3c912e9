"""BLIP's vision tower beside a text decoder: fused query, key and value, and the final norm once more for the pooled state."""
RECIPE = family(BLIP, "plain", 1e-5, "vision_model.", heads=4, norm="twice",
                extra=[("text_decoder.bert.encoder.layer.0.attention.self.query.weight", (24, 24)), ("text_decoder.bert.embeddings.word_embeddings.weight", (8, 24))],
                config=lambda f: {"model_type": "blip", "text_config": {"model_type": "blip_text_model"},
                                  "vision_config": hf_config("blip_vision_model", f, intermediate_size=40)})
