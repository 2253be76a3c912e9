"""Models that are no path: the bytes of a file, and weights as arrays, such as the state_dict of a module of torch."""
from __future__ import annotations

import bisect
import contextlib
import ctypes
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _abi
from ._library import desc, fail, fields

if TYPE_CHECKING:
    import numpy.typing as npt

WEIGHTS = b"model.safetensors"
# What .safetensors calls the types of NumPy.
TYPES = {"float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL"}
Read = fields(_abi.heed_source)["read"]


def as_array(name: str, value: Any) -> npt.NDArray[Any]:
    """A tensor as a dense array in the CPU's memory; numbers that NumPy has not, such as bfloat16, as float32."""
    if hasattr(value, "detach"):  # torch: a parameter, which may be on a device
        value = value.detach().cpu()
        if "bfloat16" in str(value.dtype):
            value = value.float()
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        value = np.from_dlpack(value)
    if not hasattr(value, "__array__") and not hasattr(value, "__array_interface__"):
        raise fail(f"weights: not an array (found {type(value).__name__} at {name!r}, expected arrays or tensors)")
    array = np.asarray(value)
    array = array.astype(np.float32) if array.dtype.name in ("float64", "bfloat16") else array
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.name not in TYPES:
        raise fail(f"weights: wrong numbers (found {array.dtype.name} at {name!r}, expected {', '.join(TYPES)})")
    return np.require(array, requirements="C")


class Sources:
    """The files of a model in memory, as heed_model_open takes them. It must stay as long as what was opened from it."""

    def __init__(self, config: Any, names: Any, hints: Any):
        self._kept: list[Any] = []
        self._files: list[_abi.heed_model_file] = []
        for name, value in ((b"config.json", config), (b"names.json", names), (b"hints.json", _hints(hints))):
            if value is not None:
                self.add(name, _json(name.decode(), value))

    def add(self, name: bytes, data: bytes) -> None:
        self._kept.append(data)
        source = _abi.heed_source(size=len(data), bytes=ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p))
        self._files.append(_abi.heed_model_file(name, source))

    def add_arrays(self, weights: Mapping[str, Any]) -> None:
        """Arrays as a .safetensors file that is nowhere whole: its header, then the arrays where they lie."""
        if not weights or not all(isinstance(name, str) for name in weights):
            raise fail("weights: no dictionary of arrays (found none, or names that are no text, expected {\"name\": array, ...})")
        arrays = {name: as_array(name, value) for name, value in weights.items()}
        header, at = {}, 0
        for name, array in arrays.items():
            header[name] = {"dtype": TYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
            at += array.nbytes
        head = json.dumps(header).encode()
        head = (len(head).to_bytes(8, "little") + head)
        parts = [array for array in arrays.values() if array.nbytes]
        addresses = [ctypes.cast(ctypes.c_char_p(head), ctypes.c_void_p).value or 0, *(array.ctypes.data for array in parts)]
        sizes = [len(head), *(array.nbytes for array in parts)]
        begins = [0, *np.cumsum(sizes[:-1]).tolist()] if parts else [0]

        def read(user: int | None, offset: int, to: int, count: int, error: Any) -> int:
            part = bisect.bisect_right(begins, offset) - 1
            while count:
                inside = offset - begins[part]
                size = min(count, sizes[part] - inside)
                ctypes.memmove(to, addresses[part] + inside, size)
                offset, to, count, part = offset + size, to + size, count - size, part + 1
            return _abi.HEED_OK

        called = Read(read)
        self._kept += [head, parts, called]
        self._files.append(_abi.heed_model_file(WEIGHTS, _abi.heed_source(size=sum(sizes), read=called)))

    def desc(self) -> _abi.heed_model_desc:
        files = (_abi.heed_model_file * len(self._files))(*self._files)
        self._kept.append(files)
        return desc(_abi.heed_model_desc, files=files, file_count=len(files))


def _json(what: str, value: Any) -> bytes:
    """A dictionary, or the path of a file, as the text of a .json."""
    if isinstance(value, (str, os.PathLike)):
        with open(value, "rb") as file:
            return file.read()
    if not isinstance(value, Mapping):
        raise fail(f"{what}: not valid (found {type(value).__name__}, expected a dictionary or a path)")
    try:
        return json.dumps(dict(value)).encode()
    except (TypeError, ValueError) as error:
        raise fail(f"{what}: not valid ({error}, expected what JSON can hold)") from None


def _hints(hints: Any) -> Any:
    """"heads=4,norm=after" as a dictionary."""
    if not isinstance(hints, str):
        return hints
    found: dict[str, Any] = {}
    for one in hints.split(","):
        key, equals, value = one.partition("=")
        if not (key and equals and value):
            raise fail(f"hints: invalid hint (found {one!r}, expected KEY=VALUE,KEY=VALUE, such as heads=4,norm=after)")
        try:
            found[key] = float(value) if set(value) & set(".eE") else int(value)
        except ValueError:
            found[key] = value
    return found


def ending(data: bytes) -> str:
    """What the first bytes of a file of weights say of its kind."""
    if len(data) > 9 and int.from_bytes(data[:8], "little") <= len(data) - 8 and data[8:9] == b"{":
        return ".safetensors"
    return ".pth" if data[:2] in (b"PK", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05") else ".onnx"


class Written:
    """The bytes of a file of weights as a file, as long as it is being opened: what is open stays readable."""

    def __init__(self, data: bytes, kind: str):
        import tempfile  # here, since few programs need it and it imports much

        self.place = tempfile.TemporaryDirectory(prefix="heed-")
        self.path = os.path.join(self.place.name, f"model{kind}")
        with open(self.path, "wb") as file:
            file.write(data)

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # Windows before 10 keeps the name of a file that is open
            self.place.cleanup()
