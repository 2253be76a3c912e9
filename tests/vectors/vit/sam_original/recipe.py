"""SAM's own file, without a config: timm's names, but for the maps of the MLP. The width of the tables tells the heads."""
with open(os.path.join(HERE, "sam", "recipe.py")) as file:
    exec(file.read())
ORIGINAL_SAM = dict(SAM, patch="patch_embed.proj", layer="blocks.%d.", norm1="norm1", norm2="norm2")
RECIPE = family(ORIGINAL_SAM, None, 1e-6, "image_encoder.", extra=[("neck.0.weight", (6, 24, 1, 1)), ("neck.1.weight", (6,)), ("neck.1.bias", (6,)), ("neck.2.weight", (6, 6, 3, 3))])
