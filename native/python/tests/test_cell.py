"""A run in a notebook: the document's own script, in Chromium without a network."""
import base64
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from typing import Any
from unittest import mock

import heed
import numpy as np
from support import VECTORS, main

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


def shown(document: str) -> str:
    """The document as the browser leaves it, once its script has run."""
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place, "cell.html")
        path.write_text(document, encoding="utf-8")
        return subprocess.run([str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={place}/profile",
                               "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=4000", "--dump-dom", path.as_uri()],
                              capture_output=True, text=True, check=True, timeout=240).stdout


class Cell(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        if not (pathlib.Path(heed.__file__).parent / "cell.html").exists():
            raise unittest.SkipTest("no cell in this build (npm ci)")

    def setUp(self) -> None:
        self.model = heed.open(VECTORS / "hf_vit", device="cpu", threads=1)
        self.picture = np.random.default_rng(3).integers(0, 256, (40, 60, 3), np.uint8)

    def test_frame(self) -> None:
        bundle = self.model.run(self.picture)._repr_mimebundle_()
        self.assertIn("<iframe sandbox=\"allow-scripts\"", bundle["text/html"])
        inner = html.unescape(re.search(r'srcdoc="([^"]*)"', bundle["text/html"])[1])  # type: ignore[index]
        self.assertNotRegex(inner, r"(?:src|href)=\"?(?:https?:)?//")
        self.assertNotIn("text/html", self.model.run(self.picture, taps="none")._repr_mimebundle_())

    @unittest.skipUnless(BROWSER, "no Chromium here")
    def test_words_are_those_of_the_map(self) -> None:
        run = self.model.run(self.picture)
        row = run.map(1, 0, 0).row
        most = int(row.argmax())
        place = "itself" if most == 0 else f"patch ({(most - 1) // 5}, {(most - 1) % 5})"
        dom = shown(run.html())
        words = html.unescape(re.search(r'role="status">([^<]*)<', dom)[1])  # type: ignore[index]
        found = re.fullmatch(r"Layer 1, head 0: CLS gives ([\d.]+) % of its attention to (CLS and )?(\d+) patch(?:es)? [a-z ]+, "
                             r"most to (.*): ([\d.]+) % = ([\d.]+) × uniform\.", words)
        assert found is not None, words
        order = np.sort(row)[::-1]
        count = int(np.searchsorted(order.cumsum(), order.sum() / 2)) + 1
        self.assertEqual((int(found[3]) + bool(found[2]), found[4]), (count, place))
        self.assertAlmostEqual(float(found[1]), 100 * order[:count].sum(), delta=0.1)
        self.assertAlmostEqual(float(found[6]), row.max() * row.size, delta=0.1)
        self.assertRegex(dom, r'class="ticks"[^>]*><span[^>]*>0</span>')

    def test_rows_are_those_of_the_run(self) -> None:
        """In float16, with all heads in their order."""
        run = self.model.run(self.picture)
        data = json.loads(re.search(r'id="data">(.*?)</script>', run.html(), re.S)[1])  # type: ignore[index]
        self.assertEqual([(one["layer"], one["head"]) for one in data["maps"]], [(layer, head) for layer in (0, 1) for head in (0, 1, 2)])
        for one in data["maps"]:
            values = np.frombuffer(base64.b64decode(one["values"]), "<f2").reshape(26, 26)
            np.testing.assert_array_equal(values, run.attention[one["layer"]][one["head"]].astype(np.float16))
        self.assertTrue(base64.b64decode(data["picture"].split(",")[1]).startswith(b"\x89PNG"))

    def test_widget(self) -> None:
        """With something in the place of anywidget, which Debian has not: what the front end gets."""
        with self.assertRaisesRegex(heed.Error, "widget"):
            with mock.patch.dict(sys.modules, {"anywidget": None}):
                self.model.run(self.picture).widget()
        kept: dict[str, Any] = {}

        class AnyWidget:
            def __init__(self, **values: Any):
                kept.update(values, esm=self._esm, css=self._css)  # type: ignore[attr-defined]

        trait = types.SimpleNamespace(tag=lambda **_: None)
        traits = types.SimpleNamespace(Dict=lambda: trait, Int=lambda: trait)
        with mock.patch.dict(sys.modules, {"anywidget": types.SimpleNamespace(AnyWidget=AnyWidget), "traitlets": traits}):
            self.model.run(self.picture).widget()
        self.assertEqual((kept["layer"], kept["head"], kept["query"], len(kept["data"]["maps"])), (1, 0, 0, 6))
        self.assertIn("export", kept["esm"])
        self.assertIn(".heed", kept["css"])

    def test_size(self) -> None:
        """The cell says its size and what it leaves out, and is never above its limit."""
        run = self.model.run(self.picture, size=160)
        whole = run.html(max_mb=100)
        self.assertRegex(whole, r'"said":"\d+\.\d\d MB: all rows of 6 of 6 heads\."')
        self.assertGreater(len(whole), 24e6)
        self.assertAlmostEqual(float(re.search(r'"said":"([\d.]+) MB', whole)[1]), len(whole) / 1e6, delta=0.1)  # type: ignore[index]
        for limit, said in ((16, "all rows of 2 of 6 heads; of 4 heads the row of one query alone"), (4, "of 6 heads the row of one query alone"),
                            (0.03, "of [1-5] heads the row of one query alone; [1-5] heads are left out")):
            part = run.html(max_mb=limit)
            sentence = json.loads(re.search(r'"said":("[^"]*")', part)[1])  # type: ignore[index]
            self.assertRegex(sentence, rf"^[\d.]+ MB: {said}.*\. max_mb = {limit} is the limit")
            self.assertLess(len(part), limit * 1e6)
        with self.assertRaisesRegex(heed.Error, "max_mb: too small"):
            run.html(max_mb=0.01)
        for shown in (run, run.map(0, 1, 5)):
            self.assertLess(sum(map(len, shown._repr_mimebundle_().values())), 4e6)
        self.assertLess(len(run.html(max_mb=1e300)), 42e6)

    def test_a_map_and_its_run(self) -> None:
        """Both have a cell and a picture for tools without HTML; a map's cell begins with its own row, which is there whatever fits."""
        run = self.model.run(self.picture)
        bundle = run.map(0, 2, 7)._repr_mimebundle_()
        self.assertEqual(set(bundle), {"text/plain", "text/html", "image/png"})
        self.assertTrue(base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG"))
        data = json.loads(html.unescape(re.search(r'id=&quot;data&quot;&gt;(.*?)&lt;/script', bundle["text/html"], re.S)[1]))  # type: ignore[index]
        self.assertEqual((data["layer"], data["head"], data["query"]), (0, 2, 7))
        self.assertEqual(set(run._repr_mimebundle_()), {"text/plain", "text/html", "image/png"})
        self.assertEqual(set(run.map(0, None, 7)._repr_mimebundle_()), {"text/plain", "image/png"})
        self.assertEqual(set(run.rollout(3)._repr_mimebundle_()), {"text/plain", "image/png"})

    def test_rows_on_demand(self) -> None:
        """A run without maps has the same cell, whose rows are computed for it; one of some rows has those."""
        runs: list[dict[str, Any]] = [{"taps": "maps"}, {"taps": "rows"}, {"rows": [3, 0]}]
        data = [json.loads(re.search(r'id="data">(.*?)</script>', self.model.run(self.picture, **how).html(), re.S)[1])  # type: ignore[index]
                for how in runs]
        for whole, rows, some in zip(*(one["maps"] for one in data)):
            values = [np.frombuffer(base64.b64decode(one["values"]), "<f2").reshape(-1, 26).astype(float) for one in (whole, rows, some)]
            np.testing.assert_allclose(values[1], values[0], atol=1e-3)
            np.testing.assert_array_equal(values[2], values[0][[3, 0]])


if __name__ == "__main__":
    main()
