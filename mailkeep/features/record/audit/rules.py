"""What an entry may hold, how entries are chained, and what is wrong with a chain."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailkeep.core.ids import uuid7_floor
from mailkeep.core.principal import Principal, Role
from mailkeep.core.secret import is_signed_publicly
from mailkeep.features.record.audit.model import (
    ActorAccount,
    AuditEntry,
    ChainFault,
    Leaf,
    Position,
    Problem,
    Seal,
    Verification,
)

MAX_FAULTS = 100
"""As many are told one by one; the rest is counted."""

_NO_HASH = bytes(32)
_LEAF_BYTES = 48
_MAX_STORED_FAULTS = 10_000

_SECRET_WORDS = ("password", "secret", "token", "private_key", "raw_key")


def redact_secrets(details: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The details with the value of every field that is named like a secret struck out, at any depth."""
    if details is None:
        return None
    return {name: _redact(name, value) for name, value in details.items()}


def _redact(name: str, value: Any) -> Any:
    if any(word in name.lower() for word in _SECRET_WORDS):
        return "(secret)"
    return redact_secrets(value) if isinstance(value, Mapping) else value  # pyright: ignore[reportUnknownArgumentType]


def redact_for(who: Principal, entry: AuditEntry, account: ActorAccount) -> AuditEntry:
    """The entry as this reader sees it: a refused call of an administrator who is not in its GET /admins shows only the
    role and the ids, since whoever is refused chooses in whose log it stands.
    """
    if entry.outcome == "success" or _sees(who, entry, account):
        return entry
    label = account.role.value if account.role else "administrator"
    return replace(entry, actor_label=label, ip_address=None, user_agent=None)


def _sees(who: Principal, entry: AuditEntry, account: ActorAccount) -> bool:
    """As GET /admins does."""
    if entry.admin_id is not None and entry.admin_id == who.admin_id:
        return True
    return who.scope is None and (who.role is not Role.DOMAIN_ADMIN or not who.assigned.isdisjoint(account.assigned))


def diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields that differ, as they were and as they are (`updated_at` aside)."""
    names = [name for name in after if name != "updated_at" and before.get(name) != after[name]]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}


def format_exact(at: datetime) -> str:
    """ISO 8601 in UTC with microseconds, as entries are hashed: nothing of a time is left out."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def digest(line: bytes) -> bytes:
    """The hash of an entry, of its line in the export."""
    return hashlib.sha256(line).digest()


def split_leaves(seal: Seal) -> Iterator[Leaf]:
    """What the seal holds of each entry, in the order of the chain."""
    for start in range(0, len(seal.leaves), _LEAF_BYTES):
        leaf = seal.leaves[start : start + _LEAF_BYTES]
        yield UUID(bytes=leaf[:16]), leaf[16:]


def next_seal(head: Seal | None, at: datetime, last: Position, leaves: Sequence[Leaf]) -> Seal:
    """The seal after `head` over these entries, not yet signed."""
    seal = Seal(
        sequence=head.sequence + 1 if head else 1,
        sealed_at=at,
        entries=len(leaves),
        last=last,
        latest_id=max((entry_id for entry_id, _ in leaves), default=None),
        leaves=b"".join(entry_id.bytes + hashed for entry_id, hashed in leaves),
        first_sequence=head.first_sequence if head else 1,
        dropped_before=head.dropped_before if head else None,
        previous=head.hash if head else _NO_HASH,
        hash=b"",
        signature=b"",
    )
    return replace(seal, hash=hash_seal(seal))


def retention_seal(head: Seal, at: datetime, dropped_before: datetime, first_sequence: int) -> Seal:
    """The seal after `head` that lets older entries and seals go, not yet signed."""
    seal = replace(
        next_seal(head, at, head.last, ()),
        dropped_before=dropped_before,
        first_sequence=max(first_sequence, head.first_sequence),
    )
    return replace(seal, hash=hash_seal(seal))


def hash_seal(seal: Seal) -> bytes:
    """SHA-256 over everything that a seal says, line by line; its leaves by their own SHA-256."""
    said = [
        "mailkeep audit seal 1",
        str(seal.sequence),
        format_exact(seal.sealed_at),
        str(seal.entries),
        str(seal.last[0]),
        str(seal.last[1]),
        str(seal.latest_id or "-"),
        str(seal.first_sequence),
        format_exact(seal.dropped_before) if seal.dropped_before else "-",
        hashlib.sha256(seal.leaves).hexdigest(),
        seal.previous.hex(),
    ]
    return hashlib.sha256("\n".join(said).encode()).digest()


def is_genuine(seal: Seal, public_key: bytes) -> bool:
    """Whether the seal is as it was signed."""
    return (
        len(seal.leaves) == _LEAF_BYTES * seal.entries
        and seal.hash == hash_seal(seal)
        and is_signed_publicly(public_key, seal.hash, seal.signature)
    )


@dataclass(frozen=True, slots=True)
class Differences:
    """How entries differ from what their seals hold."""

    altered: list[UUID]
    removed: list[UUID]
    inserted: list[UUID]


def compare(sealed: Iterable[Leaf], met: Mapping[UUID, bytes]) -> Differences:
    """Entries that were met, by their ids, against the leaves of the seals that cover them."""
    altered: list[UUID] = []
    removed: list[UUID] = []
    known: set[UUID] = set()
    for entry_id, hashed in sealed:
        known.add(entry_id)
        found = met.get(entry_id)
        if found is None:
            removed.append(entry_id)
        elif found != hashed:
            altered.append(entry_id)
    return Differences(altered, removed, [entry_id for entry_id in met if entry_id not in known])


@dataclass(slots=True)
class Findings:
    """The faults on the way along a chain, in its order."""

    checked: int = 0
    omitted: int = 0
    entries: dict[UUID, Problem] = field(default_factory=dict[UUID, Problem])
    seals: list[ChainFault] = field(default_factory=list[ChainFault])

    def add_entries(self, problem: Problem, ids: Iterable[UUID]) -> None:
        """Note entries. One that is gone from its place and stands at another was altered."""
        for entry_id in ids:
            noted = self.entries.get(entry_id)
            if noted is not None:
                self.entries[entry_id] = problem if noted == problem else "altered"
            elif len(self.entries) < _MAX_STORED_FAULTS:
                self.entries[entry_id] = problem
            else:
                self.omitted += 1

    def forget_dropped(self, dropped_before: datetime | None) -> None:
        """Take back what was noted as removed and was let go."""
        if dropped_before is not None:
            floor = uuid7_floor(dropped_before)
            gone = [each for each, problem in self.entries.items() if problem == "removed" and each < floor]
            self.checked -= len(gone)
            for entry_id in gone:
                del self.entries[entry_id]

    def add_seal(self, problem: Problem, number: int, last_id: UUID | None = None) -> None:
        """Note a seal."""
        if len(self.seals) < _MAX_STORED_FAULTS:
            self.seals.append(ChainFault(problem, last_id, number))
        else:
            self.omitted += 1

    def verification(
        self, head: Seal | None, unsealed: int, public_key: bytes, *, partial: bool = False
    ) -> Verification:
        """All of it: entries first."""
        faults = [*(ChainFault(problem, entry_id) for entry_id, problem in self.entries.items()), *self.seals]
        count = len(faults) + self.omitted
        return Verification(self.checked, unsealed, faults[:MAX_FAULTS], count, head, public_key, partial)


@dataclass(slots=True)
class SealVerifier:
    """Along the seals, oldest first; the one before the first is not there to be compared."""

    public_key: bytes
    findings: Findings
    first: int | None = None
    last: Seal | None = None

    def step(self, seal: Seal) -> bool:
        """Go on to this seal; False where others are missing before it, so that its entries' beginning is unknown."""
        expected = self.last.sequence + 1 if self.last else seal.sequence
        previous = self.last.hash if self.last else _NO_HASH if seal.sequence == 1 else seal.previous
        whole = seal.sequence <= expected
        if not whole:
            self.findings.add_seal("seal_removed", expected)
        linked = seal.sequence == expected and seal.previous == previous
        if not is_genuine(seal, self.public_key) or (whole and not linked):
            self.findings.add_seal("seal_altered", seal.sequence, seal.last[1])
        self.first = self.first or seal.sequence
        self.last = seal
        return whole

    def end(self) -> Seal | None:
        """The head, after the last seal; seals that it says are kept must have begun where it says."""
        head = self.last
        if head is None or not is_genuine(head, self.public_key):
            return head
        if self.first is not None and self.first > head.first_sequence:
            self.findings.add_seal("seal_removed", head.first_sequence)
        self.findings.forget_dropped(head.dropped_before)
        return head


@dataclass(slots=True)
class ExportVerifier:
    """Verifies an export line by line: entries as they come, the seals that stand behind them.

    What is partial (made with filters) has only the seals of its entries, and can't tell what was removed.
    """

    public_key: bytes
    partial: bool = False
    findings: Findings = field(default_factory=Findings)
    pending: dict[UUID, bytes] = field(default_factory=dict[UUID, bytes])
    early: list[UUID] = field(default_factory=list[UUID])  # before the first seal, and not in it
    head: Seal | None = None
    verifier: SealVerifier = field(init=False)

    def __post_init__(self) -> None:
        self.verifier = SealVerifier(self.public_key, self.findings)

    def add_line(self, leaf: Leaf, seals: Sequence[Seal]) -> None:
        """The next line."""
        if leaf[0] in self.pending:
            self.findings.add_entries("inserted", [leaf[0]])
        self.pending[leaf[0]] = leaf[1]
        if not seals:
            return
        begins = not self.partial and self.verifier.first is None
        whole = [self._seal(seal) for seal in seals]
        # Seals from before the first line stand in it; its entry comes after them.
        own = self.pending.pop(leaf[0], None)
        if begins:
            self.early = list(self.pending)
        elif all(whole):
            self.findings.add_entries("inserted", self.pending)
        self.pending = {} if own is None else {leaf[0]: own}

    def end(self) -> Verification:
        """After the last line."""
        head = self.head if self.partial else self.verifier.end()
        if head is not None and self.verifier.first == head.first_sequence:
            self.findings.add_entries("inserted", self.early)
        return self.findings.verification(head, len(self.pending), self.public_key, partial=self.partial)

    def _seal(self, seal: Seal) -> bool:
        leaves = list(split_leaves(seal))
        differ = compare(leaves, self.pending)
        self.findings.add_entries("altered", differ.altered)
        self.findings.checked += len(leaves)
        if self.partial:
            self.findings.checked -= len(differ.removed)
            if not is_genuine(seal, self.public_key):
                self.findings.add_seal("seal_altered", seal.sequence, seal.last[1])
            self.head, whole = seal, True
        else:
            whole = self.verifier.step(seal)
            self.findings.add_entries("removed", differ.removed)
        for entry_id, _ in leaves:
            self.pending.pop(entry_id, None)
        return whole
