"""Models: opening, running, surveys."""
from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _abi, _arrays, _pictures, _texts
from ._backend import log, new_backend, new_context
from ._library import Handle, c, call, desc, encoded, fail, text
from ._run import Run
from ._session import Pair, Session


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

    def _session_for(self, image: npt.NDArray[Any] | None, options: Mapping[str, Any]) -> Session:
        """The last session, if it fits and nothing looks at it; else a new one."""
        if options.get("rows") is not None:  # the text of a long array leaves numbers out
            options = {**options, "rows": [int(row) for row in options["rows"]]}
        if not isinstance(options.get("taps", "maps"), str):
            options = {**options, "taps": [str(name) for name in options["taps"]]}
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
