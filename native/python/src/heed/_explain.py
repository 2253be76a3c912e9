"""What an answer rests on: the named methods of heed.h, as arrays."""
from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

import numpy as np

from . import _abi, _arrays
from ._library import DOUBLES, Handle, Hooks, Unpicklable, c, call, chosen, desc, fail, fields, names, text

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._model import Model

    Array = npt.NDArray[Any]

TYPES = {_abi.HEED_F32: np.float32, _abi.HEED_U8: np.uint8, _abi.HEED_I32: np.int32}
CURVES = names("heed_curve_kind", "HEED_CURVES_")


def _names(function: str) -> tuple[str, ...]:
    """The names that a function of the C interface counts, up to its NULL."""
    found: list[str] = []
    while (name := getattr(c, function)(len(found))) is not None:
        found.append(text(name))
    return tuple(found)


METHODS = _names("heed_explain_method_name")
MAPS = _names("heed_patch_map_name")


class _Numbers:
    """A tensor of an explanation as it lies there, for NumPy; the explanation lives as long as an array looks at it."""

    def __init__(self, owner: Handle, tensor: _abi.heed_named_tensor):
        self.owner = owner
        shape = tuple(tensor.shape.dim[:tensor.shape.rank])
        self.__array_interface__ = {"version": 3, "data": (tensor.data or 0, True), "shape": shape, "typestr": np.dtype(TYPES[tensor.dtype]).str}


class Explanation(Unpicklable, Mapping[str, "Array"]):
    """The tensors of methods by their names, read-only: explanation["ledger.heads"]. docs/explain.md says what each is.

    The first axis is the picture, also of one picture. grid: rows and columns of patches.
    """

    def __init__(self, handle: Handle, grid: tuple[int, int], count: int):
        self._handle, self.grid, self._count = handle, grid, count
        self._tensors: dict[str, Array] = {}
        while tensor := c.heed_explanation_get(handle.pointer, len(self._tensors)):
            self._tensors[text(tensor.contents.name)] = np.asarray(_Numbers(handle, tensor.contents))

    @property
    def score(self) -> npt.NDArray[np.float32]:
        """The number that was explained, of each picture."""
        return self._tensors["score"]

    def map(self, name: str, picture: int = 0) -> npt.NDArray[np.float32]:
        """One number a patch, [rows, columns], made of a method's tensors: one of heed.explain_maps. Raises heed.Error."""
        if name not in MAPS:
            raise fail(f"explanation.map: not known (found {name!r}, expected one of {', '.join(MAPS)})")
        if not isinstance(picture, (int, np.integer)) or not 0 <= picture < self._count:
            raise fail(f"explanation.map: no such picture (found {picture!r}, expected 0 to {self._count - 1})")
        out = np.zeros(self.grid, np.float32)
        call("heed_patch_map", self._handle.pointer, MAPS.index(name), int(picture), _abi.heed_patches(*self.grid), _arrays.pointer(out))
        return out

    def __getitem__(self, name: str) -> Array:
        try:
            return self._tensors[name]
        except (KeyError, TypeError):
            raise KeyError(f"explanation: no such tensor (found {name!r}, expected one of {', '.join(self._tensors)})") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        return "<heed explanation: " + ", ".join(f"{name} {list(one.shape)}" for name, one in self._tensors.items()) + ">"


def target_words(target: Any) -> bytes | None:
    """A class by number or label, a pair of numbers for their difference, or a text as the command line has it."""
    if target is None or isinstance(target, str):
        return None if target is None else target.encode("utf-8", "replace")
    if isinstance(target, (int, np.integer)) and not isinstance(target, bool):
        return str(int(target)).encode()
    if isinstance(target, (tuple, list)) and len(target) == 2 and all(isinstance(one, (int, np.integer)) for one in target):
        return f"{int(target[0])}-{int(target[1])}".encode()
    raise fail(f"target: not valid (found {target!r}, expected a class by number or label, a pair of numbers, or a text such as 'vector')")


def tensors(given: Mapping[str, Any]) -> tuple[Any, list[Array]]:
    """Inputs as C takes them, and the arrays that they point into."""
    kept = [np.ascontiguousarray(value) for value in given.values()]
    if any(not 0 < one.ndim <= 6 for one in kept):
        raise fail("explain: an input without numbers (expected arrays of 1 to 6 axes)")
    kinds = {np.dtype(kind): number for number, kind in TYPES.items()}
    made = (_abi.heed_named_tensor * len(kept))(*(
        _abi.heed_named_tensor(name.encode(), kinds[one.dtype], _abi.heed_shape(one.ndim, one.shape), one.ctypes.data)
        for name, one in zip(given, kept)))
    return made, kept


def _count(name: str, value: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value <= most:
        raise fail(f"{name}: not valid (found {value!r}, expected 0 for the default, or up to {most})")
    return int(value)


def _listed(names: str | Sequence[str] | None) -> bytes | None:
    """Names as C takes them, "a,b"."""
    if names is None:
        return None
    return (names if isinstance(names, str) else ",".join(map(str, names))).encode("utf-8", "replace")


def explain(model: Model, inputs: Mapping[str, Any], methods: str | Sequence[str], *, target: Any, layer: int | None, ig_steps: int,
            sites: str | Sequence[str] | None, source_mean: bool, heads: str | Sequence[str] | None, clusters: int, square: int, steps: int,
            curves: str, flip_pixels: int, percent: Sequence[float] | None, texts: bool, progress: Callable[[str, int, int], object] | None) -> Explanation:
    """What model.explain does once its pictures are tensors."""
    listed = methods if isinstance(methods, str) else ",".join(map(str, methods))
    if layer is not None and (not isinstance(layer, (int, np.integer)) or not 0 <= layer < model.info.layers):
        raise fail(f"layer: not there (found {layer!r}, expected 0 to {model.info.layers - 1})")
    shares = np.ascontiguousarray([] if percent is None else percent, np.float64).ravel()
    made, kept = tensors(inputs)
    hooks = Hooks(progress)
    how = desc(_abi.heed_explain_desc, model=model._handle.pointer, text=model.texts._handle.pointer if texts else None, backend=model._backend.pointer,
               methods=listed.encode("utf-8", "replace"), target=target_words(target), layer_given=layer is not None, layer=int(layer or 0),
               ig_steps=_count("ig_steps", ig_steps, 10000), inputs=made, input_count=len(kept),
               sites=_listed(sites), heads=_listed(heads), clusters=_count("clusters", clusters, 1 << 30), square=_count("square", square, 1 << 30),
               source_mean=bool(source_mean), hooks=fields(_abi.heed_explain_desc)["hooks"](hooks.desc), steps=_count("steps", steps, 1 << 20),
               curves=chosen("curves", curves, CURVES), flip_pixels=_count("flip_pixels", flip_pixels, 1 << 30),
               percent=shares.ctypes.data_as(DOUBLES) if shares.size else None, percent_count=shares.size)
    handle = Handle("heed_explanation_destroy", model._context)
    hooks.call("heed_explain", model._context.pointer, ctypes.byref(how), handle.out)
    pixels = inputs["pixel_values"]
    return Explanation(handle, (pixels.shape[2] // model.info.patch, pixels.shape[3] // model.info.patch), len(pixels))
