"""A run as an HTML document for a notebook's cell: no network, no widget manager."""
from __future__ import annotations

import base64
import ctypes
import html
import json
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _arrays
from ._library import c, call, chosen, fail

if TYPE_CHECKING:
    from ._run import Run

SIDE = 448  # pixels of the cell's picture at most


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def png(image: npt.NDArray[np.uint8]) -> bytes:
    """RGB [height, width, 3] as the bytes of a PNG."""
    dense = np.ascontiguousarray(image)
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "picture.png")
        call("heed_png_write", os.fsencode(path), dense.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8)), dense.shape[1], dense.shape[0])
        return pathlib.Path(path).read_bytes()


def seen(run: Run) -> npt.NDArray[np.uint8] | None:
    """The part of the picture that the model saw, RGB, not larger than the cell; what lies outside is white."""
    if run.picture is None or run.region is None:
        return None
    x, y, width, height = run.region
    scale = min(1.0, SIDE / max(width, height))
    size = max(1, round(height * scale)), max(1, round(width * scale))
    at_y = np.floor(y + (np.arange(size[0]) + 0.5) * height / size[0]).astype(int)
    at_x = np.floor(x + (np.arange(size[1]) + 0.5) * width / size[1]).astype(int)
    inside = ((at_y >= 0) & (at_y < run.picture.shape[0]))[:, None] & ((at_x >= 0) & (at_x < run.picture.shape[1]))[None]
    part = run.picture[at_y.clip(0, run.picture.shape[0] - 1)[:, None], at_x.clip(0, run.picture.shape[1] - 1)[None]]
    return np.where(inside[..., None], part, 255).astype(np.uint8)


def colour_table(colormap: str) -> bytes:
    """The colours over a picture at 256 places of a scale, RGBA."""
    places = np.arange(256, dtype=np.float32) / 255
    rgba = np.empty((256, 4), np.uint8)
    number = chosen("colormap", colormap, _arrays.COLORMAPS)
    c.heed_map_overlay(number, _arrays.pointer(places), 256, 1, rgba.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8)))
    return rgba.tobytes()


def packed(layer: int, head: int, rows: list[int], values: npt.NDArray[np.float32]) -> dict[str, Any]:
    """Some rows of a head, in whole numbers of 16 bits."""
    largest = float(np.nanmax(values)) if np.isfinite(values).any() else 0.0
    parts = np.rint(np.nan_to_num(values) * (65535 / largest if largest > 0 else 0)).astype("<u2")
    return {"layer": layer, "head": head, "rows": rows, "largest": largest, "values": encoded(parts.tobytes())}


def document(run: Run, max_mb: float, colormap: str) -> str:
    """The whole document: every head's row of the first query, and all rows of as many heads as fit, the last layer's first."""
    if not max_mb > 0:
        raise fail(f"max_mb: not valid (found {max_mb}, expected more than 0)")
    info, kept = run.session.model.info, run.session.rows
    tokens = info.prefix_tokens + run.grid[0] * run.grid[1]
    queries = list(range(tokens)) if kept is None else kept
    room = max_mb * 1e6 * 3 / 4 - info.layers * info.heads * tokens * 2  # base64 takes four thirds
    maps, whole = [], 0
    for layer in reversed(range(info.layers)):
        weights = run.attention[layer].view()
        for head in range(info.heads):
            room -= 2 * tokens * len(queries)
            if room >= 0:
                maps.append(packed(layer, head, queries, weights[head]))
                whole += 1
            else:
                maps.append(packed(layer, head, queries[:1], weights[head, :1]))
    every = info.layers * info.heads
    left = "" if whole == every else (f"{every - whole} of {every} heads have the row of one query alone: all rows take more than max_mb = "
                                      f"{max_mb:g} (run.html(max_mb=...) sets it)")
    picture = seen(run)
    data = {"grid": run.grid, "prefix": info.prefix_tokens, "names": info.token_names, "maps": sorted(maps, key=lambda one: (one["layer"], one["head"])),
            "layer": info.layers - 1, "query": queries[0], "table": encoded(colour_table(colormap)), "left": left,
            "picture": "" if picture is None else "data:image/png;base64," + encoded(png(picture))}
    template = (pathlib.Path(__file__).parent / "cell.html").read_text(encoding="utf-8")
    return template.replace("{{data}}", json.dumps(data).replace("</", "<\\/"))


def frame(run: Run, max_mb: float = 4, colormap: str = "cividis") -> str:
    """The document in an inline frame, which runs its script and nothing else."""
    return (f'<iframe sandbox="allow-scripts" style="border: 0; width: 100%; height: 620px" title="heed: where a patch looks" '
            f'srcdoc="{html.escape(document(run, max_mb, colormap))}"></iframe>')
