"""What an installed package must do, with nothing but NumPy beside it: the demo's answer, maps, figures, an explanation, a cell."""
import pathlib
import sys
import tempfile

import heed


def main() -> None:
    with heed.open(heed.DEMO, device="cpu") as model:
        run = model.run(heed.DEMO / "scene.png")
        assert run.top(1)[0][0] == "star" and run.top(1)[0][1] > 0.99, run.top(3)
        assert run.attention[3].shape == (4, 197, 197)
        assert abs(float(run.attention[3][0].sum()) - 197) < 1e-2
        assert run.map(3, 0, (10, 1)).image().shape[2] == 3
        assert model.explain(heed.DEMO / "scene.png", "ledger").map("ledger").shape == (14, 14)
        assert run.html().startswith("<!doctype html>")
        with tempfile.TemporaryDirectory() as place:
            for name in ("run.svg", "run.png"):
                run.save(pathlib.Path(place, name))
                assert pathlib.Path(place, name).stat().st_size > 1000
    print(f"heed {heed.__version__} in {pathlib.Path(heed.__file__).parent}, Python {sys.version.split()[0]}, {len(heed.devices())} Vulkan devices")


if __name__ == "__main__":
    main()
