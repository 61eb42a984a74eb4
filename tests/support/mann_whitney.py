"""The Mann-Whitney U test (two-sided, normal approximation, with a correction for ties)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """`superiority`: how often a value of the first sample is the larger one (0.5: equally often); `z`, `p` of U."""

    u: float
    superiority: float
    z: float
    p: float

    def __str__(self) -> str:
        return f"Mann-Whitney U {self.u:.0f}, superiority {self.superiority:.4f}, z {self.z:+.2f}, p {self.p:.3g}"


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Compare samples of at least 20 values each: `p` is the probability of such a difference by chance."""
    ranks = _ranks([*first, *second])
    n, m = len(first), len(second)
    u = sum(ranks[: len(first)]) - n * (n + 1) / 2
    ties = sum(count**3 - count for count in Counter([*first, *second]).values())
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    z = (u - n * m / 2) / math.sqrt(variance) if variance else 0.0
    return Comparison(u, u / (n * m), z, math.erfc(abs(z) / math.sqrt(2)))


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for position in order[start:end]:
            ranks[position] = (start + 1 + end) / 2
        start = end
    return ranks
