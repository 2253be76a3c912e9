"""C-RADIO in Hugging Face's form: two CLS tokens and a register in one tensor, a flat map of patches without a bias, pixels that the model normalises,
positions cut out of the square of the longer side, no final norm."""
RADIO = dict(TIMM, patch="patch_generator.embedder", positions="patch_generator.pos_embed", registers="patch_generator.cls_token.token<",
             flat="channels first", pixels="radio_model.input_conditioner")
RECIPE = family({key: name for key, name in RADIO.items() if key not in ("cls", "norm")}, "cut", 1e-6, "radio_model.model.", width=64, heads=1, mlp=16, half=True,
                prefix_tokens=("registers",), position_rows=0, patch_bias=False, norm=None,
                extra=[("radio_model.summary_idxs", (2,)), ("radio_model.adaptors.clip.head.fc1.weight", (8, 8))],
                config=lambda f: {"architectures": ["RADIOModel"], "version": "c-radio_v2-b", "patch_size": PATCH, "preferred_resolution": [12, 12],
                                  "max_resolution": STORED * PATCH, "vitdet_window_size": None,
                                  "args": {"model": "vit_base_patch16_224", "cls_token_per_teacher": True, "cpe_max_size": STORED * PATCH,
                                           "model_kwargs": {"weight_init": "skip"},
                                           "teachers": [{"name": "clip"}, {"name": "sam"}, {"name": "clip"}]}})
