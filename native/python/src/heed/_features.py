"""What states of patches look like, how far two maps agree, and where a map lies: the definitions of heed.h on arrays."""
from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np

from . import _abi
from ._arrays import attention, floats, pointer
from ._library import BYTES, I32, U32, Handle, c, call, fail

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._arrays import Floats

    Bools = npt.NDArray[np.bool_]


def _call(function: str, *arguments: Any) -> None:
    """Calls a function that takes a context, with one of its own."""
    context = Handle("heed_context_destroy")
    call("heed_context_create", None, context.out)
    call(function, context.pointer, *arguments)


class Components(NamedTuple):
    """Principal components of patches: mean [C]; components [3, C] and variance [3], the largest first; scores [N, 3]; foreground, booleans [N];
    colours [3, C], the components of the foreground alone; rgb [N, 3], all patches by them, from 0 to 1, and 0 outside the foreground."""
    mean: Floats
    components: Floats
    variance: Floats
    scores: Floats
    foreground: Bools
    colours: Floats
    rgb: Floats


def pca(states: Any, grids: Sequence[tuple[int, int]]) -> Components:
    """Principal components of the states of patches, [N, C], one picture after the other; grids: (rows, columns) of each picture.

    The foreground is the side of the first component of which less lies on the pictures' borders. docs/explain.md has the rules. Raises heed.Error.
    """
    rows = floats("pca", states, 2)
    if not grids or any(len(grid) != 2 or min(grid) < 1 for grid in grids) or sum(math.prod(grid) for grid in grids) != len(rows):
        raise fail(f"pca: wrong grids (found {list(grids)}, expected pairs of rows and columns of {len(rows)} patches together)")
    count, width = rows.shape
    made = [np.empty(shape, np.float32) for shape in ((width,), (3, width), (3,), (count, 3), (3, width), (count, 3))]
    mean, components, variance, scores, colours, rgb = made
    foreground = np.empty(count, np.uint8)
    pictures = (_abi.heed_patches * len(grids))(*(_abi.heed_patches(*grid) for grid in grids))
    out = _abi.heed_pca(pointer(mean), pointer(components), pointer(variance), pointer(scores), foreground.ctypes.data_as(BYTES), pointer(colours),
                        pointer(rgb))
    _call("heed_patches_pca", pointer(rows), pictures, len(grids), width, ctypes.byref(out))
    return Components(mean, components, variance, scores, foreground.astype(np.bool_), colours, rgb)


def similarity(states: Any, others: Any = None) -> Floats:
    """Cosines of states [N, C] with others [M, C], or with themselves: [N, M]. NaN where a state is 0. Raises heed.Error."""
    rows = floats("similarity", states, 2)
    columns = rows if others is None else floats("similarity", others, 2)
    if rows.shape[1] != columns.shape[1]:
        raise fail(f"similarity: states of different widths (found {rows.shape[1]} and {columns.shape[1]}, expected one width)")
    out = np.empty((len(rows), len(columns)), np.float32)
    _call("heed_patches_similarity", pointer(rows), len(rows), None if others is None else pointer(columns), len(columns),
          rows.shape[1], pointer(out))
    return out


def matches(similarity_: Any) -> npt.NDArray[np.int32]:
    """Mutual nearest neighbours of similarity [N, M]: for each of the N the other that is the most similar, where that holds both ways; else -1."""
    given = floats("matches", similarity_, 2)
    out = np.empty(len(given), np.int32)
    c.heed_patches_match(pointer(given), *given.shape, out.ctypes.data_as(I32))
    return out


def norms(states: Any) -> Floats:
    """Euclidean norms [N] of states [N, C]."""
    rows = floats("norms", states, 2)
    out = np.empty(len(rows), np.float32)
    c.heed_patches_norms(pointer(rows), *rows.shape, pointer(out))
    return out


def outliers(norms_: Any) -> tuple[Bools, float]:
    """Which norms [N] stand out, and the bound: their median plus 6 x 1.4826 times the median distance from it."""
    given = floats("outliers", norms_, 1)
    out, bound = np.empty(given.size, np.uint8), ctypes.c_float()
    _call("heed_patches_outliers", pointer(given), given.size, out.ctypes.data_as(BYTES), ctypes.byref(bound))
    return out.astype(np.bool_), bound.value


def clusters(states: Any, count: int) -> tuple[npt.NDArray[np.int32], Floats]:
    """k-means of states [N, C] over their lengths: the cluster of each [N], and the centres [count, C]. No step is left to chance.

    A state that is 0 or not finite has cluster -1. Raises heed.Error.
    """
    rows = floats("clusters", states, 2)
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 0 < count <= len(rows):
        raise fail(f"clusters: wrong number (found {count!r}, expected 1 to {len(rows)}, the number of states)")
    out, centres = np.empty(len(rows), np.int32), np.empty((count, rows.shape[1]), np.float32)
    _call("heed_patches_cluster", pointer(rows), *rows.shape, int(count), out.ctypes.data_as(I32), pointer(centres))
    return out, centres


def cosine(a: Any, b: Any) -> float:
    """The cosine of two vectors [n], summed in double; NaN where one is 0."""
    one, other = floats("cosine", a, 1), floats("cosine", b, 1)
    if one.size != other.size:
        raise fail(f"cosine: vectors of different sizes (found {one.size} and {other.size}, expected one size)")
    return float(c.heed_cosine(pointer(one), pointer(other), one.size))


def head_mean(attention_: Any) -> Floats:
    """The mean over heads of weights [H, N, N]: [N, N]."""
    maps = attention("head_mean", attention_, 3)
    out = np.empty(maps.shape[1:], np.float32)
    c.heed_map_head_mean(pointer(maps), maps.shape[0], maps.shape[1], pointer(out))
    return out


def order(map_: Any) -> npt.NDArray[np.uint32]:
    """The indices of a map [n], the largest number first, of equal ones the smaller index; NaN is last."""
    given = floats("order", np.ravel(map_), 1)
    out = np.empty(given.size, np.uint32)
    c.heed_map_order(pointer(given), given.size, out.ctypes.data_as(U32))
    return out


def spearman(a: Any, b: Any) -> float:
    """Spearman's correlation of the sizes |a| and |b| of two maps of one shape; NaN where all numbers of a map are equal or one is NaN."""
    one, other = floats("spearman", np.ravel(a), 1), floats("spearman", np.ravel(b), 1)
    if one.size != other.size:
        raise fail(f"spearman: maps of different sizes (found {one.size} and {other.size}, expected one size)")
    rho = ctypes.c_double()
    _call("heed_map_spearman", pointer(one), pointer(other), one.size, ctypes.byref(rho))
    return rho.value


class Localisation(NamedTuple):
    """Whether a map lies where something is: pointing, whether a largest number lies inside (None: nothing is inside); mass, the sum inside over the
    sum of all, NaN where that is not above 0; rank, the share of the first numbers, as many as lie inside, that do."""
    pointing: bool | None
    mass: float
    rank: float


def localise(map_: Any, mask: Any) -> Localisation:
    """A map against a mask of its shape: not 0 is inside."""
    given, inside = floats("localise", np.ravel(map_), 1), np.ascontiguousarray(np.ravel(mask) != 0, np.uint8)
    if given.size != inside.size:
        raise fail(f"localise: map and mask of different sizes (found {given.size} and {inside.size}, expected one size)")
    out = _abi.heed_localisation()
    _call("heed_map_localise", pointer(given), inside.ctypes.data_as(BYTES), given.size, ctypes.byref(out))
    return Localisation(None if out.pointing == 255 else bool(out.pointing), out.mass, out.rank)


def fill_pixels(pixels: Any, missing: Any) -> Floats:
    """pixels [channels, height, width] with those where missing [height, width] is not 0 made of their neighbours (ROAD, without noise); a copy."""
    out = np.array(floats("fill_pixels", pixels, 3), order="C")
    mask = np.ascontiguousarray(np.asarray(missing) != 0, np.uint8)
    if mask.shape != out.shape[1:]:
        raise fail(f"fill_pixels: wrong mask (found {list(mask.shape)}, expected {list(out.shape[1:])})")
    _call("heed_pixels_fill", pointer(out), *out.shape, mask.ctypes.data_as(BYTES))
    return out
