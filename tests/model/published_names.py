"""heed inspect over folders as they are published: each pretrained name of timm, and each model_type of transformers with images.

  published_names.py all HEED TIMM      every name; TIMM is a folder with timm's sources. Writes the block in docs/models.md and
                                        the sample in tests/vectors/published. Needs torch.
  published_names.py check HEED         the sample, and every model_type; needs Python alone
  published_names.py types HEED         writes the page's block of model_types: for a new family, whose types move from OTHERS to
                                        TYPES below

A folder has the config.json that timm writes for its hub, and a .safetensors with the names and shapes of the module's
state_dict and no data: a sparse file. heed opens it with what the module itself says of layers, heads, widths, tokens, pooling,
epsilon, activation, rotation and windows, or refuses it by one sentence that names what, and the way out.
Exit status 1: something else happened."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLE = os.path.join(ROOT, "tests", "vectors", "published", "timm.json")
PAGE = os.path.join(ROOT, "docs", "models.md")
VECTORS = os.path.join(ROOT, "tests", "vectors", "vit")
NAMES, KINDS, END = "<!-- published_names.py all writes what follows -->\n", "<!-- published_names.py types writes what follows -->\n", "<!-- to here -->\n"
MODULES = ["vision_transformer", "vision_transformer_hybrid", "eva", "beit", "deit", "swin_transformer", "swin_transformer_v2"]

# The types of transformers 4.57's image_processing_auto.py, and those of towers and of models with images that are not in it.
# A type with a folder is tried as that folder of tests/vectors/vit, under its own name; all others by their name alone.
TYPES = {
    "aimv2": "aimv2_original", "aimv2_vision_model": "aimv2", "aya_vision": "siglip_tower", "beit": "beit", "blip": "blip", "blip-2": "blip_2", "blip_2_vision_model": "blip_2",
    "chinese_clip": "clip", "clip": "clip", "clip_vision_model": "clip", "clipseg": "clip", "cohere2_vision": "siglip_tower",
    "data2vec-vision": "data2vec", "deepseek_vl": "siglip_tower", "deit": "hf_deit_distilled", "depth_anything": "dinov2_tower", "dinov2": "hf_dinov2",
    "dinov2_with_registers": "hf_dinov2_registers", "dinov3_vit": "dinov3", "donut-swin": "swin", "dpt": "dpt", "gemma3": "siglip_tower",
    "idefics2": "idefics", "idefics3": "idefics", "ijepa": "ijepa", "instructblip": "blip_2", "instructblipvideo": "blip_2", "internvl": "internvl",
    "internvl_vision": "internvl", "internvl_chat": "internvit", "kimi_vl": "moonvit", "lfm2_vl": "siglip2", "llava": "clip_tower",
    "llava_next": "clip_tower", "llava_next_video": "clip_tower", "llava_onevision": "siglip_tower", "metaclip_2": "metaclip_2", "mistral3": "pixtral",
    "owlv2": "owlvit", "owlvit": "owlvit", "paligemma": "siglip_tower", "pixtral": "pixtral", "prompt_depth_anything": "dinov2_tower",
    "qwen2_5_omni": "qwen2_5_vl_omni", "qwen2_5_vl": "qwen2_5_vl", "qwen2_vl": "qwen2_vl", "qwen3_vl": "qwen3_vl", "sam": "sam", "sam_hq": "sam", "shieldgemma2": "siglip_tower",
    "siglip": "siglip", "siglip_vision_model": "siglip", "siglip2": "siglip2", "siglip2_vision_model": "siglip2", "smolvlm": "idefics", "swin": "swin",
    "swinv2": "swinv2", "timm_wrapper": "eva02_unfused", "upernet": "dinov2_tower", "videomae": "videomae", "vjepa2": "vjepa2", "vipllava": "clip_tower", "vision-encoder-decoder": "vit_tower",
    "vit": "hf_vit", "vit_mae": "mae", "vit_msn": "msn", "zoedepth": "dinov2_tower",
}
OTHERS = """align aria bit bridgetower chameleon conditional_detr convnext convnextv2 cvt d_fine dab-detr deepseek_vl_hybrid
deformable_detr depth_pro deta detr dinat dinov3_convnext edgetam efficientformer efficientloftr efficientnet emu3 eomt flava florence2 focalnet
fuyu gemma3n git glm4v glpn got_ocr2 grounding-dino groupvit hgnet_v2 hiera idefics imagegpt janus kosmos-2 kosmos-2.5 layoutlmv2 layoutlmv3
levit lightglue llama4 mask2former maskformer maskformer-swin mgp-str mlcd mllama mm-grounding-dino mobilenet_v1 mobilenet_v2 mobilevit
mobilevitv2 nat nougat omdet-turbo oneformer ovis2 perceiver perception_lm phi4_multimodal pix2struct poolformer pvt pvt_v2 regnet resnet
rt_detr rt_detr_v2 sam2 segformer seggpt superglue superpoint swiftformer swin2sr table-transformer textnet timesformer tvlt tvp
udop van vilt vit_hybrid vitdet vitmatte vitpose vivit xclip yolos""".split()


# ---------------------------------------------------------------- a folder, and what heed says of it

def write_folder(folder, config, tensors):
    """tensors: shapes by name. The file has a header and a hole."""
    header, at = {}, 0
    for name, shape in tensors.items():
        size = 4
        for count in shape:
            size *= count
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)


FAMILY = re.compile(r"family (?P<family>.*?): (?:\d+ frames, \d+ a patch, )?(?P<image>\d+) px, patch (?P<patch>\d+), (?P<layers>\d+) layers x (?P<heads>\d+) heads, "
                    r"width (?P<width>\d+), mlp (?P<mlp>\d+), (?P<prefix>\d+) prefix tokens, (?P<classes>\d+) classes$")
POOLS = {"CLS": "token", "the mean of the patches": "avg", "the pooling attention": "map"}


def inspect(heed, folder):
    """What heed says: facts, or {"refused": its sentence}."""
    run = subprocess.run([heed, "inspect", folder], capture_output=True, text=True)
    if run.returncode:
        sentence = run.stderr.strip().removeprefix("heed inspect: ")
        whole = run.returncode in (2, 3, 4, 5) and "\n" not in sentence and "(found " in sentence and "(" not in sentence[: sentence.index(": ")]
        return {"refused": sentence} if whole else {"broken": "exit %d: %s" % (run.returncode, run.stderr)}
    lines = {line.split(":")[0].split(" ")[0]: line for line in run.stdout.splitlines() if not line.startswith(" ")}
    found = {key: int(value) if value.isdigit() else value for key, value in FAMILY.match(lines["family"]).groupdict().items()}
    rules = lines["rules"].removeprefix("rules: ")
    parts = rules.split(", ")
    found["pool"] = next((short for long, short in POOLS.items() if parts[0] == "classifier on " + long), parts[0])
    epsilon = next(i for i, part in enumerate(parts) if part.startswith("epsilon "))
    found["activation"], found["epsilon"] = parts[epsilon - 1], float(parts[epsilon][8:])
    found["rms"] = "RMS norms" in parts
    found["rotation"] = rules.split(", rotary by ")[1] if ", rotary by " in rules else ""
    found["windows"] = rules.split(" by stages ")[1] if " by stages " in rules else ""
    if "guessed" in lines or "(a guess" in lines.get("assumed", ""):
        found["guess"] = lines.get("guessed", lines.get("assumed"))
    return found


def differences(found, expected):
    if "family" not in found or "refused" in expected:
        return [] if found == expected else ["found %s, expected %s" % (found, expected)]
    return ["%s: found %r, expected %r" % (key, found.get(key), value) for key, value in expected.items() if found.get(key) != value] + (
        ["a guess: " + found["guess"]] if "guess" in found else [])


# ---------------------------------------------------------------- timm

def activation(module):
    import torch

    name = type(module).__name__
    if name == "GELU" and getattr(module, "approximate", "none") == "none":
        return "gelu"
    return {"GELUTanh": "gelu_new", "GELU": "gelu_new", "QuickGELU": "quick_gelu", "SiLU": "silu", "ReLU": "relu"}[name]


def rotation(model):
    rope = getattr(model, "rope", None)
    if rope is None:
        return ""
    kind = type(rope).__name__
    if kind == "RotaryEmbeddingMixed":
        return "learned frequencies"
    by = "patch centres" if kind == "RotaryEmbeddingDinoV3" else "columns and rows" if rope.grid_indexing == "xy" else "rows and columns"
    reference = getattr(rope, "ref_feat_shape", None)
    return "%s, base %g%s" % (by, rope.temperature, ", grid %d" % reference[0] if reference else "")


def module_facts(model):
    """What the module says of itself, in heed's words."""
    staged = hasattr(model, "layers") and not hasattr(model, "blocks")
    blocks = [block for layer in model.layers for block in layer.blocks] if staged else list(model.blocks)
    last, patch = blocks[-1], model.patch_embed
    width, fc2 = model.num_features, getattr(last.mlp, "fc2", None)
    facts = {
        "layers": len(blocks), "heads": last.attn.num_heads, "width": width, "mlp": (fc2 if fc2 is not None else last.mlp.w3).in_features,
        "prefix": 0 if staged else model.num_prefix_tokens, "classes": model.num_classes, "image": patch.img_size[0], "patch": patch.patch_size[0],
        "epsilon": blocks[0].norm1.eps, "activation": activation(last.mlp.act), "rms": "Rms" in type(blocks[0].norm1).__name__, "rotation": rotation(model),
        "windows": " ".join(str(layer.blocks[0].window_size[0]) for layer in model.layers) if staged else "",
    }
    if model.num_classes:
        facts["pool"] = model.global_pool
    return facts


def timm_config(model, filter_cfg):
    """As timm's save_config_for_hf writes it."""
    cfg = filter_cfg(model.pretrained_cfg, remove_source=True, remove_null=True)
    config = {"architecture": cfg.pop("architecture"), "num_classes": model.num_classes, "num_features": model.num_features}
    if getattr(model, "global_pool", None):
        config["global_pool"] = model.global_pool
    return json.loads(json.dumps(dict(config, pretrained_cfg=cfg)))


def stub_modules():
    """timm imports torchvision and the clients of hubs, of which building a module needs nothing."""
    import enum
    import importlib.abc
    import importlib.machinery
    import importlib.util
    import types

    import torch

    class Stub(types.ModuleType):
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            made = enum.Enum(name, "NEAREST BILINEAR BICUBIC BOX HAMMING LANCZOS") if name == "InterpolationMode" else type(name, (torch.nn.Module,), {})
            setattr(self, name, made)
            return made

    class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name, path=None, target=None):
            return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] in missing else None

        def create_module(self, spec):
            made = Stub(spec.name)
            made.__path__ = []
            return made

        def exec_module(self, module):
            pass

    missing = [name for name in ("torchvision", "huggingface_hub", "safetensors", "yaml") if not importlib.util.find_spec(name)]
    sys.meta_path.append(Finder())


def timm_models(sources):
    """(name, config, shapes by name, facts or why there are none) of each pretrained name."""
    sys.path.insert(0, sources)
    stub_modules()
    import timm
    import torch
    from timm.models._pretrained import filter_pretrained_cfg

    print("timm", timm.__version__)
    for layer in (torch.nn.Linear, torch.nn.Conv2d, torch.nn.LayerNorm):
        layer.reset_parameters = lambda module: None  # there is no data
    for module in MODULES:
        for name in timm.list_models(pretrained=True, module=module):
            model = timm.create_model(name, device="meta")
            shapes = {key: list(value.shape) for key, value in model.state_dict().items()}
            try:
                facts = module_facts(model)
            except AttributeError as error:
                facts = {"unlike": str(error)}
            yield name, timm_config(model, filter_pretrained_cfg), shapes, facts


# ---------------------------------------------------------------- transformers

def header_of(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        return {name: of["shape"] for name, of in json.loads(file.read(size)).items() if name != "__metadata__"}


def try_types(heed, folder):
    """What heed says of each type: opened types, refused ones with their sentences; what else happened."""
    opened, refused, wrong = {}, {}, []
    for name, vectors in TYPES.items():
        with open(os.path.join(VECTORS, vectors, "config.json")) as file:
            config = json.load(file)
        config["model_type"] = name
        write_folder(folder, config, header_of(os.path.join(VECTORS, vectors, "model.safetensors")))
        found = inspect(heed, folder)
        inside = next((config[key] for key in ("vision_config", "backbone_config", "encoder") if isinstance(config.get(key), dict)), config)
        inside = inside if inside.get("num_hidden_layers") else {}
        expected = {"layers": inside.get("num_hidden_layers"), "heads": inside.get("num_attention_heads"), "width": inside.get("hidden_size")}
        if "family" not in found:
            wrong.append("%s: %s" % (name, found))
        wrong += ["%s: %s: found %s, expected %s" % (name, key, found.get(key), value) for key, value in expected.items() if isinstance(value, int) and found.get(key) != value]
        opened[name] = found.get("family")
    for name in OTHERS:
        write_folder(folder, {"model_type": name, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3},
                     header_of(os.path.join(VECTORS, "hf_vit", "model.safetensors")))
        found = inspect(heed, folder)
        if "refused" not in found or name not in found["refused"] or "ONNX" not in found["refused"]:
            wrong.append("%s: %s" % (name, found))
        refused[name] = found.get("refused")
    return opened, refused, wrong


# ---------------------------------------------------------------- the sample

NUMBERED = re.compile(r"(.*\bblocks\.)(\d+)(\..*)")


def pack(shapes):
    """Names of layers that are alike as one: {"blocks.#.norm1.weight": "12:768"}."""
    packed, groups = {}, {}
    for name, shape in shapes.items():
        at, text = NUMBERED.fullmatch(name), "x".join(map(str, shape))
        if at:
            groups.setdefault((at[1] + "#" + at[3], text), []).append(int(at[2]))
        else:
            packed[name] = text
    for (name, text), numbers in groups.items():
        if numbers == list(range(len(numbers))) and name not in packed:
            packed[name] = "%d:%s" % (len(numbers), text)
        else:
            packed.update({name.replace("#", str(number)): text for number in numbers})
    return packed


def unpack(packed):
    shapes = {}
    for name, text in packed.items():
        count, _, sizes = text.rpartition(":")
        for number in range(int(count)) if count else [None]:
            shapes[name.replace("#", str(number))] = [int(size) for size in sizes.split("x") if size]
    return shapes


def choose(rows):
    """One name for each behaviour: of those that open by family and rules, of those that are refused by reason; the smallest first."""
    chosen = {}
    for name, config, shapes, expected, found in sorted(rows, key=lambda row: len(row[2])):
        key = (re.sub(r"\(found \S+", "", found["refused"]),) if "refused" in found else tuple(
            str(found[part]) for part in ("family", "pool", "prefix", "activation", "epsilon", "rotation", "windows"))
        chosen.setdefault(key, (name, config, shapes, expected))
    return sorted(chosen.values(), key=lambda row: row[0])


# ---------------------------------------------------------------- the page

def reason(sentence):
    """What a refusal found, without the name that it was found in."""
    at = re.search(r"\(found \S+ with (.*?), expected", sentence)
    return at[1] if at else re.sub(r"^[^:]*: ", "", sentence).split(" is not supported")[0]


def names_table(version, rows):
    by_family, by_reason = {}, {}
    for name, _, _, _, found in rows:
        if "refused" in found:
            by_reason.setdefault(reason(found["refused"]), set()).add(name.split(".")[0])
        else:
            by_family.setdefault(found["family"], []).append(name.split(".")[0])
    count = sum(len(names) for names in by_family.values())
    lines = ["timm %s has %d pretrained names in %s." % (version, len(rows), ", ".join("`%s.py`" % module for module in MODULES)),
             "heed opens %d of them and refuses %d, each by one sentence." % (count, len(rows) - count), "",
             "| family | names of timm | architectures |", "|---|---|---|"]
    lines += ["| `%s` | %d | %d |" % (family, len(names), len(set(names))) for family, names in sorted(by_family.items())]
    lines += ["", "| refused, for | architectures of timm |", "|---|---|"]
    lines += ["| %s | %s |" % (why, ", ".join("`%s`" % name for name in sorted(names))) for why, names in sorted(by_reason.items())]
    return "\n".join(lines) + "\n"


def types_table(opened, refused):
    counts = ("Of transformers' types of models with images, %d open as folders of `tests/vectors/vit`. %d are refused, each by a sentence with a way out: "
              "these were tried by their name alone." % (len(opened), len(refused)))
    rows = ["| %s | %s |" % (what, ", ".join("`%s`" % name for name in sorted(names))) for what, names in (("opens", opened), ("refused", refused))]
    return "\n".join([counts, "", "| | `model_type` |", "|---|---|"] + rows) + "\n"


def write_page(begin, text):
    with open(PAGE) as file:
        before, rest = file.read().split(begin)
    with open(PAGE, "w") as file:
        file.write(before + begin + text + END + rest.split(END, 1)[1])


def run_all(heed, sources):
    rows, wrong = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, config, shapes, facts in timm_models(sources):
            write_folder(folder, config, shapes)
            found = inspect(heed, folder)
            expected = {"refused": found["refused"]} if "refused" in found else facts
            wrong += ["%s: %s" % (name, line) for line in differences(found, expected)]
            rows.append((name, config, shapes, expected, found))
            print(name, found.get("family", found.get("refused")), flush=True)
        opened, refused, others = try_types(heed, folder)
    wrong += others
    for line in wrong:
        print(line)
    import timm

    write_page(NAMES, names_table(timm.__version__, rows))
    write_page(KINDS, types_table(opened, refused))
    os.makedirs(os.path.dirname(SAMPLE), exist_ok=True)
    entries = [json.dumps({"name": name, "expected": expected, "config": config, "tensors": pack(shapes)}, separators=(",", ":"))
               for name, config, shapes, expected in choose(rows)]
    with open(SAMPLE, "w") as file:
        file.write("[\n" + ",\n".join(entries) + "\n]\n")
    print("%d names, %d refused; %d types, %d refused; sample %d names; %d wrong" % (
        len(rows), sum("refused" in row[4] for row in rows), len(opened) + len(refused), len(refused), len(entries), len(wrong)))
    return bool(wrong)


def check(heed):
    with open(SAMPLE) as file:
        sample = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        wrong = []
        for entry in sample:
            write_folder(folder, entry["config"], unpack(entry["tensors"]))
            wrong += ["%s: %s" % (entry["name"], line) for line in differences(inspect(heed, folder), entry["expected"])]
        opened, refused, others = try_types(heed, folder)
    with open(PAGE) as file:
        if KINDS + types_table(opened, refused) + END not in file.read():
            others.append("docs/models.md: its block of model_types is not that of published_names.py types")
    for line in wrong + others:
        print(line)
    print("%d names of timm, %d types of transformers, %d wrong" % (len(sample), len(opened) + len(refused), len(wrong + others)))
    return bool(wrong + others) or len(sample) < 30


def write_types(heed):
    with tempfile.TemporaryDirectory() as folder:
        opened, refused, wrong = try_types(heed, folder)
    write_page(KINDS, types_table(opened, refused))
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "all":
        sys.exit(run_all(sys.argv[2], sys.argv[3]))
    if len(sys.argv) == 3 and sys.argv[1] == "check":
        sys.exit(check(sys.argv[2]))
    if len(sys.argv) == 3 and sys.argv[1] == "types":
        sys.exit(write_types(sys.argv[2]))
    sys.exit(__doc__)
