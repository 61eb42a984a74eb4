"""A certificate, what was found about its names, and the account at an authority."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

SERVER = "server"
"""The name of the certificate of the server's host names."""

Source = Literal["none", "acme", "file", "self_signed"]
CheckStatus = Literal["ok", "not_published", "failed"]
Reason = Literal["unspecified", "key_compromise", "superseded", "cessation_of_operation"]

REASONS: dict[Reason, int] = {
    "unspecified": 0,
    "key_compromise": 1,
    "superseded": 4,
    "cessation_of_operation": 5,
}
"""Reasons of a revocation and their codes (RFC 5280 §5.3.1)."""


@dataclass(frozen=True, slots=True)
class NameCheck:
    """Whether a name leads to this server. `not_published`: it has no address."""

    name: str
    status: CheckStatus
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Leaf:
    """The properties of a certificate; `serial` and `fingerprint` (SHA-256) in hexadecimal."""

    names: tuple[str, ...]
    issuer: str
    serial: str
    fingerprint: str
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, slots=True)
class TlsCertificate:
    """A certificate with its job. `claims` is the fencing token, `next_attempt_at` the end of the lease while it is
    claimed. `forced`: to be replaced at once.
    """

    id: UUID
    name: str
    domain_id: UUID | None
    source: Source
    checks: tuple[NameCheck, ...]
    chain: str | None
    names: tuple[str, ...]
    issuer: str
    serial: str
    fingerprint: str
    not_before: datetime | None
    not_after: datetime | None
    issued_at: datetime | None
    renew_at: datetime | None
    problem: str
    failures: int
    alerted: bool
    forced: bool
    revoke_reason: int | None
    revoking: str | None
    attempted_at: datetime | None
    next_attempt_at: datetime
    claims: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OrderOutcome:
    """The result of an attempt without a new certificate. `problem` empty: it succeeded."""

    next_at: datetime
    checks: tuple[NameCheck, ...]
    problem: str = ""
    failures: int = 0
    alerted: bool = False
    renew_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CertificateEnd:
    """When the certificate of the server or of a domain ends."""

    name: str
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, slots=True)
class StoredPair:
    """A certificate that was ordered: its chain and its private key in PEM."""

    name: str
    names: tuple[str, ...]
    chain: str
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AcmeAccount:
    """The account at an authority; `url` is empty until it is registered."""

    directory: str
    url: str
    key_sealed: bytes = field(repr=False)
    next_key_sealed: bytes | None = field(repr=False)
