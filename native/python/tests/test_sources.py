"""Models and pictures that are no files: bytes, dictionaries of arrays, tensors, generators; 8 bits; figures without cairo."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
from typing import Any, Callable
from unittest import mock
from xml.etree import ElementTree

import heed
import numpy as np
from heed import _save
from support import PROGRAM, VECTORS, main, save_tensors, tensors

MODEL = VECTORS / "hf_vit"
CONFIG = MODEL / "config.json"


def picture(seed: int = 3) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(seed).integers(0, 256, (37, 53, 3), np.uint8)


class Exported:
    """A tensor of another library, which has nothing but DLPack."""

    def __init__(self, array: Any):
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class Models(unittest.TestCase):
    def setUp(self) -> None:
        self.weights = tensors(MODEL / "model.safetensors")
        self.expected = heed.open(MODEL, device="cpu").run(picture())

    def same(self, model: heed.Model) -> None:
        run = model.run(picture())
        self.assertEqual(run.logits.tobytes(), self.expected.logits.tobytes())
        self.assertEqual(run.attention[1].copy().tobytes(), self.expected.attention[1].copy().tobytes())
        model.close()

    def test_arrays(self) -> None:
        self.same(heed.open(self.weights, config=CONFIG, device="cpu"))
        kept = {name: np.ascontiguousarray(array[..., ::-1])[..., ::-1] for name, array in self.weights.items()}  # not dense
        self.same(heed.open(kept, config=json.loads(CONFIG.read_text()), device="cpu"))
        model = heed.open(dict(self.weights), config=CONFIG, device="cpu")
        self.weights.clear()  # the model holds what it reads
        self.same(model)
        writable = {name: array.copy() for name, array in tensors(MODEL / "model.safetensors").items()}
        self.same(heed.open({name: Exported(array) for name, array in writable.items()}, config=CONFIG, device="cpu"))
        wide = heed.open({name: array.astype(np.float64) if array.dtype == np.float32 else array for name, array in writable.items()}, config=CONFIG,
                         device="cpu")
        self.same(wide)

    def test_bytes(self) -> None:
        self.same(heed.open((MODEL / "model.safetensors").read_bytes(), config=CONFIG, device="cpu"))
        self.same(heed.open(memoryview((MODEL / "model.safetensors").read_bytes()), config=CONFIG, device="cpu"))
        with self.assertRaisesRegex(heed.Error, "model"):
            heed.open(b"neither", device="cpu")

    def test_refused(self) -> None:
        refused: dict[str, Callable[[], Any]] = {
                "no dictionary of arrays": lambda: heed.open({}),
                "not an array": lambda: heed.open({"a": 1}),
                "wrong numbers": lambda: heed.open({"a": np.zeros(2, complex)}),
                "not a model": lambda: heed.open(7),
                "config: not of a path": lambda: heed.open(MODEL, config={}),
                "config.json: not valid": lambda: heed.open(self.weights, config=7),
                "hints: invalid hint": lambda: heed.open(self.weights, hints="heads"),
                "": lambda: heed.open({"a": np.zeros((2, 3), np.float32)})}
        for sentence, act in refused.items():
            with self.subTest(sentence), self.assertRaisesRegex(heed.Error, sentence):
                act()

    def test_eight_bits(self) -> None:
        """A model in int8: its numbers are those of its own file, and near those of floats."""
        with tempfile.TemporaryDirectory() as place:
            made, out, given = (pathlib.Path(place, name) for name in ("int8", "out.safetensors", "in.safetensors"))
            subprocess.run([PROGRAM, "convert", str(MODEL), "-o", str(made), "--weights", "int8"], check=True, stdout=subprocess.DEVNULL)
            pixels = tensors(MODEL / "io.safetensors")["pixel_values"]
            save_tensors(given, {"pixel_values": pixels})
            subprocess.run([PROGRAM, "eval", str(made), str(given), "-o", str(out), "--backend", "cpu", "--taps", "all", "-q"], check=True,
                           stdout=subprocess.DEVNULL)
            expected = tensors(out)
            with heed.open(made, device="cpu") as model, heed.open(MODEL, device="cpu") as whole:
                self.assertLess(model.info.weight_bytes, whole.info.weight_bytes)
                runs = model.forward(pixels)
                self.assertEqual(np.stack([run.logits for run in runs]).tobytes(), expected["logits"].tobytes())
                for layer in range(model.info.layers):
                    self.assertEqual(np.stack([run.attention[layer].copy() for run in runs]).tobytes(), expected[f"attention.{layer}"].tobytes())
                self.assertFalse(np.array_equal(runs[0].logits, whole.forward(pixels)[0].logits))

    def test_encoder_decoders(self) -> None:
        """Text models are another kind; the sentence says which program runs them."""
        for name in ("captioner", "transformer"):
            with self.assertRaisesRegex(heed.Error, "encoder|not a vision transformer|sequence"):
                heed.open(VECTORS.parent / "sequence" / name)


class Pictures(unittest.TestCase):
    def setUp(self) -> None:
        self.model = heed.open(MODEL, device="cpu", threads=1)

    def test_streams_and_batches(self) -> None:
        several = [picture(seed) for seed in range(4)]
        alone = [self.model.run(one).logits.copy() for one in several]
        stream = self.model.run(one for one in several)
        for run, expected in zip(stream, alone):
            np.testing.assert_array_equal(run.logits, expected)
            self.assertEqual(run.attention[0].shape, (3, 26, 26))
        batch = self.model.run(several)
        for run, expected in zip(batch, alone):
            np.testing.assert_array_equal(run.logits, expected)
        endless = (several[0] for _ in iter(int, 1))
        np.testing.assert_array_equal(next(self.model.run(endless)).logits, alone[0])
        with tempfile.TemporaryDirectory() as place:
            for i, one in enumerate(several[:2]):
                pathlib.Path(place, f"{i}.png").write_bytes(_save.png(one))
            pathlib.Path(place, "notes.txt").write_text("no picture")
            found = self.model.survey(place)
            self.assertEqual([os.path.basename(name) for name in found.names], ["0.png", "1.png"])
            for name in found.names:
                os.remove(name)
            with self.assertRaisesRegex(heed.Error, "no pictures"):
                self.model.survey(place)

    def test_tensors_of_others(self) -> None:
        expected = self.model.run(picture()).logits
        np.testing.assert_array_equal(self.model.run(Exported(picture())).logits, expected)
        pixels = np.random.default_rng(5).normal(size=(3, 20, 20)).astype(np.float32)
        np.testing.assert_array_equal(self.model.forward(Exported(pixels)).logits, self.model.forward(pixels).logits)

    def test_figures(self) -> None:
        """Of a library with cairo and of one without, as in the wheel."""
        run = self.model.run(picture())
        refused = heed.Error("no cairo", "UNSUPPORTED")
        with tempfile.TemporaryDirectory() as place:
            for name in ("run.png", "run.svg", "run.pdf"):
                path = pathlib.Path(place, name)
                run.save(path)
                self.assertGreater(path.stat().st_size, 1000)
            with mock.patch.object(_save, "call", side_effect=refused):
                for figure, images in ((run, 2 * 3 + 1), (run.map(1, 2, (2, 3)), 3)):
                    path = pathlib.Path(place, "own.svg")
                    figure.save(path)
                    tree = ElementTree.parse(path)
                    self.assertEqual(len(tree.findall(".//{*}image")), images)
                    words = [one.text for one in tree.findall(".//{*}text")]
                    self.assertIn("× uniform", words)
                    path = pathlib.Path(place, "own.png")
                    figure.save(path)
                    self.assertTrue(path.read_bytes().startswith(b"\x89PNG"))
                try:
                    import matplotlib  # noqa: F401
                except ImportError:
                    self.assertRaisesRegex(heed.Error, "no PDF", run.save, os.path.join(place, "own.pdf"))
                else:
                    run.save(os.path.join(place, "own.pdf"))
                    self.assertTrue(pathlib.Path(place, "own.pdf").read_bytes().startswith(b"%PDF"))
            with self.assertRaisesRegex(heed.Error, "ending|format|png"):
                run.save(os.path.join(place, "run.gif"))

    def test_bytes_of_a_png(self) -> None:
        """As another reader decodes them."""
        given = picture()
        np.testing.assert_array_equal(self.model.run(_save.png(given)).picture, given)

    def test_ticks(self) -> None:
        """The steps of a bar are those of figures and pages: tests/vectors/scale."""
        self.assertEqual(_save.ticks(4), [0, 1, 2, 3, 4])
        self.assertEqual(_save.ticks(64.1), [0, 20, 40, 60, 64.1])
        self.assertEqual(_save.ticks(9), [0, 2.5, 5, 7.5, 9])


if __name__ == "__main__":
    main()
