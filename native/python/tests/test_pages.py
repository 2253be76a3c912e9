"""Cells where people meet them: a page that nbconvert wrote, without a network, and the classic notebook; in Chromium, by cells.mjs."""
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any, cast

import heed
import numpy as np
from support import ROOT, main

NODE = shutil.which("node")
BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("chromium-browser")
TESTS = pathlib.Path(__file__).resolve().parent
PICTURES = pathlib.Path(os.environ.get("HEED_PICTURES", tempfile.gettempdir()))
STEPS = "hover 10 1 14 14,head 0,layer 3,key ArrowRight,cls"


def expected(run: heed.Run, layer: int, head: int, query: int) -> str:
    """What the cell says of a row, from the run's own numbers in float16: the beginning and the largest weight."""
    row = run.attention[layer][head, query].astype(np.float16).astype(np.float64)
    at = int(row.argmax())
    name = "CLS" if query == 0 else f"patch {divmod(query - 1, 14)}"
    digits = 2 if row[at] < 0.0995 else 1
    most = "itself" if at == query else "CLS" if at == 0 else f"patch {divmod(at - 1, 14)}"
    return f"Layer {layer}, head {head}: {name} gives|most to {most}: {100 * row[at]:.{digits}f} % = {row[at] * row.size:.1f} × uniform."


def visited(url: str, picture: str, *options: str) -> dict[str, Any]:
    done = subprocess.run([str(NODE), str(TESTS / "cells.mjs"), url, str(PICTURES / picture), STEPS, *options], capture_output=True, text=True, timeout=280)
    if done.returncode:
        raise AssertionError(done.stderr[-3000:])
    return cast("dict[str, Any]", json.loads(done.stdout))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        if not (pathlib.Path(heed.__file__).parent / "cell.html").exists():
            raise unittest.SkipTest("no cell in this build (npm ci)")
        if not NODE or not BROWSER or not (ROOT / "node_modules/playwright-core").exists():
            raise unittest.SkipTest("no Node, Chromium or playwright-core here")

    def check(self, found: dict[str, Any]) -> None:
        """Each step shows the row that NumPy finds in the run."""
        with heed.open(heed.DEMO, device="cpu") as model:
            run = model.run(heed.DEMO / "scene.png")
            last, patch = model.info.layers - 1, 1 + 10 * 14 + 1
            rows = [(last, 0, 0), (last, 0, patch), (last, 0, patch), (3, 0, patch), (3, 0, patch + 1), (3, 0, 0)]
            self.assertEqual(len(found["words"]), len(rows))
            for words, row in zip(found["words"], rows):
                for part in expected(run, *row).split("|"):
                    self.assertIn(part, words)
        self.assertIn("Arrow keys", found["label"])
        self.assertEqual(found["violations"], [])
        self.assertEqual(found["faults"], [])

    def test_html_of_nbconvert(self) -> None:
        try:
            from nbclient.client import NotebookClient
            from nbconvert import HTMLExporter
            from nbformat import read
        except ImportError:
            self.skipTest("no nbclient or nbconvert here")
        notebook: Any = cast(Any, read)(TESTS.parent / "notebooks/maps.ipynb", as_version=4)
        NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
        body, _ = HTMLExporter().from_notebook_node(notebook)
        with tempfile.TemporaryDirectory() as place:
            path = pathlib.Path(place, "maps.html")
            path.write_text(body, encoding="utf-8")
            found = visited(path.as_uri(), "nbconvert.png")
        self.check(found)
        self.assertEqual(found["cells"], 2)  # of the run and of one head's map
        for url in found["asked"]:  # nbconvert's own, which stay without an answer
            self.assertRegex(url, r"^https://(cdnjs|fonts|unpkg|cdn)[^/]*/.*(require|MathJax|mermaid|font)")

    def test_classic_notebook(self) -> None:
        program = shutil.which("jupyter-notebook")
        if not program:
            self.skipTest("no jupyter-notebook here")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with tempfile.TemporaryDirectory() as place:
            shutil.copy(TESTS.parent / "notebooks/maps.ipynb", place)
            server = subprocess.Popen([program, "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--NotebookApp.token=",
                                       f"--notebook-dir={place}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      env={**os.environ, "JUPYTER_CONFIG_DIR": place, "JUPYTER_DATA_DIR": f"{place}/data", "IPYTHONDIR": place})
            try:
                for _ in range(600):
                    try:
                        http.client.HTTPConnection("127.0.0.1", port, timeout=5).request("GET", "/api")
                        break
                    except OSError:
                        time.sleep(0.1)
                found = visited(f"http://127.0.0.1:{port}/notebooks/maps.ipynb", "classic.png", "--execute")
            finally:
                server.terminate()
                server.wait()
        self.check(found)
        self.assertEqual(found["asked"], [])


if __name__ == "__main__":
    print(f"# {sys.version.split()[0]}, pictures in {PICTURES}")
    main()
