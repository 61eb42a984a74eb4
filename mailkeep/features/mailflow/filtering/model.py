"""Filter settings, list entries, and the facts and the result of a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, NamedTuple, TypeVar
from uuid import UUID

from msgspec import Struct

from mailkeep.features.mailflow.filter_training.model import LessonCounts, TrainingStatus
from mailkeep.features.record.audit.model import AuditTarget
from mailkeep.web.areas import OWN_MAILBOX, Area

T = TypeVar("T")

Scope = Literal["server", "domain", "mailbox"]
ListName = Literal["allow", "deny"]
EntryKind = Literal["address", "domain", "network"]
Action = Literal["inbox", "junk", "refuse", "defer"]
"""`defer`: the score says refuse, but whether an allow entry applies could not be checked (DNS)."""
Rule = Literal["allow_entry", "deny_entry", "junk_score", "reject_score", "virus", "encrypted", "no_verdict"]
"""`no_verdict`: Mailkeep could not be asked at the end of DATA. `virus`, `encrypted`: see `filter.antivirus`."""

Digest = Literal["off", "daily", "weekly"]

OFF = 0.0
"""A threshold that is off."""
SERVER_SETTINGS = {
    "junk_score": "filter.spam_score",
    "reject_score": "filter.reject_score",
    "digest": "filter.digest",
    "learn": "filter.learn",
}
"""The settings with the server's values."""
MAX_ENTRIES: Mapping[Scope, int] = {"mailbox": 1_000, "domain": 10_000, "server": 100_000}
"""The largest number of list entries. Decisions take the same time with any number."""
MAX_IMPORT = 10_000
"""Rows of an import."""
MAX_COMMENT = 200


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
class ScoreThreshold:
    """A score in force, and the scope where it is set."""

    score: float
    scope: Scope

    def is_reached(self, score: float | None) -> bool:
        """Whether a message with this score reaches it; never if it is off, or if nothing gave a score."""
        return self.score > OFF and score is not None and score >= self.score


@dataclass(frozen=True, slots=True)
class Policy:
    """What applies to a mailbox, or to the external copies of a domain: thresholds, and the entries that match."""

    junk: ScoreThreshold
    reject: ScoreThreshold
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
    `score`: None if no filter checked the message. `possible_authors`: the addresses in From if `author` is empty; only
    deny entries match them.
    """

    client_address: str = ""
    mail_from: str = ""
    author: str = ""
    auth: Mapping[str, str] = field(default_factory=dict[str, str])
    score: float | None = None
    is_at_rcpt: bool = False
    possible_authors: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to a copy of a message, and why; `decided_by` None: no rule matched, it goes to the inbox."""

    action: Action
    decided_by: DecidedBy | None = None


@dataclass(frozen=True, slots=True)
class DecisionStep:
    """A step of a decision. `entry` and `matched`, or `threshold`, are what it is about; neither: no rule matched.

    `result`: `applies` (or is reached); an allow entry is `not_proved`, `not_checked` (DNS) or, at RCPT, decided
    `later`; a threshold is `below` (not reached), `off` or has `no_score`.
    """

    result: Literal["applies", "not_proved", "not_checked", "later", "below", "off", "no_score", "none"]
    rule: Rule | None = None
    entry: Entry | None = None
    matched: Literal["author", "envelope", "network"] | None = None
    threshold: ScoreThreshold | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision with the steps that led to it; the last one decided."""

    decision: Decision
    steps: tuple[DecisionStep, ...]


@dataclass(frozen=True, slots=True)
class FilterOwner:
    """Whose settings and lists: the server, a domain or a mailbox. `name`: the domain or address. `created_at`: the
    version of settings that were never changed.
    """

    scope: Scope
    name: str = "the server"
    domain_id: UUID | None = None
    domain_name: str | None = None
    mailbox_id: UUID | None = None
    created_at: datetime | None = None

    @property
    def row(self) -> dict[str, UUID | None]:
        """The columns that select its rows."""
        return {"domain_id": None if self.mailbox_id else self.domain_id, "mailbox_id": self.mailbox_id}

    @property
    def target(self) -> AuditTarget:
        """The object in the audit log."""
        if self.scope == "server":
            return AuditTarget("config", None)
        return AuditTarget(self.scope, self.mailbox_id or self.domain_id, self.domain_id, self.domain_name)


SERVER = FilterOwner("server")


_TAG = "Filtering"
FILTER_AREAS: tuple[tuple[Scope, Area], ...] = (
    (
        "server",
        Area(
            "/filtering",
            _TAG,
            actions={"filter.read": "filter_server.read", "filter.write": "filter_server.write"},
        ),
    ),
    ("domain", Area("/domains/{id}/filtering", _TAG, path={"id": "{domain_id}"})),
    ("mailbox", Area("/mailboxes/{id}/filtering", _TAG, path={"id": "{mailbox_id}"})),
    ("mailbox", Area("/me/filtering", OWN_MAILBOX.tag, actions={"filter.read": "me.read", "filter.write": "me.write"})),
)
"""Where the endpoints are served: for the server, a domain, a mailbox, and the own mailbox, which comes last."""


class OwnerRef(NamedTuple):
    """The owner that a request names."""

    scope: Scope
    id: UUID | None = None

    def get_id(self) -> UUID:
        """The ID of the domain or mailbox."""
        assert self.id is not None
        return self.id


@dataclass(frozen=True, slots=True)
class FilterValues:
    """The settings of one scope; None: as the wider scope. `updated_at` None: never changed."""

    junk_score: float | None = None
    reject_score: float | None = None
    digest: Digest | None = None
    learn: bool | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class EffectiveValue(Generic[T]):
    """A value in force, and the scope where it is set."""

    value: T
    scope: Scope


@dataclass(frozen=True, slots=True)
class EffectiveValues:
    """The settings in force for a mailbox or domain, or those of the server."""

    junk_score: EffectiveValue[float]
    reject_score: EffectiveValue[float]
    digest: EffectiveValue[Digest]
    learn: EffectiveValue[bool]


@dataclass(frozen=True, slots=True)
class OwnerValues:
    """The settings of an owner, and those in force. `defaults`: the server's values that nobody has set."""

    owner: FilterOwner
    own: FilterValues
    effective: EffectiveValues
    defaults: frozenset[str]
    training: TrainingStatus
    lessons: LessonCounts | None = None  # of a mailbox

    @property
    def changed_at(self) -> datetime | None:
        """The version of a domain's or mailbox's settings."""
        return self.own.updated_at or self.owner.created_at


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to add, with its canonical value."""

    list: ListName
    kind: EntryKind
    value: str
    enforced: bool = False
    comment: str = ""


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry with its history; `hits`: messages that it decided, `last_hit_at`: when it last did."""

    id: UUID
    list: ListName
    kind: EntryKind
    value: str
    enforced: bool
    comment: str
    created_by: str
    created_at: datetime
    hits: int
    last_hit_at: datetime | None


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Filters of the list; `q`: a substring of value or comment."""

    list: ListName | None = None
    kind: EntryKind | None = None
    q: str | None = None
