"""AIMv2 in timm's names, with a classifier on the mean of the tokens."""
RECIPE = family(dict({key: name for key, name in TIMM.items() if key != "cls"}, embedded_norm="patch_embed.norm", gate="mlp.fc1_g", fc1="mlp.fc1_x"), "antialias", 1e-5,
                prefix_tokens=(), position_rows=0, biases="", map_biases=False, rms=True, gate="split", heads_of=("head",), pool="patches",
                config=lambda f: dict(timm_config(f), architecture="aimv2_large_patch14_224"))
