"""Which changes of keys are allowed, and when the steps of a rotation are due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from uuid import UUID

from msgspec import structs

from mailkeep.core.errors import Conflict
from mailkeep.features.directory.dkim import rules as dkim_rules
from mailkeep.features.directory.dkim.model import Algorithm, DkimKey, DnsStatus
from mailkeep.features.directory.dkim_rotation.model import (
    MAX_KEYS,
    DkimRecord,
    DomainDkimDue,
    Lookup,
    ServerFinding,
)
from mailkeep.features.record.events.model import Event
from mailkeep.features.record.system_mail.model import SystemMailItem
from mailkeep.net.dns_query import DnsAnswer, presentable

_VERIFYING = timedelta(hours=1)
"""How long a receiver may take to verify a message that it has accepted."""
_FIRST_PAUSE, _LONGEST_PAUSE, _MAX_DOUBLINGS = timedelta(seconds=30), timedelta(hours=6), 12
_REQUESTS = (timedelta(0), timedelta(days=3), timedelta(days=10), timedelta(days=30))
"""The age of a key at which the publication of its record is asked for."""
_TOGETHER = timedelta(days=1)
_MAX_FOUND = 20  # values that a refusal shows
_OWN_DELAY = timedelta(days=1)
"""How long Mailkeep may take to publish a record itself, before somebody is asked."""


def judge(key: DkimKey, answers: Sequence[DnsAnswer]) -> Lookup:
    """The result of a look-up of a key's record. A name server without an answer counts as one that does not see it."""
    findings = tuple(_judge_answer(key, answer) for answer in answers)
    statuses: set[DnsStatus] = {finding.status for finding in findings}
    wrong: list[DnsStatus] = [finding.status for finding in findings if finding.status not in ("ok", "dns_error")]
    if not wrong:
        return Lookup("ok" if statuses == {"ok"} else "dns_error", findings)
    return Lookup("mismatch" if "ok" in statuses else wrong[0], findings)


def _judge_answer(key: DkimKey, answer: DnsAnswer) -> ServerFinding:
    if answer.outcome == "error":
        return ServerFinding(answer.server, "dns_error", (), f"No answer: {answer.error}.")
    verdict = dkim_rules.judge_record(key, answer.values)
    found = tuple(presentable(value) for value in answer.values[:_MAX_FOUND])
    return ServerFinding(answer.server, verdict[0], found, verdict[1])


def refuse_unpublished(key: DkimKey, domain_name: str, lookup: Lookup) -> None:
    """CONFLICT `not_published` unless every name server finds the record of a key."""
    if lookup.is_published:
        return
    record = to_record(key, domain_name)
    behind = ", ".join(f"{finding.server}: {finding.status}" for finding in lookup.findings if finding.status != "ok")
    raise Conflict(
        f"Not every name server finds the record {record.name} yet ({behind}). Publish it, wait, and try again; "
        "`force` activates the key nevertheless, but receivers without the record can't verify its signatures.",
        reason="not_published",
        record={"name": record.name, "type": record.type, "value": record.value},
        resolvers=[asdict(finding) | {"found": list(finding.found)} for finding in lookup.findings],
    )


def refuse_retired(key: DkimKey) -> None:
    """CONFLICT `retired` for a retired key, which has no private key any more."""
    if key.stage == "retired":
        raise Conflict("A retired key can't be activated again: create a new one.", reason="retired")


def activate(keys: Sequence[DkimKey], key_id: UUID, at: datetime) -> list[DkimKey]:
    """The keys that change when one of a domain's `keys` becomes active: itself, and those that it replaces."""
    new = next(key for key in keys if key.id == key_id)
    replaced = [
        replace(key, stage="retiring", retiring_at=at, changed_at=at)
        for key in keys
        if key.stage == "active" and key.family == new.family and key.id != key_id
    ]
    activated = replace(
        new,
        stage="active",
        activated_at=at,
        retiring_at=None,
        for_rotation=False,
        dns_status=new.dns_status,
        changed_at=at,
    )
    return [activated, *replaced]


def retire(keys: Sequence[DkimKey], key_id: UUID, at: datetime) -> list[DkimKey]:
    """The keys that change when an administrator retires one: an active key becomes retiring, a pending one, which has
    signed nothing, retired. CONFLICT `last_active_key`.
    """
    key = next(each for each in keys if each.id == key_id)
    if key.stage == "pending":
        return [end(key, at)]
    if key.stage != "active":
        return []
    if sum(each.stage == "active" for each in keys) == 1:
        raise Conflict(
            "This is the last active key of the domain, whose mail would not be signed any more. Activate another key "
            "first.",
            reason="last_active_key",
        )
    return [replace(key, stage="retiring", retiring_at=at, changed_at=at)]


def end(key: DkimKey, at: datetime) -> DkimKey:
    """The key when it is retired: without its private key."""
    return replace(key, stage="retired", private_key=b"", retired_at=at, for_rotation=False, changed_at=at)


def refuse_in_use(key: DkimKey) -> None:
    """CONFLICT `in_use` for a key whose record receivers still need."""
    if key.stage in ("active", "retiring"):
        advice = (
            "Activate another key, or retire this one, first." if key.stage == "active" else "Wait until it is retired."
        )
        raise Conflict(
            f"The key is {key.stage}, so receivers still need it. {advice}", reason="in_use", stage=key.stage
        )


def refuse_over_limit(keys: Sequence[DkimKey]) -> None:
    """CONFLICT `limit_reached` if a domain has as many keys that are not retired (`keys`) as it may."""
    if len(keys) >= MAX_KEYS:
        raise Conflict(
            f"A domain has at most {MAX_KEYS} keys that are not retired. Delete or retire some first.",
            reason="limit_reached",
            limit=MAX_KEYS,
            present=len(keys),
        )


def to_record(key: DkimKey, domain_name: str) -> DkimRecord:
    """The record that the domain's administrator publishes for a key."""
    if key.cname is not None:
        return DkimRecord(name=key.dns_name(domain_name), type="CNAME", value=key.cname)
    return DkimRecord(name=key.dns_name(domain_name), type="TXT", value=key.dns_value)


def queue_lifetime(give_up_hours: float, longest_retry_seconds: float) -> timedelta:
    """How long after its signature a message may still be verified by its receiver: the time until Postfix gives up
    (`maximal_queue_lifetime`), which it does after a last retry, and an hour for the receiver.
    """
    return timedelta(hours=give_up_hours, seconds=longest_retry_seconds) + _VERIFYING


def next_check(checks: int) -> timedelta:
    """The pause after this number of look-ups of a record: 30 seconds, doubled each time, at most 6 hours."""
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(checks, _MAX_DOUBLINGS))


def is_request_due(key: DkimKey, requests: int, at: datetime, *, publishes_itself: bool) -> bool:
    """Whether the publication of a key's record is to be asked for (again)."""
    delay = _OWN_DELAY if publishes_itself else timedelta(0)
    return requests < len(_REQUESTS) and key.created_at + _REQUESTS[requests] + delay <= at


def is_ready(key: DkimKey, at: datetime) -> bool:
    """Whether a pending key whose record is visible may sign: at once if its selector is new. A fixed selector was used
    before, so caches may still have the record of its previous key.
    """
    if key.published_since is None:
        return False
    return key.cname is None or at - key.published_since >= dkim_rules.SETTLING


def pause_of(key: DkimKey, checks: int, at: datetime, *, is_published: bool) -> timedelta:
    """The pause after a look-up; for a record that is visible, the time until its key may sign."""
    if is_published and key.published_since is not None:
        return max(key.published_since + dkim_rules.SETTLING - at, _FIRST_PAUSE)
    return next_check(checks)


def is_over(key: DkimKey, lifetime: timedelta, at: datetime) -> bool:
    """Whether no mail that a retiring key has signed can be in transit any more; `lifetime`: `queue_lifetime`."""
    return key.stage == "retiring" and key.retiring_at is not None and key.retiring_at + lifetime <= at


def is_as_old(key: DkimKey, due: DkimKey) -> bool:
    """Whether an active key is rotated together with one that is due."""
    if key.activated_at is None or due.activated_at is None:
        return False
    return key.activated_at <= due.activated_at + _TOGETHER


def next_algorithm(algorithm: Algorithm) -> Algorithm:
    """The algorithm of the key that replaces one: the same, or RSA with 2048 bits for an imported size."""
    return "rsa2048" if algorithm in ("rsa1024", "rsa3072") else algorithm


def due_item(domain_name: str, keys: Sequence[DkimKey]) -> SystemMailItem:
    """What the mail says that asks for the publication of the records of these keys."""
    return {"domain": domain_name, "records": [structs.asdict(each) for each in list_due(domain_name, keys)]}


def list_due(domain_name: str, keys: Sequence[DkimKey]) -> list[DkimRecord]:
    """The records whose publication is asked for: of a delegated key also its TXT record in the server's domain."""
    found: list[DkimRecord] = []
    for key in keys:
        found.append(to_record(key, domain_name))
        if key.cname is not None:
            found.append(DkimRecord(name=key.cname, type="TXT", value=key.dns_value))
    return found


def due_event(domain_id: UUID, domain_name: str, keys: Sequence[DkimKey], reminder: int) -> Event:
    """The event that asks for the publication of the records of these keys."""
    records = list_due(domain_name, keys)
    return Event(domain_id, None, DomainDkimDue(domain=domain_name, records=records, reminder=reminder))
