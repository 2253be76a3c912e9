"""Maps, statistics and colours of any attention: the definitions of heed.h (chapter explain) on arrays."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np

from . import _abi
from ._library import BYTES, DOUBLES, FLOATS, U32, Handle, c, call, chosen, desc, fail, names

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]
    Floats = npt.NDArray[np.float32]


def floats(what: str, value: Any, axes: int) -> Floats:
    """A dense float32 array of so many axes."""
    array = np.ascontiguousarray(value, np.float32)
    if array.ndim != axes or 0 in array.shape:
        raise fail(f"{what}: wrong shape (found {list(array.shape)}, expected {axes} axes, none of them empty)")
    return array


def pointer(array: Floats) -> Any:
    return array.ctypes.data_as(FLOATS)


def attention(what: str, value: Any, axes: int) -> Floats:
    """Square maps, query x key."""
    array = floats(what, value, axes)
    if array.shape[-1] != array.shape[-2]:
        raise fail(f"{what}: not square (found {list(array.shape)}, expected as many queries as keys)")
    return array


def rollout_desc(shape: tuple[int, ...], fusion: str = "mean", residual: float = 0.5, discard: float = 0.0, first_layer: int = 0,
                 count: int = 0) -> _abi.heed_rollout_desc:
    """What heed_map_rollout takes for maps of this shape, [layers, heads, tokens, ...]."""
    number = chosen("fusion", fusion, names("heed_fusion", "HEED_FUSION_"))
    return desc(_abi.heed_rollout_desc, layers=shape[0], heads=shape[1], tokens=shape[2], fusion=number, residual=residual, discard=discard,
                first_layer=first_layer, layer_count=count)


def rollout(attention_: Any, *, fusion: str = "mean", residual: float = 0.5, discard: float = 0.0, first_layer: int = 0, count: int = 0) -> Floats:
    """Attention rollout (Abnar & Zuidema 2020).

    attention_: weights [L, H, N, N]. fusion: "mean", "min" or "max" over heads. residual: the weight of the identity. discard: the share of
    each row's keys, the smallest, that become 0. first_layer, count: which layers are multiplied; count 0: all from the first on.
    Returns [N, N]: a row is a token of the last layer, a column an input token. Raises heed.Error.
    """
    maps = attention("rollout", attention_, 4)
    out = np.empty(maps.shape[2:], np.float32)
    how = rollout_desc(maps.shape, fusion, residual, discard, first_layer, count)
    context = Handle("heed_context_destroy")
    call("heed_context_create", None, context.out)
    call("heed_map_rollout", context.pointer, ctypes.byref(how), pointer(maps), pointer(out))
    return out


def rollout_row(maps: Sequence[Any], token: int, **options: Any) -> Floats:
    """One token's row of that rollout, [N], from a map [H, N, N] of each layer: N times less work."""
    layers = [attention("rollout", one, 3) for one in maps]
    row = np.zeros(layers[0].shape[-1], np.float32)
    row[token] = 1
    each = (FLOATS * len(layers))(*(pointer(one) for one in layers))
    how = rollout_desc((len(layers), *layers[0].shape), **options)
    how.maps = each
    context = Handle("heed_context_destroy")
    call("heed_context_create", None, context.out)
    call("heed_map_rollout_row", context.pointer, ctypes.byref(how), None, pointer(row), pointer(row))
    return row


def entropy(row: Any) -> float | Array:
    """Shannon entropy in nats of the last axis of weights [..., n]; its maximum is ln n. A float for one row, else an array [...]."""
    rows = np.ascontiguousarray(row, np.float32)
    if rows.ndim == 0 or 0 in rows.shape:
        raise fail(f"entropy: wrong shape (found {list(rows.shape)}, expected [..., n])")
    flat = rows.reshape(-1, rows.shape[-1])
    found = np.array([c.heed_map_entropy(pointer(one), one.size) for one in flat])
    return float(found[0]) if rows.ndim == 1 else found.reshape(rows.shape[:-1])


class Statistics(NamedTuple):
    """Statistics of one head over a picture: entropies in nats, distances in pixels, masses as shares of a row."""
    entropy_cls: float
    entropy_patches: float
    distance: float
    distance_renormalised: float
    prefix_mass: float
    self_mass: float
    top5_mass: float


def _on_grid(what: str, attention_: Any, rows: int, columns: int, prefix: int | None) -> tuple[Floats, int]:
    """One head's map, and how many tokens come before its patches."""
    maps = attention(what, attention_, 2)
    before = maps.shape[0] - rows * columns if prefix is None else prefix
    if rows < 1 or columns < 1 or before < 0 or before + rows * columns != maps.shape[0]:
        raise fail(f"{what}: wrong grid (found {rows} x {columns} patches and {before} tokens before them, expected {maps.shape[0]} tokens)")
    return maps, before


def statistics(attention_: Any, rows: int, columns: int, *, prefix: int | None = None, patch: float = 16) -> Statistics:
    """Statistics of one head, attention_ [N, N] with N = prefix + rows x columns; patch: a patch's side in pixels."""
    maps, before = _on_grid("statistics", attention_, rows, columns, prefix)
    found = _abi.heed_map_statistics()
    c.heed_map_get_statistics(pointer(maps), before, rows, columns, patch, ctypes.byref(found))
    return Statistics(*(float(getattr(found, name)) for name in Statistics._fields))


def offsets(attention_: Any, rows: int, columns: int, *, prefix: int | None = None) -> npt.NDArray[np.float64]:
    """Where a head looks from each patch, as a mean over the patches: [2 rows - 1, 2 columns - 1].

    [rows - 1 + y, columns - 1 + x] is the weight on the patch that lies y rows and x columns further, [rows - 1, columns - 1] that on itself.
    attention_: weights [N, N] with N = prefix + rows x columns. Raises heed.Error.
    """
    maps, before = _on_grid("offsets", attention_, rows, columns, prefix)
    context = Handle("heed_context_destroy")
    call("heed_context_create", None, context.out)
    scan = Handle("heed_map_scan_destroy", context)
    call("heed_map_scan_create", context.pointer, before, rows, columns, 1.0, scan.out)
    out, rest = np.empty((2 * rows - 1, 2 * columns - 1), np.float64), _abi.heed_map_statistics()
    c.heed_map_scan_head(scan.pointer, pointer(maps), ctypes.byref(rest), out.ctypes.data_as(DOUBLES), None, None)
    return out


def mass_mask(weights: Any, share: float) -> npt.NDArray[np.bool_]:
    """DINO's mask: the smallest set of patches with this share of their mass. weights [...] gives booleans [...]."""
    array = np.ascontiguousarray(weights, np.float32)
    if array.size == 0 or not 0 <= share <= 1:
        raise fail(f"mass_mask: wrong share or no weights (found {share} of {list(array.shape)}, expected 0 to 1)")
    mask = np.zeros(array.size, np.uint8)
    order = np.empty(array.size, np.uint32)
    c.heed_map_mass_mask(pointer(array), array.size, share, mask.ctypes.data_as(BYTES), order.ctypes.data_as(U32))
    return mask.astype(np.bool_).reshape(array.shape)


COLORMAPS = names("heed_colormap", "HEED_COLORMAP_")


def colours(values: Any, colormap: str = "cividis") -> npt.NDArray[np.uint8]:
    """RGB [..., 3] of values from 0 to 1; NaN is grey."""
    number = chosen("colormap", colormap, COLORMAPS)
    table = np.empty((257, 3), np.uint8)
    rgb = (ctypes.c_uint8 * 3)()
    for i in range(256):
        c.heed_colormap_rgb(number, i / 255, rgb)
        table[i] = rgb
    c.heed_colormap_rgb(number, float("nan"), rgb)
    table[256] = rgb
    array = np.asarray(values, np.float64)
    place = np.where(np.isnan(array), 256, np.floor(np.clip(np.nan_to_num(array), 0, 1) * 255 + 0.5)).astype(np.intp)
    found: npt.NDArray[np.uint8] = table[place]
    return found


def top(logits: Sequence[float] | Array, count: int = 5) -> list[tuple[int, float]]:
    """The largest of values [n]: pairs of index and probability, which is the softmax over all of them."""
    array = floats("top", logits, 1)
    count = max(0, min(count, array.size))
    index, probability = (ctypes.c_uint32 * max(count, 1))(), (ctypes.c_double * max(count, 1))()
    found = c.heed_top(pointer(array), array.size, count, index, probability)
    return [(index[i], probability[i]) for i in range(found)]
