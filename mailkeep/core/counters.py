"""What a process has counted, by name and label values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

Key = tuple[str, tuple[str, ...]]
Count = tuple[Key, int]


class Tally:
    """Counts until somebody takes them. Labels have few values by construction: never an address, a domain or an id."""

    def __init__(self) -> None:
        self._counts: Counter[Key] = Counter()

    def add(self, name: str, *labels: str, times: int = 1) -> None:
        """Count something."""
        if times:
            self._counts[name, labels] += times

    def include(self, counts: Iterable[Count]) -> None:
        """Add counts of others."""
        for key, count in counts:
            self._counts[key] += count

    def take(self) -> list[Count]:
        """What was counted since the last time, in the order of the keys."""
        taken, self._counts = self._counts, Counter()
        return sorted(taken.items())
