"""How many jobs of a lane are done at a time: more while it goes well, the least when it doesn't."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from uuid import UUID

_REMEMBERED = 10_000


class Pace:
    """Rooms of lanes: each begins with `start`, gains one with a job that went well, up to `most`, and loses one with a
    job that did not, down to 1. A lane where nothing goes any more loses as many as it has under way, all at once.
    """

    def __init__(self, *, start: int, most: int) -> None:
        self.start = start
        self._most = most
        self._rooms: OrderedDict[UUID, int] = OrderedDict()

    def went(self, lane: UUID, *, well: bool) -> None:
        """Learn how a job of the lane went."""
        room = self._rooms.pop(lane, self.start)
        self._rooms[lane] = min(self._most, room + 1) if well else max(1, room - 1)
        if len(self._rooms) > _REMEMBERED:
            self._rooms.popitem(last=False)

    def left(self, busy: Mapping[UUID, int]) -> dict[UUID, int]:
        """What is left of the rooms that are not `start`, where so many jobs of these lanes are under way."""
        lanes = self._rooms.keys() | busy.keys()
        return {lane: max(0, self._rooms.get(lane, self.start) - busy.get(lane, 0)) for lane in lanes}
