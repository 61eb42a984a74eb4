"""Redaction of entries, the chain of seals, and its verification."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailkeep.core.ids import uuid7_floor
from mailkeep.core.principal import Principal
from mailkeep.core.secret import is_signed_publicly
from mailkeep.features.record.audit.model import (
    ActorAccount,
    AuditEntry,
    AuditVerification,
    ChainFault,
    Leaf,
    Position,
    Problem,
    Seal,
)

MAX_FAULTS = 100
"""A verification lists at most this number of faults; the others are counted."""

_NO_HASH = bytes(32)
_LEAF_BYTES = 48
_MAX_STORED_FAULTS = 10_000

_SECRET_WORDS = ("password", "secret", "token", "private_key", "raw_key")
_NO_SECRETS = ("require_app_passwords", "must_change_password")


def redact_secrets(details: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The details with the values of fields whose names suggest a secret replaced, at any depth."""
    if details is None:
        return None
    return {name: _redact(name, value) for name, value in details.items()}


def _redact(name: str, value: Any) -> Any:
    if any(word in name.lower() for word in _SECRET_WORDS) and not name.endswith(_NO_SECRETS):
        return "(secret)"
    return redact_secrets(value) if isinstance(value, Mapping) else value  # pyright: ignore[reportUnknownArgumentType]


def redact_for(who: Principal, entry: AuditEntry, account: ActorAccount) -> AuditEntry:
    """The entry as this reader may see it. A refused call of an administrator who is not in the reader's GET /admins
    shows only the role and IDs, since its caller chooses the domain, and so the readers of the entry. (An owner of a
    mailbox does not: the entry has the mailbox's domain.)
    """
    if entry.outcome == "success" or entry.actor_type == "mailbox" or _can_list_admin(who, entry, account):
        return entry
    label = account.role.value if account.role else "administrator"
    return replace(entry, actor_label=label, ip_address=None, user_agent=None)


def _can_list_admin(who: Principal, entry: AuditEntry, account: ActorAccount) -> bool:
    """Whether GET /admins shows the reader the administrator behind the entry."""
    if entry.admin_id is not None and entry.admin_id == who.admin_id:
        return True
    return who.scope is None and (who.has_all_domains or not who.assigned.isdisjoint(account.assigned))


def diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields that differ, before and after, without `updated_at`."""
    names = [name for name in after if name != "updated_at" and before.get(name) != after[name]]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}


def format_exact(at: datetime) -> str:
    """ISO 8601 in UTC with microseconds, as in the hashed line."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def hash_line(line: bytes) -> bytes:
    """The hash of an entry: SHA-256 of its line in the export."""
    return hashlib.sha256(line).digest()


def split_leaves(seal: Seal) -> Iterator[Leaf]:
    """The leaves of a seal, in the order of the chain."""
    for start in range(0, len(seal.leaves), _LEAF_BYTES):
        leaf = seal.leaves[start : start + _LEAF_BYTES]
        yield UUID(bytes=leaf[:16]), leaf[16:]


def next_seal(head: Seal | None, at: datetime, last: Position, leaves: Sequence[Leaf]) -> Seal:
    """The seal after `head` over these entries, without a signature."""
    seal = Seal(
        sequence=head.sequence + 1 if head else 1,
        sealed_at=at,
        entries=len(leaves),
        last=last,
        latest_id=max((entry_id for entry_id, _ in leaves), default=None),
        leaves=b"".join(entry_id.bytes + entry_hash for entry_id, entry_hash in leaves),
        first_sequence=head.first_sequence if head else 1,
        dropped_before=head.dropped_before if head else None,
        previous=head.hash if head else _NO_HASH,
        hash=b"",
        signature=b"",
    )
    return replace(seal, hash=hash_seal(seal))


def retention_seal(head: Seal, at: datetime, dropped_before: datetime, first_sequence: int) -> Seal:
    """The seal after `head` that records the deletion of older entries and seals, without a signature."""
    seal = replace(
        next_seal(head, at, head.last, ()),
        dropped_before=dropped_before,
        first_sequence=max(first_sequence, head.first_sequence),
    )
    return replace(seal, hash=hash_seal(seal))


def hash_seal(seal: Seal) -> bytes:
    """SHA-256 over the fields of a seal, one per line, with the SHA-256 of its leaves."""
    lines = [
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
    return hashlib.sha256("\n".join(lines).encode()).digest()


def is_genuine(seal: Seal, public_key: bytes) -> bool:
    """Whether the hash and the signature of the seal are right."""
    return (
        len(seal.leaves) == _LEAF_BYTES * seal.entries
        and seal.hash == hash_seal(seal)
        and is_signed_publicly(public_key, seal.hash, seal.signature)
    )


@dataclass(frozen=True, slots=True)
class Differences:
    """How entries differ from the leaves of their seals."""

    altered: list[UUID]
    removed: list[UUID]
    inserted: list[UUID]


def compare(sealed: Iterable[Leaf], hashes: Mapping[UUID, bytes]) -> Differences:
    """Compare the hashes of entries, by ID, with the leaves of the seals that cover them."""
    altered: list[UUID] = []
    removed: list[UUID] = []
    sealed_ids: set[UUID] = set()
    for entry_id, sealed_hash in sealed:
        sealed_ids.add(entry_id)
        stored_hash = hashes.get(entry_id)
        if stored_hash is None:
            removed.append(entry_id)
        elif stored_hash != sealed_hash:
            altered.append(entry_id)
    return Differences(altered, removed, [entry_id for entry_id in hashes if entry_id not in sealed_ids])


@dataclass(slots=True)
class Findings:
    """Collects the faults of a chain; `omitted` is the number of those beyond the storage limit."""

    checked: int = 0
    omitted: int = 0
    entries: dict[UUID, Problem] = field(default_factory=dict[UUID, Problem])
    seals: list[ChainFault] = field(default_factory=list[ChainFault])

    def add_entries(self, problem: Problem, ids: Iterable[UUID]) -> None:
        """Add faults of entries. An entry that was both removed and inserted was altered."""
        for entry_id in ids:
            previous = self.entries.get(entry_id)
            if previous is not None:
                self.entries[entry_id] = problem if previous == problem else "altered"
            elif len(self.entries) < _MAX_STORED_FAULTS:
                self.entries[entry_id] = problem
            else:
                self.omitted += 1

    def remove_dropped(self, dropped_before: datetime | None) -> None:
        """Remove the faults of entries that retention deleted: those before `dropped_before`."""
        if dropped_before is not None:
            floor = uuid7_floor(dropped_before)
            dropped = [entry_id for entry_id, fault in self.entries.items() if fault == "removed" and entry_id < floor]
            self.checked -= len(dropped)
            for entry_id in dropped:
                del self.entries[entry_id]

    def add_seal(self, problem: Problem, number: int, last_id: UUID | None = None) -> None:
        """Add the fault of a seal."""
        if len(self.seals) < _MAX_STORED_FAULTS:
            self.seals.append(ChainFault(problem, last_id, number))
        else:
            self.omitted += 1

    def to_verification(
        self, head: Seal | None, unsealed: int, public_key: bytes, *, partial: bool = False
    ) -> AuditVerification:
        """The result; faults of entries come first."""
        faults = [*(ChainFault(problem, entry_id) for entry_id, problem in self.entries.items()), *self.seals]
        count = len(faults) + self.omitted
        return AuditVerification(self.checked, unsealed, faults[:MAX_FAULTS], count, head, public_key, partial)


@dataclass(slots=True)
class SealVerifier:
    """Verifies seals, oldest first. The first one can't be compared with its predecessor."""

    public_key: bytes
    findings: Findings
    first_number: int | None = None
    last: Seal | None = None

    def verify(self, seal: Seal) -> bool:
        """Verify the next seal; False if seals before it are missing, so that its first entry can't be known."""
        expected = self.last.sequence + 1 if self.last else seal.sequence
        previous = self.last.hash if self.last else _NO_HASH if seal.sequence == 1 else seal.previous
        contiguous = seal.sequence <= expected
        if not contiguous:
            self.findings.add_seal("seal_removed", expected)
        linked = seal.sequence == expected and seal.previous == previous
        if not is_genuine(seal, self.public_key) or (contiguous and not linked):
            self.findings.add_seal("seal_altered", seal.sequence, seal.last[1])
        self.first_number = self.first_number or seal.sequence
        self.last = seal
        return contiguous

    def end(self) -> Seal | None:
        """Return the last seal, after checking that the seals began with its `first_sequence`."""
        head = self.last
        if head is None or not is_genuine(head, self.public_key):
            return head
        if self.first_number is not None and self.first_number > head.first_sequence:
            self.findings.add_seal("seal_removed", head.first_sequence)
        self.findings.remove_dropped(head.dropped_before)
        return head


@dataclass(slots=True)
class ExportVerifier:
    """Verifies an export line by line: entries, each with the seals that end before the next entry.

    A partial export (with filters) has only the seals of its entries; removed entries are not detected.
    """

    public_key: bytes
    partial: bool = False
    findings: Findings = field(default_factory=Findings)
    pending: dict[UUID, bytes] = field(default_factory=dict[UUID, bytes])  # hashes of entries that no seal covers yet
    early: list[UUID] = field(default_factory=list[UUID])  # entries before the first seal that it does not cover
    head: Seal | None = None
    verifier: SealVerifier = field(init=False)

    def __post_init__(self) -> None:
        self.verifier = SealVerifier(self.public_key, self.findings)

    def add_line(self, leaf: Leaf, seals: Sequence[Seal]) -> None:
        """Verify the next line."""
        if leaf[0] in self.pending:
            self.findings.add_entries("inserted", [leaf[0]])
        self.pending[leaf[0]] = leaf[1]
        if not seals:
            return
        is_first = not self.partial and self.verifier.first_number is None
        contiguous = [self._verify_seal(seal) for seal in seals]
        # The first line also has the seals before its entry, which then stays pending.
        unsealed_hash = self.pending.pop(leaf[0], None)
        if is_first:
            self.early = list(self.pending)
        elif all(contiguous):
            self.findings.add_entries("inserted", self.pending)
        self.pending = {} if unsealed_hash is None else {leaf[0]: unsealed_hash}

    def end(self) -> AuditVerification:
        """Return the result, after the last line."""
        head = self.head if self.partial else self.verifier.end()
        if head is not None and self.verifier.first_number == head.first_sequence:
            self.findings.add_entries("inserted", self.early)
        return self.findings.to_verification(head, len(self.pending), self.public_key, partial=self.partial)

    def _verify_seal(self, seal: Seal) -> bool:
        leaves = list(split_leaves(seal))
        differences = compare(leaves, self.pending)
        self.findings.add_entries("altered", differences.altered)
        self.findings.checked += len(leaves)
        if self.partial:
            self.findings.checked -= len(differences.removed)
            if not is_genuine(seal, self.public_key):
                self.findings.add_seal("seal_altered", seal.sequence, seal.last[1])
            self.head, contiguous = seal, True
        else:
            contiguous = self.verifier.verify(seal)
            self.findings.add_entries("removed", differences.removed)
        for entry_id, _ in leaves:
            self.pending.pop(entry_id, None)
        return contiguous
