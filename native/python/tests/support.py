"""What the tests share: where the program, the libraries and the vectors are, and files of tensors."""
import json
import os
import pathlib
import struct
import sys
import traceback
import unittest
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("HEED_PROGRAM", str(ROOT / "build/release/heed"))
VECTORS = pathlib.Path(os.environ.get("HEED_VECTORS", str(ROOT / "tests/vectors"))) / "vit"
TYPES = {"F32": "<f4", "U8": "u1", "I32": "<i4", "I64": "<i8"}


def tensors(path: pathlib.Path) -> dict[str, np.ndarray[Any, Any]]:
    """The tensors of a .safetensors file."""
    data = path.read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    return {name: np.frombuffer(data, TYPES[one["dtype"]], offset=8 + size + one["data_offsets"][0],
                                count=int(np.prod(one["shape"], dtype=int))).reshape(one["shape"])
            for name, one in header.items() if name != "__metadata__"}


def save_tensors(path: pathlib.Path, given: dict[str, np.ndarray[Any, Any]]) -> None:
    """Arrays as a .safetensors file."""
    header: dict[str, Any] = {}
    at, names = 0, {kind: name for name, kind in TYPES.items()} | {"|u1": "U8"}
    for name, array in given.items():
        header[name] = {"dtype": names[array.dtype.str], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(array.tobytes() for array in given.values()))


def models() -> list[pathlib.Path]:
    """The folders of vision transformers that have inputs."""
    return sorted(path.parent for path in VECTORS.glob("*/io.safetensors") if "pixel_values" in tensors(path))


class Tap(unittest.TestResult):
    """Results as TAP, which the lanes count: a line a test, skips with their reason, failures with their trace before them."""

    def _line(self, word: str, test: unittest.TestCase, after: str = "") -> None:
        print(f"{word} {self.testsRun} - {test.id().rsplit('.', 1)[-1]}{after}", flush=True)

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        if not self.subtests:
            self._line("ok", test)

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.subtests = False  # whether one of them failed

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._line("ok", test, f" # SKIP {reason}")

    def _failed(self, test: unittest.TestCase, error: Any) -> None:
        print("".join(f"# {line}\n" for part in traceback.format_exception(*error) for line in part.splitlines()), end="")
        self._line("not ok", test)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._failed(test, err)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._failed(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.subtests = True
            self._failed(subtest, err)


def main() -> None:
    """Runs the tests of the program that was started, or of one class of it."""
    result, module = Tap(), sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    (loader.loadTestsFromTestCase(getattr(module, sys.argv[1])) if len(sys.argv) > 1 else loader.loadTestsFromModule(module)).run(result)
    sys.exit(not result.wasSuccessful() or result.testsRun + len(result.skipped) == 0)
