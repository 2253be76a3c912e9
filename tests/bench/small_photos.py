"""Makes small JPEGs of some photos: the pictures of embed.py, as many as wanted.

python3 small_photos.py FOLDER COUNT PHOTO...   (needs numpy and Pillow)

Each is a part of a photo, 96 to 320 pixels a side, mirrored or not. The same arguments give the same pictures."""
import os
import sys

import numpy as np
from PIL import Image, ImageOps


def make(folder, count, paths):
    photos = [Image.open(path).convert("RGB") for path in paths]
    random = np.random.default_rng(1)
    os.makedirs(folder)
    for i in range(count):
        photo = photos[i % len(photos)]
        width, height = (int(random.integers(96, min(320, side) + 1)) for side in photo.size)
        left, top = (int(random.integers(0, side - part + 1)) for side, part in zip(photo.size, (width, height)))
        part = photo.crop((left, top, left + width, top + height))
        if random.integers(2):
            part = ImageOps.mirror(part)
        part.save(os.path.join(folder, f"{i:05}.jpg"), quality=90)


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
