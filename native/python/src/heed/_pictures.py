"""Pictures as heed takes them: from a path, from bytes, from arrays, from Pillow and from tensors."""
from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _abi
from ._library import BYTES, FLOATS, c, call, desc, fail

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

SAMPLES = {"uint8": _abi.HEED_SAMPLES_U8, "uint16": _abi.HEED_SAMPLES_U16, "float32": _abi.HEED_SAMPLES_F32}


def decoded(context: Any, source: str | bytes, channels: int) -> Array:
    """Reads a file, or its bytes, as an array [height, width, channels] of its own memory."""
    picture = _abi.heed_picture()
    limits = ctypes.byref(desc(_abi.heed_image_limits, channels=channels))
    if isinstance(source, str):
        call("heed_image_load_within", context, os.fsencode(source), limits, ctypes.byref(picture))
    else:
        call("heed_image_decode_within", context, b"picture", source, len(source), limits, ctypes.byref(picture))
    try:
        view = c.heed_picture_view(ctypes.byref(picture))
        kind = {number: name for name, number in SAMPLES.items()}[view.samples]
        size = view.height * view.width * view.channels * np.dtype(kind).itemsize
        flat = np.frombuffer(ctypes.string_at(view.pixels, size), kind)
        return flat.reshape(view.height, view.width, view.channels)
    finally:
        c.heed_picture_free(context, ctypes.byref(picture))


def from_array(value: Any, channels: int) -> Array:
    """An array or tensor as [height, width, channels]; [channels, height, width] where only that fits."""
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        array = np.asarray(value)
    elif hasattr(value, "__dlpack__"):
        array = np.from_dlpack(value)
    else:
        raise fail(f"picture: not a picture (found {type(value).__name__}, expected a path, bytes, a Pillow image, an array or a tensor)")
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    if array.dtype.name not in SAMPLES:
        raise fail(f"picture: wrong samples (found {array.dtype.name}, expected {', '.join(SAMPLES)})")
    if array.ndim == 2:
        array = array[:, :, None]
    fits = {1, 3, 4, channels}
    if array.ndim == 3 and array.shape[2] not in fits and array.shape[0] in fits:
        array = np.moveaxis(array, 0, 2)
    if array.ndim != 3 or array.shape[2] not in fits or 0 in array.shape:
        raise fail(f"picture: wrong shape (found {list(array.shape)}, expected [height, width] or [height, width, {channels}])")
    return np.ascontiguousarray(array)


def read(context: Any, value: Any, channels: int) -> Array:
    """Any kind of picture as an array [height, width, channels] of 8 or 16 bits or of floats."""
    if isinstance(value, (str, os.PathLike)):
        return decoded(context, os.fspath(value), channels)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return decoded(context, bytes(value), channels)
    if type(value).__module__.split(".")[0] == "PIL":
        mode = getattr(value, "mode", None)
        if mode == "I":  # 16 bits of grey, which convert() would cut to 255
            whole = np.asarray(value)
            if whole.size and not 0 <= whole.min() <= whole.max() <= 65535:
                raise fail(f"picture: wrong numbers (found {whole.min()} to {whole.max()}, expected 16 bits: 0 to 65535)")
            return from_array(whole.astype(np.uint16), channels)
        if mode not in ("L", "RGB", "I;16", "F"):
            value = value.convert("RGB")  # palettes, CMYK, alpha
    return from_array(value, channels)


def image(array: Array) -> _abi.heed_image:
    """What the C interface takes; it points into the array, which must stay."""
    return _abi.heed_image(ctypes.cast(array.ctypes.data, BYTES), array.shape[1], array.shape[0], array.shape[2],
                           array.strides[0], SAMPLES[array.dtype.name])


def tensor(value: Any) -> npt.NDArray[np.float32]:
    """Numbers that the caller made, as dense float32."""
    if hasattr(value, "detach"):  # torch, where a tensor may have a gradient or lie on a device
        value = value.detach().cpu()
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        value = np.from_dlpack(value)
    try:
        if np.iscomplexobj(value):
            raise TypeError
        return np.ascontiguousarray(value, np.float32)
    except (TypeError, ValueError):
        raise fail(f"pixel_values: not numbers (found {type(value).__name__}, expected an array or a tensor)") from None


def prepared_size(preprocess: Any, array: Array) -> tuple[int, int]:
    """Height and width that a model takes a picture at."""
    width, height = ctypes.c_uint32(), ctypes.c_uint32()
    call("heed_preprocess_size", ctypes.byref(preprocess), array.shape[1], array.shape[0], ctypes.byref(width), ctypes.byref(height))
    return height.value, width.value


def prepared(context: Any, preprocess: Any, array: Array, channels: int, to: Any = None) -> tuple[npt.NDArray[np.float32], tuple[float, float, float, float]]:
    """A picture as pixel_values [channels, height, width], in an array of its own or in `to`, and the part of it that they show."""
    pixels: npt.NDArray[np.float32] = np.empty((channels, *prepared_size(preprocess, array)), np.float32) if to is None else to
    region, view = _abi.heed_region(), image(array)
    call("heed_preprocess_image", context, ctypes.byref(preprocess), ctypes.byref(view), pixels.ctypes.data_as(FLOATS),
         ctypes.byref(region))
    return pixels, (region.x, region.y, region.width, region.height)


def folder(path: Any) -> list[str]:
    """The pictures of a folder, by name; heed.Error where there is none."""
    try:
        names = sorted(entry.path for entry in os.scandir(path) if entry.is_file())
    except OSError as error:
        raise fail(f"{path}: cannot be read ({error.strerror})", "IO") from None
    found = [name for name in names if c.heed_is_picture_path(os.fsencode(name))]
    if not found:
        raise fail(f"{path}: no pictures (found {len(names)} other files, expected such as .png or .jpg)")
    return found


def shown(context: Any, array: Array) -> Array:
    """The picture as RGB of 8 bits, [height, width, 3], for people: of other channels as heed_picture_show makes them."""
    if array.dtype == np.uint8:
        return np.ascontiguousarray(np.repeat(array, 3, 2) if array.shape[2] == 1 else array[:, :, :3])
    first = array[:, :, :3 if array.shape[2] >= 3 else 1].astype(np.float64)
    if array.dtype == np.uint16:
        bytes_ = first / 257
    else:
        finite = first[np.isfinite(first)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
        bytes_ = np.nan_to_num((first - low) * (255 / (high - low) if high > low else 0.0))
    return np.ascontiguousarray(np.broadcast_to(np.rint(bytes_).astype(np.uint8), (*array.shape[:2], 3)))
