"""VideoMAE as it is pretrained: a norm of the final states, no classifier, and a decoder beside the encoder."""
with open(os.path.join(HERE, "videomae", "recipe.py")) as file:
    exec(file.read())
RECIPE = family({}, None, 1e-6, "videomae.", config=lambda f: video_config(f, use_mean_pooling=False),
                extra=[("encoder_to_decoder.weight", (12, 24)), ("mask_token", (1, 1, 12)), ("decoder.norm.weight", (12,)), ("decoder.norm.bias", (12,))])
