"""What a run gives: its values, maps and statistics."""
from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _abi, _arrays, _cell, _save, _texts, _widget
from ._figure import Map
from ._library import Error, Unpicklable, c, call, desc, fail, text

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._session import Place, Session

    Array = npt.NDArray[Any]
    Floats = npt.NDArray[np.float32]

Pair = tuple[int, int]
DTYPES = {_abi.HEED_F32: np.float32, _abi.HEED_U8: np.uint8, _abi.HEED_I32: np.int32}


class Tap(Unpicklable):
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
        whole = tuple(info.shape.dim[:info.shape.rank])
        self._dtype: Any = DTYPES[info.dtype]
        self.shape = whole
        if index is not None:  # windows of a picture lie side by side in the batch
            self.shape = whole[1:] if whole[0] == session.batch else (whole[0] // session.batch, *whole[1:])
        self.dtype = np.dtype(self._dtype)
        self.ndim = len(self.shape)

    def view(self) -> Array:
        """The value without a copy, read-only. While an array looks at it, the session does not run again."""
        self._run._check()
        return self._run.session._view(self._value, self.shape, self._dtype, self._index)

    def copy(self) -> Array:
        """The value in an array of its own, which stays."""
        self._run._check()
        return self._run.session._copied(self._value, self.shape, self._dtype, self._index)

    def __getitem__(self, at: Any) -> Any:
        found = self.view()[at]
        return found.copy() if isinstance(found, np.ndarray) else found

    def __len__(self) -> int:
        return int(self.shape[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self.copy()
        return array if dtype is None else array.astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        """A copy for another library: torch.from_dlpack(tap)."""
        return self.copy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU

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


class Run(Unpicklable):
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
        """attention[layer]: weights [heads, queries, keys]; of attention by windows [windows, heads, n, n], as heed_layer_info has them."""
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

    def _query(self, query: Any, place: Place) -> int:
        prefix = self.session.model.info.prefix_tokens
        if isinstance(query, (int, np.integer)):
            if not 0 <= query < prefix + math.prod(place.shape):
                raise fail(f"query: no such token (found {query}, expected 0 to {prefix + math.prod(place.shape) - 1})")
            return int(query)
        fits = isinstance(query, (tuple, list)) and len(query) == len(place.shape)
        if not fits or not all(isinstance(one, (int, np.integer)) and 0 <= one < end for one, end in zip(query, place.shape)):
            names = "(row, column)" if len(place.shape) == 2 else "(time, row, column)"
            raise fail(f"query: no such patch (found {query!r}, expected a token, or {names} in {' x '.join(map(str, place.shape))})")
        return prefix + int(np.ravel_multi_index([int(one) for one in query], place.shape))

    def _one_grid(self, what: str) -> None:
        """Refuses what is made for pictures, all of whose layers have one grid."""
        info = self.session.model.info
        if info.frames or info.stages:
            raise fail(f"{what}: not of a model of {'videos' if info.frames else 'stages'} (expected one picture and one grid of patches; "
                       "run.map and run.attention have each layer's)", "UNSUPPORTED")

    def map(self, layer: int = -1, head: int | None = None, query: int | Sequence[int] = 0) -> Map:
        """Where a query looks: one head's row of attention, or with head None the mean over heads.

        query: a token's number, 0 is CLS where the model has one; or (row, column) of a patch, in the grid of that layer; of a video
        (time, row, column). Needs the maps (taps="maps"), or query and key
        (taps="rows"), from which the row is computed again. In a notebook the result shows itself.
        """
        self._check()
        info = self.session.model.info
        if not isinstance(layer, (int, np.integer)) or (head is not None and not isinstance(head, (int, np.integer))):
            raise fail(f"map: no such head (found layer {layer!r}, head {head!r}, expected whole numbers)")
        at = int(layer) + info.layers if layer < 0 else int(layer)
        heads = self.session.places[at].heads if 0 <= at < info.layers else info.heads
        if not 0 <= at < info.layers or (head is not None and not 0 <= head < heads):
            raise fail(f"map: no such head (found layer {layer}, head {head}, expected {info.layers} layers of {heads} heads)")
        token = self._query(query, self.session.places[at])
        where = f"layer {at}, " + ("mean of heads" if head is None else f"head {head}")
        return Map(self, self._rows(at, head, [token])[0], token, where, self.session.places[at], place=None if head is None else (at, int(head)))

    def _rows(self, layer: int, head: int | None, queries: list[int]) -> Floats:
        """Some queries' weights [queries, keys] of a head, or of the mean over heads: from the maps, or computed again from query and key."""
        session, info = self.session, self.session.model.info
        weights = c.heed_graph_tap(session._graph.pointer, _abi.HEED_TAP_WEIGHTS, layer)
        if weights.id in session._kept:
            kept = session.rows
            missing = [] if kept is None else [query for query in queries if query not in kept]
            if missing:
                raise fail(f"map: this row is not kept (found query {missing[0]}, expected one of rows={kept})")
            places = queries if kept is None else [kept.index(query) for query in queries]
            view = Tap(self, weights, self._index).view()
            place = session.places[layer]
            if place.windows is not None:
                return self._windows(view, place, head, queries)
            found: Floats = view[head][places] if head is not None else view[:, places].mean(0, dtype=np.float64).astype(np.float32)
            return found
        if session.places[layer].windows is not None:
            raise fail(f"map: not kept by this session (found taps={session.taps!r}, expected taps=\"maps\": layer {layer} attends by windows)")
        values = np.empty((len(queries), info.prefix_tokens + math.prod(session.places[layer].shape)), np.float32)
        numbers = (ctypes.c_uint32 * len(queries))(*queries)
        how = desc(_abi.heed_attention_map_desc, batch=self._index, head=head or 0, head_mean=head is None, rows=numbers, row_count=len(queries))
        call("heed_session_attention_map", session._handle.pointer, weights, ctypes.byref(how), _arrays.pointer(values))
        return values

    def _windows(self, view: Floats, place: Place, head: int | None, queries: list[int]) -> Floats:
        """Rows over all tokens of a layer with windows: 0 outside of the query's own."""
        rows = np.empty((len(queries), place.heads if head is None else 1, place.rows * place.columns), np.float32)
        for i, query in enumerate(queries):
            for k in range(rows.shape[1]):
                c.heed_window_row(ctypes.byref(place.windows), _arrays.pointer(view), k if head is None else int(head), query,
                                  _arrays.pointer(rows[i, k]))
        found: Floats = rows.mean(1, dtype=np.float64).astype(np.float32)
        return found

    def save(self, path: Any, query: int | Pair = 0, colormap: str = "cividis") -> None:
        """Writes a figure of all layers and heads for one query: .png, .svg or .pdf, as map.save does. Needs the maps, or taps="rows"."""
        self._one_grid("save")
        info = self.session.model.info
        maps = [[self.map(layer, head, query) for head in range(info.heads)] for layer in range(info.layers)]
        _save.save(path, maps, colormap, self.name, f"all layers and heads, query {maps[0][0].query_name}")

    def rollout(self, query: int | Sequence[int] = 0, **options: Any) -> Map:
        """A token's row of the attention rollout over all layers; options as of heed.rollout. Needs the maps, or taps="rows"."""
        self._check()
        if self.session.model.info.stages:
            self._one_grid("rollout")
        token, session = self._query(query, self.session.places[-1]), self.session
        weights = [c.heed_graph_tap(session._graph.pointer, _abi.HEED_TAP_WEIGHTS, layer) for layer in range(session.model.info.layers)]
        if all(value.id in session._kept for value in weights):
            row = _arrays.rollout_row([tap.view() for tap in self.attention], token, **options)
        else:
            tokens = session.model.info.prefix_tokens + math.prod(session.places[-1].shape)
            row = np.zeros(tokens, np.float32)
            row[token] = 1
            how = _arrays.rollout_desc((len(weights), session.model.info.heads, tokens), **options)
            call("heed_session_rollout_row", session._handle.pointer, ctypes.byref(how), (_abi.heed_value * len(weights))(*weights), self._index,
                 _arrays.pointer(row), _arrays.pointer(row))
        return Map(self, row, token, "rollout", session.places[-1], kind=_abi.HEED_ROW_ROLLOUT)

    def scores(self, texts: Sequence[str]) -> _texts.Scores:
        """The picture beside texts, by the model's own text tower and tokenizer: CLIP, SigLIP."""
        return _texts.scores(self.session.model.texts, self.embedding, texts)

    def statistics(self) -> list[list[_arrays.Statistics]]:
        """Statistics of every head, [layers][heads]. Needs the maps."""
        self._one_grid("statistics")
        info, (rows, columns) = self.session.model.info, self.grid
        return [[_arrays.statistics(head, rows, columns, prefix=info.prefix_tokens, patch=info.patch) for head in self.attention[layer].view()]
                for layer in range(info.layers)]

    def __repr__(self) -> str:
        what = f"{self.top(1)[0][0]!r} {self.top(1)[0][1]:.3f}" if self.logits is not None else f"{self.grid[0]} x {self.grid[1]} patches"
        return f"<heed run {self.name or ('of pixel_values' if self.picture is None else 'of an array')}: {what}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        plain = {"text/plain": repr(self)}
        try:
            self._one_grid("html")
            return {**plain, **_cell.bundle(self.map(query=0 if self.session.rows is None else self.session.rows[0]), whole=True)}
        except Error:  # its maps are not kept, or the session has run again
            return plain

    def html(self, max_mb: float = 4, colormap: str = "cividis") -> str:
        """The run as one HTML document of at most max_mb: hover a patch to see where it looks. It needs no network. A notebook shows it by itself."""
        self._one_grid("html")
        return _cell.document(self, max_mb, colormap)

    def widget(self, max_mb: float = 4, colormap: str = "cividis") -> Any:
        """The same as an anywidget with traits layer, head and query, which follow the user and move the cell; needs heed[widget]."""
        return _widget.widget(self, max_mb, colormap)
