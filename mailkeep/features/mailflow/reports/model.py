"""Stored reports, what they add up to, and the advice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from mailkeep.features.record.messages.model import Source
from mailkeep.mail.message.header_fields import MessageHeader

ReportKind = Literal["dmarc", "tls", "arf"]
Period = Literal["24h", "7d", "30d", "90d"]
SourceKind = Literal["ours", "forwarder", "sender", "other", "unknown"]
Policy = Literal["none", "quarantine", "reject"]
Outcome = Literal["stored", "duplicate", "unproved", "over_limit", "no_domain", "invalid"]


@dataclass(frozen=True, slots=True)
class ReportOrigin:
    """How a report came. `sender_domain`: the From domain if the mail passed DMARC, else empty."""

    source: Literal["mail", "upload"]
    sender_domain: str = ""

    @property
    def is_proved(self) -> bool:
        """Whether the report counts."""
        return self.source == "upload" or bool(self.sender_domain)


@dataclass(frozen=True, slots=True)
class ArrivedMail:
    """A message for report addresses, as it is delivered; each call of `content` reads it from the start.

    `sender_domain`: the From domain if the message passed DMARC, else empty. `auth`: the results of SPF, DKIM and
    DMARC.
    """

    queue_id: str
    mail_from: str
    recipients: Sequence[str]
    head: MessageHeader
    size: int
    content: Callable[[], Iterable[bytes]]
    source: Source
    sender_domain: str = ""
    auth: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ReportMail:
    """Mail to a report address that a worker has claimed; `attempts` includes this one."""

    id: UUID
    queue_id: str
    content: bytes
    sender_domain: str
    attempts: int
    received_at: datetime


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A report; `messages` are TLS sessions for kind `tls` and incidents for `arf`. `content`: what depends on the
    kind.
    """

    id: UUID
    domain_id: UUID
    kind: ReportKind
    source: Literal["mail", "upload"]
    proved: bool
    sender_domain: str
    organisation: str
    report_id: str
    contact: str
    begin_at: datetime
    end_at: datetime
    messages: int
    rows: int
    content: Mapping[str, Any]
    received_at: datetime


@dataclass(frozen=True, slots=True)
class SourceRow:
    """Messages from one address. `kind`: the one with the most messages; `name`: its confirmed reverse name, or
    empty.
    """

    source_ip: str
    name: str
    kind: SourceKind
    messages: int
    dkim: int
    spf: int
    aligned: int
    quarantined: int
    rejected: int
    other_domain: str
    last_seen: date


@dataclass(frozen=True, slots=True)
class DayCounts:
    """Messages of a UTC day. `failing_ours`: from our servers, not aligned; `failing_forwarded`, `failing_other`:
    likewise from forwarders, and from senders that are authenticated for another domain; `unknown`: not authenticated
    at all.
    """

    day: date
    messages: int
    aligned: int
    failing_ours: int
    failing_forwarded: int
    failing_other: int
    unknown: int
    quarantined: int
    rejected: int


@dataclass(frozen=True, slots=True)
class OtherSender:
    """Mail that was authenticated for another domain only, on `days` days of the last 90."""

    domain: str
    messages: int
    days: int


@dataclass(frozen=True, slots=True)
class Reporter:
    """An organisation that sent reports; `sender_domain` empty: uploaded."""

    organisation: str
    sender_domain: str
    reports: int
    messages: int
    last_report_at: datetime


@dataclass(frozen=True, slots=True)
class AdviceItem:
    """A sentence for the administrator. `code` is stable; `level` ok, info or warning."""

    code: str
    level: Literal["ok", "info", "warning"]
    text: str


@dataclass(frozen=True, slots=True)
class PolicyAdvice:
    """Which `p=` is safe, since when (None for none), and what reporters last saw published (None: no report)."""

    published: Policy | None
    safe: Policy
    since: date | None
    items: Sequence[AdviceItem]


@dataclass(frozen=True, slots=True)
class DmarcSummary:
    """A domain's DMARC reports of a period. `source_count`: all sources, of which `sources` are the largest."""

    since: datetime
    until: datetime
    advice: PolicyAdvice
    sources: Sequence[SourceRow]
    source_count: int
    days: Sequence[DayCounts]
    reporters: Sequence[Reporter]
    unproved: int


@dataclass(frozen=True, slots=True)
class TlsFailureCount:
    """Failed sessions with the same result type (RFC 8460 §4.3) and receiving host."""

    result_type: str
    receiving_host: str
    sessions: int


@dataclass(frozen=True, slots=True)
class TlsPolicyCount:
    """Sessions by the type of the policy that applied: sts, tlsa, no-policy-found."""

    type: str
    successful: int
    failed: int


@dataclass(frozen=True, slots=True)
class TlsSummary:
    """A domain's TLS reports of a period."""

    since: datetime
    until: datetime
    policies: Sequence[TlsPolicyCount]
    failures: Sequence[TlsFailureCount]
    days: Sequence[tuple[date, int, int]]
    reporters: Sequence[Reporter]
    advice: Sequence[AdviceItem]
    unproved: int
