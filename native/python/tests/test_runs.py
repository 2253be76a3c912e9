"""Numbers of the package beside those of the command, bit for bit, and what a run's parts promise."""
import importlib.util
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
from typing import Any

import heed
import numpy as np
import numpy.typing as npt
from support import PROGRAM, VECTORS, main, models, tensors

PILLOW = importlib.util.find_spec("PIL") is not None
EVERY = int(os.environ.get("HEED_TEST_EVERY", "1"))  # 1: all families
DEVICES = os.environ.get("HEED_TEST_DEVICES", "cpu").split(",")


def picture(height: int = 37, width: int = 53, seed: int = 3) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


class Numbers(unittest.TestCase):
    def test_every_family_as_eval(self) -> None:
        seen = 0
        with tempfile.TemporaryDirectory() as place:
            for folder in models()[::EVERY]:
                for device in DEVICES:
                    out = pathlib.Path(place, "out.safetensors")
                    subprocess.run([PROGRAM, "eval", str(folder), str(folder / "io.safetensors"), "-o", str(out), "-q", "--backend", device,
                                    "--taps", "all"], check=True, stdout=subprocess.DEVNULL)
                    expected, pixels = tensors(out), tensors(folder / "io.safetensors")["pixel_values"]
                    with self.subTest(folder.name, device=device), heed.open(folder, device=device) as model:
                        runs = model.forward(pixels)
                        for name in ("logits", "last_hidden_state", "pooler_output", "image_embeds"):
                            if name in expected:
                                found = np.stack([run.tap(name).copy() for run in runs])
                                self.assertEqual(found.tobytes(), expected[name].tobytes(), name)
                                seen += 1
                        for layer in range(model.info.layers):
                            found = np.stack([run.attention[layer].copy() for run in runs])
                            self.assertEqual(found.tobytes(), expected[f"attention.{layer}"].tobytes())
                            seen += 1
        self.assertGreater(seen, 200 // EVERY)

    @unittest.skipUnless(PILLOW, "no Pillow here")
    def test_a_picture_as_run(self) -> None:
        """Each family whose folder says how a picture is prepared; what the command refuses, the package refuses with the same sentence."""
        from PIL import Image

        seen = 0
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "picture.png")
            Image.fromarray(picture()).save(path)
            for folder, device in itertools.product(models()[::EVERY], DEVICES):
                out = pathlib.Path(place, "out.json")
                done = subprocess.run([PROGRAM, "run", str(folder), path, "--json", str(out), "-q", "--backend", device], capture_output=True, text=True)
                with self.subTest(folder.name, device=device), heed.open(folder, device=device) as model:
                    if done.returncode:
                        with self.assertRaises(heed.Error) as refused:
                            model.run(path)
                        self.assertIn(str(refused.exception).split("(")[0], done.stderr)
                        continue
                    expected = json.loads(out.read_text())["results"][0]
                    seen += 1
                    # of stages the command keeps the maps of the last layer alone
                    run = model.run(path, taps=[f"layer.{model.info.layers - 1}.attention.weights"] if model.info.stages else "maps")
                    self.assertEqual(list(run.grid), expected["grid"])
                    self.assertEqual(len(expected["heads"]), model.info.heads * (1 if model.info.stages else model.info.layers))
                    for one in expected["heads"]:
                        np.testing.assert_array_equal(run.map(one["layer"], one["head"], expected["query_token"]).row, np.float32(one["row"]))
                    if run.logits is not None:
                        np.testing.assert_array_equal(run.logits, np.float32(expected["logits"]))
                        top = [(one["label"], one["probability"]) for one in expected["top"]]
                        self.assertEqual([label for label, _ in run.top(len(top))], [label for label, _ in top])
                        np.testing.assert_allclose([p for _, p in run.top(len(top))], [p for _, p in top], rtol=1e-8)
                    if not model.info.stages:
                        np.testing.assert_array_equal(run.rollout(expected["query_token"]).row, np.float32(expected["rollout"]))
        self.assertGreater(seen, 40 // EVERY)


class Places(unittest.TestCase):
    """Models whose layers have grids of their own, and models of videos, beside the command."""

    def json(self, *words: str) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as place:
            out = pathlib.Path(place, "out.json")
            subprocess.run([PROGRAM, "run", *words, "--json", str(out), "-q", "--backend", "cpu"], check=True, stdout=subprocess.DEVNULL)
            return dict(json.loads(out.read_text())["results"][0])

    def test_stages(self) -> None:
        path = str(VECTORS.parent / "preprocess" / "rgb.png")
        for name in "swin", "swinv2":
            with heed.open(VECTORS / name, device="cpu") as model:
                self.assertGreater(model.info.stages, 1)
                for layer in range(model.info.layers):
                    expected = self.json(str(VECTORS / name), path, "--layer", str(layer))
                    run = model.run([path, path], taps=[f"layer.{layer}.attention.weights"])[1]
                    for one in expected["heads"]:
                        found = run.map(layer, one["head"], expected["query_token"])
                        self.assertEqual(list(found.values.shape), expected["grid"])
                        np.testing.assert_array_equal(found.row, np.float32(one["row"]))
                run = model.run(path)
                rows = [run.map(0, head, 7).row for head in range(2)]
                np.testing.assert_allclose(run.map(0, None, 7).row, np.mean(rows, 0), atol=1e-7)
                self.assertEqual(run.map(0, 1, 7).image().shape[2], 3)
                for act in (run.rollout, run.statistics, run.html, lambda: run.save("none.svg")):
                    with self.assertRaisesRegex(heed.Error, "not of a model of stages"):
                        act()
                self.assertEqual(list(run._repr_mimebundle_()), ["text/plain"])
                for layer in range(model.info.layers):  # rows again from queries and keys would be of a window
                    with self.assertRaisesRegex(heed.Error, "attends by windows"):
                        model.run(path, taps="rows").map(layer, 0, 1)
                with self.assertRaisesRegex(heed.Error, "expected 4 layers of 2 heads"):
                    run.map(0, 2)

    def test_videos(self) -> None:
        model = heed.open(VECTORS / "videomae", device="cpu")
        with tempfile.TemporaryDirectory() as place:
            for i in range(7):
                (pathlib.Path(place) / f"{i}.ppm").write_bytes(b"P6 53 37 255\n" + picture(seed=i).tobytes())
            if PILLOW:
                from PIL import Image

                for path in list(pathlib.Path(place).iterdir()):
                    Image.open(path).save(path.with_suffix(".png"))
                    path.unlink()
                expected = self.json(str(VECTORS / "videomae"), place, "--layer", "all", "--query", "1,2,3")
                for video in place, [picture(seed=i) for i in range(7)]:
                    run = model.run(video)
                    np.testing.assert_array_equal(run.logits, np.float32(expected["logits"]))
                    for one in expected["heads"]:
                        found = run.map(one["layer"], one["head"], (1, 2, 3))
                        self.assertEqual(found.values.shape, (2, 5, 5))
                        np.testing.assert_array_equal(found.row, np.float32(one["row"]))
                    whole = heed.rollout([tap.copy() for tap in run.attention])
                    np.testing.assert_allclose(run.rollout((1, 2, 3)).row, whole[expected["query_token"]], atol=1e-6)
        with self.assertLogs("heed", "WARNING") as said:
            model.run([picture()])
        self.assertIn("4 frames of 1", said.output[0])
        with self.assertRaisesRegex(heed.Error, "changes: not of a model of videos"):
            model.run([picture()] * 4, changes=heed.Changes().drop(0))
        with self.assertRaisesRegex(heed.Error, "session.run: not of a model of videos"):
            model.session().run(picture())
        run = model.run(np.stack([picture(seed=i) for i in range(4)]))
        found = run.map(0, 0, (0, 0, 1))
        self.assertIn("2 x 5 x 5 patches", repr(found))
        for act, sentence in ((found.image, "it is of a video"), (run.html, "not of a model of videos"), (lambda: model.run([]), "no frames"),
                              (lambda: run.map(0, 0, (0, 1)), r"\(time, row, column\) in 2 x 5 x 5"),
                              (lambda: model.forward(np.zeros((3, 20, 20))), r"expected \[frames, channels, height, width\]")):
            with self.assertRaisesRegex(heed.Error, sentence):
                act()


class Parts(unittest.TestCase):
    model: heed.Model

    @classmethod
    def setUpClass(cls) -> None:
        cls.model = heed.open(VECTORS / "hf_vit", device="cpu", threads=1)

    @unittest.skipUnless(PILLOW, "no Pillow here")
    def test_pictures_of_every_kind(self) -> None:
        from PIL import Image

        array = picture()
        expected = self.model.run(array).logits
        with tempfile.TemporaryDirectory() as place:
            path = pathlib.Path(place, "p.png")
            Image.fromarray(array).save(path)
            kinds = [path, str(path), path.read_bytes(), Image.fromarray(array), Image.fromarray(array).convert("RGBA"),
                     np.moveaxis(array, 2, 0), array[:, ::1]]
            for kind in kinds:
                np.testing.assert_array_equal(self.model.run(kind).logits, expected)
        sixteen = np.random.default_rng(4).integers(0, 65536, (37, 53), np.uint16)
        for kind in (Image.fromarray(sixteen), Image.fromarray(sixteen.astype(np.int32))):
            np.testing.assert_array_equal(self.model.run(kind).logits, self.model.run(sixteen).logits)
        with self.assertRaisesRegex(heed.Error, "wrong numbers"):
            self.model.run(Image.fromarray(np.full((9, 9), 70000, np.int32)))
        grey = array[:, :, 0]
        np.testing.assert_array_equal(self.model.run(grey).logits, self.model.run(np.repeat(grey[..., None], 3, 2)).logits)

    def test_batches(self) -> None:
        pictures = [picture(seed=i) for i in range(3)]
        alone = [self.model.run(one).logits for one in pictures]
        for found in (self.model.run(pictures), self.model.run(iter(pictures))):
            for run, expected in zip(found, alone, strict=True):
                np.testing.assert_array_equal(run.logits, expected)
        with self.model.session(batch=4) as session:  # fewer than the batch
            for run, expected in zip(session.run(pictures), alone, strict=True):
                np.testing.assert_array_equal(run.logits, expected)
                np.testing.assert_allclose(run.attention[1].copy().sum(-1), 1, atol=1e-6)

    def test_taps_refuse_after_the_next_run(self) -> None:
        with self.model.session(taps="all") as session:
            first = session.run(picture(seed=1))
            view = first.attention[0].view()
            self.assertFalse(view.flags.writeable)
            kept = first.attention[0].copy()
            np.testing.assert_array_equal(view, kept)
            row = view[1, 2]
            del view
            with self.assertRaisesRegex(heed.Error, "still looked at"):
                session.run(picture(seed=2))
            with self.assertRaisesRegex(heed.Error, "still looked at"):
                session.close()
            del row
            second = session.run(picture(seed=2))
            with self.assertRaisesRegex(heed.Error, "run again since"):
                first.attention[0][0]
            self.assertFalse(np.array_equal(second.attention[0].copy(), kept))
            self.assertEqual(second.hidden[1].shape, (26, 24))
            self.assertEqual(second.embeddings.shape, (26, 24))
        with self.assertRaisesRegex(heed.Error, "closed"):
            second.attention[0][0]

    def test_a_model_makes_a_new_session_while_one_is_looked_at(self) -> None:
        run = self.model.run(picture(seed=1))
        view = run.attention[0].view()
        kept = view.copy()
        self.model.run(picture(seed=2))
        np.testing.assert_array_equal(view, kept)

    def test_rows_on_demand_are_the_maps(self) -> None:
        maps = self.model.run(picture(), taps="maps")
        wanted = [[maps.map(layer, head, 7).row for head in (0, 1, 2, None)] for layer in (0, 1)]
        rows = self.model.run(picture(), taps="rows")
        for layer in (0, 1):
            for at, head in enumerate((0, 1, 2, None)):
                np.testing.assert_allclose(rows.map(layer, head, 7).row, wanted[layer][at], atol=2e-6)
        np.testing.assert_allclose(rows.rollout(7, residual=0.3).row, self.model.run(picture()).rollout(7, residual=0.3).row, atol=1e-6)
        long = [self.model.run(picture(), size=160, rows=np.r_[np.arange(500), row, np.arange(501, 1100)]) for row in (1200, 1300)]
        self.assertNotEqual(long[0].session.rows, long[1].session.rows)
        kept = self.model.run(picture(), rows=[7, 0])
        np.testing.assert_array_equal(kept.map(1, 2, 7).row, wanted[1][2])
        with self.assertRaisesRegex(heed.Error, "not kept"):
            kept.map(1, 2, 5)

    def test_changes(self) -> None:
        changed = self.model.run(picture(), changes=heed.Changes().ablate(0, 1).drop(4))
        self.assertEqual(changed.attention[0][1].max(), 0)
        self.assertEqual(changed.attention[1][:, :, 4].max(), 0)
        self.assertFalse(np.array_equal(changed.logits, self.model.run(picture()).logits))
        output = self.model.run(picture(), taps=["layer.0.attention.output"]).tap("layer.0.attention.output").copy()

        def logits(changes: heed.Changes) -> bytes:
            return bytes(self.model.run(picture(), changes=changes).logits)

        none, ablated = logits(heed.Changes().gain(0, 1, 1.0)), logits(heed.Changes().ablate(0, 1))
        self.assertEqual(logits(heed.Changes().replace(0, output)), none)  # nothing is ablated
        self.assertEqual(logits(heed.Changes().ablate(0, 1).replace(0, np.zeros_like(output))), ablated)
        self.assertNotIn(logits(heed.Changes().ablate(0, 1).replace(0, output)), (none, ablated))
        other = output.copy()
        other[:, 8:16] = output[:, 8:16].mean(0)  # the same mean of head 1, and other numbers of heads that stay
        other[:, :8] += 1
        same = [np.frombuffer(logits(heed.Changes().ablate(0, 1).replace(0, one)), np.float32) for one in (output, other)]
        np.testing.assert_allclose(same[0], same[1], atol=1e-5)
        with self.assertRaisesRegex(heed.Error, "replace"):
            self.model.session(changes=heed.Changes().ablate(0, 1).replace(0, output[:3]))
        np.testing.assert_array_equal(self.model.run(picture(), changes=heed.Changes().gain(0, 1, 1.0)).logits, self.model.run(picture()).logits)

    def test_map_and_picture(self) -> None:
        run = self.model.run(picture())
        found = run.map(1, 0, (2, 3))
        self.assertEqual(found.query, 1 + 2 * 5 + 3)
        self.assertEqual(found.query_name, "(2, 3)")
        np.testing.assert_array_equal(found.values.ravel(), run.attention[1][0, found.query][1:])
        np.testing.assert_array_equal(np.asarray(found), found.values)
        image = found.image()
        self.assertEqual(image.shape, (37, 53, 3))
        overlay = found.overlay()
        peak = np.unravel_index(found.values.argmax(), (5, 5))
        self.assertEqual(overlay[..., 3].max(), overlay[peak][3])
        bundle = found._repr_mimebundle_()
        self.assertIn("query (2, 3)", bundle["text/plain"])
        self.assertTrue(found.png().startswith(b"\x89PNG"))
        with tempfile.TemporaryDirectory() as place:
            found.save(os.path.join(place, "map.png"))
            self.assertGreater(os.path.getsize(os.path.join(place, "map.png")), 1000)
        with self.assertRaisesRegex(heed.Error, "no such patch"):
            run.map(1, 0, (5, 0))

    @unittest.skipUnless(PILLOW, "no Pillow here")
    def test_preprocessing_can_be_set(self) -> None:
        """Mean and std beside those of the command."""
        from PIL import Image

        with tempfile.TemporaryDirectory() as place:
            path, out = os.path.join(place, "p.png"), pathlib.Path(place, "out.safetensors")
            Image.fromarray(picture()).save(path)
            subprocess.run([PROGRAM, "run", str(VECTORS / "hf_vit"), path, "-q", "--backend", "cpu", "--mean", "0.4,0.5,0.6", "--std", "0.25",
                            "--resample", "bicubic", "--crop", "0.8", "--save", str(out)], check=True, stdout=subprocess.DEVNULL)
            how = {"mean": [0.4, 0.5, 0.6], "std": 0.25, "resample": "bicubic", "crop": 0.8}
            with heed.open(VECTORS / "hf_vit", device="cpu", preprocess=how) as model:
                self.assertEqual(model.run(path).logits.tobytes(), tensors(out)["logits"].tobytes())
                self.assertFalse(np.array_equal(model.run(path).logits, self.model.run(path).logits))
        with self.assertRaisesRegex(heed.Error, "preprocess: not known"):
            heed.open(VECTORS / "hf_vit", preprocess={"means": 1})
        with self.assertRaisesRegex(heed.Error, "std"):
            heed.open(VECTORS / "hf_vit", preprocess={"std": [0.0]})

    def test_survey(self) -> None:
        seen: list[int] = []
        found = self.model.survey([picture(seed=1), picture(seed=2)], progress=seen.append)
        self.assertEqual(seen, [1, 1])
        self.assertEqual(found.statistics.shape, (2, 2, 3, 7))
        one = self.model.run(picture(seed=2)).statistics()
        np.testing.assert_array_equal(found.statistics[1], np.array(one))
        np.testing.assert_array_equal(found.mean("entropy_cls"), found.statistics[..., 0].mean(0))

    def test_torch(self) -> None:
        try:
            import torch
            from torch.utils.dlpack import from_dlpack
        except ImportError:
            self.skipTest("no torch here")
        array = picture()
        expected = self.model.run(array).logits
        np.testing.assert_array_equal(self.model.run(torch.from_numpy(array)).logits, expected)
        for other in (torch.from_numpy(array).permute(2, 0, 1), torch.from_numpy(array)[:, :, [2, 1, 0]].flip(2)):  # by channels first; not dense
            np.testing.assert_array_equal(self.model.run(other).logits, expected)
        pixels = torch.randn(3, 20, 20, requires_grad=True)
        run = self.model.forward(pixels)
        np.testing.assert_array_equal(run.logits, self.model.forward(pixels.detach().numpy()).logits)
        run = self.model.forward(pixels.double())
        for made in (torch.from_numpy(run.attention[1].copy()), from_dlpack(run.attention[1]), torch.as_tensor(np.asarray(run.attention[1]))):
            self.assertEqual((tuple(made.shape), made.dtype), ((3, 26, 26), torch.float32))
            np.testing.assert_array_equal(made.numpy(), run.attention[1].copy())
        self.assertAlmostEqual(float(torch.from_numpy(run.logits).softmax(0).max()), run.top(1)[0][1], places=6)
        np.testing.assert_allclose(heed.rollout(torch.from_numpy(np.stack([tap.copy() for tap in run.attention])))[0], run.rollout(0).row, atol=1e-6)

    def test_cold_start(self) -> None:
        """Nothing heavy is imported with heed."""
        code = "import sys, heed; print(sorted(set(sys.modules) & {'torch', 'matplotlib', 'PIL', 'IPython', 'pandas'}))"
        out = subprocess.run([os.environ.get("PYTHON", "/usr/bin/python3"), "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(out.stdout.strip(), "[]")


if __name__ == "__main__":
    main()
