"""The node agent's report on the health of a full instance: a file, which the API reads."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from mailkeep.db.instance import write_atomically

_FILE = "node.json"

SenderStatus = Literal["ok", "missing", "mismatch", "unconfirmed", "dns_error"]


class Certificate(msgspec.Struct, frozen=True):
    """The certificate in use. `problem`: why the operator's renewed files are not used."""

    not_before: datetime
    not_after: datetime
    self_signed: bool
    problem: str | None


class SendingAddress(msgspec.Struct, frozen=True):
    """An address that sends mail, and the names in its PTR records.

    `unconfirmed`: the PTR record is right, but `server.hostname` does not resolve to the address.
    """

    address: str
    names: list[str]
    status: SenderStatus


ProbeStage = Literal["login", "connect", "envelope", "content", "delivery"]


class ProbeResult(msgspec.Struct, frozen=True):
    """The result of a probe at `at`. `stage`: where it failed (None: it did not); `problem`: why, or why nothing was
    checked. `latency_ms`: from the connection to port 25 until the message was in the mailbox; `accepted_ms`: until it
    was accepted; `login_ms`: of the login.
    """

    at: datetime
    status: Literal["ok", "failed", "not_checked"]
    stage: ProbeStage | None = None
    problem: str | None = None
    latency_ms: float | None = None
    accepted_ms: float | None = None
    login_ms: float | None = None


class ScannerStatus(msgspec.Struct, frozen=True):
    """The virus scanner: its version, and the number and time of its downloaded signatures (None: it has none).
    `problem`: why it does not work; `advice`: what its signatures lack.
    """

    version: str | None = None
    signatures: str | None = None
    signed_at: datetime | None = None
    problem: str | None = None
    advice: str | None = None


class DnsListStatus(msgspec.Struct, frozen=True):
    """The last test of a DNS list of the filter. `problem`: why its answers do not count."""

    zone: str
    at: datetime
    problem: str | None = None


class NodeReport(msgspec.Struct, frozen=True):
    """Messages in the queue by state, the certificate, sending addresses (None: not looked up yet), the settings of the
    running Dovecot for scripts of mailboxes (`mail/sieve/config`), and the last probe (None: none has ended yet).
    `dane_problem`: why `outbound.dane` protects nothing. `scanner` None: it is off, or was not asked yet. `alerted` are
    the problems of scanner, DNS lists and other parts of the filter that an event has reported. `filter_problem`: which
    parts do not answer. `certificates_problem`: which certificates could not be renewed. `queue_oldest_at`: when the
    oldest message arrived that waits in the queue. `versions` of the daemons by name.
    """

    created_at: datetime
    queue: dict[str, int]
    certificate: Certificate | None
    sending: list[SendingAddress] | None
    sieve: dict[str, str] = {}
    probe: ProbeResult | None = None
    dane_problem: str | None = None
    scanner: ScannerStatus | None = None
    dns_lists: list[DnsListStatus] = []
    alerted: list[str] = []
    filter_problem: str | None = None
    certificates_problem: str | None = None
    queue_oldest_at: datetime | None = None
    versions: dict[str, str] = {}


def save(run: Path, report: NodeReport) -> None:
    """Replace the report. Blocks. Raises OSError."""
    write_atomically(run / _FILE, msgspec.json.encode(report).decode(), 0o644)


def load(run: Path) -> NodeReport | None:
    """Return the last report, if there is one."""
    try:
        return msgspec.json.decode((run / _FILE).read_bytes(), type=NodeReport)
    except (OSError, msgspec.MsgspecError):
        return None
