"""JSON of certificates."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.operations.certificates.model import Reason, TlsCertificate
from mailkeep.web.fields import Body, Timestamp


class CertificateName(Struct, frozen=True):
    """What was found about a host name: `ok`, it leads to this server; `not_published`, it has no address; `failed`,
    with the reason in `problem`. Only names that are `ok` are ordered.
    """

    name: str
    status: Literal["ok", "not_published", "failed"]
    problem: str


class CertificateRecord(Struct, frozen=True):
    """A certificate. `name`: `server` or the domain. `source`: `none` (there is none yet), `acme`, `file`
    (`tls.certificate_file`) or `self_signed`. `managed`: ordered and renewed by Mailkeep. `names` are in the
    certificate, `checks` what was found about each wanted name. `renew_at`: when it is to be renewed;
    `next_attempt_at`: when Mailkeep looks at it again. `failures`: attempts in a row that failed, the last one with
    `problem`. `being_revoked`: it is to be replaced and revoked.
    """

    id: UUID
    name: str
    domain_id: UUID | None
    source: Literal["none", "acme", "file", "self_signed"]
    managed: bool
    names: list[str]
    checks: list[CertificateName]
    issuer: str
    serial: str
    fingerprint_sha256: str
    not_before: Timestamp | None
    not_after: Timestamp | None
    issued_at: Timestamp | None
    renew_at: Timestamp | None
    next_attempt_at: Timestamp
    problem: str
    failures: int
    being_revoked: bool
    created_at: Timestamp


class CertificateRenewal(Body, frozen=True):
    """No fields."""


class CertificateRevocation(Body, frozen=True):
    """`at_once`: revoke it before it is replaced, so that mail programs may refuse it for a moment."""

    reason: Reason = "unspecified"
    at_once: bool = False


class AccountKeyChange(Body, frozen=True):
    """No fields."""


class AccountKeyChanged(Struct, frozen=True):
    """The key of the account was replaced."""

    message: str


def to_record(certificate: TlsCertificate, *, managed: bool) -> CertificateRecord:
    """The response for a certificate."""
    return CertificateRecord(
        id=certificate.id,
        name=certificate.name,
        domain_id=certificate.domain_id,
        source=certificate.source,
        managed=managed,
        names=list(certificate.names),
        checks=[CertificateName(each.name, each.status, each.problem) for each in certificate.checks],
        issuer=certificate.issuer,
        serial=certificate.serial,
        fingerprint_sha256=certificate.fingerprint,
        not_before=iso_or_none(certificate.not_before),
        not_after=iso_or_none(certificate.not_after),
        issued_at=iso_or_none(certificate.issued_at),
        renew_at=iso_or_none(certificate.renew_at),
        next_attempt_at=iso(certificate.next_attempt_at),
        problem=certificate.problem,
        failures=certificate.failures,
        being_revoked=certificate.revoke_reason is not None,
        created_at=iso(certificate.created_at),
    )
