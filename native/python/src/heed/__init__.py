"""heed runs vision transformers and shows where they look.

    import heed
    model = heed.open("vit-base-patch16-224")     # or heed.DEMO, which is in the package
    run = model.run("cat.jpg")
    run.top(5)                                    # [(label, probability), ...]
    run.attention[11][3, 0]                       # float32 [tokens]: layer 11, head 3, query 0
    run.map(layer=11, head=3, query=(5, 7))       # shows itself in a notebook

Models:   open, devices; Model has run, forward, session, survey, explain, texts.
Results:  Run has top, logits, attention, hidden, map, rollout, statistics, scores, save, html; Tap is a value of it, Map one row over the picture.
Changes:  Changes().ablate(layer, head), gain, drop, cut, replace; for run, forward and session.
Maps:     rollout, entropy, statistics, offsets, head_mean, mass_mask, order, spearman, localise; of any arrays [..., queries, keys].
States:   pca, similarity, matches, clusters, norms, outliers, cosine; of any arrays [N, C].

Arrays are NumPy's, layers and heads are counted from 0, and a query is a token or (row, column) of a patch.
Errors are heed.Error, with one sentence; also ValueError, OSError or MemoryError where they are of that kind."""
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
for _name in __all__:  # help(heed) and tracebacks say where a user finds it
    if callable(globals()[_name]):
        globals()[_name].__module__ = __name__
