"""Models, sessions and runs."""
from __future__ import annotations

import ctypes
import logging
import math
import os
import weakref
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np
import numpy.typing as npt

from . import _abi, _arrays, _cell, _pictures, _texts
from ._figure import Map
from ._library import Error, Handle, Hooks, c, call, desc, fail, fields, names, text

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
DTYPES = {_abi.HEED_F32: np.float32, _abi.HEED_U8: np.uint8, _abi.HEED_I32: np.int32}

log = logging.getLogger("heed")
LEVELS = {_abi.HEED_LOG_DEBUG: logging.DEBUG, _abi.HEED_LOG_INFO: logging.INFO, _abi.HEED_LOG_WARNING: logging.WARNING}


def _log(level: int, line: bytes, user: int | None) -> None:
    log.log(LEVELS.get(level, logging.INFO), "%s", text(line))


_logged = fields(_abi.heed_context_desc)["log"](_log)


def new_context() -> Handle:
    context = Handle("heed_context_destroy")
    context.log = _logged  # type: ignore[attr-defined]  # as long as C may call it
    call("heed_context_create", ctypes.byref(desc(_abi.heed_context_desc, log=_logged)), context.out)
    return context


def encoded(path: Any) -> bytes | None:
    return None if path is None else os.fsencode(path)


class Info(NamedTuple):
    """What a model is; numbers of heed_model_info."""
    family: str
    width: int
    layers: int
    heads: int
    image_size: int
    patch: int
    channels: int
    prefix_tokens: int
    classes: int
    parameters: int
    weight_bytes: int
    token_names: tuple[str, ...]
    rules: str
    assumed: str


class Device(NamedTuple):
    """A Vulkan device. unusable: why heed cannot use it, or empty."""
    number: int
    name: str
    driver: str
    tier: str
    memory: int
    unusable: str


def devices() -> list[Device]:
    """The Vulkan devices of this machine; an empty list where there is no Vulkan."""
    context = new_context()
    count = ctypes.c_uint32(0)
    try:
        call("heed_vulkan_device_list", context.pointer, None, ctypes.byref(count))
        infos = (_abi.heed_vulkan_device_info * count.value)()
        call("heed_vulkan_device_list", context.pointer, infos, ctypes.byref(count))
    except Error as error:
        if error.status in ("NO_DEVICE", "UNSUPPORTED"):
            return []
        raise
    return [Device(i, text(one.name), text(one.driver), text(c.heed_vulkan_tier_name(one.tier)), one.device_memory, text(one.unusable))
            for i, one in enumerate(infos[:count.value])]


def new_backend(context: Handle, device: str, threads: int, simd: str | None, precision: str) -> Handle:
    """The backend of the words of the command line: auto, cpu, vulkan, vulkan:1."""
    backend = Handle("heed_backend_destroy", context)
    word, _, index = device.partition(":")
    if threads < 0 or word not in ("auto", "cpu", "vulkan") or (index and (word != "vulkan" or not index.isdigit())):
        raise fail(f"device: not known (found {device!r} with {threads} threads, expected auto, cpu, vulkan or vulkan:INDEX)")
    cpu = desc(_abi.heed_cpu_desc, threads=threads, level=encoded(simd))
    if word == "cpu":
        call("heed_cpu_backend_create", context.pointer, ctypes.byref(cpu), backend.out)
        return backend
    words = names("heed_vulkan_precision", "HEED_VULKAN_PRECISION_")
    if precision not in words:
        raise fail(f"precision: not known (found {precision!r}, expected one of {', '.join(words)})")
    vulkan = desc(_abi.heed_vulkan_desc, device=int(index) if index else -1, precision=words[precision])
    if word == "vulkan":
        call("heed_vulkan_backend_create", context.pointer, ctypes.byref(vulkan), backend.out)
    else:
        both = desc(_abi.heed_auto_desc, cpu=ctypes.pointer(cpu), vulkan=ctypes.pointer(vulkan))
        choice = _abi.heed_auto_choice()
        call("heed_auto_backend_create", context.pointer, ctypes.byref(both), backend.out, ctypes.byref(choice))
        log.info("%s: %s", text(c.heed_backend_name(backend.pointer)), text(choice.why))
    return backend


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

    def __len__(self) -> int:
        return len(self._made)

    def __repr__(self) -> str:
        return "Changes()" + "".join(f".{name}({', '.join(map(repr, values))})" for name, values in self._made)


class _Memory:
    """A value of a session as it lies there, for NumPy; alive as long as an array looks at it."""

    def __init__(self, session: Session, address: int, shape: tuple[int, ...], dtype: type):
        self.session = session
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": shape, "typestr": np.dtype(dtype).str}


class Tap:
    """A value of the last run. It refuses after the next run of its session; copy() is yours.

    tap[...] and np.asarray(tap) copy what they take; view() does not.
    """

    def __init__(self, run: Run, value: Any, index: int | None):
        self._run, self._value, self._index = run, value, index
        info = _abi.heed_value_info()
        session = run.session
        if c.heed_graph_value_info(session._graph.pointer, value, ctypes.byref(info)) != _abi.HEED_OK:
            raise fail("tap: not a value of this session's graph")
        self.name = text(info.name)
        self._whole = tuple(info.shape.dim[:info.shape.rank])
        self._dtype: Any = DTYPES[info.dtype]
        self.shape = self._whole if index is None else self._whole[1:]
        self.dtype = np.dtype(self._dtype)
        self.ndim = len(self.shape)

    def view(self) -> Array:
        """The value without a copy, read-only. While an array looks at it, the session does not run again."""
        self._run._check()
        return self._run.session._view(self._value, self._whole, self._dtype, self._index)

    def copy(self) -> Array:
        self._run._check()
        return self._run.session._copied(self._value, self._whole, self._dtype, self._index)

    def __getitem__(self, at: Any) -> Any:
        found = self.view()[at]
        return found.copy() if isinstance(found, np.ndarray) else found

    def __len__(self) -> int:
        return int(self.shape[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self.copy()
        return array if dtype is None else array.astype(dtype)

    def __repr__(self) -> str:
        return f"<heed tap {self.name} {list(self.shape)} {self.dtype.name}>"


class Taps(Sequence[Tap]):
    """The same tap of every layer."""

    def __init__(self, run: Run, tap: int, what: str):
        self._run, self._tap, self._what = run, tap, what

    def __len__(self) -> int:
        return int(self._run.session.model.info.layers)

    def __getitem__(self, layer: Any) -> Any:
        if isinstance(layer, slice):
            return [self[i] for i in range(*layer.indices(len(self)))]
        if not isinstance(layer, (int, np.integer)):
            raise TypeError(f"layer: not a number (found {type(layer).__name__})")
        at = int(layer) + (len(self) if layer < 0 else 0)
        if not 0 <= at < len(self):
            raise IndexError(f"layer: not there (found {layer}, expected 0 to {len(self) - 1})")
        return self._run._tap(self._tap, at, self._what)

    def stack(self) -> Array:
        """All layers as one array of its own memory, [layers, ...]."""
        return np.stack([tap.view() for tap in self])


class Run:
    """The result of a model for one picture. Taps hold until the session's next run; all else is yours.

    picture: the picture, uint8 [height, width, 3]; None where pixel_values were given. region: the part of it that the model saw, (x, y, width,
    height) in its pixels. grid: rows and columns of patches. logits: [classes], or None. name: the path, where there was one.
    """

    def __init__(self, session: Session, index: int, picture: Array | None, region: tuple[float, float, float, float] | None, name: str):
        self.session, self.picture, self.region, self.name = session, picture, region, name
        self._index, self._generation = index, session._generation
        self.grid: Pair = session.grid
        self.logits: Floats | None = self._output("logits")
        self.embedding: Floats | None = self._output("image_embeds")
        self.pooled: Floats | None = self._output("pooler_output")

    def _check(self) -> None:
        if not self.session._handle.open:
            raise fail("run: its session is closed (copy what is kept before)")
        if self._generation != self.session._generation:
            raise fail("run: its session has run again since (expected a copy, taken before: tap.copy())")

    def _output(self, name: str) -> Floats | None:
        value = c.heed_graph_find(self.session._graph.pointer, name.encode())
        if not value.id:
            return None
        return Tap(self, value, self._index).copy()

    def _tap(self, tap: int, layer: int, what: str) -> Tap:
        self._check()
        value = c.heed_graph_tap(self.session._graph.pointer, tap, layer)
        if not value.id or value.id not in self.session._kept:
            raise fail(f"run.{what}: not kept by this session (found taps={self.session.taps!r}, expected taps that have it)")
        return Tap(self, value, self._index)

    @property
    def attention(self) -> Taps:
        """attention[layer]: weights [heads, queries, keys]."""
        return Taps(self, _abi.HEED_TAP_WEIGHTS, "attention")

    @property
    def hidden(self) -> Taps:
        """hidden[layer]: the states after a layer, [tokens, width]; needs taps="hidden"."""
        return Taps(self, _abi.HEED_TAP_OUTPUT, "hidden")

    @property
    def embeddings(self) -> Tap:
        """The states before the first layer, [tokens, width]; needs taps="hidden"."""
        return self._tap(_abi.HEED_TAP_EMBEDDINGS, 0, "embeddings")

    @property
    def pool(self) -> Tap:
        """The weights of a pooling attention, [heads, 1, keys]."""
        return self._tap(_abi.HEED_TAP_POOL_WEIGHTS, 0, "pool")

    @property
    def last_hidden_state(self) -> Tap:
        """The model's output states, [tokens, width]."""
        return self.tap("last_hidden_state")

    def tap(self, name: str) -> Tap:
        """An output or a tap by its name in heed_model_build: "layer.3.value"."""
        self._check()
        value = c.heed_graph_find(self.session._graph.pointer, str(name).encode())
        if not value.id or value.id not in self.session._kept:
            raise fail(f"run.tap: not kept by this session (found {name!r}, expected an output, or a name of taps=[...])")
        return Tap(self, value, self._index)

    def top(self, count: int = 5) -> list[tuple[str, float]]:
        """The classes with the largest logits: pairs of label and probability."""
        if self.logits is None:
            raise fail("run.top: the model has no classifier", "UNSUPPORTED")
        model = self.session.model
        found = _arrays.top(self.logits, count)
        if model._each_class:  # an ONNX graph that ends with a sigmoid
            found = [(i, 1 / (1 + math.exp(-float(self.logits[i])))) for i, _ in found]
        return [(model.label(i), probability) for i, probability in found]

    def _query(self, query: int | Pair) -> int:
        prefix, (rows, columns) = self.session.model.info.prefix_tokens, self.grid
        if isinstance(query, (int, np.integer)):
            if not 0 <= query < prefix + rows * columns:
                raise fail(f"query: no such token (found {query}, expected 0 to {prefix + rows * columns - 1})")
            return int(query)
        if not (isinstance(query, (tuple, list)) and len(query) == 2 and 0 <= query[0] < rows and 0 <= query[1] < columns):
            raise fail(f"query: no such patch (found {query!r}, expected a token, or (row, column) in {rows} x {columns})")
        return prefix + int(query[0]) * columns + int(query[1])

    def map(self, layer: int = -1, head: int | None = None, query: int | Pair = 0) -> Map:
        """Where a query looks: one head's row of attention, or with head None the mean over heads.

        query: a token's number, 0 is CLS where the model has one; or (row, column) of a patch. Needs the maps (taps="maps"), or query and key
        (taps="rows"), from which the row is computed again. In a notebook the result shows itself.
        """
        self._check()
        session, info = self.session, self.session.model.info
        at = layer + info.layers if layer < 0 else layer
        if not 0 <= at < info.layers or (head is not None and not 0 <= head < info.heads):
            raise fail(f"map: no such head (found layer {layer}, head {head}, expected {info.layers} layers of {info.heads} heads)")
        token = self._query(query)
        weights = c.heed_graph_tap(session._graph.pointer, _abi.HEED_TAP_WEIGHTS, at)
        tokens = info.prefix_tokens + self.grid[0] * self.grid[1]
        if weights.id in session._kept:
            tap = Tap(self, weights, self._index)
            if session.rows is not None and token not in session.rows:
                raise fail(f"map: this row is not kept (found query {token}, expected one of rows={list(session.rows)})")
            place = token if session.rows is None else session.rows.index(token)
            values: Floats = tap[head, place] if head is not None else tap.view()[:, place].mean(0, dtype=np.float64).astype(np.float32)
        else:
            values = np.empty((1, tokens), np.float32)
            number = (ctypes.c_uint32 * 1)(token)
            how = desc(_abi.heed_attention_map_desc, batch=self._index, head=head or 0, head_mean=head is None, rows=number, row_count=1)
            call("heed_session_attention_map", session._handle.pointer, weights, ctypes.byref(how), _arrays.pointer(values))
            values = values[0]
        where = f"layer {at}, " + ("mean of heads" if head is None else f"head {head}")
        return Map(self, values, token, where)

    def rollout(self, query: int | Pair = 0, **options: Any) -> Map:
        """A token's row of the attention rollout over all layers; options as of heed.rollout. Needs the maps."""
        token = self._query(query)
        row = _arrays.rollout_row([tap.view() for tap in self.attention], token, **options)
        return Map(self, row, token, "rollout", kind=_abi.HEED_ROW_ROLLOUT)

    def scores(self, texts: Sequence[str]) -> _texts.Scores:
        """The picture beside texts, by the model's own text tower and tokenizer: CLIP, SigLIP."""
        return _texts.scores(self.session.model.texts, self.embedding, texts)

    def statistics(self) -> list[list[_arrays.Statistics]]:
        """Statistics of every head, [layers][heads]. Needs the maps."""
        info, (rows, columns) = self.session.model.info, self.grid
        return [[_arrays.statistics(head, rows, columns, prefix=info.prefix_tokens, patch=info.patch) for head in self.attention[layer].view()]
                for layer in range(info.layers)]

    def __repr__(self) -> str:
        what = f"{self.top(1)[0][0]!r} {self.top(1)[0][1]:.3f}" if self.logits is not None else f"{self.grid[0]} x {self.grid[1]} patches"
        return f"<heed run {self.name or ('of pixel_values' if self.picture is None else 'of an array')}: {what}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        plain = {"text/plain": repr(self)}
        try:
            return {**plain, "text/html": _cell.frame(self)}
        except Error:  # its maps are not kept, or the session has run again
            return plain

    def html(self, max_mb: float = 4, colormap: str = "cividis") -> str:
        """The run as one HTML document of at most max_mb: hover a patch to see where it looks. It needs no network. A notebook shows it by itself."""
        return _cell.document(self, max_mb, colormap)


class Session:
    """A model prepared for pictures of one size; a context manager. One thread uses it at a time.

    grid: rows and columns of patches; batch: pictures a run takes; taps, rows, changes: as model.session had them.
    """

    _graph: Handle
    _plan: Handle
    _handle: Handle
    _kept: set[int]
    grid: Pair

    def __init__(self, model: Model, *, size: int | Pair | None = None, batch: int = 1, taps: str | Sequence[str] = "maps",
                 rows: Sequence[int] | None = None, changes: Changes | None = None, temperature: float = 0,
                 progress: Progress | None = None, _grid: Pair | None = None):
        model._check()
        self.model, self.taps, self.changes = model, taps, changes
        self.rows = None if rows is None else [int(row) for row in rows]
        self._generation, self._views = 0, weakref.WeakSet[_Memory]()
        info = model.info
        side = (size, size) if isinstance(size, (int, np.integer)) else size
        if side is not None and (len(side) != 2 or not all(isinstance(one, (int, np.integer)) and 0 < one <= 8192 for one in side)):
            raise fail(f"size: not valid (found {size!r}, expected a number of pixels, or (height, width), each up to 8192)")
        if isinstance(batch, bool) or not isinstance(batch, (int, np.integer)) or not 0 < batch < 1 << 20:
            raise fail(f"batch: not valid (found {batch!r}, expected 1 or more)")
        self.batch = int(batch)
        self._preprocess = model._preprocess_at(side)
        height, width = side or _grid or (0, 0)  # _grid: of a picture, prepared as the model itself has it
        build = desc(_abi.heed_build_desc, batch=self.batch, height=height, width=width, temperature=temperature, intervene=bool(changes))
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
        self.grid = (self.input_shape[2] // info.patch, self.input_shape[3] // info.patch)
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
        for name in taps:
            value = c.heed_graph_find(graph, str(name).encode())
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
            try:
                call(f"heed_changes_{name}", made.pointer, *values)
            except ctypes.ArgumentError:
                raise fail(f"changes: not valid (found {name}{values!r}, expected whole numbers of layer, head or token)") from None
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
        count = math.prod(shape) // (1 if index is None else shape[0])
        start = (address.value or 0) + (0 if index is None else index * count * np.dtype(dtype).itemsize)
        memory = _Memory(self, start, shape if index is None else shape[1:], dtype)
        self._views.add(memory)
        return np.asarray(memory)

    def _copied(self, value: Any, shape: tuple[int, ...], dtype: Any, index: int | None) -> Array:
        array = np.empty(shape if index is None else shape[1:], dtype)
        call("heed_session_read", self._handle.pointer, value, 0 if index is None else index * array.size, array.size, array.ctypes.data)
        return array

    def run(self, image: Any, *, progress: Progress | None = None) -> Any:
        """Runs the model on a picture, or on a list of as many as `batch`. Returns a Run, or a list of them.

        A picture is a path, bytes of a file, a Pillow image, an array or tensor [height, width, channels] of uint8, uint16 or float32.
        Ctrl-C ends a run after its layer. Raises heed.Error.
        """
        several = isinstance(image, (list, tuple))
        pictures = list(image) if several else [image]
        self._ready(len(pictures))
        pixels = np.zeros(self.input_shape, np.float32)
        read = []
        for b, picture in enumerate(pictures):
            array = _pictures.read(self.model._context.pointer, picture, self.model.info.channels)
            region = _abi.heed_region()
            view = _pictures.image(array)
            width, height = ctypes.c_uint32(), ctypes.c_uint32()
            call("heed_preprocess_size", ctypes.byref(self._preprocess), view.width, view.height, ctypes.byref(width), ctypes.byref(height))
            if (height.value, width.value) != self.input_shape[2:]:
                raise fail(f"picture: the model takes it at another size (found {height.value} x {width.value}, expected "
                           f"{self.input_shape[2]} x {self.input_shape[3]}; model.run(picture) makes a session of its size)")
            call("heed_preprocess_image", self.model._context.pointer, ctypes.byref(self._preprocess), ctypes.byref(view),
                 _arrays.pointer(pixels[b]), ctypes.byref(region))
            name = os.fspath(picture) if isinstance(picture, (str, os.PathLike)) else ""
            read.append((_pictures.shown(self.model._context.pointer, array), (region.x, region.y, region.width, region.height), name))
        self._run(pixels, progress)
        runs = [Run(self, b, *one) for b, one in enumerate(read)]
        return runs if several else runs[0]

    def forward(self, pixel_values: Any, *, progress: Progress | None = None) -> Any:
        """Runs the model on tensors that you made: [channels, height, width], or [B, ...] with B = batch. Returns a Run, or a list of them."""
        array = np.ascontiguousarray(np.from_dlpack(pixel_values) if not hasattr(pixel_values, "__array__") and hasattr(pixel_values, "__dlpack__")
                                     else pixel_values, np.float32)
        single = array.ndim == 3
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
        hooks = Hooks(progress)
        self._generation += 1
        call("heed_session_write", self._handle.pointer, self._input, pixels.ctypes.data, pixels.nbytes)
        hooks.call("heed_session_run", self._handle.pointer, ctypes.byref(hooks.desc))

    def close(self) -> None:
        """Frees the session. Its runs refuse from here on."""
        if self._handle.open and len(self._views):
            raise fail(f"session: it is still looked at (found {len(self._views)} views of its taps, expected none: copy what is kept)")
        self._handle.close()
        self._plan.close()
        self._graph.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _preprocess_options(given: Mapping[str, Any]) -> _abi.heed_preprocess_options | None:
    """What replaces parts of a model's preprocessing; None: nothing does."""
    known = ("mean", "std", "resample", "crop", "squash", "rescale")
    for name in given:
        if name not in known:
            raise fail(f"preprocess: not known (found {name!r}, expected one of {', '.join(known)})")
    if not given:
        return None
    how = desc(_abi.heed_preprocess_options, resample=encoded(given.get("resample")), crop=given.get("crop", 0), squash=given.get("squash", False),
               rescale=given.get("rescale", 0))
    for name in ("mean", "std"):
        if name in given:
            numbers = np.atleast_1d(np.asarray(given[name], np.float32))
            setattr(how, name, (ctypes.c_float * numbers.size)(*numbers.ravel()))
            setattr(how, f"{name}_count", numbers.size)
    return how


class Model:
    """An open model; a context manager. heed.open makes it. info: what it is."""

    def __init__(self, path: Any, *, device: str, threads: int, simd: str | None, precision: str, weights_key: str | None, names: Any,
                 hints: str | None, size: Pair | None, preprocess: Mapping[str, Any] | None):
        self._context = new_context()
        self._files = Handle("heed_model_files_destroy", self._context)
        self._handle = Handle("heed_model_destroy", self._files)
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._last: tuple[str, Session] | None = None
        self._texts: _texts.TextTower | None = None
        how = desc(_abi.heed_load_desc, weights_key=encoded(weights_key), names=encoded(names), hints=encoded(hints),
                   height=size[0] if size else 0, width=size[1] if size else 0)
        call("heed_model_load", self._context.pointer, os.fsencode(path), ctypes.byref(how), self._files.out, self._handle.out)
        found = _abi.heed_model_info()
        c.heed_model_get_info(self._handle.pointer, ctypes.byref(found))
        if found.kind != _abi.HEED_MODEL_VISION:
            raise fail(f"{path}: not a vision transformer, which this package runs (heed run MODEL runs it)", "UNSUPPORTED")
        self.info = Info(text(found.family), found.width, found.layers, found.heads, found.image_size, found.patch, found.channels,
                         found.prefix_tokens, found.classes, found.parameters, found.weight_bytes,
                         tuple(text(found.token_names[i]) for i in range(found.prefix_tokens)), text(found.rules), text(found.assumed))
        if self.info.assumed:
            log.warning("%s: assumed: %s", path, self.info.assumed)
        self._changed = _preprocess_options(preprocess or {})
        self._preprocess_at(None)  # a value that does not fit is refused here
        self._each_class = bool(c.heed_onnx_each_class(self._handle.pointer))
        self._backend = new_backend(self._context, device, threads, simd, precision)

    def _check(self) -> None:
        if not self._handle.open:
            raise fail("model: it is closed")

    def _preprocess_at(self, size: Pair | None) -> Any:
        found = _abi.heed_preprocess()
        if size is None:
            c.heed_model_preprocess(self._handle.pointer, ctypes.byref(found))
        else:
            call("heed_model_preprocess_at", self._handle.pointer, size[0], size[1], ctypes.byref(found))
        if self._changed is not None:
            call("heed_preprocess_change", ctypes.byref(found), ctypes.byref(self._changed))
        return found

    @property
    def texts(self) -> _texts.TextTower:
        """The text tower of a model of images and texts; opened at its first use."""
        self._check()
        if self._texts is None:
            self._texts = _texts.TextTower(self)
        return self._texts

    @property
    def backend(self) -> str:
        """Where it runs: "cpu (AVX2, 4 threads)"."""
        self._check()
        return f"{text(c.heed_backend_name(self._backend.pointer))} ({text(c.heed_backend_device(self._backend.pointer))})"

    def describe(self) -> str:
        """What was opened, in lines for people."""
        self._check()
        size = c.heed_model_describe(self._handle.pointer, None, 0)
        buffer = ctypes.create_string_buffer(size + 1)
        c.heed_model_describe(self._handle.pointer, buffer, size + 1)
        return text(buffer.value)

    def label(self, index: int) -> str:
        """The label of a class."""
        self._check()
        if not 0 <= index < self.info.classes:
            raise fail(f"label: no such class (found {index}, expected 0 to {self.info.classes - 1})")
        return text(c.heed_model_label(self._handle.pointer, index))

    def session(self, **options: Any) -> Session:
        """A session with options of its own: size, batch, taps, rows, changes, temperature, progress.

        size: pixels a side, or (height, width). batch: pictures a run. taps: "maps" (all attention weights), "hidden" (states after each layer),
        "rows" (query and key, from which run.map computes rows again), "all", "none", or names. rows: the queries whose weights are kept.
        changes: heed.Changes. temperature: divides the logits of every attention.
        """
        return Session(self, **options)

    def _session_for(self, image: Array | None, options: Mapping[str, Any]) -> Session:
        """The last session, if it fits and nothing looks at it; else a new one."""
        grid: Pair | None = None
        if image is not None and options.get("size") is None:
            height, width = ctypes.c_uint32(), ctypes.c_uint32()
            call("heed_preprocess_size", ctypes.byref(self._preprocess_at(None)), image.shape[1], image.shape[0], ctypes.byref(width),
                 ctypes.byref(height))
            grid = (height.value, width.value)
        key = repr((grid, sorted(options.items())))
        if self._last and self._last[0] == key and self._last[1]._handle.open and not len(self._last[1]._views):
            return self._last[1]
        self._last = None
        made = Session(self, **options, _grid=grid)
        self._last = (key, made)
        return made

    def run(self, image: Any, **options: Any) -> Any:
        """Runs the model on a picture, or on a list or an iterable of them; options as of session(), and progress.

        A list is one batch and gives a list of runs. An iterable gives an iterator of runs, each of which holds until the next one.
        """
        self._check()
        progress = options.pop("progress", None)
        if isinstance(image, Iterator):
            return (self.run(one, progress=progress, **options) for one in image)
        several = isinstance(image, (list, tuple))
        pictures = list(image) if several else [image]
        if not pictures:
            return []
        read = [_pictures.read(self._context.pointer, one, self.info.channels) for one in pictures]
        session = self._session_for(read[0], {**options, "batch": len(read)})
        runs: list[Run] = session.run(read, progress=progress)
        for run, one in zip(runs, pictures):
            run.name = os.fspath(one) if isinstance(one, (str, os.PathLike)) else ""
        return runs if several else runs[0]

    def forward(self, pixel_values: Any, **options: Any) -> Any:
        """Runs the model on pixel_values [channels, height, width] or [B, ...] that you made; options as of session()."""
        self._check()
        progress = options.pop("progress", None)
        shape = np.shape(pixel_values)
        if len(shape) not in (3, 4):
            raise fail(f"pixel_values: wrong shape (found {list(shape)}, expected [channels, height, width] or [B, channels, height, width])")
        size = (int(shape[-2]), int(shape[-1]))
        session = self._session_for(None, {**options, "size": size, "batch": int(shape[0]) if len(shape) == 4 else 1})
        return session.forward(pixel_values, progress=progress)

    def survey(self, pictures: Iterable[Any], *, progress: Callable[[int], object] | None = None, **options: Any) -> Survey:
        """Statistics of every head over many pictures. progress(done) is called after each; tqdm's update fits."""
        self._check()
        rows, labels, found = [], [], []
        for picture in pictures:
            run = self.run(picture, **options)
            found.append(run.statistics())
            rows.append(run.name)
            labels.append(run.top(1)[0][0] if run.logits is not None else "")
            if progress is not None:
                progress(1)
        shape = (len(rows), self.info.layers, self.info.heads, len(_arrays.Statistics._fields))
        return Survey(rows, labels, np.array(found, np.float64).reshape(shape))

    def close(self) -> None:
        """Frees the model and its sessions."""
        self._last = None
        if self._texts is not None:
            self._texts._handle.close()
        for session in list(self._sessions):
            session.close()
        for handle in (self._handle, self._files, self._backend):
            handle.close()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        info = self.info
        return (f"<heed model {info.family}: {info.layers} layers x {info.heads} heads, width {info.width}, patches of {info.patch} pixels, "
                f"{info.classes} classes>")


class Survey(NamedTuple):
    """names and classes of the pictures, and statistics float64 [pictures, layers, heads, fields of heed.Statistics]."""
    names: list[str]
    classes: list[str]
    statistics: npt.NDArray[np.float64]

    def mean(self, field: str) -> npt.NDArray[np.float64]:
        """The mean over pictures of one statistic, [layers, heads]."""
        if field not in _arrays.Statistics._fields:
            raise fail(f"survey.mean: no such statistic (found {field!r}, expected one of {', '.join(_arrays.Statistics._fields)})")
        return np.asarray(self.statistics[..., _arrays.Statistics._fields.index(field)].mean(0))


def open(path: Any, *, device: str = "auto", threads: int = 0, simd: str | None = None, precision: str = "auto", weights_key: str | None = None,
         names: Any = None, hints: str | None = None, size: Pair | None = None, preprocess: Mapping[str, Any] | None = None) -> Model:
    """Opens a vision transformer: a folder, a .safetensors, .onnx, .pth, .pt, .bin or .ckpt file.

    device: "auto" (the first GPU that passes its self-check, else the CPU), "cpu", "vulkan", "vulkan:1". threads: 0 is one per core. simd: the
    CPU kernels, such as "avx2". precision, of Vulkan: "f32", "f16", "auto". weights_key, names, hints: as the options of the command line.
    size: (height, width), of an ONNX graph that leaves it open. preprocess: what replaces parts of the model's own, where its files have too little:
    {"mean": 0.5, "std": [0.2, 0.2, 0.2], "resample": "bicubic", "crop": 0.9, "squash": True, "rescale": 1 / 255}. Raises heed.Error.
    """
    return Model(path, device=device, threads=threads, simd=simd, precision=precision, weights_key=weights_key, names=names, hints=hints, size=size,
                 preprocess=preprocess)
