"""Counters of a process, by name and label values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

CounterKey = tuple[str, tuple[str, ...]]
Count = tuple[CounterKey, int]
Gauge = tuple[CounterKey, float]
"""A value that may fall."""

LATENCY_BOUNDS = ("0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "10.0", "+Inf")
"""The upper bounds of a latency in seconds, as labels."""


class Counters:
    """Counts since the last drain. Labels have few values by construction: never an address, a domain or an ID."""

    def __init__(self) -> None:
        self._counts: Counter[CounterKey] = Counter()

    def add(self, name: str, *labels: str, times: int = 1) -> None:
        """Increase a counter by `times`."""
        if times:
            self._counts[name, labels] += times

    def add_latency(self, name: str, milliseconds: int) -> None:
        """Count a latency: in `NAME_bucket` by its upper bound, and in `NAME_milliseconds`."""
        bound = next(each for each in LATENCY_BOUNDS if milliseconds <= float(each) * 1000)
        self.add(f"{name}_bucket", bound)
        self.add(f"{name}_milliseconds", times=milliseconds)

    def include(self, counts: Iterable[Count]) -> None:
        """Add counts that another `Counters` returned."""
        for key, count in counts:
            self._counts[key] += count

    def drain(self) -> list[Count]:
        """Return the counts since the last call, sorted by key, and reset them."""
        counts, self._counts = self._counts, Counter()
        return sorted(counts.items())
