"""A limit per key and minute. Excess events are only counted, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Minute(Generic[T]):
    """The counts of one key and minute: events within the limit, excess events by name, and the latest value."""

    latest: T
    allowed: int = 0
    exceeded: Counter[str] = field(default_factory=Counter[str])


class MinuteLimit(Generic[T]):
    """At most `limit` events per key and minute, in this process. The counts are lost if the process is killed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._minutes: dict[tuple[Hashable, int], Minute[T]] = {}

    def allow(self, key: Hashable, name: str, latest: T, at: datetime) -> bool:
        """Whether this event is within the limit; if not, it is counted under `name`."""
        minute = self._minutes.setdefault((key, int(at.timestamp()) // 60), Minute(latest))
        minute.latest = latest
        if minute.allowed < self._limit:
            minute.allowed += 1
            return True
        minute.exceeded[name] += 1
        return False

    def pop_exceeded(self, at: datetime | None) -> list[Minute[T]]:
        """Remove and return the minutes before `at` (None: all) that exceeded the limit."""
        now = None if at is None else int(at.timestamp()) // 60
        past = [key for key in self._minutes if key[1] != now]
        return [minute for key in past if (minute := self._minutes.pop(key)).exceeded]
