"""What arrives about sent mail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class BounceMail:
    """Mail to an address in bounce form, which names a message; `author`: its From address if it passed DMARC."""

    address: str
    author: str
    message_id: UUID


@dataclass(frozen=True, slots=True)
class SignedComplaint:
    """A complaint that has the message (its Message-ID with `< >`) with a valid DKIM signature of ours.

    `recipients`: those that it names; `author`: its From address if it passed DMARC, else empty.
    """

    message_id: str
    recipients: Sequence[str]
    author: str
