import random

import pytest

from tests.support.mann_whitney import mann_whitney


def test_against_a_worked_example():
    """Mann and Whitney's statistic as R's wilcox.test(x, y, exact = FALSE, correct = FALSE) gives it."""
    first = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    second = [1.15, 0.88, 0.90, 0.74, 1.21]
    found = mann_whitney(first, second)
    assert found.u == 35
    assert found.p == pytest.approx(0.2207, abs=1e-4)


def test_ties_share_their_ranks():
    found = mann_whitney([1, 2, 2, 3], [2, 2, 4, 4])
    assert found.u == 4
    assert mann_whitney([1] * 20, [1] * 20).p == 1


def test_it_detects_differences_and_rarely_false_ones():
    chance = random.Random(7)

    def sample(shift: float) -> list[float]:
        return [shift + chance.gauss() for _ in range(40)]

    assert mann_whitney(sample(0), sample(5)).p < 1e-9
    found = [mann_whitney(sample(0), sample(0)).p for _ in range(1000)]
    assert 25 <= sum(p < 0.05 for p in found) <= 75
