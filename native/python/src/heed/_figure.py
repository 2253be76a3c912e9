"""A map over its picture: as an array, in a notebook, in matplotlib, as a file."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _abi, _arrays, _cell, _save
from ._library import c, fail, text

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._run import Run
    from ._session import Place

    Array = npt.NDArray[Any]


class Map:
    """One row of attention, or of a rollout, over its picture.

    row: the weights, float32 [tokens]; values: those of the patches, [rows, columns], of a video [frames, rows, columns]; prefix: those of the
    tokens before the patches. query: the token that looks; place: its layer and head, or None of a mean or a rollout; note: where the weight is
    when the patches have next to none of it, or "".
    """

    row: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32]
    prefix: npt.NDArray[np.float32]
    query: int
    place: tuple[int, int] | None
    where: str
    name: Any
    note: str
    picture: Any
    region: Any
    patch: int
    _run: Run
    _names: Sequence[str]
    _context: Any

    def __init__(self, run: Run, row: npt.NDArray[np.float32], query: int, where: str, grid: Place, kind: int = _abi.HEED_ROW_ATTENTION,
                 place: tuple[int, int] | None = None):
        info = run.session.model.info
        self.row, self.query, self.where, self.name, self.place = row, query, where, run.name, place
        self.prefix = row[:info.prefix_tokens]
        self.values = row[info.prefix_tokens:].reshape(grid.shape)
        self.picture, self.region, self.patch, self._run = run.picture, run.region, grid.patch, run
        words = (ctypes.c_char_p * max(1, info.prefix_tokens))(*(name.encode() for name in info.token_names))
        buffer = ctypes.create_string_buffer(512)
        self.note = text(c.heed_map_elsewhere(_arrays.pointer(row), row.size, info.prefix_tokens, words, query, kind, buffer))
        self._names = info.token_names
        self._context = run.session.model._context

    @property
    def query_name(self) -> str:
        """Such as "CLS" or "(5, 7)"."""
        before = len(self.prefix)
        if self.query < before:
            return self._names[self.query]
        return str(tuple(int(one) for one in np.unravel_index(self.query - before, self.values.shape)))

    def _of_a_picture(self) -> None:
        if self.values.ndim != 2:
            raise fail("map: not drawn, since it is of a video (found [frames, rows, columns]; heed run MODEL FOLDER draws it)", "UNSUPPORTED")

    def overlay(self, colormap: str = "cividis") -> npt.NDArray[np.uint8]:
        """The colours over the patches, RGBA [rows, columns, 4], as heed's figures have them: the scale in times uniform."""
        self._of_a_picture()
        colours: npt.NDArray[np.uint8] = _save.overlays([[self]], colormap)[0, 0]
        return colours

    def under(self) -> npt.NDArray[np.uint8]:
        """The part of the picture that the model saw, RGB [height, width, 3]; without a picture black."""
        self._of_a_picture()
        rows, columns = self.values.shape
        part = _cell.seen(self._run)
        return np.zeros((rows * self.patch, columns * self.patch, 3), np.uint8) if part is None else part

    def image(self, colormap: str = "cividis") -> npt.NDArray[np.uint8]:
        """The map over the part of the picture that the model saw, RGB [height, width, 3]; without a picture, over black."""
        return _save.mixed(self.under(), self.overlay(colormap))

    def png(self, colormap: str = "cividis") -> bytes:
        """That picture as the bytes of a PNG."""
        return _save.png(self.image(colormap))

    def save(self, path: Any, colormap: str = "cividis") -> None:
        """Writes a figure: .png, .svg or .pdf, as `heed run --maps` draws it.

        The package from the index has no cairo: there an SVG has the same colours and words, a PNG is the bare map, and a PDF needs matplotlib.
        """
        self._of_a_picture()
        _save.save(path, [[self]], colormap, self.name, f"{self.where}, query {self.query_name}")

    def plot(self, ax: Any = None, colormap: str = "cividis") -> Any:
        """Draws into matplotlib's axes, or into new ones; returns them."""
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
        ax.imshow(self.image(colormap))
        ax.set_axis_off()
        ax.set_title(f"{self.where}, query {self.query_name}" + (f"\n{self.note}" if self.note else ""))
        return ax

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.values.astype(dtype) if dtype is not None else self.values.copy()

    def __repr__(self) -> str:
        peak = int(np.nanargmax(self.values)) if np.isfinite(self.values).any() else 0
        times = float(self.values.flat[peak]) * self.row.size
        said = f"; {self.note}" if self.note else ""
        place = tuple(int(one) for one in np.unravel_index(peak, self.values.shape))
        return (f"<heed map {self.where}, query {self.query_name}: {' x '.join(map(str, self.values.shape))} patches, "
                f"peak {place} {times:.1f} x uniform{said}>")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": repr(self), **({} if self.values.ndim != 2 else _cell.bundle(self, whole=False))}
