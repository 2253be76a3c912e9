"""Writes kinds.safetensors beside this file: small WebP, TIFF, PNG and NumPy files (file.*) and what Pillow and numpy read
of them. rgb.*: RGB after ImageOps.exif_transpose. sixteen.*: grey of 16 bits. floats.*: other samples, [height, width,
channels]. Run with a Python that has numpy and Pillow 9.4 or newer, with WebP and libtiff."""
import io, json, os, struct
import numpy as np
from PIL import Image, ImageOps, ImageSequence

random = np.random.default_rng(46)
rgb = random.integers(0, 256, (13, 19, 3)).astype(np.uint8)
rgba = random.integers(0, 256, (13, 19, 4)).astype(np.uint8)
grey = random.integers(0, 256, (13, 19)).astype(np.uint8)
whole = random.integers(0, 65536, (13, 19)).astype(np.uint16)
tensors = {}


def exif(value):
    return b"Exif\0\0II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, value, 0, 0)


def saved(image, kind, **options):
    to = io.BytesIO()
    image.save(to, kind, **options)
    return to.getvalue()


def put(name, data, frame=0):
    """A file, and its frame in RGB."""
    image = Image.open(io.BytesIO(data))
    image.seek(frame)
    # Pillow turns a TIFF while it loads it; before version 10 exif_transpose turned it once more.
    turned = image if name.endswith(".tif") else ImageOps.exif_transpose(image)
    tensors["file." + name] = np.frombuffer(data, np.uint8)
    tensors[f"rgb.{name}.{frame}"] = np.array(turned.convert("RGB"))


picture, alpha = Image.fromarray(rgb, "RGB"), Image.fromarray(rgba, "RGBA")
put("lossless.webp", saved(picture, "WEBP", lossless=True))
put("lossy.webp", saved(picture.resize((40, 30)), "WEBP", quality=80))
put("alpha.webp", saved(alpha, "WEBP", lossless=True, exact=True))
for value in (1, 3, 6, 8):
    put(f"turned_{value}.webp", saved(picture, "WEBP", lossless=True, exif=exif(value)))
frames = [Image.fromarray(np.roll(rgb, 40 * i, axis=0), "RGB") for i in range(3)]
for frame in range(3):
    put("frames.webp", saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True, duration=50), frame)

for name, image in (("rgb", picture), ("alpha", alpha), ("grey", Image.fromarray(grey, "L")), ("one_bit", Image.fromarray(grey, "L").convert("1")),
                    ("palette", picture.quantize(64)), ("cmyk", picture.convert("CMYK"))):
    put(name + ".tif", saved(image, "TIFF"))
for packed in ("tiff_lzw", "tiff_adobe_deflate", "packbits"):
    put(packed + ".tif", saved(picture, "TIFF", compression=packed))
put("jpeg.tif", saved(picture.resize((48, 32)), "TIFF", compression="jpeg", quality=95))
for value in range(1, 9):
    put(f"turned_{value}.tif", saved(picture, "TIFF", tiffinfo={274: value}))
pages = [Image.fromarray(np.roll(grey, i, axis=0), "L") for i in range(5)]
for page in (0, 4):
    put("pages.tif", saved(pages[0], "TIFF", save_all=True, append_images=pages[1:]), page)
tensors["floats.pages.tif"] = np.stack([np.array(page) for page in pages], axis=-1).astype(np.float32)

for name, data in (("sixteen.tif", saved(Image.fromarray(whole), "TIFF")), ("sixteen.png", saved(Image.fromarray(whole), "PNG"))):
    tensors["file." + name] = np.frombuffer(data, np.uint8)
    tensors["sixteen." + name] = np.array(Image.open(io.BytesIO(data))).astype(np.float32)


def numpy_file(array, save=np.save):
    to = io.BytesIO()
    save(to, array)
    return to.getvalue()


five = random.normal(size=(5, 13, 19))
for name, array in (("f8.npy", five), ("f4.npy", five.astype(np.float32)), ("f2.npy", five.astype(np.float16)), ("big.npy", five.astype(">f4")),
                    ("i2.npy", (five * 1000).astype(np.int16)), ("i4_big.npy", (five * 1e6).astype(">i4")), ("u1.npy", random.integers(0, 256, (5, 13, 19)).astype(np.uint8)),
                    ("u2.npy", random.integers(0, 65536, (5, 13, 19)).astype(np.uint16)), ("b1.npy", five > 0)):
    tensors["file." + name] = np.frombuffer(numpy_file(array), np.uint8)
    tensors["floats." + name] = array.transpose(1, 2, 0).astype(np.float32)
last = np.ascontiguousarray(five.astype(np.float32).transpose(1, 2, 0))
for name, save in (("last.npy", np.save), ("last.npz", np.savez), ("packed.npz", np.savez_compressed)):
    tensors["file." + name] = np.frombuffer(numpy_file(last, save), np.uint8)
    tensors["floats." + name] = last
tensors["file.batch.npy"] = np.frombuffer(numpy_file(last[None]), np.uint8)
tensors["floats.batch.npy"] = last

header, data = {}, b""
for name, value in sorted(tensors.items(), key=lambda item: -item[1].itemsize):
    bytes_ = np.ascontiguousarray(value).tobytes()
    kind = {"float32": "F32", "uint8": "U8"}[str(value.dtype)]
    header[name] = {"dtype": kind, "shape": value.shape, "data_offsets": [len(data), len(data) + len(bytes_)]}
    data += bytes_
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "kinds.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
