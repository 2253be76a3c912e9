"""The methods of an explanation beside those of `heed explain`, bit for bit, and functions on arrays beside NumPy's own sums."""
import pathlib
import subprocess
import tempfile
import unittest
from typing import Any, Callable

import heed
import numpy as np
from support import PROGRAM, VECTORS, main, models, save_tensors, tensors

JUDGES = ("deletion", "insertion", "flipping", "road", "localisation", "spearman")


class Methods(unittest.TestCase):
    def both(self, folder: pathlib.Path, inputs: dict[str, Any], methods: str, target: Any = None, words: str | None = None,
             **options: Any) -> tuple[heed.Explanation, dict[str, Any]]:
        """What the package gives, and what the command writes."""
        flags = [] if words is None else ["--target", words]
        for name, value in options.items():
            flags += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
        with tempfile.TemporaryDirectory() as place:
            given, out = pathlib.Path(place, "in.safetensors"), pathlib.Path(place, "out.safetensors")
            save_tensors(given, inputs)
            subprocess.run([PROGRAM, "explain", str(folder), str(given), "-o", str(out), "--methods", methods, "--backend", "cpu", "-q", *flags],
                           check=True, stdout=subprocess.DEVNULL)
            expected = tensors(out)
        own = {"source.pixel_values": "_source", "judge.map": "map", "judge.other": "other", "judge.pixels": "pixels", "judge.mask": "mask",
               "target.vector": "vector", "noise": "noise"}
        with heed.open(folder, device="cpu") as model:
            keywords = {own[name]: value for name, value in inputs.items() if name in own}
            source = keywords.pop("_source", None)
            found = model.explain(None, methods, target, pixel_values=inputs["pixel_values"], source_values=source, **keywords, **options)
        return found, expected

    def same(self, found: heed.Explanation, expected: dict[str, Any]) -> None:
        self.assertEqual(sorted(found), sorted(expected))
        for name, array in found.items():
            self.assertEqual(array.dtype, expected[name].dtype, name)
            self.assertEqual(array.shape, expected[name].shape, name)
            self.assertEqual(array.tobytes(), expected[name].tobytes(), name)

    def test_every_method(self) -> None:
        folder = VECTORS / "hf_vit"
        pixels = tensors(folder / "io.safetensors")["pixel_values"]
        random = np.random.default_rng(2)
        batch, _, height, width = pixels.shape
        with heed.open(folder, device="cpu") as model:
            grid = (height // model.info.patch, width // model.info.patch)
        patches = grid[0] * grid[1]
        inputs = {"pixel_values": pixels, "source.pixel_values": np.ascontiguousarray(pixels[::-1]), "judge.map": random.random((batch, patches), np.float32),
                  "judge.other": random.random((batch, patches), np.float32),
                  "judge.mask": (random.random((batch, height, width)) < 0.3).astype(np.uint8),
                  "noise": random.normal(size=(2, 3, height, width)).astype(np.float32)}
        found, expected = self.both(folder, inputs, ",".join(heed.explain_methods), target=(1, 3), words="1-3", ig_steps=4, steps=5,
                                    heads="0.1,1.0", clusters=3, square=3)
        self.same(found, expected)
        for name in heed.explain_methods:
            self.assertTrue(any(one.replace(".", "_").startswith(name.split("_")[0]) or name == "gradient_rollout" for one in found), name)
        for name in heed.explain_maps:
            self.assertEqual(found.map(name, batch - 1).shape, grid)
        np.testing.assert_allclose(found.map("ledger"), (found["ledger.heads"][0].sum((0, 1)) + found["ledger.embeddings"][0])[1:].reshape(grid),
                                   rtol=1e-5, atol=1e-6)

    def test_families(self) -> None:
        """A few of each kind of read-out; what a family has no use for is refused as the command refuses it."""
        for folder in [each for each in models() if not each.name.startswith(("sam", "swin", "videomae", "vjepa2"))][::8]:  # the command refuses these
            pixels = tensors(folder / "io.safetensors")["pixel_values"]
            with self.subTest(folder.name):
                self.same(*self.both(folder, {"pixel_values": pixels}, "norms,pca,similarity", "embeddings[0,0]",
                                     "embeddings[0,0]", layer=1))

    def test_pictures(self) -> None:
        model = heed.open(heed.DEMO, device="cpu")
        scene = heed.DEMO / "scene.png"
        found = model.explain(scene, ["ledger", "lens"], target="star")
        run = model.run(scene)
        star = next(i for i in range(model.info.classes) if model.label(i) == "star")
        self.assertEqual(found.score.shape, (1,))
        self.assertAlmostEqual(float(found.score[0]), float(run.logits[star]), places=4)
        parts = sum(found[f"ledger.{name}"].sum(dtype=np.float64) for name in ("heads", "mlps", "embeddings", "bias"))
        self.assertAlmostEqual(float(parts), float(found.score[0]), places=3)
        both = model.explain([scene, run.picture], "norms", target=star)
        self.assertEqual(both["norms"].shape[0], 2)
        self.assertEqual(both["norms"][0].tobytes(), both["norms"][1].tobytes())
        kept = both["norms"]
        del both
        model.close()
        self.assertTrue(np.isfinite(kept).all())
        self.assertFalse(kept.flags.writeable)

    def test_texts(self) -> None:
        """A picture beside texts as `heed eval` has them, and an explanation of the second text."""
        folder, texts, picture = VECTORS / "clip_text", ["a cat", "a  DOG"], str(VECTORS.parent / "preprocess/rgb.png")
        with tempfile.TemporaryDirectory() as place, heed.open(folder, device="cpu") as model:
            given, out = pathlib.Path(place, "in.safetensors"), pathlib.Path(place, "out.safetensors")
            pixels, ids = np.random.default_rng(3).normal(size=(1, *model.session().input_shape[1:])).astype(np.float32), model.texts.ids(texts)
            save_tensors(given, {"pixel_values": pixels, "input_ids": ids})
            subprocess.run([PROGRAM, "eval", str(folder), str(given), "-o", str(out), "--backend", "cpu", "-q"], check=True,
                           stdout=subprocess.DEVNULL)
            expected = tensors(out)
            run = model.forward(pixels[0])
            self.assertEqual(ids.tolist(), [[28, 7, 15, 29], [28, 7, 17, 29]])
            # The command keeps the text's maps, so that its attention has another order of sums.
            np.testing.assert_allclose(model.texts.embed(texts), expected["text_embeds"], atol=5e-6)
            self.assertEqual(run.embedding.tobytes(), expected["image_embeds"].tobytes())
            np.testing.assert_allclose(run.scores(texts).logits, expected["logits_per_image"][0], atol=2e-5)
            scores = model.run(picture).scores(texts)
            self.assertAlmostEqual(float(scores.probabilities.sum()), 1)
            found = model.explain(picture, "relevancy", 1, texts=texts)
            self.assertAlmostEqual(float(found.score[0]), float(scores.logits[1]), places=4)
            self.assertIn("text.relevancy.chefer", found)

    def test_refused(self) -> None:
        with heed.open(VECTORS / "hf_vit", device="cpu") as model:
            picture = np.zeros((8, 8, 3), np.uint8)
            refused: dict[str, Callable[[], Any]] = {
                    "methods: unknown method": lambda: model.explain(picture, "leger"),
                    "target: not valid": lambda: model.explain(picture, "lens", 0.5),
                    "target": lambda: model.explain(picture, "lens", 77),
                    "layer: not there": lambda: model.explain(picture, "pca", layer=2),
                    "image: missing": lambda: model.explain(),
                    "different sizes": lambda: model.explain([], "lens"),
                    "judge.map: wrong shape": lambda: model.explain([picture] * 2, "deletion", map=np.zeros(3)),
                    "source.pixel_values": lambda: model.explain(picture, "patch"),
                    "ig_steps: not valid": lambda: model.explain(picture, "ig", ig_steps=-1),
                    "curves: not known": lambda: model.explain(picture, "deletion", curves="none", map=np.zeros(25)),
                    "explanation.map: not known": lambda: model.explain(picture, "lens").map("truth"),
                    "found an explanation without": lambda: model.explain(picture, "lens").map("ledger")}
            for sentence, act in refused.items():
                with self.subTest(sentence), self.assertRaisesRegex(heed.Error, sentence):
                    act()
            with self.assertRaisesRegex(KeyError, "no such tensor"):
                model.explain(picture, "lens")["ledger"]


class Features(unittest.TestCase):
    states = np.random.default_rng(4).normal(size=(12, 6)).astype(np.float32)

    def test_pca(self) -> None:
        found = heed.pca(self.states, [(3, 4)])
        centred = self.states.astype(np.float64) - self.states.mean(0, dtype=np.float64)
        values, vectors = np.linalg.eigh(centred.T @ centred / 11)
        np.testing.assert_allclose(found.variance, values[::-1][:3], rtol=1e-5)
        np.testing.assert_allclose(np.abs(found.components @ vectors[:, ::-1][:, :3]), np.eye(3), atol=1e-5)
        np.testing.assert_allclose(found.scores, centred @ found.components.T, atol=1e-5)
        self.assertEqual(found.rgb.shape, (12, 3))
        with self.assertRaisesRegex(heed.Error, "pca: wrong grids"):
            heed.pca(self.states, [(3, 3)])

    def test_likeness(self) -> None:
        unit = self.states.astype(np.float64) / np.linalg.norm(self.states.astype(np.float64), axis=1, keepdims=True)
        cosines = unit @ unit[::-1].T
        found = heed.similarity(self.states, self.states[::-1])
        np.testing.assert_allclose(found, cosines, atol=1e-6)
        np.testing.assert_array_equal(heed.matches(found), np.arange(12)[::-1])
        self.assertAlmostEqual(heed.cosine(self.states[0], self.states[1]), float(unit[0] @ unit[1]), places=6)
        np.testing.assert_allclose(heed.norms(self.states), np.linalg.norm(self.states, axis=1), rtol=1e-6)
        far = np.r_[heed.norms(self.states), np.float32(1000)]
        middle = np.median(far)
        which, bound = heed.outliers(far)
        self.assertAlmostEqual(bound, middle + 6 * 1.4826 * np.median(np.abs(far - middle)), places=4)
        np.testing.assert_array_equal(which, far > bound)
        groups = np.r_[np.tile([1.0, 0.0], (5, 1)), np.tile([0.0, 2.0], (4, 1))]
        cluster, centres = heed.clusters(groups, 2)
        self.assertEqual([len(set(cluster[:5])), len(set(cluster[5:])), len(set(cluster))], [1, 1, 2])
        np.testing.assert_allclose(centres[cluster[0]], [1, 0], atol=1e-6)
        np.testing.assert_allclose(heed.head_mean(np.stack([cosines, 3 * cosines])), 2 * cosines, rtol=1e-5)

    def test_maps_that_are_judged(self) -> None:
        given, other = np.array([3.0, 1, 3, -2]), np.array([1.0, 2, 3, -4])
        np.testing.assert_array_equal(heed.order(given), [0, 2, 1, 3])
        ranks = np.array([3.5, 1, 3.5, 2]), np.array([1.0, 2, 3, 4])
        self.assertAlmostEqual(heed.spearman(given, other), float(np.corrcoef(*ranks)[0, 1]))
        found = heed.localise(np.abs(given), [1, 0, 0, 1])
        self.assertEqual((found.pointing, found.rank), (True, 0.5))
        self.assertAlmostEqual(found.mass, 5 / 9)
        self.assertIsNone(heed.localise(given, [0, 0, 0, 0]).pointing)
        pixels = np.full((2, 5, 5), 7.0, np.float32)
        pixels[:, 2, 2] = 99
        missing = np.zeros((5, 5), bool)
        missing[2, 2] = True
        np.testing.assert_allclose(heed.fill_pixels(pixels, missing), 7, rtol=1e-6)
        self.assertEqual(pixels[0, 2, 2], 99)


if __name__ == "__main__":
    main()
