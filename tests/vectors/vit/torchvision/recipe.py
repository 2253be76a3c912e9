"""torchvision's ViT, compared with torchvision's own on the stored grid."""


def compare(f, model, tensors):
    from torchvision.models.vision_transformer import VisionTransformer

    other = VisionTransformer(image_size=STORED * PATCH, patch_size=PATCH, num_layers=LAYERS, num_heads=f["heads"], hidden_dim=f["width"], mlp_dim=f["mlp"], num_classes=CLASSES).double().eval()
    state = other.state_dict()
    other.load_state_dict({key: tensors[key.replace("linear_1", "0").replace("linear_2", "3")].double() for key in state})
    pixels = torch.randn(2, 3, STORED * PATCH, STORED * PATCH, dtype=torch.float64)
    with torch.no_grad():
        off = (other(pixels) - forward(f, model, pixels, STORED, STORED)["expect.logits"]).abs().max()
    assert off < 1e-12, off


RECIPE = family(TORCHVISION, "corners", 1e-6, width=64, heads=1, mlp=24, heads_of=("heads.head",), half=True)
RECIPE["check"] = compare
