"""A run in a notebook: the document's own script, in Chromium without a network."""
import html
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

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
        found = run.map(1, 0, 0)
        peak = divmod(int(found.values.argmax()), 5)
        words = html.unescape(re.search(r'id="words"[^>]*>([^<]*)<', shown(run.html()))[1])  # type: ignore[index]
        self.assertEqual(words, f"layer 1, head 0, query CLS: most at ({peak[0]}, {peak[1]}), {found.values.max() * 26:.1f} × uniform; "
                                f"{100 * found.prefix[0]:.1f} % on CLS")

    def test_size(self) -> None:
        """What does not fit is left out, and the cell says what."""
        run = self.model.run(self.picture, size=160)
        whole, part = run.html(max_mb=100), run.html(max_mb=8)
        self.assertIn('"left": ""', whole)
        self.assertRegex(part, r'"left": "[1-5] of 6 heads have the row of one query alone')
        self.assertLess(len(part), 8e6)
        self.assertGreater(len(whole), 24e6)


if __name__ == "__main__":
    main()
