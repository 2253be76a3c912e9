"""Calls every public function with arguments that make no sense, and prints how many calls it made: fuzz_arguments.py MODEL"""
import random
import sys
from typing import Any

import heed
import numpy as np

VALUES: list[Any] = [None, True, -1, 0, 1, 7, 2**31, 2**70, -2**40, 0.5, float("nan"), float("inf"), "", "cpu", "a\0b", "\ud800", b"", b"\xff\xd8\xff",
                     [], [1, 2], (1, 2), (0, 0), ["a"], {}, {"a": 1}, object(), int, np.zeros(0), np.zeros((3, 3), np.float32), np.full((2, 3, 3), np.nan),
                     np.zeros((0, 4, 3), np.uint8), np.zeros((5, 5, 3), np.uint8), np.zeros((5, 5), bool), np.array("x"), np.array([None]),
                     np.zeros((2, 2, 2, 2, 2)), np.array([1, 2], np.float16), np.zeros((4, 4), complex), "/dev/null", "/", lambda: 0]


def main(path: str) -> int:
    pick = random.Random(5)
    model = heed.open(path, device="cpu", threads=1)
    session = model.session()
    run = session.run(np.zeros((8, 8, 3), np.uint8))
    found = run.map()
    explained = model.explain(np.zeros((8, 8, 3), np.uint8), "lens")
    functions = [heed.open, heed.rollout, heed.entropy, heed.statistics, heed.mass_mask, heed.colours, heed.top, model.run, model.forward,
                 model.session, model.label, model.survey, session.run, session.forward, run.map, run.rollout, run.top, run.tap, run.html, run.scores,
                 found.overlay, found.image, heed.Changes().ablate, heed.pca, heed.similarity, heed.matches, heed.norms, heed.outliers, heed.clusters,
                 heed.cosine, heed.head_mean, heed.order, heed.spearman, heed.localise, heed.fill_pixels, model.explain, explained.map]
    calls = 0
    for function in functions:
        for _ in range(50):
            arguments = [pick.choice(VALUES) for _ in range(pick.randint(1, 3))]
            calls += 1
            try:
                result = function(*arguments)
                if hasattr(result, "close") and result not in (session, model):
                    result.close()
            except Exception as error:  # noqa: BLE001, any exception will do
                assert str(error) or isinstance(error, (AssertionError, TypeError, IndexError, KeyError)), (function, arguments, repr(error))
    assert model.run(np.zeros((8, 8, 3), np.uint8)).logits is not None
    return calls


if __name__ == "__main__":
    print(main(sys.argv[1]), "calls")
