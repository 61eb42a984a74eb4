"""JSON of the audit log."""

from __future__ import annotations

import csv
from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from mailkeep.core.clock import iso
from mailkeep.core.ids import parse_uuid
from mailkeep.features.record.audit.model import AuditEntry, AuditVerification, ChainEntry, Leaf, Problem, Seal
from mailkeep.features.record.audit.rules import format_exact, hash_line
from mailkeep.web.csv_table import FORMULA_STARTS
from mailkeep.web.fields import Query, Text, Timestamp


class ActorResponse(Struct, frozen=True):
    """The caller: kind and name, and `key_id` for an API key."""

    type: str
    label: str
    key_id: UUID | None


class AuditEntryResponse(Struct, frozen=True):
    """An entry of the audit log."""

    id: UUID
    created_at: Timestamp
    admin_id: UUID | None
    actor: ActorResponse
    action: str
    resource_type: str
    resource_id: str | None
    domain_id: UUID | None
    domain_name: str | None
    ip_address: str | None
    user_agent: str | None
    request_id: UUID | None
    outcome: str
    error_code: str | None
    details: dict[str, Any]


class AuditQuery(Query, frozen=True):
    """Filters of the list."""

    action: Text | None = None
    admin_id: UUID | None = None
    resource_type: Text | None = None
    resource_id: Text | None = None
    domain_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


class ExportQuery(AuditQuery, frozen=True):
    """Filters and format of an export."""

    format: Literal["json", "ndjson", "csv"] = "json"


class ExportedEntry(AuditEntryResponse, frozen=True):
    """An entry as stored: `admin_id` also of a deleted account, time in microseconds."""

    created_at: Annotated[
        str, Meta(extra_json_schema={"format": "date-time"}, description="ISO 8601, UTC, microseconds")
    ]
    transaction: str


class ExportedSeal(Struct, frozen=True):
    """A seal; bytes in base64. `leaves`: ID and SHA-256 of each entry that it covers, one after the other. `partial`:
    the export has filters, and only the seals that cover its entries.
    """

    sequence: int
    sealed_at: datetime
    entries: int
    last_transaction: str
    last_id: UUID
    latest_id: UUID | None
    leaves: bytes
    first_sequence: int
    dropped_before: datetime | None
    previous: bytes
    hash: bytes
    signature: bytes
    public_key: bytes
    partial: bool


class ChainFaultResponse(Struct, frozen=True):
    """A problem of an entry, or of the seal with a number (then `id` is that of its last entry)."""

    problem: Problem
    id: UUID | None
    seal: int | None


class ChainHeadResponse(Struct, frozen=True):
    """The newest seal."""

    sequence: int
    sealed_at: Timestamp
    hash: str


class VerificationResponse(Struct, frozen=True):
    """The result of a verification: the first of `bad_count` faults; `first_bad` is the ID of the first."""

    ok: bool
    checked: int
    unsealed: int
    first_bad: UUID | None
    bad: list[ChainFaultResponse]
    bad_count: int
    head: ChainHeadResponse | None
    public_key: str


def to_entry(entry: AuditEntry) -> AuditEntryResponse:
    """The JSON of an entry."""
    return AuditEntryResponse(
        id=entry.id,
        created_at=iso(entry.created_at),
        admin_id=entry.admin_id,
        actor=ActorResponse(entry.actor_type, entry.actor_label, entry.key_id),
        action=entry.action,
        resource_type=entry.resource_type,
        resource_id=entry.resource_id,
        domain_id=entry.domain_id,
        domain_name=entry.domain_name,
        ip_address=entry.ip_address,
        user_agent=entry.user_agent,
        request_id=entry.request_id,
        outcome=entry.outcome,
        error_code=entry.error_code,
        details=dict(entry.details),
    )


def to_verification(verification: AuditVerification) -> VerificationResponse:
    """The JSON of a verification; the public key in base64."""
    head = verification.head
    return VerificationResponse(
        ok=verification.ok,
        checked=verification.checked,
        unsealed=verification.unsealed,
        first_bad=verification.faults[0].id if verification.faults else None,
        bad=[ChainFaultResponse(fault.problem, fault.id, fault.seal) for fault in verification.faults],
        bad_count=verification.fault_count,
        head=ChainHeadResponse(head.sequence, iso(head.sealed_at), head.hash.hex()) if head else None,
        public_key=to_base64(verification.public_key),
    )


def to_base64(data: bytes) -> str:
    """Base64, as msgspec encodes bytes."""
    return b64encode(data).decode()


_canonical_encoder = msgspec.json.Encoder(order="sorted", decimal_format="number")
_line_decoder = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)


def export_line(row: ChainEntry) -> bytes:
    """The line of an entry in the export, without seals: sorted keys, no spaces. It is the input of the hash."""
    entry = row.entry
    return _canonical_encoder.encode(
        {
            "id": entry.id,
            "created_at": format_exact(entry.created_at),
            "admin_id": entry.admin_id,
            "actor": {"type": entry.actor_type, "label": entry.actor_label, "key_id": entry.key_id},
            "action": entry.action,
            "resource_type": entry.resource_type,
            "resource_id": entry.resource_id,
            "domain_id": entry.domain_id,
            "domain_name": entry.domain_name,
            "ip_address": entry.ip_address,
            "user_agent": entry.user_agent,
            "request_id": entry.request_id,
            "outcome": entry.outcome,
            "error_code": entry.error_code,
            "details": entry.details,
            "transaction": str(row.tx),
        }
    )


def to_leaf(row: ChainEntry) -> Leaf:
    """The leaf of an entry."""
    return row.entry.id, hash_line(export_line(row))


def add_seals(line: bytes, seals: Sequence[Seal], public_key: bytes, partial: bool) -> bytes:
    """The line of an entry with the seals of which it is the last entry. `partial` as in `ExportedSeal`."""
    exported = [_exported_seal(seal, public_key, partial) for seal in seals]
    return line[:-1] + b',"seals":' + msgspec.json.encode(exported) + b"}"


def _exported_seal(seal: Seal, public_key: bytes, partial: bool) -> ExportedSeal:
    tx, last_id = seal.last
    return ExportedSeal(
        sequence=seal.sequence,
        sealed_at=seal.sealed_at.astimezone(UTC),
        entries=seal.entries,
        last_transaction=str(tx),
        last_id=last_id,
        latest_id=seal.latest_id,
        leaves=seal.leaves,
        first_sequence=seal.first_sequence,
        dropped_before=seal.dropped_before and seal.dropped_before.astimezone(UTC),
        previous=seal.previous,
        hash=seal.hash,
        signature=seal.signature,
        public_key=public_key,
        partial=partial,
    )


def parse_line(line: bytes) -> tuple[Leaf, list[ExportedSeal]]:
    """Parse the line of an entry into its leaf and seals; ValueError for any other line."""
    fields = _line_decoder.decode(line)
    seals = msgspec.convert(fields.pop("seals", []), list[ExportedSeal])
    entry_id = parse_uuid(str(fields.get("id")))
    if entry_id is None:
        raise ValueError("the line has no entry ID")
    return (entry_id, hash_line(_canonical_encoder.encode(fields))), seals


def parse_seal(exported: ExportedSeal) -> Seal:
    """A seal from an export."""
    return Seal(
        sequence=exported.sequence,
        sealed_at=exported.sealed_at,
        entries=exported.entries,
        last=(int(exported.last_transaction), exported.last_id),
        latest_id=exported.latest_id,
        leaves=exported.leaves,
        first_sequence=exported.first_sequence,
        dropped_before=exported.dropped_before,
        previous=exported.previous,
        hash=exported.hash,
        signature=exported.signature,
    )


COLUMNS = (
    "id", "created_at", "admin_id", "actor_type", "actor_label", "key_id", "action", "resource_type", "resource_id",
    "domain_id", "domain_name", "ip_address", "user_agent", "request_id", "outcome", "error_code", "details",
    "transaction",
)  # fmt: skip
"""The columns of the CSV form."""


def to_csv(rows: Iterable[Sequence[str]]) -> bytes:
    """Rows of CSV (RFC 4180), with every cell quoted and escaped."""
    text = StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([escape_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def to_cells(row: ChainEntry) -> list[str]:
    """The cells of an entry, in the order of `COLUMNS`."""
    entry = row.entry
    values: dict[str, Any] = {name: getattr(entry, name) for name in AuditEntry.__slots__} | {
        "created_at": format_exact(entry.created_at),
        "details": _canonical_encoder.encode(entry.details).decode(),
        "transaction": row.tx,
    }
    return ["" if values[name] is None else str(values[name]) for name in COLUMNS]


_ESCAPES = {number: f"\\u{number:04x}" for number in (*range(0x20), *range(0x7F, 0xA0))}


def escape_cell(text: str) -> str:
    """Escape a cell so that no spreadsheet evaluates it as a formula (prefix '); control characters become escapes."""
    return ("'" + text if text.startswith(FORMULA_STARTS) else text).translate(_ESCAPES)
