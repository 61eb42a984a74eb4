"""How many jobs of a lane are done at a time: more while it goes well, the least when it doesn't."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from uuid import UUID

_REMEMBERED = 10_000


class AdaptiveConcurrency:
    """Rooms of lanes: each begins with `start`, gains one with a job that went well, up to `most`, and loses one with a
    job that did not, down to 1. A lane where nothing goes any more loses as many as it has under way, all at once.
    """

    def __init__(self, *, initial: int, maximum: int) -> None:
        self.initial = initial
        self._maximum = maximum
        self._limits: OrderedDict[UUID, int] = OrderedDict()

    def record(self, key: UUID, *, succeeded: bool) -> None:
        """Learn how a job of the lane went."""
        room = self._limits.pop(key, self.initial)
        self._limits[key] = min(self._maximum, room + 1) if succeeded else max(1, room - 1)
        if len(self._limits) > _REMEMBERED:
            self._limits.popitem(last=False)

    def free_slots(self, running: Mapping[UUID, int]) -> dict[UUID, int]:
        """What is left of the rooms that are not `start`, where so many jobs of these lanes are under way."""
        lanes = self._limits.keys() | running.keys()
        return {lane: max(0, self._limits.get(lane, self.initial) - running.get(lane, 0)) for lane in lanes}
