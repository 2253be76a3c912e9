"""Writes orientations.safetensors beside this file: small PNG and JPEG files whose orientation stands in each of the
places where Pillow looks for it, and some where it does not, and the picture [5, 7, 3] as ImageOps.exif_transpose turns
it. Run with a Python that has numpy and Pillow 9.4 or newer. XMP in a JPEG is of Pillow 11; its answer is made here."""
import io, json, os, struct, zlib
import numpy as np
from PIL import Image, ImageOps

picture = np.random.default_rng(9).integers(0, 256, (5, 7, 3)).astype(np.uint8)
flat = np.repeat(np.repeat(picture // 64 * 64, 8, 0), 8, 1)


def exif(value, little=True, head=True):
    e = "<" if little else ">"
    block = (b"II*\0" if little else b"MM\0*") + struct.pack(e + "IHHHIHHI", 8, 1, 0x0112, 3, 1, value, 0, 0)
    return (b"Exif\0\0" if head else b"") + block


def other_exif():
    return b"Exif\0\0II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0100, 3, 1, 7, 0, 0)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(before=b"", after=b""):
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 7, 5, 8, 2, 0, 0, 0)) + before
            + chunk(b"IDAT", zlib.compress(rows)) + after + chunk(b"IEND", b""))


def raw(value, name="exif", upper=False):
    digits = exif(value).hex()
    lines = "\n".join(digits[i : i + 20] for i in range(0, len(digits), 20))
    return f"\n{name}\n{len(digits) // 2:8}\n{lines.upper() if upper else lines}\n".encode()


def text(key, value): return chunk(b"tEXt", key + b"\0" + value)
def packed(key, value): return chunk(b"zTXt", key + b"\0\0" + zlib.compress(value))
def utf8(key, value, pack=False):
    return chunk(b"iTXt", key + b"\0" + (b"\1\0" if pack else b"\0\0") + b"en\0key\0" + (zlib.compress(value) if pack else value))


def xmp(value, element=False):
    inner = f"<tiff:Orientation>{value}</tiff:Orientation>" if element else f'tiff:Orientation="{value}"'
    return f"<x:xmpmeta>tiff:Orientation is {inner} tiff:Orientation=\"3\"</x:xmpmeta>".encode()


P, X = b"Raw profile type exif", b"XML:com.adobe.xmp"
places = {
    "exif": lambda v: png(chunk(b"eXIf", exif(v, head=False))),
    "exif_big_endian_behind": lambda v: png(after=chunk(b"eXIf", exif(v, False, False))),
    "exif_text": lambda v: png(text(b"exif", exif(v))),
    "raw_text": lambda v: png(text(P, raw(v))),
    "raw_text_behind": lambda v: png(after=text(P, raw(v, upper=True))),
    "raw_packed": lambda v: png(packed(P, raw(v))),
    "raw_packed_behind": lambda v: png(after=packed(P, raw(v))),
    "raw_utf8": lambda v: png(utf8(P, raw(v))),
    "raw_utf8_packed": lambda v: png(utf8(P, raw(v), True)),
    "raw_last_counts": lambda v: png(text(P, raw(v % 8 + 1)) + packed(P, raw(v))),
    "exif_before_raw": lambda v: png(chunk(b"eXIf", exif(v, head=False)) + text(P, raw(v % 8 + 1))),
    "xmp": lambda v: png(utf8(X, xmp(v))),
    "xmp_element": lambda v: png(utf8(X, xmp(v, True))),
    "xmp_packed_behind": lambda v: png(after=utf8(X, xmp(v), True)),
    "xmp_text": lambda v: png(text(X, xmp(v))),
    "xmp_after_exif": lambda v: png(chunk(b"eXIf", exif(v, head=False)) + utf8(X, xmp(v % 8 + 1))),
    "xmp_of_exif_without": lambda v: png(text(P, other(raw(1))) + utf8(X, xmp(v))),
    "app1": lambda v: png(text(b"Raw profile type APP1", raw(v, "app1"))),
    "comment": lambda v: png(text(b"Comment", xmp(v))),
    "stream_without_end": lambda v: png(chunk(b"zTXt", P + b"\0\0" + zlib.compress(raw(v))[:-4])),
    "wrong_utf8": lambda v: png(utf8(X, b"\xff" + xmp(v))),
}


def other(profile):
    digits = other_exif().hex()
    return f"\nexif\n{len(digits) // 2:8}\n{digits}\n".encode()


def jpeg(value, kind):
    made = io.BytesIO()
    Image.fromarray(flat).save(made, "JPEG", quality=95, subsampling=0)
    data = made.getvalue()
    segment = lambda block: b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block
    packet = b"http://ns.adobe.com/xap/1.0/\0"
    parts = {"xmp": segment(packet + xmp(value)),
             "xmp_element_of_exif_without": segment(other_exif()) + segment(packet + xmp(value, True)),
             "exif_after_xmp": segment(packet + xmp(value % 8 + 1)) + segment(exif(value))}[kind]
    return data[:2] + parts + data[2:]


turns = {2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
         5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE, 8: Image.Transpose.ROTATE_90}
tensors = {}
for place, make in places.items():
    for value in range(1, 9):
        data = make(value)
        turned = np.array(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
        tensors[f"file.{place}.{value}"] = np.frombuffer(data, np.uint8)
        tensors[f"turned.{place}.{value}"] = turned
for kind in ("xmp", "xmp_element_of_exif_without", "exif_after_xmp"):
    for value in range(1, 9):
        data = jpeg(value, kind)
        image = Image.open(io.BytesIO(data))
        image = image.transpose(turns[value]) if value > 1 else image
        tensors[f"file.jpeg_{kind}.{value}"] = np.frombuffer(data, np.uint8)
        tensors[f"turned.jpeg_{kind}.{value}"] = np.array(image.convert("RGB"))

header, data = {}, b""
for name, value in tensors.items():
    bytes_ = np.ascontiguousarray(value).tobytes()
    header[name] = {"dtype": "U8", "shape": value.shape, "data_offsets": [len(data), len(data) + len(bytes_)]}
    data += bytes_
written = json.dumps(header).encode()
written += b" " * (-len(written) % 8)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "orientations.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(written)) + written + data)
