"""Contexts with their log, devices, and the backend that the words of the command line name."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, NamedTuple

from . import _abi
from ._library import Error, Handle, c, call, desc, encoded, fail, fields, names, text

if TYPE_CHECKING:
    from logging import Logger

LEVELS = {_abi.HEED_LOG_DEBUG: "DEBUG", _abi.HEED_LOG_INFO: "INFO", _abi.HEED_LOG_WARNING: "WARNING"}


def log() -> Logger:
    """What heed says beside its results, for logging; imported when it says something, since that takes time."""
    from logging import getLogger

    return getLogger("heed")


def _log(level: int, line: bytes, user: int | None) -> None:
    import logging

    log().log(getattr(logging, LEVELS.get(level, "INFO")), "%s", text(line))


_logged = fields(_abi.heed_context_desc)["log"](_log)


def new_context() -> Handle:
    context = Handle("heed_context_destroy")
    context.log = _logged  # type: ignore[attr-defined]  # as long as C may call it
    call("heed_context_create", ctypes.byref(desc(_abi.heed_context_desc, log=_logged)), context.out)
    return context


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
    words = names("heed_vulkan_precision", "HEED_VULKAN_PRECISION_")
    if precision not in words or (word == "cpu" and precision == "f16"):
        raise fail(f"precision: not known on {word} (found {precision!r}, expected one of {', '.join(words)}; f16 is for Vulkan)")
    cpu = desc(_abi.heed_cpu_desc, threads=threads, level=encoded(simd))
    if word == "cpu":
        call("heed_cpu_backend_create", context.pointer, ctypes.byref(cpu), backend.out)
        return backend
    vulkan = desc(_abi.heed_vulkan_desc, device=int(index) if index else -1, precision=words[precision])
    if word == "vulkan":
        call("heed_vulkan_backend_create", context.pointer, ctypes.byref(vulkan), backend.out)
    else:
        types = fields(_abi.heed_auto_desc)
        both = desc(_abi.heed_auto_desc, cpu=types["cpu"](cpu), vulkan=types["vulkan"](vulkan))
        choice = _abi.heed_auto_choice()
        call("heed_auto_backend_create", context.pointer, ctypes.byref(both), backend.out, ctypes.byref(choice))
        log().info("%s: %s", text(c.heed_backend_name(backend.pointer)), text(choice.why))
    return backend
