"""SwinV2 as Microsoft's own files have it: the merge behind its stage, the distances of patches stored, and no config. Those of the first stage are of
windows of 3 patches, with which the network was trained."""
with open(os.path.join(HERE, "swin_timm", "recipe.py")) as file:
    exec(file.read())
joined = make_model


def make_model(f):
    model, tensors = joined(f)
    for s, blocks in enumerate(BLOCKS):
        window, trained = f["window"][s], f["full"][s] or f["window"][s]
        along = torch.arange(-(window - 1), window, dtype=torch.float64)
        grid = torch.stack(torch.meshgrid(along, along, indexing="ij"), -1)[None] / (trained - 1) * 8
        grid = torch.sign(grid) * torch.log2(grid.abs() + 1) / math.log2(8)
        for i in range(blocks):
            tensors["layers.%d.blocks.%d.attn.relative_coords_table" % (s, i)] = grid.float()
    return model, tensors


RECIPE = family({}, None, 1e-5, "", window=(4, 3), full=(3, 0), wide_norms=True, frames=0)
