"""The shared libraries, and what every call of them needs: prototypes, statuses as exceptions, lifetimes."""
from __future__ import annotations

import ctypes
import os
import pathlib
import signal
import sys
import threading
from typing import Any, Callable, TypeVar

from . import _abi

Struct = TypeVar("Struct", bound=ctypes.Structure)
# Made once: a second interpreter of the process makes ctypes forget its pointers, and new ones are other types.
FLOATS, DOUBLES = ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.c_double)
BYTES, I32, U32 = ctypes.POINTER(ctypes.c_uint8), ctypes.POINTER(ctypes.c_int32), ctypes.POINTER(ctypes.c_uint32)


class Error(Exception):
    """What heed refuses or cannot do, in one sentence: *where: what was wrong (found ..., expected ...)*.

    status: the name of the status of the C interface, such as "INVALID_FILE". An error is also a ValueError, an OSError or a MemoryError where
    its status is of that kind.
    """

    def __init__(self, sentence: str, status: str = "INVALID_ARGUMENT"):
        super().__init__(sentence)
        self.status = status

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidError(Error, ValueError):
    """An argument or a file that does not fit."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class OutOfMemory(Error, MemoryError):
    """Memory that this machine or device lacks."""


KINDS: dict[str, type[Error]] = {"INVALID_ARGUMENT": InvalidError, "INVALID_FILE": InvalidError, "IO": FileError, "OUT_OF_MEMORY": OutOfMemory,
                                 "OUT_OF_DEVICE_MEMORY": OutOfMemory}


def fail(sentence: str, status: str = "INVALID_ARGUMENT") -> Error:
    """The exception of a status, to be raised."""
    return KINDS.get(status, Error)(sentence, status)


def folders() -> list[pathlib.Path]:
    """Where the libraries may lie: $HEED_LIBRARY, the wheel's own folder."""
    given = os.environ.get("HEED_LIBRARY")
    return [*([pathlib.Path(given)] if given else []), pathlib.Path(__file__).parent / "lib"]


def file_name(name: str, platform: str) -> str:
    """What a library is called on a platform of sys.platform: with the two numbers of the version that its interface has."""
    if platform == "cygwin":
        raise ImportError("heed: not on Cygwin (found cygwin, expected Python for Windows itself)")
    if platform == "win32":
        return f"{name}-{_abi.SONAME}.dll"
    return f"lib{name}.{_abi.SONAME}.dylib" if platform == "darwin" else f"lib{name}.so.{_abi.SONAME}"


def load(name: str) -> ctypes.CDLL:
    """Opens a library of this package, else the one that is installed on the system."""
    file = file_name(name, sys.platform)
    found = [str(folder / file) for folder in folders() if (folder / file).exists()]
    try:
        return ctypes.CDLL(found[0] if found else file, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise ImportError(f"heed: its library cannot be opened ({error}); set HEED_LIBRARY to the folder of {file}") from None


class Library:
    """The functions of both libraries by their names, with the prototypes of the headers."""

    def __init__(self) -> None:
        self.parts = [load(name) for name in (("heed",) if sys.platform == "win32" else ("heed", "heed_native"))]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _abi.FUNCTIONS:
            raise AttributeError(name)
        for part in reversed(self.parts):
            try:
                function: Callable[..., Any] = getattr(part, name)
                break
            except AttributeError:
                continue
        else:
            raise fail(f"{name}: this build of heed has no such function (expected one with Vulkan)", "UNSUPPORTED")
        function.restype, function.argtypes = _abi.FUNCTIONS[name]  # type: ignore[attr-defined]
        setattr(self, name, function)
        return function


c = Library()


def desc(kind: type[Struct], **fields: Any) -> Struct:
    """A descriptor with its struct_size; fields that are not named keep their defaults."""
    made = kind(**fields)
    made.struct_size = ctypes.sizeof(kind)
    return made


def fields(struct: type[ctypes.Structure]) -> dict[str, Any]:
    """The ctypes of a struct's fields by their names."""
    return {one[0]: one[1] for one in struct._fields_}


def encoded(path: Any) -> bytes | None:
    return None if path is None else os.fsencode(path)


def text(value: bytes | None) -> str:
    return "" if value is None else value.decode("utf-8", "replace")


def names(enum: str, prefix: str) -> dict[str, int]:
    """The members of an enumeration by their words: heed_fusion as mean, min, max."""
    return {name[len(prefix):].lower(): int(getattr(_abi, name)) for name in _abi.ENUMS[enum]}


def chosen(what: str, word: str, words: dict[str, int]) -> int:
    """The number of a word; a sentence for one that is not there."""
    if not isinstance(word, str) or word not in words:
        raise fail(f"{what}: not known (found {word!r}, expected one of {', '.join(words)})")
    return words[word]


def call(function: str, *arguments: Any) -> None:
    """Calls a function whose last argument is the error, and raises what it reports."""
    error = _abi.heed_error()
    status = getattr(c, function)(*arguments, ctypes.byref(error))
    if status != _abi.HEED_OK:
        raise fail(text(error.message) or function, text(c.heed_status_name(status)))


class Hooks:
    """Progress and cancelling of a long call. Ctrl-C cancels it: the interrupt is raised once the call has returned.

    A handler that raises could do so while Python enters cancel(), whose exception C would not see. So the signal is noted while C runs.
    """

    def __init__(self, progress: Callable[[str, int, int], object] | None = None):
        self.raised: BaseException | None = None
        self.noted: tuple[int, Any] | None = None
        self.handler: Any = None
        self.asked = progress
        types = fields(_abi.heed_hooks)
        self.desc = desc(_abi.heed_hooks, progress=types["progress"](self.progress), cancel=types["cancel"](self.cancel))

    def progress(self, phase: bytes, done: int, total: int, user: int | None) -> None:
        if self.asked is None or self.raised is not None:
            return
        try:
            self.asked(text(phase), done, total)
        except BaseException as error:  # noqa: BLE001, an exception must not pass through C
            self.raised = error

    def cancel(self, user: int | None) -> bool:
        noted, self.noted = self.noted, None
        if noted is not None:
            try:
                self.handler(*noted)
            except BaseException as error:  # noqa: BLE001
                self.raised = error
        return self.raised is not None

    def note(self, number: int, frame: Any) -> None:
        self.noted = number, frame

    def call(self, function: str, *arguments: Any) -> None:
        if threading.current_thread() is threading.main_thread():  # which alone runs handlers
            self.handler = signal.getsignal(signal.SIGINT)
        if not callable(self.handler):
            return self.called(function, *arguments)
        signal.signal(signal.SIGINT, self.note)
        try:
            self.called(function, *arguments)
        finally:
            signal.signal(signal.SIGINT, self.handler)
        if self.noted is not None:  # after C asked the last time
            self.handler(*self.noted)
        return None

    def called(self, function: str, *arguments: Any) -> None:
        try:
            call(function, *arguments)
        except Error:
            if self.raised is not None:
                raise self.raised from None
            raise
        if self.raised is not None:
            raise self.raised


class Unpicklable:
    """What lies in the memory of C and belongs to one process."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise fail(f"{type(self).__name__}: it cannot be copied or pickled (expected heed.open in the process that needs it, or arrays of it)",
                   "UNSUPPORTED")


class Handle(Unpicklable):
    """An object of the C interface. Whatever order Python finalises in, it is destroyed after everything that was made from it."""

    def __init__(self, destroy: str, *parents: Handle):
        self.pointer = ctypes.c_void_p()
        self.parents = parents
        self.destroy = getattr(c, destroy)
        self.users, self.closing = 0, False
        for parent in parents:
            parent.users += 1

    @property
    def out(self) -> Any:
        return ctypes.byref(self.pointer)

    @property
    def open(self) -> bool:
        return bool(self.pointer) and not self.closing

    def close(self) -> None:
        self.closing = True
        self._drop()

    def _drop(self) -> None:
        if not self.closing or self.users:
            return
        pointer, self.pointer = self.pointer, ctypes.c_void_p()
        parents, self.parents = self.parents, ()
        if pointer:
            self.destroy(pointer)
        for parent in parents:
            parent.users -= 1
            parent._drop()

    def __del__(self) -> None:
        if hasattr(self, "closing"):
            self.close()
