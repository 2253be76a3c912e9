"""VideoMAE's own file of a pretraining: the encoder beside its decoder, a norm of the final states, gains of the layers' parts."""
with open(os.path.join(HERE, "videomae_original", "recipe.py")) as file:
    exec(file.read())
OTHERS = [("encoder_to_decoder.weight", (12, 64)), ("mask_token", (1, 1, 12)), ("decoder.norm.weight", (12,)), ("decoder.norm.bias", (12,)),
          ("decoder.blocks.0.norm1.weight", (12,)), ("decoder.blocks.0.norm1.bias", (12,)), ("decoder.head.weight", (96, 12))]
RECIPE = family({}, None, 1e-6, "encoder.", width=64, heads=1, mlp=16, gate="gains", half=True, extra=OTHERS)
