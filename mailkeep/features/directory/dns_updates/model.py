"""The records that Mailkeep writes, and the job that does it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

JobState = Literal["waiting", "ok", "conflict", "error"]
RecordState = Literal["waiting", "written", "present", "conflict"]


@dataclass(frozen=True, slots=True)
class UpdateJob:
    """The job of a domain or host name (`subject`). `claims` is the fencing token, `next_attempt_at` the end of the
    lease while it is claimed.
    """

    id: UUID
    subject: str
    state: JobState
    problem: str
    next_attempt_at: datetime
    attempted_at: datetime | None
    claims: int
    failures: int


@dataclass(frozen=True, slots=True, order=True)
class WantedRecord:
    """A record to publish: names without a trailing dot, lower case; TXT in one piece."""

    name: str
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class UpdateRecord:
    """A record of a job, and what became of it; `problem` in words, or empty."""

    name: str
    type: str
    value: str
    zone: str
    state: RecordState
    problem: str = ""


@dataclass(frozen=True, slots=True)
class DomainUpdates:
    """What the API shows of a domain; `job` None: Mailkeep writes nothing for it."""

    managed: bool
    job: UpdateJob | None
    records: tuple[UpdateRecord, ...] = ()
