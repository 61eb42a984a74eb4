"""JSON of DNS updates."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from mailkeep.core.clock import iso_or_none
from mailkeep.features.directory.dns_updates.model import DomainUpdates
from mailkeep.web.fields import Timestamp


class UpdatedRecord(Struct, frozen=True):
    """A record that Mailkeep writes. `written`: by Mailkeep; `present`: somebody else had published it before;
    `conflict`: others have published other values, which are left as they are; `waiting`: not written yet.
    """

    name: str
    type: str
    value: str
    state: Literal["waiting", "written", "present", "conflict"]
    problem: str


class DnsUpdates(Struct, frozen=True):
    """What Mailkeep writes for a domain. `state` `off`: nothing; `problem` says in words what is wrong."""

    managed: bool
    state: Literal["off", "waiting", "ok", "conflict", "error"]
    problem: str
    attempted_at: Timestamp | None
    next_attempt_at: Timestamp | None
    records: list[UpdatedRecord]


def to_updates(updates: DomainUpdates) -> DnsUpdates:
    """The response for a domain."""
    job = updates.job
    if job is None:
        return DnsUpdates(updates.managed, "off", "", None, None, [])
    records = [UpdatedRecord(each.name, each.type, each.value, each.state, each.problem) for each in updates.records]
    next_at = None if job.attempted_at is None else job.next_attempt_at
    return DnsUpdates(
        updates.managed, job.state, job.problem, iso_or_none(job.attempted_at), iso_or_none(next_at), records
    )
