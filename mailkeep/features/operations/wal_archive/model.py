"""The archive of the write-ahead log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class WalArchive:
    """The chain in progress, or the last one. `repository`: the setting when it began; `stored_to`: what was committed
    before it is in the repository; `next_segment`: the one after the last that was received completely and removed
    here; `spool_bytes`: what is kept here. `error`: why the last attempt failed; `ended`: why the chain has ended.
    """

    chain: UUID
    repository: str
    began_at: datetime
    stored_to: datetime | None = None
    next_segment: str = ""
    spool_bytes: int = 0
    error: str | None = None
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class PointInTime:
    """Between which times the instance can be restored to any, None if there is no such time yet; what is kept on this
    machine; and what is wrong.
    """

    begin: datetime | None
    end: datetime | None
    spool_bytes: int
    problem: str | None
