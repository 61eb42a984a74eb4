"""What the node's agent, which is root, finds for the health of a full instance: in a file that the API reads."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from mailkeep.db.instance import write_atomically

_FILE = "node.json"

SenderStatus = Literal["ok", "missing", "mismatch", "unconfirmed", "dns_error"]


class Certificate(msgspec.Struct, frozen=True):
    """The certificate that is served; `problem` says why the operator's renewed files are not."""

    not_before: datetime
    not_after: datetime
    self_signed: bool
    problem: str | None


class SendingAddress(msgspec.Struct, frozen=True):
    """An address that mail leaves from, and the names that its PTR records give it.

    `unconfirmed`: the PTR record is right, but `server.hostname` does not lead back to the address.
    """

    address: str
    names: list[str]
    status: SenderStatus


class NodeReport(msgspec.Struct, frozen=True):
    """One look: messages in the queue by state, the certificate, sending addresses (None: not looked up yet)."""

    created_at: datetime
    queue: dict[str, int]
    certificate: Certificate | None
    sending: list[SendingAddress] | None


def save(run: Path, report: NodeReport) -> None:
    """Write a report down, in place of the one before. Blocks; raises OSError."""
    write_atomically(run / _FILE, msgspec.json.encode(report).decode(), 0o644)


def load(run: Path) -> NodeReport | None:
    """The last report; None where there is none."""
    try:
        return msgspec.json.decode((run / _FILE).read_bytes(), type=NodeReport)
    except (OSError, msgspec.MsgspecError):
        return None
