"""Trains a small ViT as people do for CIFAR (nn.TransformerEncoder, 32 x 32 pixels, ten classes), keeps its weights alone,
and asks heed for the class of pictures that it never saw.

    python3 tests/model/trained_vit.py HEED FOLDER [STEPS]     needs Debian's python3-torch and python3-pil

Pictures are drawn: one shape of a class in a random place, size and colour on noise. PyTorch's class is the truth that heed must give.
"""

import json
import pathlib
import subprocess
import sys

import numpy
import torch
from PIL import Image, ImageDraw

SIDE, PATCH, WIDTH, HEADS, LAYERS, CLASSES, SEEN = 32, 4, 96, 4, 3, 10, 200


class Vit(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch_embed = torch.nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.cls_token = torch.nn.Parameter(torch.randn(1, 1, WIDTH) * 0.02)
        self.pos_embed = torch.nn.Parameter(torch.randn(1, (SIDE // PATCH) ** 2 + 1, WIDTH) * 0.02)
        layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, 0, "gelu", batch_first=True, norm_first=True)
        self.transformer = torch.nn.TransformerEncoder(layer, LAYERS)
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.head = torch.nn.Linear(WIDTH, CLASSES)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        patches = self.patch_embed(pixels).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.cls_token.expand(len(pixels), -1, -1), patches], 1) + self.pos_embed
        return self.head(self.norm(self.transformer(tokens))[:, 0])


def picture(random: numpy.random.Generator, label: int) -> Image.Image:
    image = Image.fromarray(random.integers(0, 90, (SIDE, SIDE, 3), numpy.uint8))
    draw, size = ImageDraw.Draw(image), int(random.integers(14, 22))
    x, y = random.integers(1, SIDE - size - 1, 2)
    colour = tuple(int(c) for c in random.integers(120, 256, 3))
    box = [int(x), int(y), int(x + size), int(y + size)]
    middle = (int(x + size / 2), int(y + size / 2))
    if label == 0:
        draw.ellipse(box, fill=colour)
    elif label == 1:
        draw.rectangle(box, fill=colour)
    elif label == 2:
        draw.ellipse(box, outline=colour, width=3)
    elif label == 3:
        draw.rectangle(box, outline=colour, width=3)
    elif label == 9:
        draw.chord(box, 0, 180, fill=colour)
    elif label == 8:
        draw.line([box[0], box[1], box[2], box[3]], fill=colour, width=4)
        draw.line([box[0], box[3], box[2], box[1]], fill=colour, width=4)
    else:
        draw.regular_polygon((middle, size / 2), {4: 3, 5: 4, 6: 5, 7: 3}[label], 180 if label == 7 else 0, fill=colour)
    return image


def tensor(images: list[Image.Image]) -> torch.Tensor:
    return torch.from_numpy(numpy.stack([numpy.asarray(each) for each in images])).permute(0, 3, 1, 2).float() / 127.5 - 1


def train(steps: int) -> Vit:
    torch.manual_seed(5)
    random, model = numpy.random.default_rng(5), Vit()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, steps)
    for _ in range(steps):
        labels = random.integers(0, CLASSES, 64)
        loss = torch.nn.functional.cross_entropy(model(tensor([picture(random, int(each)) for each in labels])), torch.from_numpy(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
    return model.eval()


def main() -> None:
    program, folder, steps = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1500
    folder.mkdir(parents=True, exist_ok=True)
    model = train(steps)
    torch.save(model.state_dict(), folder / "model.pth")
    random, paths, images, labels = numpy.random.default_rng(9), [], [], []
    for i in range(SEEN):
        labels.append(i % CLASSES)
        images.append(picture(random, labels[-1]))
        paths.append(str(folder / f"picture{i}.png"))
        images[-1].save(paths[-1])
    with torch.no_grad():
        logits = model(tensor(images)).numpy()
    print(f"PyTorch: {(logits.argmax(1) == labels).mean():.1%} of {SEEN} pictures right")
    for hints in ["heads=4,activation=gelu,norm=before"], []:
        words = [program, "run", str(folder / "model.pth"), *paths, "--mean", "0.5", "--std", "0.5", "--json", str(folder / "out.json"), "--quiet"]
        done = subprocess.run(words + (["--hints", *hints] if hints else []), capture_output=True, text=True)
        print(f"heed {' '.join(hints) or 'without hints'}: exit code {done.returncode}")
        print("\n".join(line[:400] for line in done.stderr.splitlines()[:6]))
        if done.returncode == 0:
            results = json.loads((folder / "out.json").read_text())["results"]
            found = numpy.array([each["logits"] for each in results])
            print(f"  same class as PyTorch {(found.argmax(1) == logits.argmax(1)).mean():.1%}, right {(found.argmax(1) == labels).mean():.1%}, "
                  f"logits differ by {abs(found - logits).max():.1e} at most")


main()
