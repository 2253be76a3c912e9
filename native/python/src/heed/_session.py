"""A model prepared for pictures of one size, and changes of its attention."""
from __future__ import annotations

import ctypes
import math
import operator
import os
import weakref
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence

import numpy as np

from . import _abi, _pictures
from ._library import FLOATS, Error, Handle, Hooks, Unpicklable, c, call, desc, fail, fields
from ._run import Run

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._model import Model

    Array = npt.NDArray[Any]
    Floats = npt.NDArray[np.float32]

Progress = Callable[[str, int, int], object]
Pair = tuple[int, int]

# What a word of `taps` keeps of every layer.
TAPS: dict[str, tuple[int, ...]] = {
    "maps": (_abi.HEED_TAP_WEIGHTS,), "hidden": (_abi.HEED_TAP_OUTPUT,), "rows": (_abi.HEED_TAP_QUERY, _abi.HEED_TAP_KEY), "none": (),
    "all": tuple(range(_abi.HEED_TAP_QUERY, _abi.HEED_TAP_OUTPUT + 1))}
# The taps that have no layer.
ONCE = {"hidden": (_abi.HEED_TAP_EMBEDDINGS,), "all": (_abi.HEED_TAP_EMBEDDINGS, _abi.HEED_TAP_POOL_WEIGHTS),
        "maps": (_abi.HEED_TAP_POOL_WEIGHTS,)}


class Changes:
    """Changes of a model's attention, for model.session(changes=...) and model.run(..., changes=...). Each call adds one and returns self."""

    def __init__(self) -> None:
        self._made: list[tuple[str, tuple[Any, ...]]] = []

    def _add(self, name: str, *values: Any) -> Changes:
        self._made.append((name, values))
        return self

    def ablate(self, layer: int, head: int) -> Changes:
        """The head outputs zeros."""
        return self._add("ablate", layer, head)

    def gain(self, layer: int, head: int, factor: float) -> Changes:
        """The head's output is multiplied."""
        return self._add("gain", layer, head, factor)

    def drop(self, token: int) -> Changes:
        """No query attends to this token."""
        return self._add("drop", token)

    def cut(self, query: int, key: int) -> Changes:
        """This query does not attend to this key."""
        return self._add("cut", query, key)

    def replace(self, layer: int, output: Any) -> Changes:
        """Mean ablation: the ablated heads of the layer output their mean over the tokens, and not zeros.

        output: [tokens, width], layer.i.attention.output of a run without changes.
        """
        return self._add("replace", layer, np.ascontiguousarray(output, np.float32))

    def __len__(self) -> int:
        return len(self._made)

    def __repr__(self) -> str:
        return "Changes()" + "".join(f".{name}({', '.join(map(repr, values))})" for name, values in self._made)


class Place(NamedTuple):
    """Where a layer's tokens lie: those before the patches, then patches by frame, row and column."""
    heads: int
    frames: int
    rows: int
    columns: int
    patch: int
    windows: Any  # heed_layer_info, where attention is by windows

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a map's patches: [rows, columns]; of a video [frames, rows, columns]."""
        return (self.frames, self.rows, self.columns) if self.frames > 1 else (self.rows, self.columns)


def side(size: Any) -> Pair | None:
    """Pixels a side, or (height, width), as a pair."""
    pair = (size, size) if isinstance(size, (int, np.integer)) and not isinstance(size, bool) else size
    if pair is not None and not (isinstance(pair, (tuple, list)) and len(pair) == 2
                                 and all(isinstance(one, (int, np.integer)) and 0 < one <= 8192 for one in pair)):
        raise fail(f"size: not valid (found {size!r}, expected a number of pixels, or (height, width), each up to 8192)")
    return None if pair is None else (int(pair[0]), int(pair[1]))


def numbers(rows: Any) -> list[int]:
    """Numbers of tokens as Python's own."""
    try:
        return [operator.index(row) for row in rows]
    except TypeError:
        raise fail(f"rows: not valid (found {rows!r}, expected numbers of tokens)") from None


def names(taps: Any) -> list[str]:
    """A list of names of values."""
    if not isinstance(taps, Sequence) or not all(isinstance(name, str) for name in taps):
        raise fail(f"taps: not valid (found {taps!r}, expected one of {', '.join(TAPS)}, or a list of names)")
    return list(taps)


class _Memory:
    """A value of a session as it lies there, for NumPy; alive as long as an array looks at it."""

    def __init__(self, session: Session, address: int, shape: tuple[int, ...], dtype: type):
        self.session = session
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": shape, "typestr": np.dtype(dtype).str}


class Session(Unpicklable):
    """A model prepared for pictures of one size; a context manager. One thread uses it at a time.

    grid: rows and columns of patches; of stages, the last one's. batch: pictures a run takes; taps, rows, changes: as model.session had them.
    """

    _graph: Handle
    _plan: Handle
    _handle: Handle
    _kept: set[int]
    _generation: int
    batch: int
    rows: list[int] | None
    places: list[Place]
    grid: Pair

    def __init__(self, model: Model, *, size: int | Pair | None = None, batch: int = 1, taps: str | Sequence[str] = "maps",
                 rows: Sequence[int] | None = None, changes: Changes | None = None, temperature: float = 0, frames: int = 0,
                 progress: Progress | None = None, _grid: Pair | None = None):
        model._check()
        self.model, self.taps, self.changes = model, taps, changes
        if changes is not None and not isinstance(changes, Changes):
            raise fail(f"changes: not valid (found {type(changes).__name__}, expected heed.Changes)")
        if changes and model.info.frames:
            raise fail("changes: not of a model of videos (expected one of pictures)", "UNSUPPORTED")
        self.rows = None if rows is None else numbers(rows)
        if isinstance(temperature, bool) or not isinstance(temperature, (int, float)):
            raise fail(f"temperature: not valid (found {temperature!r}, expected a number)")
        self._running = False
        self._generation, self._views = 0, weakref.WeakSet[_Memory]()
        info = model.info
        pair = side(size)
        if isinstance(batch, bool) or not isinstance(batch, (int, np.integer)) or not 0 < batch < 1 << 20:
            raise fail(f"batch: not valid (found {batch!r}, expected 1 or more)")
        self.batch = int(batch)
        self._preprocess = model._preprocess_at(pair)
        height, width = pair or _grid or (0, 0)  # _grid: of a picture, prepared as the model itself has it
        if isinstance(frames, bool) or not isinstance(frames, (int, np.integer)) or not 0 <= frames < 1 << 20:
            raise fail(f"frames: not valid (found {frames!r}, expected a number of them, or 0 for the model's)")
        build = desc(_abi.heed_build_desc, batch=self.batch, height=height, width=width, temperature=temperature, intervene=bool(changes),
                     frames=int(frames))
        if self.rows is not None:
            if not self.rows or any(row < 0 for row in self.rows):
                raise fail(f"rows: not valid (found {self.rows}, expected numbers of tokens)")
            build.rows, build.row_count = (ctypes.c_uint32 * len(self.rows))(*self.rows), len(self.rows)
        self._graph = Handle("heed_graph_destroy", model._handle)
        call("heed_model_build", model._handle.pointer, ctypes.byref(build), self._graph.out)
        found = _abi.heed_value_info()
        self._input = c.heed_graph_find(self._graph.pointer, b"pixel_values")
        c.heed_graph_value_info(self._graph.pointer, self._input, ctypes.byref(found))
        self.input_shape = tuple(found.shape.dim[:found.shape.rank])
        self.places = [self._place(build, layer) for layer in range(info.layers)]
        self.grid = (self.places[-1].rows, self.places[-1].columns)
        wanted = self._wanted(taps)
        self._kept = {one.id for one in wanted}
        for i in range(1, c.heed_graph_value_count(self._graph.pointer) + 1):
            value = _abi.heed_value(i)
            if c.heed_graph_value_info(self._graph.pointer, value, ctypes.byref(found)) == _abi.HEED_OK and found.is_output:
                self._kept.add(i)
        plan_desc = desc(_abi.heed_plan_desc, taps=(_abi.heed_value * len(wanted))(*wanted), tap_count=len(wanted))
        self._plan = Handle("heed_plan_destroy", self._graph, model._backend)
        call("heed_plan_create", self._graph.pointer, model._backend.pointer, ctypes.byref(plan_desc), self._plan.out)
        self._handle = Handle("heed_session_destroy", self._plan)
        hooks = Hooks(progress)
        hooks.call("heed_session_create", self._plan.pointer, ctypes.byref(hooks.desc), self._handle.out)
        if changes:
            self._write_changes(changes)
        model._sessions.add(self)

    def _place(self, build: Any, layer: int) -> Place:
        """Where the tokens of a layer lie."""
        info = self.model.info
        if not info.frames and not info.stages:
            return Place(info.heads, 1, self.input_shape[2] // info.patch, self.input_shape[3] // info.patch, info.patch, None)
        found = _abi.heed_layer_info()
        call("heed_model_layer", self.model._handle.pointer, ctypes.byref(build), layer, ctypes.byref(found))
        return Place(found.heads, found.frames, found.rows, found.columns, found.patch, found if found.window else None)

    def _wanted(self, taps: str | Sequence[str]) -> list[Any]:
        """The values of the graph that `taps` names."""
        graph, layers = self._graph.pointer, self.model.info.layers
        if isinstance(taps, str):
            if taps not in TAPS:
                raise fail(f"taps: not known (found {taps!r}, expected one of {', '.join(TAPS)}, or a list of names)")
            values = [c.heed_graph_tap(graph, tap, layer) for layer in range(layers) for tap in TAPS[taps]]
            values += [c.heed_graph_tap(graph, tap, 0) for tap in ONCE.get(taps, ())]
            return [value for value in values if value.id]
        values = []
        for name in names(taps):
            value = c.heed_graph_find(graph, name.encode())
            if not value.id:
                raise fail(f"taps: no such value (found {name!r}, expected a name such as layer.0.attention.weights)")
            values.append(value)
        return values

    def _write_changes(self, changes: Changes) -> None:
        info = _abi.heed_model_info()
        c.heed_model_get_info(self.model._handle.pointer, ctypes.byref(info))
        tokens = info.prefix_tokens + self.grid[0] * self.grid[1]
        made = Handle("heed_changes_destroy", self.model._context)
        call("heed_changes_create", self.model._context.pointer, ctypes.byref(info), tokens, made.out)
        for name, values in changes._made:
            if name == "replace":
                layer, output = values
                if output.shape != (tokens, info.width):
                    raise fail(f"changes.replace: wrong shape (found {list(output.shape)}, expected [{tokens}, {info.width}])")
                values = layer, output.ctypes.data_as(FLOATS)
            try:
                call(f"heed_changes_{name}", made.pointer, *values)
            except ctypes.ArgumentError:
                raise fail(f"changes: not valid (found {name}{values[:2]!r}, expected whole numbers of layer, head or token)") from None
        call("heed_changes_write", made.pointer, self._handle.pointer)

    @property
    def memory(self) -> dict[str, int]:
        """Bytes of weights, arena, taps and workspace, as they were predicted."""
        found = _abi.heed_memory()
        self._check()
        c.heed_plan_memory(self._plan.pointer, ctypes.byref(found))
        return {name: int(getattr(found, name)) for name in fields(_abi.heed_memory)}

    def _check(self) -> None:
        if not self._handle.open:
            raise fail("session: it is closed")

    def _view(self, value: Any, shape: tuple[int, ...], dtype: Any, index: int | None) -> Array:
        address = ctypes.c_void_p()
        try:
            call("heed_session_view", self._handle.pointer, value, ctypes.byref(address))
        except Error as error:
            if error.status != "UNSUPPORTED":  # a device whose memory cannot be addressed
                raise
            array = self._copied(value, shape, dtype, index)
            array.flags.writeable = False
            return array
        start = (address.value or 0) + (index or 0) * math.prod(shape) * np.dtype(dtype).itemsize
        memory = _Memory(self, start, shape, dtype)
        self._views.add(memory)
        return np.asarray(memory)

    def _copied(self, value: Any, shape: tuple[int, ...], dtype: Any, index: int | None) -> Array:
        array = np.empty(shape, dtype)
        call("heed_session_read", self._handle.pointer, value, (index or 0) * array.size, array.size, array.ctypes.data)
        return array

    def run(self, image: Any, *, progress: Progress | None = None) -> Any:
        """Runs the model on a picture, or on a list of as many as `batch`. Returns a Run, or a list of them.

        A picture is a path, bytes of a file, a Pillow image, an array or tensor [height, width, channels] of uint8, uint16 or float32.
        Floats are taken as they are, in the unit of mean and std: 0 to 1 for most models. A Pillow image is not turned by its EXIF orientation.
        Ctrl-C ends a run after its layer. Raises heed.Error.
        """
        if self.model.info.frames:
            raise fail("session.run: not of a model of videos (expected model.run(frames), or session.forward of a tensor)", "UNSUPPORTED")
        several = isinstance(image, (list, tuple))
        pictures = list(image) if several else [image]
        self._ready(len(pictures))
        pixels = np.zeros(self.input_shape, np.float32)
        read = []
        for b, picture in enumerate(pictures):
            array = _pictures.read(self.model._context.pointer, picture, self.model.info.channels)
            size = _pictures.prepared_size(self._preprocess, array)
            if size != self.input_shape[2:]:
                raise fail(f"picture: the model takes it at another size (found {size[0]} x {size[1]}, expected "
                           f"{self.input_shape[2]} x {self.input_shape[3]}; model.run(picture) makes a session of its size)")
            _, region = _pictures.prepared(self.model._context.pointer, self._preprocess, array, self.model.info.channels,
                                           pixels[b])
            name = os.fspath(picture) if isinstance(picture, (str, os.PathLike)) else ""
            read.append((_pictures.shown(self.model._context.pointer, array), region, name))
        self._run(pixels, progress)
        runs = [Run(self, b, *one) for b, one in enumerate(read)]
        return runs if several else runs[0]

    def forward(self, pixel_values: Any, *, progress: Progress | None = None) -> Any:
        """Runs the model on tensors that you made: [channels, height, width], of a video [frames, channels, height, width], or [B, ...] with
        B = batch. Returns a Run, or a list of them."""
        array = _pictures.tensor(pixel_values)
        single = array.ndim == len(self.input_shape) - 1
        self._ready(1 if single else len(array) if array.ndim else 0)
        if (array[None] if single else array).shape[1:] != self.input_shape[1:]:
            raise fail(f"pixel_values: wrong shape (found {list(array.shape)}, expected {list(self.input_shape)})")
        pixels = np.zeros(self.input_shape, np.float32)
        pixels[:1 if single else len(array)] = array
        self._run(pixels, progress)
        runs = [Run(self, b, None, None, "") for b in range(1 if single else len(array))]
        return runs[0] if single else runs

    def _ready(self, count: int) -> None:
        self._check()
        if not 0 < count <= self.batch:
            raise fail(f"run: wrong number of pictures (found {count}, expected 1 to {self.batch}, the session's batch)")
        if len(self._views):
            raise fail(f"run: the last run is still looked at (found {len(self._views)} views of its taps, expected none: copy what is kept)")

    def _run(self, pixels: Floats, progress: Progress | None) -> None:
        if self._running:
            raise fail("session: it runs at the moment (found a second run, as of another thread, expected one at a time)")
        hooks = Hooks(progress)
        self._generation += 1
        self._running = True
        try:
            call("heed_session_write", self._handle.pointer, self._input, pixels.ctypes.data, pixels.nbytes)
            hooks.call("heed_session_run", self._handle.pointer, ctypes.byref(hooks.desc))
        finally:
            self._running = False

    def close(self) -> None:
        """Frees the session. Its runs refuse from here on."""
        if self._running:
            raise fail("session: it runs at the moment (expected close() once the run has ended)")
        if self._handle.open and len(self._views):
            raise fail(f"session: it is still looked at (found {len(self._views)} views of its taps, expected none: copy what is kept)")
        self._handle.close()
        self._plan.close()
        self._graph.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
