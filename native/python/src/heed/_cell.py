"""A run as an HTML document for a notebook's cell: no network, no widget manager."""
from __future__ import annotations

import base64
import html
import json
import pathlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _arrays, _save
from ._library import fail

if TYPE_CHECKING:
    from ._run import Run

SIDE = 448  # pixels of the cell's picture at most


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


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


def packed(layer: int, head: int, rows: list[int], values: npt.NDArray[np.float32]) -> dict[str, Any]:
    """Some rows of a head, in float16."""
    return {"layer": layer, "head": head, "rows": rows, "values": encoded(values.astype("<f2").tobytes())}


def part(name: str) -> str:
    """A file that the build made of heed/plot: the cell's document, the script or the style of a widget."""
    path = pathlib.Path(__file__).parent / name
    if not path.exists():
        raise fail(f"{name}: not in this package (found a build without Node, expected one with it: npm ci, then build again)", "UNSUPPORTED")
    return path.read_text(encoding="utf-8")


def contents(run: Run, max_mb: float, colormap: str, room: float) -> dict[str, Any]:
    """What a cell shows: every head's row of the first query, and all rows of as many heads as fit in `room` bytes, the last layer's first."""
    info, kept = run.session.model.info, run.session.rows
    tokens = info.prefix_tokens + run.grid[0] * run.grid[1]
    queries = list(range(tokens)) if kept is None else kept
    picture = seen(run)
    shown = "" if picture is None else "data:image/png;base64," + encoded(_save.png(picture))
    # base64 takes four thirds, and a row its number in the list of queries, a map its names and escaped quotes
    room = (room - len(shown) - info.layers * info.heads * 120) * 3 / 4 - info.layers * info.heads * tokens * 2
    each = 2 * tokens * len(queries) + 0.75 * len(json.dumps(queries))
    maps, whole = [], 0
    for layer in reversed(range(info.layers)):
        weights = run.attention[layer].view()
        for head in range(info.heads):
            room -= each
            if room >= 0:
                maps.append(packed(layer, head, queries, weights[head]))
                whole += 1
            else:
                maps.append(packed(layer, head, queries[:1], weights[head, :1]))
    every = info.layers * info.heads
    left = "" if whole == every else (f"{every - whole} of {every} heads have the row of one query alone: all rows take more than max_mb = "
                                      f"{max_mb:g} (run.html(max_mb=...) sets it)")
    table = _arrays.colours(np.arange(256) / 255, colormap)
    return {"grid": run.grid, "prefix": info.prefix_tokens, "names": info.token_names, "maps": sorted(maps, key=lambda one: (one["layer"], one["head"])),
            "layer": info.layers - 1, "query": queries[0], "table": encoded(table.tobytes()), "left": left, "picture": shown}


def limit(max_mb: float) -> float:
    """max_mb in bytes."""
    if isinstance(max_mb, bool) or not isinstance(max_mb, (int, float)) or not 0 < max_mb < float("inf"):
        raise fail(f"max_mb: not valid (found {max_mb!r}, expected more than 0)")
    return max_mb * 1e6


def document(run: Run, max_mb: float, colormap: str) -> str:
    """The whole document of a cell, with heed/plot inside."""
    room, template = limit(max_mb), part("cell.html")
    data = json.dumps(contents(run, max_mb, colormap, room - len(html.escape(template))), separators=(",", ":"))
    return template.replace("{{data}}", data.replace("</", "<\\/"))


def frame(run: Run, max_mb: float = 4, colormap: str = "cividis") -> str:
    """The document in an inline frame, which runs its script and nothing else."""
    return (f'<iframe sandbox="allow-scripts" style="border: 0; width: 100%; height: 640px" title="heed: where a patch looks" '
            f'srcdoc="{html.escape(document(run, max_mb, colormap))}"></iframe>')
