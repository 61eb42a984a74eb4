"""A limit per key and minute. Excess events are only counted, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from mailkeep.core.shared_memory import SharedMemory, key_of

T = TypeVar("T")


@dataclass(slots=True)
class Minute(Generic[T]):
    """The counts of one key and minute in this process: excess events by name, and the latest value."""

    latest: T
    exceeded: Counter[str] = field(default_factory=Counter[str])


class MinuteLimit(Generic[T]):
    """At most `limit` events per key and minute, in all processes that share `memory`. The counts of a process are lost
    if it is killed.
    """

    def __init__(self, limit: int, memory: SharedMemory | None = None, name: str = "") -> None:
        self._limit, self._name = limit, name
        self._memory = memory or SharedMemory()
        self._minutes: dict[tuple[Hashable, int], Minute[T]] = {}

    def allow(self, key: Hashable, name: str, latest: T, at: datetime) -> bool:
        """Whether this event is within the limit; if not, it is counted under `name`."""
        number = int(at.timestamp()) // 60
        minute = self._minutes.setdefault((key, number), Minute(latest))
        minute.latest = latest
        shared_key = self._shared_key(key, number)
        with self._memory:
            if sum(self._memory.read(shared_key)) < self._limit:
                self._memory.add(shared_key, 1)
                return True
        minute.exceeded[name] += 1
        return False

    def pop_exceeded(self, at: datetime | None) -> list[Minute[T]]:
        """Remove and return the minutes before `at` (None: all) that exceeded the limit."""
        now = None if at is None else int(at.timestamp()) // 60
        past = [key for key in self._minutes if key[1] != now]
        with self._memory:
            for key, number in past:
                self._memory.write(self._shared_key(key, number), 0)
        return [minute for key in past if (minute := self._minutes.pop(key)).exceeded]

    def _shared_key(self, key: Hashable, number: int) -> int:
        return key_of(f"{self._name} {key} {number}")
