"""SwinV2 without a classifier: cosine attention, norms behind each part, computed positions. The second stage has smaller windows than the config says,
since its grid is 3 x 3 patches; the network of the first was trained with others."""
with open(os.path.join(HERE, "swin", "recipe.py")) as file:
    exec(file.read())
RECIPE = family({}, None, 1e-5, "", window=(4, 3), full=(3, 0), wide_norms=True, config=lambda f: swin_config("swinv2", f, pretrained_window_sizes=[3, 0]))
