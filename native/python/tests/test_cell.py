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
        found = re.fullmatch(r"Layer 1, head 0: CLS gives ([\d.]+) % of its attention to (\d+) tokens, most to (.*): ([\d.]+) % = ([\d.]+) × uniform\.", words)
        assert found is not None, words
        order = np.sort(row)[::-1]
        count = int(np.searchsorted(order.cumsum(), order.sum() / 2)) + 1
        self.assertEqual((int(found[2]), found[3]), (count, place))
        self.assertAlmostEqual(float(found[1]), 100 * order[:count].sum(), delta=0.1)
        self.assertAlmostEqual(float(found[5]), row.max() * row.size, delta=0.1)
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
        """What does not fit is left out, and the cell says what."""
        run = self.model.run(self.picture, size=160)
        whole, part = run.html(max_mb=100), run.html(max_mb=8)
        self.assertIn('"left":""', whole)
        self.assertRegex(part, r'"left":"[1-5] of 6 heads have the row of one query alone')
        self.assertLess(len(part), 8e6)
        self.assertLess(len(run._repr_mimebundle_()["text/html"]), 4e6)
        self.assertGreater(len(whole), 24e6)


if __name__ == "__main__":
    main()
