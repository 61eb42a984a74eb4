"""A report that was read. Times are seconds since 1970; domains are A-labels in lower case."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from mailkeep.mail.message.parse import UnparsableMessage

Disposition = Literal["none", "quarantine", "reject"]


class InvalidReport(UnparsableMessage):
    """The report is not accepted. The text is a sentence without its full stop; users see it."""


class DkimResult(Struct, frozen=True):
    """A DKIM signature that the reporter checked; `selector` may be empty, `result` is one of RFC 8601 §2.7.1."""

    domain: str
    selector: str
    result: str


class SpfCheck(Struct, frozen=True):
    """The SPF check of the reporter; `result` is one of RFC 8601 §2.7.2."""

    domain: str
    result: str


class DmarcRow(Struct, frozen=True):
    """Messages from one address with the same results. `dkim` and `spf`: whether an aligned check passed; `reasons`:
    why the reporter did not apply the policy (RFC 7489 §7.2: forwarded, mailing_list, local_policy, …).
    """

    source_ip: str
    messages: int
    disposition: Disposition
    dkim: bool
    spf: bool
    header_from: str
    reasons: tuple[str, ...]
    signatures: tuple[DkimResult, ...]
    spf_checks: tuple[SpfCheck, ...]


class DmarcPolicy(Struct, frozen=True):
    """The policy that the reporter found in DNS: `p`, `sp` (empty if absent), `pct`."""

    p: Disposition
    sp: str = ""
    pct: int = 100


class DmarcReport(Struct, frozen=True, tag="dmarc"):
    """A DMARC aggregate report about one domain. Rows with the same results are added up."""

    domain: str
    organisation: str
    report_id: str
    contact: str
    begin: int
    end: int
    policy: DmarcPolicy
    rows: list[DmarcRow]

    @property
    def messages(self) -> int:
        """How many messages it is about."""
        return sum(row.messages for row in self.rows)


class TlsFailure(Struct, frozen=True):
    """Failed sessions with the same reason: `result_type` of RFC 8460 §4.3, or another word."""

    result_type: str
    sessions: int
    sending_ip: str = ""
    receiving_host: str = ""
    reason_code: str = ""


class TlsPolicy(Struct, frozen=True):
    """The sessions to a domain under one policy: `type` sts, tlsa or no-policy-found."""

    type: str
    successful: int
    failed: int
    mx_hosts: tuple[str, ...]
    failures: tuple[TlsFailure, ...]


class TlsReport(Struct, frozen=True, tag="tls"):
    """A TLS report about one domain."""

    domain: str
    organisation: str
    report_id: str
    contact: str
    begin: int
    end: int
    policies: list[TlsPolicy]

    @property
    def messages(self) -> int:
        """How many sessions it is about."""
        return sum(policy.successful + policy.failed for policy in self.policies)


class AbuseReport(Struct, frozen=True, tag="arf"):
    """A report about one message, which a recipient called spam (`feedback_type` abuse) or which was abuse of another
    kind.

    `domain`: that of the reported message's From, else the Reported-Domain field. `original`: that message, if the
    report has all of it and it has at most 1 MB. `message_id` and the others may be empty.
    """

    domain: str
    organisation: str
    report_id: str
    contact: str
    begin: int
    end: int
    feedback_type: str
    source_ip: str
    mail_from: str
    recipients: tuple[str, ...]
    message_id: str
    subject: str
    incidents: int
    original: bytes = b""

    @property
    def messages(self) -> int:
        """How many incidents it is about."""
        return self.incidents


Report = DmarcReport | TlsReport | AbuseReport
