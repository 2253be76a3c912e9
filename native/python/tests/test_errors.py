"""What is refused, and in which way; the order in which things end; arguments that make no sense."""
import copy
import gc
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any, Callable

import heed
import numpy as np
from support import VECTORS, main

MODEL = VECTORS / "hf_vit"


class Errors(unittest.TestCase):
    def refused(self, kind: type[BaseException], sentence: str, act: Callable[[], object]) -> None:
        with self.assertRaisesRegex(heed.Error, sentence) as found:
            act()
        self.assertIsInstance(found.exception, kind)
        self.assertTrue(found.exception.status)

    def test_files(self) -> None:
        self.refused(OSError, "model not found", lambda: heed.open("/there/is/none"))
        with tempfile.TemporaryDirectory() as place:
            path = pathlib.Path(place, "w.safetensors")
            path.write_bytes(b"\x08\0\0\0\0\0\0\0{       ")
            self.refused(ValueError, "w.safetensors", lambda: heed.open(path))
            path.write_bytes(b"no picture")
            with heed.open(MODEL, device="cpu") as model:
                self.refused(ValueError, "image format not supported", lambda: model.run(path))
                self.refused(OSError, "", lambda: model.run(pathlib.Path(place, "none.png")))

    def test_names_of_the_libraries(self) -> None:
        from heed import _abi, _library

        self.assertEqual(_library.file_name("heed", "linux"), f"libheed.so.{_abi.SONAME}")
        self.assertEqual(_library.file_name("heed_native", "darwin"), f"libheed_native.{_abi.SONAME}.dylib")
        self.assertRegex(_abi.SONAME, r"^\d+\.\d+$")
        self.assertEqual(_library.file_name("heed", "win32"), f"heed-{_abi.SONAME}.dll")
        with self.assertRaisesRegex(ImportError, "not on Cygwin"):
            _library.file_name("heed", "cygwin")

    def test_arguments(self) -> None:
        self.refused(ValueError, "device: not known", lambda: heed.open(MODEL, device="tpu"))
        self.refused(ValueError, "precision: not known", lambda: heed.open(MODEL, device="cpu", precision="f64"))
        self.refused(ValueError, "precision: not known on cpu", lambda: heed.open(MODEL, device="cpu", precision="f16"))
        self.refused(heed.Error, "level not available", lambda: heed.open(MODEL, device="cpu", simd="mmx"))
        with heed.open(MODEL, device="cpu") as model:
            picture = np.zeros((8, 8, 3), np.uint8)
            for sentence, act in {
                    "taps: not known": lambda: model.run(picture, taps="everything"),
                    "taps: no such value": lambda: model.run(picture, taps=["layer.9.output"]),
                    "size: not valid": lambda: model.run(picture, size=0),
                    "size|patch": lambda: model.run(picture, size=(21, 20)),
                    "batch: not valid": lambda: model.session(batch=0),
                    "rows: not valid": lambda: model.session(rows=[]),
                    "head out of range": lambda: model.session(changes=heed.Changes().ablate(0, 3)),
                    "changes: not valid .found int": lambda: model.run(picture, changes=3),
                    "rows: not valid .found 5": lambda: model.run(picture, rows=5),
                    "rows: not valid .found .0.5": lambda: model.run(picture, rows=[0.5]),
                    "taps: not valid": lambda: model.run(picture, taps=3),
                    "temperature: not valid": lambda: model.run(picture, temperature="a"),
                    "map: no such head .found layer 'a'": lambda: model.run(picture).map("a"),
                    "pixel_values: not numbers": lambda: model.forward(np.zeros((3, 20, 20), complex)),
                    "changes: not valid": lambda: model.session(changes=heed.Changes().ablate("0", 3)),  # type: ignore[arg-type]
                    "wrong samples": lambda: model.run(picture.astype(np.int64)),
                    "wrong shape": lambda: model.run(np.zeros((2, 3, 4, 5), np.uint8)),
                    "not a picture": lambda: model.run(7),
                    "pixel_values: wrong shape": lambda: model.forward(np.zeros((5,), np.float32)),
                    "pixel_values|channels|shape": lambda: model.forward(np.zeros((1, 20, 20), np.float32)),
                    "map: no such head": lambda: model.run(picture).map(2, 0),
                    "query: no such token": lambda: model.run(picture).map(0, 0, 26),
                    "no such class": lambda: model.label(5),
                    "colormap: not known": lambda: heed.colours([0.5], "jet"),
                    "max_mb: not valid": lambda: model.run(picture).html(max_mb=0)}.items():
                with self.subTest(sentence):
                    self.refused(ValueError, sentence, act)
            self.refused(heed.Error, "hidden: not kept", lambda: model.run(picture).hidden[0].copy())
            self.assertRaises(IndexError, lambda: model.run(picture).attention[2])

    def test_what_is_closed(self) -> None:
        model = heed.open(MODEL, device="cpu")
        session = model.session()
        run = session.run(np.zeros((8, 8, 3), np.uint8))
        model.close()
        model.close()
        for act in (lambda: model.run("a.png"), lambda: session.run("a.png"), lambda: run.map(), lambda: run.attention[0].copy(), model.describe,
                    lambda: model.label(0)):
            self.refused(heed.Error, "closed", act)
        self.assertEqual(run.logits.shape, (5,))

    def test_pickling(self) -> None:
        """What lies in C's memory is not copied; what is arrays and names is."""
        with heed.open(MODEL, device="cpu") as model, model.session() as session:
            run = session.run(np.zeros((8, 8, 3), np.uint8))
            for one in (model, session, run, run.attention[0], run.attention, run.map(0, 0), model.explain(np.zeros((8, 8, 3), np.uint8), "lens")):
                acts: list[Callable[[Any], object]] = [pickle.dumps, copy.copy, copy.deepcopy]
                for act in acts:
                    if (act, type(one)) not in ((copy.copy, heed.Taps), (copy.copy, heed.Map)):  # which hold a run and are none
                        self.refused(heed.Error, "cannot be copied or pickled", lambda: act(one))  # noqa: B023
            for kept in (model.info, model.survey([np.zeros((8, 8, 3), np.uint8)]), run.statistics(), heed.Changes().ablate(0, 1), heed.Error("a: b", "IO")):
                self.assertIs(type(pickle.loads(pickle.dumps(kept))), type(kept))

    def test_any_order_of_ends(self) -> None:
        """Handles end after what was made from them, also in a cycle that the collector breaks."""
        for seed in range(20):
            model = heed.open(MODEL, device="cpu", threads=1)
            sessions = [model.session(size=20 + 4 * i) for i in range(3)]
            kept: list[Any] = [model, *sessions, *(one.run(np.zeros((9, 9, 3), np.uint8)) for one in sessions)]
            kept.append(kept[-1].attention[0].view())
            del model, sessions
            random.Random(seed).shuffle(kept)
            while kept:
                kept.pop()
            gc.collect()

    def test_two_threads(self) -> None:
        """A session is used by one thread at a time; two models run beside each other."""
        found: list[Any] = []

        def work() -> None:
            with heed.open(MODEL, device="cpu", threads=1) as model:
                found.append(model.run(np.full((20, 20, 3), 99, np.uint8)).logits)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(len(found), 4)
        for logits in found[1:]:
            np.testing.assert_array_equal(logits, found[0])

    def test_after_a_fork(self) -> None:
        code = ("import heed, os, sys, numpy as np\n"
                f"model = heed.open({str(MODEL)!r}, device='cpu', threads=2)\nrun = model.run(np.zeros((9, 9, 3), np.uint8))\n"
                "child = os.fork()\n"
                "if not child:\n    try:\n        model.run(np.zeros((9, 9, 3), np.uint8))\n    except heed.Error as error:\n"
                "        os._exit(7 if str(error) else 1)\n    os._exit(0)\n"
                "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n")
        self.assertEqual(subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode, 7)

    def test_another_interpreter(self) -> None:
        """NumPy refuses a second interpreter of the process; the first one goes on, whose types ctypes has forgotten then."""
        code = ("import heed, numpy as np\ntry:\n    import _interpreters as more\nexcept ImportError:\n    import _xxsubinterpreters as more  # before 3.13\n"
                "other = more.create()\ntry:\n    more.run_string(other, 'import heed')\n"
                "except Exception as error:\n    print(type(error).__name__)\nmore.destroy(other)\n"
                f"model = heed.open({str(MODEL)!r}, device='cpu')\nrun = model.run(np.zeros((9, 9, 3), np.uint8))\n"
                "run.map(0, 0, 0).image(), run.rollout(), run.statistics(), model.explain(np.zeros((9, 9, 3), np.uint8), 'ledger')\nprint('goes on')")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("goes on", done.stdout)

    def test_interrupt(self) -> None:
        """Ctrl-C while a run goes on is a KeyboardInterrupt, and the session runs again."""
        model = heed.open(MODEL, device="cpu", threads=1)
        session = model.session(size=160)
        calls = []

        def interrupt(phase: str, done: int, total: int) -> None:
            calls.append(phase)
            os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            session.run(np.zeros((9, 9, 3), np.uint8), progress=interrupt)
        self.assertTrue(calls)
        self.assertEqual(session.run(np.zeros((9, 9, 3), np.uint8)).logits.shape, (5,))

        own: list[int] = []
        handlers: list[tuple[Any, type]] = [(signal.default_int_handler, KeyboardInterrupt), (lambda *_: own.append(1), type(None))]
        for handler, kind in handlers:
            before = signal.signal(signal.SIGINT, handler)
            try:
                for i in range(20):  # at any moment of a run, and before and after it
                    timer = threading.Timer(0.01 + 0.002 * i, os.kill, (os.getpid(), signal.SIGINT))
                    try:
                        raised: BaseException | None = None
                        timer.start()
                        for _ in range(10000):
                            session.run(np.zeros((9, 9, 3), np.uint8))
                            if not timer.is_alive():
                                break
                        timer.join()
                        time.sleep(0.01)
                    except KeyboardInterrupt as error:
                        raised = error
                    self.assertIs(type(raised), kind)
            finally:
                signal.signal(signal.SIGINT, before)
        self.assertEqual(len(own), 20)  # a handler that goes on ends no run
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):  # minutes otherwise
            model.explain(np.zeros((9, 9, 3), np.uint8), "ig", ig_steps=10000, size=160)
        timer.join()

        def fault(phase: str, done: int, total: int) -> None:
            raise ZeroDivisionError(phase)

        self.assertRaises(ZeroDivisionError, lambda: session.run(np.zeros((9, 9, 3), np.uint8), progress=fault))

    def test_fifty_arguments_a_function(self) -> None:
        """An exception of Python, never a signal: the child would end with one."""
        code = pathlib.Path(__file__).parent / "fuzz_arguments.py"
        done = subprocess.run([sys.executable, str(code), str(MODEL)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertGreater(int(done.stdout.split()[0]), 600)


if __name__ == "__main__":
    main()
