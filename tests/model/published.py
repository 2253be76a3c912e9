"""heed beside the library that a published model came from: outputs and every attention map.

  published.py HEED FOLDER [NAME...]     downloads each model into FOLDER, runs both on the same pixel_values, and prints a
                                         table of the largest differences; needs a network and LIBRARY_VERSIONS
  published.py HEED --local FOLDER       the same table for models made here, beside tests/vectors/vit/make.py's own
                                         float64 reference; needs torch alone
A difference is relative to 1 + the largest expected magnitude. Exit status 1: one is above 2e-4, or a model failed.

Downloading was never tried. The names of the models were found in public source instead: those of timm in timm's eva.py and
vision_transformer.py, that of LAION in open_clip's pretrained.py, the original files in hubconf.py of dinov2 and dino, all
others in programs that load them. The names of files are those of timm's _hub.py and open_clip's constants.py, and of stored
listings of the repositories. DINOv3's files are given after a licence is accepted: log in with `hf auth login` before."""
import os
import struct
import json
import subprocess
import sys

LIBRARY_VERSIONS = "torch==2.8.0 transformers==4.56.2 timm==1.0.20 open_clip_torch==3.2.0 huggingface_hub==0.35.3"
TOLERANCE = 2e-4
HERE = os.path.dirname(os.path.abspath(__file__))

# name: library, identifier, class of the library, side of the picture
MODELS = {
    "vit-base": ("transformers", "google/vit-base-patch16-224", "ViTForImageClassification", 224),
    "dinov2-small-224": ("transformers", "facebook/dinov2-small", "Dinov2Model", 224),
    "dinov2-small-518": ("transformers", "facebook/dinov2-small", "Dinov2Model", 518),
    "dinov2-registers": ("transformers", "facebook/dinov2-with-registers-small-imagenet1k-1-layer", "Dinov2WithRegistersForImageClassification", 224),
    "dinov2-giant": ("transformers", "facebook/dinov2-giant", "Dinov2Model", 224),
    "dinov3-small": ("transformers", "facebook/dinov3-vits16-pretrain-lvd1689m", "DINOv3ViTModel", 224),
    "clip": ("transformers", "openai/clip-vit-base-patch32", "CLIPVisionModelWithProjection", 224),
    "clip-laion": ("transformers", "laion/CLIP-ViT-B-32-laion2B-s34B-b79K", "CLIPVisionModelWithProjection", 224),
    "clip-laion-open": ("open_clip", "laion/CLIP-ViT-B-32-laion2B-s34B-b79K", None, 224),
    "siglip": ("transformers", "google/siglip-base-patch16-224", "SiglipVisionModel", 224),
    "siglip2": ("transformers", "google/siglip2-base-patch16-224", "SiglipVisionModel", 224),
    "mae": ("transformers", "facebook/vit-mae-base", "ViTMAEModel", 224),
    "beit": ("transformers", "microsoft/beit-base-patch16-224", "BeitForImageClassification", 224),
    "eva02": ("timm", "timm/eva02_small_patch14_336.mim_in22k_ft_in1k", None, 336),
    "pe-core": ("timm", "timm/vit_pe_core_tiny_patch16_384.fb", None, 384),
    "test-vit": ("timm", "timm/test_vit.r160_in1k", None, 160),
    "dinov2-original": ("torch.hub", "facebookresearch/dinov2", "dinov2_vits14", 224),
    "dino-original": ("torch.hub", "facebookresearch/dino:main", "dino_vits16", 224),
}


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, value in tensors.items():
        raw = value.detach().float().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as to:
        to.write(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    import torch

    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    header.pop("__metadata__", None)
    return {
        name: torch.frombuffer(bytearray(data[slice(*of["data_offsets"])]), dtype=torch.float32).reshape(of["shape"])
        for name, of in header.items() if of["dtype"] == "F32"
    }


# ---------------------------------------------------------------- libraries: files for heed, and a dict of expected tensors

def named_attentions(maps):
    return {"attention.%d" % i: weights for i, weights in enumerate(maps)}


# One set of weights: some repositories also have open_clip's, and most have PyTorch's beside .safetensors.
TRANSFORMERS_FILES = ["config.json", "preprocessor_config.json", "model.safetensors", "model.safetensors.index.json", "model-*.safetensors"]
OPEN_CLIP_FILES = ["open_clip_config.json", "open_clip_*model.safetensors"]


def run_transformers(identifier, kind, pixels, folder):
    import huggingface_hub
    import torch
    import transformers

    path = huggingface_hub.snapshot_download(identifier, local_dir=folder, allow_patterns=TRANSFORMERS_FILES)
    model = getattr(transformers, kind).from_pretrained(path, attn_implementation="eager").eval()
    more = {}
    if kind == "ViTMAEModel":  # patches in their own order, none masked
        model.config.mask_ratio = 0.0
        patches = (pixels.shape[2] // model.config.patch_size) * (pixels.shape[3] // model.config.patch_size)
        more["noise"] = torch.arange(patches, dtype=torch.float32)[None]
    elif "Classification" not in kind and model.config.image_size != pixels.shape[2] and not kind.startswith(("Dinov2", "DINOv3")):
        more["interpolate_pos_encoding"] = True
    found = model(pixels, output_attentions=True, **more)
    names = ("logits", "last_hidden_state", "image_embeds")
    return path, dict(named_attentions(found.attentions), **{name: found[name] for name in names if found.get(name) is not None})


def dropped_maps(model):
    """The input of each attention's dropout, which is its softmax."""
    maps = []
    for module in model.modules():
        if hasattr(module, "fused_attn"):
            module.fused_attn = False
        if hasattr(module, "attn_drop"):
            module.attn_drop.register_forward_hook(lambda _, given, __: maps.append(given[0]))
    return maps


def run_timm(identifier, _, pixels, folder):
    import huggingface_hub
    import timm

    path = huggingface_hub.snapshot_download(identifier, local_dir=folder, allow_patterns=["config.json", "model.safetensors"])
    model = timm.create_model("hf_hub:" + identifier, pretrained=True).eval()
    maps = dropped_maps(model)
    logits = model(pixels)
    return path, dict(named_attentions(maps), **({"logits": logits} if model.num_classes else {}))


def run_open_clip(identifier, _, pixels, folder):
    import huggingface_hub
    import open_clip

    path = huggingface_hub.snapshot_download(identifier, local_dir=folder, allow_patterns=OPEN_CLIP_FILES)
    model = open_clip.create_model("hf-hub:" + identifier).eval()
    maps = []
    for block in model.visual.transformer.resblocks:
        forward = block.attn.forward

        def with_maps(*given, forward=forward, **named):
            named.update(need_weights=True, average_attn_weights=False)
            output, weights = forward(*given, **named)
            maps.append(weights)
            return output, weights

        block.attn.forward = with_maps
    embeds = model.encode_image(pixels)
    return path, dict(named_attentions(maps), image_embeds=embeds)


def run_hub(repository, kind, pixels, folder):
    import torch

    model = torch.hub.load(repository, kind).eval()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, kind + ".pth")
    torch.save(model.state_dict(), path)
    maps = []

    def keep(module, given, output, heads):
        batch, tokens, width = given[0].shape
        q, k, _ = output.reshape(batch, tokens, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        maps.append((q @ k.transpose(2, 3) * (width // heads) ** -0.5).softmax(-1))

    for block in model.blocks:
        block.attn.qkv.register_forward_hook(lambda m, g, o, heads=block.attn.num_heads: keep(m, g, o, heads))
    output = model(pixels)
    return path, named_attentions(maps) | ({} if output is None else {"cls": output})


LIBRARIES = {"transformers": run_transformers, "timm": run_timm, "open_clip": run_open_clip, "torch.hub": run_hub}

# ------------------------------------------------------------------------------------------------------------- comparison


def compare(heed, name, path, expected, pixels, folder):
    """A line of the table; whether all is near."""
    given, out = os.path.join(folder, name + ".in.safetensors"), os.path.join(folder, name + ".out.safetensors")
    write_tensors(given, {"pixel_values": pixels})
    pool = [key for key in expected if key == "pool.attention.weights"]
    taps = ",".join(["layer.%d.attention.weights" % i for i in range(sum(key.startswith("attention.") for key in expected))] + pool)
    ran = subprocess.run([heed, "eval", path, given, "-o", out, "--taps", taps, "--backend", "cpu"], stderr=subprocess.PIPE, text=True)
    if ran.returncode:
        return False, ran.stderr.strip().splitlines()[-1]
    found, worst = read_tensors(out), {}
    if "cls" in expected:  # the state of CLS is all that the original code gives
        expected["last_hidden_state"] = expected.pop("cls")
        found["last_hidden_state"] = found["last_hidden_state"][:, 0]
    for key, value in expected.items():
        kind = key.split(".")[0]
        if key not in found or found[key].shape != value.shape:
            return False, "%s: found %s, expected %s" % (key, list(found[key].shape) if key in found else "none", list(value.shape))
        difference = (found[key].double() - value.double()).abs().max() / (1 + value.double().abs().max())
        worst[kind] = max(worst.get(kind, 0.0), float(difference))
    maps = sum(key.startswith("attention.") for key in expected)
    text = ", ".join("%s %.1e" % (kind, value) for kind, value in worst.items())
    return max(worst.values()) <= TOLERANCE, "%d maps; %s" % (maps, text)


def published(name, folder):
    import torch

    library, identifier, kind, side = MODELS[name]
    torch.manual_seed(1)
    pixels = torch.randn(1, 3, side, side)
    with torch.no_grad():
        path, expected = LIBRARIES[library](identifier, kind, pixels, os.path.join(folder, name))
    return "%s (%s)" % (identifier, library), path, expected, pixels


def local_families(make):
    """Those of make.py and of every recipe.py beside it."""
    families = dict(make.FAMILIES)
    for name in sorted(os.listdir(make.HERE)):
        path = os.path.join(make.HERE, name, "recipe.py")
        if os.path.exists(path):
            recipe = dict(vars(make))
            with open(path) as file:
                exec(compile(file.read(), path, "exec"), recipe)
            families[name] = recipe["RECIPE"]
    return families


def local(name, f, make, folder):
    import torch

    torch.manual_seed(sum(name.encode()))
    path = os.path.join(folder, name)
    os.makedirs(path, exist_ok=True)
    model, tensors = make.make_model(f)
    make.save(os.path.join(path, "model.safetensors"), tensors, f["half"])
    if f["config"]:
        with open(os.path.join(path, f["config_name"]), "w") as to:
            json.dump(f["config"](f), to)
    pixels = torch.randn(1, 3, 4 * make.PATCH, 6 * make.PATCH)
    expected = make.forward(f, model, pixels.double(), 4, 6)
    return name, path if f["config"] else os.path.join(path, "model.safetensors"), {key[len("expect."):]: value for key, value in expected.items()}, pixels


def main(arguments):
    if len(arguments) < 2:
        print("%s\n\n  pip install %s" % (__doc__, LIBRARY_VERSIONS), file=sys.stderr)
        return 2
    heed, arguments = arguments[0], arguments[1:]
    if arguments[0] == "--local":
        sys.path.insert(0, os.path.join(HERE, "../vectors/vit"))
        import make

        families = local_families(make)
        folder, names = arguments[1], list(families)
        prepare = lambda name: local(name, families[name], make, folder)
    else:
        folder, names = arguments[0], arguments[1:] or list(MODELS)
        prepare = lambda name: published(name, folder)
    os.makedirs(folder, exist_ok=True)
    failed = 0
    print("| model | result | largest differences |\n| --- | --- | --- |")
    for name in names:
        try:
            title, path, expected, pixels = prepare(name)
            near, text = compare(heed, name, path, expected, pixels, folder)
        except Exception as error:  # a model that cannot be had is a row, not the end
            title, near, text = name, False, "%s: %s" % (type(error).__name__, error)
        failed += not near
        print("| %s | %s | %s |" % (title, "near" if near else "FAILED", " ".join(text.split())), flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
