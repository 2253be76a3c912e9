"""Figures as files: by cairo where the library has it, else SVG by the same rules of colour, PNG without words, and PDF by matplotlib."""
from __future__ import annotations

import base64
import ctypes
import os
import pathlib
import struct
import zlib
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _abi, _arrays, _pictures
from ._library import BYTES, Error, c, call, chosen, desc, fail

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._figure import Map

    Bytes = npt.NDArray[np.uint8]

Grid = Sequence[Sequence["Map"]]


def png(image: Bytes) -> bytes:
    """RGB or RGBA [height, width, 3 or 4] as the bytes of a PNG."""
    height, width, channels = image.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = image.reshape(height, -1)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")


def overlays(maps: Grid, colormap: str) -> npt.NDArray[np.uint8]:
    """The colours of all maps on one scale, RGBA [layers, heads, rows, columns, 4]."""
    values = np.ascontiguousarray([[one.values for one in row] for row in maps], np.float32)
    rgba = np.empty((*values.shape, 4), np.uint8)
    c.heed_map_overlay(chosen("colormap", colormap, _arrays.COLORMAPS), _arrays.pointer(values), values.size, maps[0][0].row.size,
                       rgba.ctypes.data_as(BYTES))
    return rgba


def mixed(under: Bytes, over: Bytes) -> Bytes:
    """Colours of patches [rows, columns, 4] over a picture [height, width, 3]."""
    tall, wide = (np.arange(size) * count // size for size, count in zip(under.shape[:2], over.shape))
    colour = over[tall[:, None], wide[None]].astype(np.float64)
    opacity = colour[..., 3:] / 255
    found: Bytes = np.rint(under * (1 - opacity) + colour[..., :3] * opacity).astype(np.uint8)
    return found


def ticks(top: float) -> list[float]:
    """The numbers of a bar from 0 to its end: about four steps of 1, 2, 2.5 or 5 times a power of ten."""
    power: float = 10.0 ** np.floor(np.log10(top / 4))
    step = next(part * power for part in (1, 2, 2.5, 5, 10) if top / 4 * 0.999 <= part * power)
    return [*(step * i for i in range(int(np.ceil(top / step - 1e-9)))), top]


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{float(f'{value:.3g}'):g}"


def svg(maps: Grid, colormap: str, title: str, caption: str) -> str:
    """Maps of layers x heads over their picture, their names, the bar of their scale, title and caption."""
    from html import escape  # here, since it takes time

    rows, columns, one = len(maps), len(maps[0]), maps[0][0]
    alone = rows == columns == 1
    under = one.under()
    side = 448.0 if alone else float(max(32, min(112, 1200 // columns)))
    tall = side * under.shape[0] / under.shape[1]
    left, top, gap = (16.0, 16.0, 0.0) if alone else (72.0, 36.0, 3.0)
    width = max(left + columns * (side + gap) + 16, 480)
    below = top + rows * (tall + gap)
    largest = np.nanmax(np.array([[each.values for each in row] for row in maps])) if not np.isnan(one.values).all() else 0.0
    end = max(float(largest) * one.row.size, min(4, one.row.size))

    def href(image: Bytes) -> str:
        return "data:image/png;base64," + base64.b64encode(png(image)).decode("ascii")

    def text(x: float, y: float, words: str, more: str = "") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(words)}</text>'

    def image(pixels: Bytes, x: float, y: float) -> str:
        return (f'<image href="{href(pixels)}" x="{x:.1f}" y="{y:.1f}" width="{side}" height="{tall:.1f}" preserveAspectRatio="none" '
                f'style="image-rendering: pixelated"/>')

    if alone:
        parts = [image(under, left, top), image(overlays(maps, colormap)[0, 0], left, top)]
    else:  # small: bare maps say more than a picture under them
        parts = [image(_arrays.colours(maps[i][j].values * one.row.size / end, colormap), left + j * (side + gap), top + i * (tall + gap))
                 for i in range(rows) for j in range(columns)]
    patch = one.query - len(one.prefix)
    if alone and patch >= 0:
        step = side / one.values.shape[1], tall / one.values.shape[0]
        x, y = left + patch % one.values.shape[1] * step[0], top + patch // one.values.shape[1] * step[1]
        parts += [f'<rect x="{x:.1f}" y="{y:.1f}" width="{step[0]:.1f}" height="{step[1]:.1f}" fill="none" stroke="{colour}" stroke-width="{wide}"/>'
                  for colour, wide in (("#000", 4), ("#fff", 2))]
    if not alone:
        parts += [text(left + (j + 0.5) * (side + gap), top - 8, f"head {j}" if side >= 56 else str(j), ' text-anchor="middle"') for j in range(columns)]
        parts += [text(left - 8, top + (i + 0.5) * (tall + gap), f"layer {i}", ' text-anchor="end"') for i in range(rows)]
    long = min(448.0, width - left - 16)
    bar = _arrays.colours(np.arange(256)[None] / 255, colormap)
    parts.append(f'<image href="{href(bar)}" x="{left}" y="{below + 14:.1f}" width="{long}" height="12" preserveAspectRatio="none"/>')
    marks = ticks(end)
    for i, value in enumerate(marks):
        if i == len(marks) - 1 or value < 0.9 * end:
            anchor = "start" if i == 0 else "end" if i == len(marks) - 1 else "middle"
            parts.append(text(left + value / end * long, below + 42, _number(value), f' text-anchor="{anchor}"'))
    lines = ["× uniform", title, *([one.note] if alone and one.note else []), caption]
    parts += [text(left, below + 62 + 18 * i, line) for i, line in enumerate(lines)]
    height = below + 62 + 18 * len(lines)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'font-family="DejaVu Sans, sans-serif" font-size="13"><title>{escape(title)}</title>'
            f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def tiled(maps: Grid, colormap: str) -> Bytes:
    """All maps over their picture beside each other, without words; one alone as it is."""
    under, colours = maps[0][0].under(), overlays(maps, colormap)
    if len(maps) == len(maps[0]) == 1:
        return mixed(under, colours[0, 0])
    step = max(1, -(-max(under.shape[:2]) // 112))
    small = under[::step, ::step]
    cells = [[np.pad(mixed(small, over), ((0, 2), (0, 2), (0, 0)), constant_values=255) for over in row] for row in colours]
    return np.concatenate([np.concatenate(row, 1) for row in cells], 0)


def pdf(path: str, maps: Grid, colormap: str, title: str, caption: str) -> None:
    """By matplotlib, where it is."""
    try:
        from matplotlib.backends.backend_pdf import FigureCanvasPdf
        from matplotlib.figure import Figure
    except ImportError:
        raise fail("save: no PDF without cairo or matplotlib (expected one of them, or a name that ends with .svg or .png)", "UNSUPPORTED") from None
    figure = Figure(figsize=(max(5, 1.2 * len(maps[0])), max(5, 1.2 * len(maps) + 1)))
    under, colours = maps[0][0].under(), overlays(maps, colormap)
    for ax, over in zip(np.ravel(figure.subplots(len(maps), len(maps[0]))), colours.reshape(-1, *colours.shape[2:])):
        ax.imshow(mixed(under, over))
        ax.set_axis_off()
    figure.suptitle(title)
    figure.text(0.02, 0.02, caption)
    FigureCanvasPdf(figure).print_pdf(path)


def by_cairo(path: str, maps: Grid, colormap: str, title: str, caption: str) -> None:
    """The figure that `heed run --maps` draws."""
    one = maps[0][0]
    picture, region = one.picture, one.region
    if picture is None or region is None:
        raise fail("save: there is no picture (found pixel_values, expected a run of a picture)")
    values = np.ascontiguousarray([[each.values for each in row] for row in maps], np.float32)
    mass = np.array([[each.prefix.sum() for each in row] for row in maps], np.float32)
    patch, columns = one.query - len(one.prefix), one.values.shape[1]
    alone = len(maps) == len(maps[0]) == 1
    how = desc(_abi.heed_figure_desc, image=_pictures.image(picture), region=_abi.heed_region(*region), maps=_arrays.pointer(values),
               prefix_mass=_arrays.pointer(mass) if len(one.prefix) else None, layers=len(maps), heads=len(maps[0]), rows=one.values.shape[0],
               columns=columns, tokens=one.row.size, query_row=patch // columns if patch >= 0 else -1,
               query_column=patch % columns if patch >= 0 else -1, colormap=chosen("colormap", colormap, _arrays.COLORMAPS),
               note=one.note.encode() if alone else None, title=title.encode() or None, query_name=f"query: {one.query_name}".encode(),
               caption=caption.encode())
    call("heed_figure_write", one._context.pointer, ctypes.byref(how), os.fsencode(path))


def save(path: Any, maps: Grid, colormap: str, title: str, caption: str) -> None:
    """Writes a figure of maps by the ending of its name."""
    name = os.fspath(path)
    if not isinstance(name, str):
        name = os.fsdecode(name)
    chosen("colormap", colormap, _arrays.COLORMAPS)
    try:
        call("heed_figure_check", os.fsencode(name))
    except Error as error:
        ending = os.path.splitext(name)[1].lower()
        if error.status != "UNSUPPORTED":
            raise
        if ending == ".pdf":
            return pdf(name, maps, colormap, title, caption)
        data = svg(maps, colormap, title, caption).encode() if ending == ".svg" else png(tiled(maps, colormap))
        pathlib.Path(name).write_bytes(data)
        return None
    return by_cairo(name, maps, colormap, title, caption)
