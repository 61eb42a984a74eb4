"""The certificate of a full instance: the operator's, else one of our own that lasts for ten years.

The daemons are given a copy, in a folder behind one name (`served`) that changes at once: a certificate never meets the
key of another. `keep_fresh` looks at the operator's files again and again; what was renewed is checked, put in place,
and read by the daemons at a reload, while connections go on. What can't be served is refused; the one in place stays.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

import structlog
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from mailkeep.core.clock import iso, utc_now
from mailkeep.core.errors import Failure
from mailkeep.db.instance import write_atomically
from mailkeep.settings import Settings

log = structlog.get_logger("mailkeep.certificate")

_DAYS = 3650
_LOOK_SECONDS = 30.0
_SERVED = "served"


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate with its chain and its private key, both in PEM."""

    certificate: bytes
    key: bytes

    @property
    def name(self) -> str:
        """The folder that it is served from."""
        return f"pair-{sha256(self.certificate + self.key).hexdigest()[:16]}"


def install(settings: Settings, folder: Path, hostname: str, at: datetime) -> tuple[str, str]:
    """The files of certificate and key that the daemons are given, put in place; one that is over is told, and served.

    Without settings it is one of our own, made where it is absent or for another name. Fails permanently where only
    one of `tls.certificate_file` and `tls.key_file` is set, one can't be read, or they don't belong together.
    """
    given = settings.tls
    if bool(given.certificate_file) != bool(given.key_file):
        raise Failure("tls.certificate_file and tls.key_file go together: one of them is not set.", permanent=True)
    if given.certificate_file:
        pair = read_pair(settings)
        _, ends = find_validity(pair)
        if ends <= at:
            log.error("the certificate has expired; mail programs will refuse it", at=iso(ends))
    else:
        certificate, key = folder / "self-signed.pem", folder / "self-signed.key"
        if not (key.exists() and certificate.exists() and _is_for(certificate, hostname)):
            _create_self_signed(certificate, key, hostname, at)
        pair = KeyPair(certificate.read_bytes(), key.read_bytes())
    install_pair(folder, pair)
    served = folder / _SERVED
    return str(served / "certificate.pem"), str(served / "key.pem")


def read_pair(settings: Settings) -> KeyPair:
    """The operator's pair; Failure, permanent, where a file can't be read."""
    found: list[bytes] = []
    for path in (settings.tls.certificate_file, settings.tls.key_file):
        try:
            found.append(Path(path).read_bytes())
        except OSError as error:
            raise Failure(f"{path} can't be read: {error.strerror}.", permanent=True) from error
    return KeyPair(*found)


def find_validity(pair: KeyPair) -> tuple[datetime, datetime]:
    """From when to when the certificate is valid; Failure, permanent, for what is no pair."""
    try:
        leaf = x509.load_pem_x509_certificates(pair.certificate)[0]
    except ValueError as error:
        raise Failure("tls.certificate_file holds no certificate in PEM.", permanent=True) from error
    try:
        key = load_pem_private_key(pair.key, None)
    except (ValueError, TypeError) as error:
        raise Failure("tls.key_file holds no private key in PEM without a password.", permanent=True) from error
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if leaf.public_key().public_bytes(*form) != key.public_key().public_bytes(*form):
        raise Failure("tls.key_file is not the key of tls.certificate_file.", permanent=True)
    return leaf.not_valid_before_utc, leaf.not_valid_after_utc


def install_pair(folder: Path, pair: KeyPair) -> None:
    """Serve this pair from now on, to who reads it anew."""
    mine = folder / pair.name
    mine.mkdir(mode=0o700, exist_ok=True)
    write_atomically(mine / "key.pem", pair.key.decode("ascii", "replace"), 0o600)
    write_atomically(mine / "certificate.pem", pair.certificate.decode("ascii", "replace"), 0o644)
    draft = folder / f"{_SERVED}.new"
    draft.unlink(missing_ok=True)
    draft.symlink_to(pair.name)
    draft.replace(folder / _SERVED)
    for other in folder.glob("pair-*"):
        if other != mine:
            shutil.rmtree(other, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class ServedCertificate:
    """The certificate that is served: from when to when, whether it is our own, and why a renewal was refused."""

    begins: datetime
    ends: datetime
    self_signed: bool
    problem: str | None


def read_served(settings: Settings, folder: Path, at: datetime) -> ServedCertificate | None:
    """What the daemons serve, as its files have it; None before the first start. OSError where it can't be read.

    The operator's files are read as well: ones that can't be served are a failed renewal.
    """
    current = folder / _SERVED
    if not current.exists():
        return None
    pair = KeyPair((current / "certificate.pem").read_bytes(), (current / "key.pem").read_bytes())
    begins, ends = find_validity(pair)
    problem: str | None = None
    if settings.tls.certificate_file:
        try:
            found = find_validity(read_pair(settings))
            if not found[0] <= at < found[1]:
                problem = f"{settings.tls.certificate_file} is valid from {iso(found[0])} to {iso(found[1])}."
        except Failure as failure:
            problem = str(failure)
    return ServedCertificate(begins, ends, not settings.tls.certificate_file, problem)


class Renewal:
    """The watch over the operator's files; `reload` makes the daemons read what is served anew."""

    def __init__(self, settings: Settings, folder: Path, reload: Callable[[], Awaitable[None]]) -> None:
        self._settings, self._folder, self._reload = settings, folder, reload
        self._seen = self._stamp()

    async def keep_renewing(self, requested: asyncio.Event) -> None:
        """Look every half minute, and when asked, until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await requested.wait()
            told, _ = requested.is_set(), requested.clear()
            try:
                await self.renew_if_changed(utc_now(), force=told)
            except Exception:
                log.exception("the certificate could not be looked after")

    async def renew_if_changed(self, at: datetime, *, force: bool = False) -> bool:
        """Put in place what was renewed, if it can be served; whether that was done. `always`: also if no file changed,
        which `keep_fresh` was asked for.
        """
        stamp = self._stamp()
        if not self._settings.tls.certificate_file or (stamp == self._seen and not force):
            return False
        # Where only one file is there yet, the other changes the stamp once more.
        self._seen = stamp
        try:
            pair = read_pair(self._settings)
            begins, ends = find_validity(pair)
        except Failure as failure:
            log.error("the renewed certificate is refused; the one before is served on", reason=str(failure))
            return False
        if not begins <= at < ends:
            reason = f"it is valid from {iso(begins)} to {iso(ends)}"
            log.error("the renewed certificate is refused; the one before is served on", reason=reason)
            return False
        if self._folder.joinpath(_SERVED).readlink().name == pair.name:
            return False
        install_pair(self._folder, pair)
        await self._reload()
        log.info("the certificate was renewed", ends=iso(ends))
        return True

    def _stamp(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(_stamp(path) for path in (self._settings.tls.certificate_file, self._settings.tls.key_file))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = Path(path).stat()  # through links: renewed certificates are often reached by one
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _is_for(certificate: Path, hostname: str) -> bool:
    found = x509.load_pem_x509_certificate(certificate.read_bytes())
    return found.subject.rfc4514_string() == f"CN={hostname}"


def _create_self_signed(certificate: Path, key: Path, hostname: str, at: datetime) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hostname)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(at - timedelta(hours=1))
        .not_valid_after(at + timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(hostname)]), critical=False)
        .sign(private, SHA256())
    )
    write_atomically(key, private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(), 0o600)
    write_atomically(certificate, made.public_bytes(Encoding.PEM).decode(), 0o644)
