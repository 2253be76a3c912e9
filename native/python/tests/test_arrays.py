"""The functions on arrays beside NumPy's own sums in double."""
import unittest

import heed
import numpy as np
import numpy.typing as npt
from support import main


def maps(*shape: int) -> npt.NDArray[np.float32]:
    scores = np.random.default_rng(1).normal(size=shape)
    weights = np.exp(scores)
    shares: npt.NDArray[np.float32] = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
    return shares


class Arrays(unittest.TestCase):
    def test_rollout(self) -> None:
        given = maps(3, 2, 10, 10)
        expected = np.eye(10)
        for layer in given.astype(np.float64):
            mixed = 0.5 * layer.mean(0) + 0.5 * np.eye(10)
            expected = mixed / mixed.sum(-1, keepdims=True) @ expected
        np.testing.assert_allclose(heed.rollout(given), expected, atol=1e-6)
        largest = given.astype(np.float64).max(1)
        expected = np.eye(10)
        for layer in largest[1:]:
            mixed = 0.75 * layer + 0.25 * np.eye(10)
            expected = mixed / mixed.sum(-1, keepdims=True) @ expected
        np.testing.assert_allclose(heed.rollout(given, fusion="max", residual=0.25, first_layer=1), expected, atol=1e-6)
        with self.assertRaisesRegex(heed.Error, "not square"):
            heed.rollout(maps(3, 2, 10, 9))
        with self.assertRaisesRegex(heed.Error, "fusion: not known"):
            heed.rollout(given, fusion="median")

    def test_entropy(self) -> None:
        given = maps(4, 5, 9)
        expected = -(given.astype(np.float64) * np.log(given.astype(np.float64))).sum(-1)
        np.testing.assert_allclose(heed.entropy(given), expected, atol=1e-6)
        self.assertAlmostEqual(float(heed.entropy(np.full(8, 1 / 8))), np.log(8))

    def test_statistics(self) -> None:
        given = maps(1 + 12, 13)
        found = heed.statistics(given, 3, 4, patch=8)
        patches = given[1:].astype(np.float64)
        self.assertAlmostEqual(found.prefix_mass, patches[:, 0].mean(), places=6)
        self.assertAlmostEqual(found.self_mass, np.diagonal(patches[:, 1:]).mean(), places=6)
        self.assertAlmostEqual(found.top5_mass, np.sort(patches, 1)[:, -5:].sum(1).mean(), places=6)
        y, x = np.divmod(np.arange(12), 4)
        apart = 8 * np.hypot(y[:, None] - y, x[:, None] - x)
        self.assertAlmostEqual(found.distance, (patches[:, 1:] * apart).sum(1).mean(), places=4)
        with self.assertRaisesRegex(heed.Error, "wrong grid"):
            heed.statistics(given, 4, 4)

    def test_offsets(self) -> None:
        given = maps(1 + 12, 13)
        expected = np.zeros((5, 7))
        for query in range(12):
            for key in range(12):
                y, x = key // 4 - query // 4, key % 4 - query % 4
                expected[2 + y, 3 + x] += float(given[1 + query, 1 + key]) / 12
        np.testing.assert_allclose(heed.offsets(given, 3, 4), expected, atol=1e-7)
        with self.assertRaisesRegex(heed.Error, "offsets: wrong grid"):
            heed.offsets(given, 3, 5)

    def test_mass_mask(self) -> None:
        weights = np.array([[0.1, 0.4], [0.3, 0.2]], np.float32)
        np.testing.assert_array_equal(heed.mass_mask(weights, 0.6), [[False, True], [True, False]])

    def test_colours_and_top(self) -> None:
        np.testing.assert_array_equal(heed.colours([0.0, 1.0, np.nan], "grey"), [[0] * 3, [255] * 3, [128] * 3])
        self.assertEqual(heed.colours(np.zeros((2, 3)), "viridis").shape, (2, 3, 3))
        logits = np.array([0.5, 3, 3, -1], np.float32)
        expected = np.exp(logits.astype(np.float64)) / np.exp(logits.astype(np.float64)).sum()
        found = heed.top(logits, 3)
        self.assertEqual([i for i, _ in found], [1, 2, 0])
        np.testing.assert_allclose([p for _, p in found], expected[[1, 2, 0]])


if __name__ == "__main__":
    main()
