"""JSON of the overview of abuse."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.access.accounts.model import AccountKind
from mailkeep.features.access.sign_in_protection.model import SignInFailures
from mailkeep.features.mailflow.abuse_overview.model import AbuseOverview, LimitName, LimitUsage
from mailkeep.web.fields import Query, Timestamp


class AbuseOverviewQuery(Query, frozen=True):
    """Of one domain only."""

    domain_id: UUID | None = None


class SuspendedSender(Struct, frozen=True):
    """A suspended sender address. `id`: of the suspension; `by`: who suspended it."""

    id: UUID
    address: str
    domain_id: UUID | None
    by: Literal["rules", "admin"]
    reason: str
    at: Timestamp


class LimitUsageRecord(Struct, frozen=True):
    """How many recipients or copies count in the last hour for a threshold `name` of a sender (`subject` is its
    address, `mailbox_id` its mailbox, if it is one) or of a domain.
    """

    name: LimitName
    subject: str
    domain_id: UUID | None
    mailbox_id: UUID | None
    used: int
    limit: int


class Spike(Struct, frozen=True):
    """An unresolved alert about a volume that is far above that of earlier weeks (`baseline`). `id`: of the alert."""

    id: UUID
    subject: str
    domain_id: UUID | None
    severity: Literal["warning", "critical"]
    state: Literal["open", "acknowledged", "resolved"]
    reason: str
    observed: float | None
    baseline: float | None
    created_at: Timestamp


class FailuresOfAddress(Struct, frozen=True):
    """Failed sign-ins from a client address (IPv4 address or IPv6 /64 network). `blocked_until`: null if it is not
    blocked, and for callers who do not see all domains.
    """

    address: str
    failures: int
    accounts: int
    last_at: Timestamp
    blocked_until: Timestamp | None


class FailuresOfAccount(Struct, frozen=True):
    """Failed sign-ins to an account, which need not exist, from `addresses` client addresses."""

    account: str
    account_kind: AccountKind
    failures: int
    addresses: int
    last_at: Timestamp
    blocked_until: Timestamp | None


class AuthenticationFailures(Struct, frozen=True):
    """Failed sign-ins of the last hour. The same wrong password counts once."""

    by_address: list[FailuresOfAddress]
    by_account: list[FailuresOfAccount]


class AbuseOverviewRecord(Struct, frozen=True):
    """The overview; each list has at most 50 entries, the worst (of `suspended` and `spikes` the newest) first."""

    suspended: list[SuspendedSender]
    near_limit: list[LimitUsageRecord]
    spikes: list[Spike]
    top_senders: list[LimitUsageRecord]
    authentication_failures: AuthenticationFailures


def overview_record(overview: AbuseOverview) -> AbuseOverviewRecord:
    """The JSON of an overview."""
    return AbuseOverviewRecord(
        suspended=[
            SuspendedSender(each.id, each.address, each.domain_id, each.by_kind, each.reason, iso(each.created_at))
            for each in overview.suspended
        ],
        near_limit=[_usage(each) for each in overview.near_limit],
        spikes=[
            Spike(
                each.id,
                each.subject,
                each.domain_id,
                each.severity,
                each.state,
                each.reason,
                each.observed,
                each.baseline,
                iso(each.created_at),
            )
            for each in overview.spikes
        ],
        top_senders=[_usage(each) for each in overview.top_senders],
        authentication_failures=AuthenticationFailures(
            [_of_address(each) for each in overview.failures_by_address],
            [_of_account(each) for each in overview.failures_by_account],
        ),
    )


def _usage(usage: LimitUsage) -> LimitUsageRecord:
    return LimitUsageRecord(usage.name, usage.subject, usage.domain_id, usage.mailbox_id, usage.used, usage.limit)


def _of_address(each: SignInFailures) -> FailuresOfAddress:
    return FailuresOfAddress(each.name, each.failures, each.others, iso(each.last_at), iso_or_none(each.blocked_until))


def _of_account(each: SignInFailures) -> FailuresOfAccount:
    kind, _, address = each.name.partition(":")
    return FailuresOfAccount(
        address,
        "mailbox" if kind == "mailbox" else "admin",
        each.failures,
        each.others,
        iso(each.last_at),
        iso_or_none(each.blocked_until),
    )
