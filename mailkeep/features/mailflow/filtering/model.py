"""Filter settings, list entries, and the facts and the result of a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from uuid import UUID

from msgspec import Struct

Scope = Literal["server", "domain", "mailbox"]
ListName = Literal["allow", "deny"]
EntryKind = Literal["address", "domain", "network"]
Action = Literal["inbox", "junk", "refuse", "defer"]
"""`defer`: the score says refuse, but whether an allow entry applies could not be checked (DNS)."""
Rule = Literal["allow_entry", "deny_entry", "junk_score", "reject_score", "virus", "encrypted", "no_verdict"]
"""`no_verdict`: Mailkeep could not be asked at the end of DATA. `virus`, `encrypted`: see `filter.antivirus`."""

OFF = 0.0
"""A threshold that is off."""


class DecidedBy(Struct, frozen=True):
    """Whose rule decided, and the list entry if it was one."""

    scope: Scope
    rule: Rule
    entry_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an allow or deny list. `value`: the key of an address (`core/address`), a domain in A-labels, which
    includes its sub-domains, or a network.

    `enforced`: a deny entry of the server or a domain that narrower scopes can't override.
    """

    id: UUID
    scope: Scope
    list: ListName
    kind: EntryKind
    value: str
    enforced: bool = False


@dataclass(frozen=True, slots=True)
class Threshold:
    """A score in force, and the scope where it is set."""

    score: float
    scope: Scope

    def is_reached(self, score: float | None) -> bool:
        """Whether a message with this score reaches it; never if it is off, or if nothing gave a score."""
        return self.score > OFF and score is not None and score >= self.score


@dataclass(frozen=True, slots=True)
class Policy:
    """What applies to a mailbox, or to the external copies of a domain: thresholds, and the entries that match."""

    junk: Threshold
    reject: Threshold
    entries: Sequence[Entry] = ()


class Subject(NamedTuple):
    """Whose policy is looked up: a mailbox of a domain, or (None) the external copies that the domain forwards.

    Without a domain: the external copies that the server's host name forwards.
    """

    domain_id: UUID | None
    mailbox_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a message. `author`: the address of From, empty if there are none or several.

    `auth`: results by method (RFC 8601 §2.7): `spf`, `dkim`, `dmarc`, and `from`: whether the author is proved.
    `score`: None if no filter checked the message.
    """

    client_address: str = ""
    mail_from: str = ""
    author: str = ""
    auth: Mapping[str, str] = field(default_factory=dict[str, str])
    score: float | None = None
    is_at_rcpt: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to a copy of a message, and why; `decided_by` None: no rule matched, it goes to the inbox."""

    action: Action
    decided_by: DecidedBy | None = None
