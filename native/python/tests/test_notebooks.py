"""The notebooks run, and their cells show what their words say."""
import ast
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import unittest
from typing import Any, cast
from unittest import mock

import heed
from support import PROGRAM, VECTORS, main

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[1] / "notebooks"


class Notebooks(unittest.TestCase):
    def run_notebook(self, name: str) -> list[dict[str, Any]]:
        """The data of each code cell's result."""
        try:
            from nbclient.client import NotebookClient
            from nbformat import read
        except ImportError:
            self.skipTest("no nbclient here")
        notebook: Any = cast(Any, read)(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
        results: list[dict[str, Any]] = [
            next((dict(one["data"]) for one in cell.outputs if one.output_type in ("execute_result", "display_data")), {})
            for cell in notebook.cells if cell.cell_type == "code"]
        for result in results:
            if "text/plain" in result:  # numpy 2 shows a number with its type
                result["text/plain"] = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", result["text/plain"])
        return results

    def needs(self, module: str) -> None:
        if importlib.util.find_spec(module) is None:
            self.skipTest(f"no {module} here")

    def test_maps(self) -> None:
        self.needs("matplotlib")
        top, run, one, numbers, rollout, figure = self.run_notebook("maps")
        self.assertIn("('star', 0.999", top["text/plain"])
        if (pathlib.Path(heed.__file__).parent / "cell.html").exists():
            self.assertIn("<iframe", run["text/html"])
        else:  # npm ci was not run
            self.assertIn("image/png", run)
        self.assertIn("layer 3, head 0, query (10, 1)", one["text/plain"])
        self.assertIn("image/png", one)
        self.assertIn("(", numbers["text/plain"])
        self.assertIn("rollout, query (10, 1)", rollout["text/plain"])
        self.assertIn("image/png", figure)

    def test_changes(self) -> None:
        before, left, hidden = self.run_notebook("changes")
        self.assertIn("star", before["text/plain"])
        self.assertEqual(left["text/plain"].count("["), 6)
        whole, without = (float(one) for one in hidden["text/plain"].strip("()").split(","))
        self.assertGreater(whole, 0.9)
        self.assertLess(without, 0.5)

    def test_survey(self) -> None:
        classes, *rest = self.run_notebook("survey")
        self.assertEqual(classes["text/plain"].count("'"), 8)
        self.assertIn("Statistics(entropy_cls=", rest[-1]["text/plain"])

    def test_own_transforms(self) -> None:
        logits, shapes, weights, timm = self.run_notebook("own_transforms")
        self.assertLess(float(logits["text/plain"]), 1e-4)
        self.assertEqual(shapes["text/plain"], "((197, 128), (4, 197, 32))")
        self.assertLess(float(weights["text/plain"]), 5e-6)
        self.assertRegex(timm["text/plain"], r"3 layers x 4 heads, width 64.*\n? *\(4, 197, 197\)")

    def test_clip(self) -> None:
        """On a small CLIP of seeded numbers: the texts' order is that of `heed run --text`."""
        picture = VECTORS.parent / "preprocess/rgb.png"
        with mock.patch.dict(os.environ, {"HEED_CLIP": str(VECTORS / "clip_text"), "HEED_PICTURE": str(picture)}):
            scores, where, relevancy, entropies = self.run_notebook("clip")
        found = ast.literal_eval(scores["text/plain"])
        said = subprocess.run([PROGRAM, "run", str(VECTORS / "clip_text"), str(picture), "--backend", "cpu", "-q",
                               *(word for _, text in found for word in ("--text", text))], capture_output=True, text=True, check=True).stdout
        for probability, text in found:
            self.assertAlmostEqual(float(re.search(rf"([\d.]+) +{text} \(cosine", said)[1]), probability, delta=1e-3)  # type: ignore[index]
        self.assertIn("mean of heads, query CLS", where["text/plain"])
        self.assertEqual(relevancy["text/plain"].count("["), 6)
        self.assertIn("(3, 26)", entropies["text/plain"])

    def test_output_attentions(self) -> None:
        self.needs("torch")
        *_, rules, differences, memory, row = self.run_notebook("output_attentions")
        logits, *maps = (float(one) for one in re.findall(r"[\d.]+(?:e-\d+)?", differences["text/plain"]))
        self.assertLess(logits, 1e-4)
        self.assertEqual(len(maps), 4)
        self.assertLess(max(maps), 1e-5)
        self.assertGreater(max(maps), 0)  # two computations, and not one shown twice
        of_torch, of_rows = ast.literal_eval(memory["text/plain"])
        self.assertAlmostEqual(of_torch, 4 * 3 * 197 * 197 * 4 / 1e6)
        self.assertLess(of_rows, of_torch)
        self.assertIn("torch.Size([3, 197, 197])", row["text/plain"])
        self.assertLess(float(row["text/plain"].strip("()").split(",")[0]), 1e-5)

    def test_notebooks_have_no_results(self) -> None:
        for path in NOTEBOOKS.glob("*.ipynb"):
            for cell in json.loads(path.read_text())["cells"]:
                self.assertFalse(cell.get("outputs"), path.name)
                self.assertLessEqual(len(cell["source"]), 15, path.name)


if __name__ == "__main__":
    main()
