"""So many of something a minute for each key; what comes beyond is only counted, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Minute(Generic[T]):
    """One key's minute: what was let through, what was only counted, and the latest that came with it."""

    latest: T
    allowed: int = 0
    exceeded: Counter[str] = field(default_factory=Counter[str])


class MinuteLimit(Generic[T]):
    """`most` a minute for each key. It is the process's own: what it counted is lost where that is killed."""

    def __init__(self, limit: int) -> None:
        self._most = limit
        self._minutes: dict[tuple[Hashable, int], Minute[T]] = {}

    def allow(self, key: Hashable, name: str, latest: T, at: datetime) -> bool:
        """Whether this one is within the limit; else it is counted under `name`."""
        minute = self._minutes.setdefault((key, int(at.timestamp()) // 60), Minute(latest))
        minute.latest = latest
        if minute.allowed < self._most:
            minute.allowed += 1
            return True
        minute.exceeded[name] += 1
        return False

    def pop_exceeded(self, at: datetime | None) -> list[Minute[T]]:
        """The minutes that are over (None: all) and had more than the limit; each is returned once."""
        now = None if at is None else int(at.timestamp()) // 60
        over = [key for key in self._minutes if key[1] != now]
        return [minute for key in over if (minute := self._minutes.pop(key)).exceeded]
