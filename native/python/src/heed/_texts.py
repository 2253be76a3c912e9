"""The text tower of CLIP and SigLIP: texts as embeddings, and pictures compared with them."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np

from . import _abi, _arrays
from ._library import DOUBLES, I32, Handle, c, call, desc, fail

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._model import Model


class Scores(NamedTuple):
    """A picture beside texts: logits float32 [K], and probabilities float64 [K], by softmax (CLIP) or sigmoid (SigLIP)."""
    logits: npt.NDArray[np.float32]
    probabilities: npt.NDArray[np.float64]


class TextTower:
    """The tower beside a vision tower. One thread uses it at a time."""

    def __init__(self, model: Model):
        both = _abi.heed_model_desc.from_buffer_copy(model._desc)
        both.tower = _abi.HEED_TOWER_TEXT
        self._model, self._context = model, model._context
        self._handle = Handle("heed_model_destroy", model._handle)  # whose files it reads
        call("heed_model_open", self._context.pointer, ctypes.byref(both), self._handle.out)
        self._tokenizer = Handle("heed_tokenizer_destroy", self._context)
        call("heed_tokenizer_open", self._context.pointer, ctypes.byref(both), self._tokenizer.out)
        self._info = _abi.heed_model_info()
        c.heed_model_get_info(self._handle.pointer, ctypes.byref(self._info))

    def ids(self, texts: Sequence[str]) -> npt.NDArray[np.int32]:
        """Token ids [K, T], as long as the longest; as long as any may be where tokens attend to the padding behind them."""
        if isinstance(texts, (str, bytes)) or not texts or not all(isinstance(one, str) for one in texts):
            raise fail("texts: not a list of texts (found something else, expected such as [\"a cat\", \"a dog\"])")
        how = c.heed_tokenizer_get_info(self._tokenizer.pointer).contents
        most = min(how.most, self._info.max_length) if how.most else self._info.max_length
        rows = np.full((len(texts), most), how.padding, np.int32)
        longest = most if self._info.text_padded or not self._info.causal else 1
        for row, one in zip(rows, texts):
            count, whole, bytes_ = ctypes.c_uint32(), ctypes.c_uint32(), one.encode()
            found = (ctypes.c_int32 * most)()
            call("heed_tokenizer_encode", self._tokenizer.pointer, bytes_, len(bytes_), found, most, ctypes.byref(count), ctypes.byref(whole))
            row[:count.value] = found[:count.value]
            longest = max(longest, count.value)
        ids = np.ascontiguousarray(rows[:, :longest])
        if ids.min() < 0 or ids.max() >= self._info.source_vocabulary:
            raise fail(f"tokenizer: it does not fit the model (found id {ids.max()}, expected ids below {self._info.source_vocabulary})",
                       "INVALID_FILE")
        return ids

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embeddings [K, E], not normalised."""
        ids = self.ids(texts)
        graph, backend = Handle("heed_graph_destroy", self._handle), self._model._backend
        build = desc(_abi.heed_build_desc, batch=ids.shape[0], source_length=ids.shape[1])
        call("heed_model_build", self._handle.pointer, ctypes.byref(build), graph.out)
        plan = Handle("heed_plan_destroy", graph, backend)
        call("heed_plan_create", graph.pointer, backend.pointer, None, plan.out)
        session = Handle("heed_session_destroy", plan)
        call("heed_session_create", plan.pointer, None, session.out)
        call("heed_session_write", session.pointer, c.heed_graph_find(graph.pointer, b"input_ids"), ids.ctypes.data, ids.nbytes)
        call("heed_session_run", session.pointer, None)
        value = c.heed_graph_find(graph.pointer, b"token_embeds" if self._info.projection else b"last_hidden_state")
        info = _abi.heed_value_info()
        c.heed_graph_value_info(graph.pointer, value, ctypes.byref(info))
        states = np.empty(tuple(info.shape.dim[:3]), np.float32)
        call("heed_session_read", session.pointer, value, 0, states.size, states.ctypes.data)
        at = [c.heed_text_row(ctypes.byref(self._info), row.ctypes.data_as(I32), row.size) for row in ids]
        return np.ascontiguousarray(states[np.arange(len(ids)), at])

    def compare(self, image: npt.NDArray[np.float32], texts: npt.NDArray[np.float32]) -> Scores:
        """An image's embedding [E] beside those of texts [K, E]."""
        one, rows = _arrays.floats("image", image, 1), _arrays.floats("texts", texts, 2)
        if one.size != rows.shape[1] or (self._info.projection and one.size != self._info.projection):
            raise fail(f"compare: wrong sizes (found {one.size} and {rows.shape[1]}, expected {self._info.projection or rows.shape[1]} of both)")
        logits, probabilities = np.empty(len(rows), np.float32), np.empty(len(rows), np.float64)
        c.heed_compare(ctypes.byref(self._info), _arrays.pointer(one), _arrays.pointer(rows), len(rows), _arrays.pointer(logits),
                       probabilities.ctypes.data_as(DOUBLES))
        return Scores(logits, probabilities)


def scores(tower: TextTower, image: Any, texts: Sequence[str]) -> Scores:
    """What run.scores returns."""
    if image is None:
        raise fail("scores: the run has no image embedding (expected the model of images and texts, such as CLIP)", "UNSUPPORTED")
    return tower.compare(image, tower.embed(texts))
