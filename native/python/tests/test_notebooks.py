"""The notebooks run, and their cells show what their words say."""
import json
import pathlib
import unittest
from typing import Any, cast

import heed
from support import main

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
        return [next((dict(one["data"]) for one in cell.outputs if one.output_type == "execute_result"), {})
                for cell in notebook.cells if cell.cell_type == "code"]

    def test_maps(self) -> None:
        top, run, one, numbers, rollout = self.run_notebook("maps")
        self.assertIn("('star', 0.999", top["text/plain"])
        if (pathlib.Path(heed.__file__).parent / "cell.html").exists():
            self.assertIn("<iframe", run["text/html"])
        else:  # npm ci was not run
            self.assertIn("image/png", run)
        self.assertIn("layer 3, head 0, query (10, 1)", one["text/plain"])
        self.assertIn("image/png", one)
        self.assertIn("(", numbers["text/plain"])
        self.assertIn("rollout, query (10, 1)", rollout["text/plain"])

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
        logits, shapes, weights = self.run_notebook("own_transforms")
        self.assertLess(float(logits["text/plain"]), 1e-4)
        self.assertEqual(shapes["text/plain"], "((197, 128), (4, 197, 32))")
        self.assertLess(float(weights["text/plain"]), 5e-6)

    def test_notebooks_have_no_results(self) -> None:
        for path in NOTEBOOKS.glob("*.ipynb"):
            for cell in json.loads(path.read_text())["cells"]:
                self.assertFalse(cell.get("outputs"), path.name)
                self.assertLessEqual(len(cell["source"]), 15, path.name)


if __name__ == "__main__":
    main()
