"""Adaptive concurrency: the number of concurrent jobs of a key grows with success and shrinks with failure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from uuid import UUID

_REMEMBERED = 10_000


class AdaptiveConcurrency:
    """A limit per key: starts at `initial`, plus one after each success (up to `maximum`), minus one after each failure
    (down to 1). If all running jobs of a key fail, its limit falls by their number.
    """

    def __init__(self, *, initial: int, maximum: int) -> None:
        self.initial = initial
        self._maximum = maximum
        self._limits: OrderedDict[UUID, int] = OrderedDict()

    def record(self, key: UUID, *, succeeded: bool) -> None:
        """Record the outcome of a job."""
        room = self._limits.pop(key, self.initial)
        self._limits[key] = min(self._maximum, room + 1) if succeeded else max(1, room - 1)
        if len(self._limits) > _REMEMBERED:
            self._limits.popitem(last=False)

    def free_slots(self, running: Mapping[UUID, int]) -> dict[UUID, int]:
        """The free slots by key, given the number of `running` jobs by key; other keys have `initial`."""
        keys = self._limits.keys() | running.keys()
        return {key: max(0, self._limits.get(key, self.initial) - running.get(key, 0)) for key in keys}
