"""A run as an HTML document for a notebook's cell: no network, no widget manager."""
from __future__ import annotations

import base64
import json
import pathlib
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _save
from ._library import Error, fail

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._figure import Map
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


def packed(run: Run, layer: int, head: int, rows: list[int]) -> dict[str, Any]:
    """Some rows of a head, in float16."""
    return {"layer": layer, "head": head, "rows": rows, "values": encoded(run._rows(layer, head, rows).astype("<f2").tobytes())}


def part(name: str) -> str:
    """A file that the build made of heed/plot: the cell's document, the script or the style of a widget."""
    path = pathlib.Path(__file__).parent / name
    if not path.exists():
        raise fail(f"{name}: not in this package (found a build without Node, expected one with it: npm ci, then build again)", "UNSUPPORTED")
    return path.read_text(encoding="utf-8")


def contents(run: Run, max_mb: float, colormap: str, taken: int, one: Map | None = None) -> str:
    """What a cell shows, as JSON: the picture, and rows of heads in what `taken` bytes leave of max_mb.

    All rows of as many heads as fit, a map's own and the last layer's first; then one query's rows of as many others as fit. The rest is said.
    """
    run._check()
    info, kept = run.session.model.info, run.session.rows
    tokens = info.prefix_tokens + run.grid[0] * run.grid[1]
    queries = list(range(tokens)) if kept is None else kept
    query = queries[0] if one is None else one.query
    places = [(layer, head) for layer in reversed(range(info.layers)) for head in range(info.heads)]
    own = None if one is None else one.place
    if own is not None:
        places.sort(key=lambda place: place != own)
    picture = seen(run)
    shown = "" if picture is None else "data:image/png;base64," + encoded(_save.png(picture))
    room = max_mb * 1e6 - taken - len(shown) - 2500  # and the table of colours, names, a sentence
    # base64 takes four thirds, a row its number in the list of queries, a map its names and escaped quotes
    single = 170 + 2 * tokens * 4 / 3
    whole = 170 + 2 * tokens * len(queries) * 4 / 3 + len(json.dumps(queries))
    singles = min(len(places), int(max(room, 0) / single)) if room < float("inf") else len(places)
    if not singles:
        raise fail(f"max_mb: too small for this run (found {max_mb:g}, expected more than {(max_mb * 1e6 - room + single) / 1e6:.2f})")
    spare = (room - singles * single) / (whole - single) if whole > single else singles
    fits = int(min(singles, max(0, spare)))
    maps = [packed(run, *place, queries if i < fits else [query]) for i, place in enumerate(places[:singles])]
    layer, head = places[0]
    data = {"grid": run.grid, "prefix": info.prefix_tokens, "names": info.token_names,
            "maps": sorted(maps, key=lambda each: (each["layer"], each["head"])), "layer": layer, "head": head, "query": query,
            "table": encoded(_arrays.colours(np.arange(256) / 255, colormap).tobytes()), "picture": shown}
    text = json.dumps(data, separators=(",", ":"))
    rows = "all rows" if kept is None else f"{len(queries)} rows"
    said = [f"{rows} of {fits} of {len(places)} heads"] if fits else []
    if fits < singles:
        said.append(f"of {singles - fits} heads the row of one query alone")
    if singles < len(places):
        said.append(f"{len(places) - singles} heads are left out")
    more = "." if fits == len(places) else f". max_mb = {max_mb:g} is the limit; run.html(max_mb=...) sets it."
    return '{"said":' + json.dumps(f"{(taken + len(text)) / 1e6:.2f} MB: " + "; ".join(said) + more) + "," + text[1:]


def limit(max_mb: float) -> float:
    """max_mb, where it is a number of megabytes."""
    if isinstance(max_mb, bool) or not isinstance(max_mb, (int, float)) or not 0 < max_mb < float("inf"):
        raise fail(f"max_mb: not valid (found {max_mb!r}, expected more than 0)")
    return float(max_mb)


def document(run: Run, max_mb: float, colormap: str, one: Map | None = None) -> str:
    """The whole document of a cell, with heed/plot inside."""
    from html import escape  # here, since it takes time and few programs show cells

    most, template = limit(max_mb), part("cell.html")
    data = contents(run, most, colormap, len(escape(template)), one)
    return template.replace("{{data}}", data.replace("</", "<\\/"))


def frame(run: Run, max_mb: float = 4, colormap: str = "cividis", one: Map | None = None) -> str:
    """The document in an inline frame, which runs its script and nothing else."""
    from html import escape

    return (f'<iframe sandbox="allow-scripts" style="border: 0; width: 100%; height: 640px" title="heed: where a patch looks" '
            f'srcdoc="{escape(document(run, max_mb, colormap, one))}"></iframe>')


def bundle(one: Map, whole: bool) -> dict[str, str]:
    """What a notebook shows of a map, or with `whole` of its run: a cell, and a picture for tools without HTML; together at most 4 MB."""
    picture = encoded(one.png())
    shown = {"image/png": picture}
    if whole or one.place is not None:
        try:
            shown["text/html"] = frame(one._run, 4 - len(picture) / 1e6, one=None if whole else one)
        except Error:  # the session has run again, or this package has no cell
            pass
    return shown
