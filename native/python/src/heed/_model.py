"""Models: opening, running, surveys."""
from __future__ import annotations

import ctypes
import os
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from . import _abi, _arrays, _explain, _pictures, _sources, _texts
from ._backend import log, new_backend, new_context
from ._library import Handle, Unpicklable, c, call, desc, encoded, fail, text

if TYPE_CHECKING:
    import numpy.typing as npt
from ._run import Run
from ._session import Pair, Session, names, numbers, side


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
    frames: int  # of a model of videos; 0: of pictures
    stages: int  # of a model whose layers have grids of their own; 0: all have one


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


class Model(Unpicklable):
    """An open model; a context manager. heed.open makes it. info: what it is."""

    def __init__(self, source: Any, *, device: str, threads: int, simd: str | None, precision: str, weights_key: str | None, names: Any,
                 hints: Any, size: Pair | None, preprocess: Mapping[str, Any] | None, config: Any):
        self._context = new_context()
        self._files = Handle("heed_model_files_destroy", self._context)
        self._handle = Handle("heed_model_destroy", self._files)
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._last: tuple[str, Session] | None = None
        self._texts: _texts.TextTower | None = None
        self._busy = 0  # calls that run on its backend, beside those of sessions
        self._desc = self._opened(source, config, names, hints, weights_key, size)
        path = source if isinstance(source, (str, os.PathLike)) else "model"
        found = _abi.heed_model_info()
        c.heed_model_get_info(self._handle.pointer, ctypes.byref(found))
        if found.kind != _abi.HEED_MODEL_VISION:
            raise fail(f"{path}: not a vision transformer, which this package runs (heed run MODEL runs it)", "UNSUPPORTED")
        self.info = Info(text(found.family), found.width, found.layers, found.heads, found.image_size, found.patch, found.channels,
                         found.prefix_tokens, found.classes, found.parameters, found.weight_bytes,
                         tuple(text(found.token_names[i]) for i in range(found.prefix_tokens)), text(found.rules), text(found.assumed),
                         found.frames, found.stages)
        if self.info.assumed:
            log().warning("%s: assumed: %s", path, self.info.assumed)
        self._changed = _preprocess_options(preprocess or {})
        self._preprocess_at(None)  # a value that does not fit is refused here
        self._each_class = bool(c.heed_onnx_each_class(self._handle.pointer))
        self._backend = new_backend(self._context, device, threads, simd, precision)

    def _opened(self, source: Any, config: Any, names: Any, hints: Any, weights_key: str | None, size: Pair | None) -> _abi.heed_model_desc:
        """Opens what lies in memory or at a path; returns the files that it was opened from."""
        if isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
            kind = _sources.ending(data)
            if kind != ".safetensors":
                with _sources.Written(data, kind) as path:
                    return self._opened(path, config, names, hints, weights_key, size)
        if isinstance(source, (bytes, bytearray, memoryview, Mapping)):
            files = _sources.Sources(config, names, hints)
            if isinstance(source, Mapping):
                files.add_arrays(source)
            else:
                files.add(_sources.WEIGHTS, data)
            self._handle.sources = files  # type: ignore[attr-defined]  # as long as C may read them
            found = files.desc()
            call("heed_model_open", self._context.pointer, ctypes.byref(found), self._handle.out)
            return found
        if config is not None:
            raise fail("config: not of a path (found both, expected config.json beside the weights)")
        if not isinstance(source, (str, os.PathLike)):
            raise fail(f"model: not a model (found {type(source).__name__}, expected a path, bytes of a file, or a dictionary of arrays)")
        if isinstance(hints, Mapping):
            hints = ",".join(f"{key}={value}" for key, value in hints.items())
        how = desc(_abi.heed_load_desc, weights_key=encoded(weights_key), names=encoded(names), hints=encoded(hints),
                   height=size[0] if size else 0, width=size[1] if size else 0)
        call("heed_model_load", self._context.pointer, os.fsencode(source), ctypes.byref(how), self._files.out, self._handle.out)
        return _abi.heed_model_desc.from_buffer_copy(c.heed_model_files_desc(self._files.pointer).contents)

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
        if not isinstance(index, (int, np.integer)) or not 0 <= index < self.info.classes:
            raise fail(f"label: no such class (found {index}, expected 0 to {self.info.classes - 1})")
        return text(c.heed_model_label(self._handle.pointer, index))

    def session(self, **options: Any) -> Session:
        """A session with options of its own: size, batch, taps, rows, changes, temperature, frames, progress.

        size: pixels a side, or (height, width). batch: pictures a run. taps: "maps" (all attention weights), "hidden" (states after each layer),
        "rows" (query and key, from which run.map computes rows again), "all", "none", or names. rows: the queries whose weights are kept.
        changes: heed.Changes. temperature: divides the logits of every attention. frames: of a video, a multiple of its tubelet; 0: the model's.
        """
        return Session(self, **options)

    def _session_for(self, image: npt.NDArray[Any] | None, options: Mapping[str, Any]) -> Session:
        """The last session, if it fits and nothing looks at it; else a new one."""
        if options.get("rows") is not None:  # the text of a long array leaves numbers out
            options = {**options, "rows": numbers(options["rows"])}
        if not isinstance(options.get("taps", "maps"), str):
            options = {**options, "taps": names(options["taps"])}
        grid: Pair | None = None
        if image is not None and options.get("size") is None:
            grid = _pictures.prepared_size(self._preprocess_at(None), image)
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
        A model of videos takes a folder or a list of frames, of which it spreads info.frames evenly over the video, and gives one run.
        """
        self._check()
        progress = options.pop("progress", None)
        if isinstance(image, Iterator):
            return (self.run(one, progress=progress, **options) for one in image)
        if self.info.frames:
            return self.forward(self._pixels("video", self._frames(image), options.pop("size", None)), progress=progress, **options)
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
        """Runs the model on pixel_values [channels, height, width] or [B, ...] that you made, of a video [frames, channels, height, width];
        options as of session()."""
        self._check()
        progress = options.pop("progress", None)
        array = _pictures.tensor(pixel_values)
        rank = 4 if self.info.frames else 3
        if array.ndim not in (rank, rank + 1) or 0 in array.shape:
            one = "frames, " * bool(self.info.frames) + "channels, height, width]"
            raise fail(f"pixel_values: wrong shape (found {list(array.shape)}, expected [{one} or [B, {one})")
        height, width = array.shape[-2:]
        batch = len(array) if array.ndim > rank else 1
        shape = {"size": (height, width), "batch": batch, **({"frames": array.shape[-4]} if self.info.frames else {})}
        session = self._session_for(None, {**options, **shape})
        return session.forward(array, progress=progress)

    def explain(self, image: Any = None, methods: str | Sequence[str] = "ledger", target: Any = None, *, pixel_values: Any = None,
                source_values: Any = None, size: int | Pair | None = None, layer: int | None = None, source: Any = None, source_mean: bool = False,
                texts: Sequence[str] | None = None, vector: Any = None, noise: Any = None, ig_steps: int = 0, sites: str | Sequence[str] | None = None,
                heads: str | Sequence[str] | None = None, clusters: int = 0, square: int = 0, map: Any = None, other: Any = None, pixels: Any = None,
                mask: Any = None, steps: int = 0, curves: str = "both", flip_pixels: int = 0, percent: Sequence[float] | None = None,
                progress: Callable[[str, int, int], object] | None = None) -> _explain.Explanation:
        """What the answer rests on, by named methods of heed.explain_methods: model.explain("cat.jpg", "ledger,lens", target=281).

        image: a picture, or a list of pictures of one size; or pixel_values [B, channels, height, width] instead (of source: source_values).
        target: the score, which is a class by number or label, (N, M) for a difference, a text as docs/explain.md has it, or None for the largest
        logit. texts: CLIP's, whose logits are the classes then. vector [C]: of target="vector". layer: of pca, similarity. source: picture A of patch,
        atp, similarity, or several with source_mean; of ablation, one or several. sites: of patch. heads, as "3.0,4.1": of ablation. clusters: of
        kmeans. square, in patches: of occlusion. noise [n, channels, height, width]: of smoothgrad. map [B, patches] or a map alone, other, pixels,
        mask [B, height, width]: what deletion, insertion, flipping, road, localisation, spearman judge; steps, curves ("both", "tokens", "pixels"),
        flip_pixels, percent: how. progress(phase, done, total). Raises heed.Error.
        """
        self._check()
        inputs: dict[str, Any] = {"pixel_values": self._pixels("image", image, size) if pixel_values is None else _tensor4(pixel_values)}
        batch, _, height, width = inputs["pixel_values"].shape
        given = {"judge.map": (map, np.float32, (batch, -1)), "judge.other": (other, np.float32, (batch, -1)),
                 "judge.pixels": (pixels, np.float32, (batch, height, width)), "judge.mask": (mask, np.uint8, (batch, height, width)),
                 "target.vector": (vector, np.float32, (-1,)), "noise": (noise, np.float32, (-1, *inputs["pixel_values"].shape[1:]))}
        for name, (value, kind, shape) in given.items():
            if value is not None:
                inputs[name] = _shaped(name, value, kind, shape)
        if source is not None or source_values is not None:
            inputs["source.pixel_values"] = self._pixels("source", source, size) if source_values is None else _tensor4(source_values)
        if texts is not None:
            inputs["input_ids"] = self.texts.ids(texts)
        self._busy += 1
        try:
            return _explain.explain(self, inputs, methods, target=target, layer=layer, ig_steps=ig_steps, sites=sites, source_mean=source_mean, heads=heads,
                                    clusters=clusters, square=square, steps=steps, curves=curves,
                                    flip_pixels=flip_pixels, percent=percent, texts=texts is not None, progress=progress)
        finally:
            self._busy -= 1

    def _frames(self, video: Any) -> list[Any]:
        """info.frames pictures of a folder or list of them, evenly spread as `heed run` does; one picture stands still."""
        if isinstance(video, (str, os.PathLike)) and os.path.isdir(video):
            video = sorted(_pictures.folder(video))
        there = list(video) if isinstance(video, (list, tuple)) or getattr(video, "ndim", 0) == 4 else [video]
        if not there:
            raise fail(f"video: no frames (found none, expected a folder or a list of {self.info.frames} pictures)")
        last, wanted = len(there) - 1, self.info.frames
        if last + 1 != wanted:
            log().warning("video: %d frames of %d, evenly spread", wanted, last + 1)
        return [there[i * last // max(wanted - 1, 1)] for i in range(wanted)]

    def _pixels(self, what: str, image: Any, size: int | Pair | None) -> npt.NDArray[np.float32]:
        """A picture or a list of them as pixel_values [B, channels, height, width], as the model itself prepares them."""
        if image is None:
            raise fail(f"{what}: missing (expected a picture, a list of pictures, or pixel_values)")
        found = [_pictures.read(self._context.pointer, one, self.info.channels) for one in (image if isinstance(image, (list, tuple)) else [image])]
        how = self._preprocess_at(side(size))
        made = [_pictures.prepared(self._context.pointer, how, one, self.info.channels) for one in found]
        if len({one.shape for one, _ in made}) != 1:
            raise fail(f"{what}: pictures of different sizes (found {[list(one.shape[1:]) for one, _ in made]}, expected one size; size=... sets it)")
        return np.stack([one for one, _ in made])

    def survey(self, pictures: Any, *, progress: Callable[[int], object] | None = None, **options: Any) -> Survey:
        """Statistics of every head over many pictures: a folder, or an iterable of what run() takes. progress(done) is called after each; tqdm's
        update fits. Raises heed.Error."""
        self._check()
        rows, labels, found = [], [], []
        for picture in _pictures.folder(pictures) if isinstance(pictures, (str, os.PathLike)) else pictures:
            run = self.run(picture, **options)
            found.append(run.statistics())
            rows.append(run.name)
            labels.append(run.top(1)[0][0] if run.logits is not None else "")
            if progress is not None:
                progress(1)
        shape = (len(rows), self.info.layers, self.info.heads, len(_arrays.Statistics._fields))
        return Survey(rows, labels, np.array(found, np.float64).reshape(shape))

    def close(self) -> None:
        """Frees the model and its sessions. It refuses while one of them runs, as in another thread or in a progress callback."""
        if self._busy or any(session._running for session in self._sessions):
            raise fail("model: it runs at the moment (expected close() once its runs have ended)")
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


def _tensor4(value: Any) -> npt.NDArray[np.float32]:
    """pixel_values that the caller made, [B, channels, height, width]."""
    array = _pictures.tensor(value)
    if array.ndim not in (3, 4) or 0 in array.shape:
        raise fail(f"pixel_values: wrong shape (found {list(array.shape)}, expected [channels, height, width] or [B, channels, height, width])")
    return array if array.ndim == 4 else array[None]


def _shaped(name: str, value: Any, kind: type, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    try:
        array = np.asarray(value) != 0 if kind is np.uint8 else np.asarray(value)
        return np.ascontiguousarray(array.reshape(shape), kind)
    except (TypeError, ValueError):
        raise fail(f"{name}: wrong shape (found {list(np.shape(value))}, expected {list(shape)}, -1 being any number)") from None


def open(path: Any, *, device: str = "auto", threads: int = 0, simd: str | None = None, precision: str = "auto", weights_key: str | None = None,
         names: Any = None, hints: Any = None, size: Pair | None = None, preprocess: Mapping[str, Any] | None = None, config: Any = None) -> Model:
    """Opens a vision transformer: a folder, a .safetensors, .onnx, .pth, .pt, .bin or .ckpt file, the bytes of one, or a dictionary of arrays.

    A dictionary has the weights by their names, such as the state_dict() of a module of torch or timm: heed.open(module.state_dict()). heed reads the
    arrays where they lie, and holds them as long as the model. With it and with bytes, config is what config.json would have: a dictionary or a path.

    device: "auto" (the first GPU that passes its self-check, else the CPU), "cpu", "vulkan", "vulkan:1". threads: 0 is one per core. simd: the
    CPU kernels, such as "avx2". precision, of Vulkan: "f32", "f16", "auto". weights_key, names, hints: as the options of the command line; names and
    hints of weights in memory may be dictionaries.
    size: (height, width), of an ONNX graph that leaves it open. preprocess: what replaces parts of the model's own, where its files have too little:
    {"mean": 0.5, "std": [0.2, 0.2, 0.2], "resample": "bicubic", "crop": 0.9, "squash": True, "rescale": 1 / 255}. Raises heed.Error.
    """
    return Model(path, device=device, threads=threads, simd=simd, precision=precision, weights_key=weights_key, names=names, hints=hints, size=size,
                 preprocess=preprocess, config=config)
