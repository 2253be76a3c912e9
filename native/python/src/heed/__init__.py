"""heed runs vision transformers and shows where they look.

    import heed
    model = heed.open("vit-base-patch16-224")
    run = model.run("cat.jpg")
    run.top(5)
    run.attention[11][3, 0]
    run.map(layer=11, head=3, query=(5, 7))

Arrays are NumPy's. Errors are heed.Error, with one sentence."""
import pathlib

from ._arrays import Statistics, colours, entropy, mass_mask, offsets, rollout, statistics, top
from ._backend import Device, devices
from ._explain import MAPS as explain_maps, METHODS as explain_methods, Explanation
from ._features import (Components, Localisation, clusters, cosine, fill_pixels, head_mean, localise, matches, norms, order, outliers, pca,
                        similarity, spearman)
from ._figure import Map
from ._library import Error, FileError, InvalidError, OutOfMemory, c, text
from ._model import Info, Model, Survey, open
from ._run import Run, Tap, Taps
from ._session import Changes, Session
from ._texts import Scores, TextTower

# A small model in the package, and a scene for it: heed.open(heed.DEMO).run(heed.DEMO / "scene.png").
DEMO = pathlib.Path(__file__).parent / "demo"
__version__ = text(c.heed_version())
__all__ = ["DEMO", "Changes", "Components", "Device", "Error", "Explanation", "FileError", "Info", "InvalidError", "Localisation", "Map", "Model",
           "OutOfMemory", "Run", "Scores", "Session", "Statistics", "Survey", "Tap", "Taps", "TextTower", "clusters", "colours", "cosine", "devices",
           "entropy", "explain_maps", "explain_methods", "fill_pixels", "head_mean", "localise", "mass_mask", "matches", "norms", "offsets", "open", "order",
           "outliers", "pca", "rollout", "similarity", "spearman", "statistics", "top"]
