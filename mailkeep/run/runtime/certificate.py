"""The certificate of an instance: the operator's, else one from ACME (`certificate_files`), else a self-signed one that
is valid for ten years.

The daemons read a copy, one file with the key and the certificates that is replaced atomically: a process that starts
at that moment never reads a certificate with the key of another. `Renewal` checks the operator's files regularly. A
renewed pair is checked and put in place, and the daemons read it at a reload without closing connections. An invalid
pair is refused, and the current one stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import structlog
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
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
from mailkeep.features.operations.certificates.model import SERVER
from mailkeep.mail.daemons.paths import SERVED_CERTIFICATE
from mailkeep.settings import Settings

log = structlog.get_logger("mailkeep.certificate")

_DAYS = 3650
_CHECK_SECONDS = 30.0
_SERVED = Path(SERVED_CERTIFICATE).name


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate with its chain and its private key, both in PEM."""

    certificate: bytes
    key: bytes


def install(settings: Settings, folder: Path, hostname: str, at: datetime) -> str:
    """Put the pair in place; the path of the daemons' file. An expired pair is logged and served.

    Without settings it is that from ACME, if it is for this name, else self-signed. A self-signed one is created if it
    is missing, for another name, or has expired. The files for SNI are created if they are missing. Fails
    permanently if only one of `tls.certificate_file` and `tls.key_file` is set, one can't be read, or they don't match.
    """
    tls = settings.tls
    for path in (sni_map(folder), sni_conf(folder)):
        if not path.exists():
            write_atomically(path, "", 0o600)
    if bool(tls.certificate_file) != bool(tls.key_file):
        raise Failure("Set both tls.certificate_file and tls.key_file: one of them is not set.", permanent=True)
    if tls.certificate_file:
        pair = read_pair(settings)
        _, ends = find_validity(pair)
        if ends <= at:
            log.error("the certificate has expired; mail programs will refuse it", at=iso(ends))
    elif _is_for(ordered := pair_file(folder, SERVER), hostname):
        pair = _read_combined(ordered)
    else:
        self_signed = folder / "self-signed.pem"
        if not (self_signed.exists() and _is_valid_for(self_signed, hostname, at)):
            write_atomically(self_signed, _create_self_signed(hostname, at), 0o600)
        pair = _read_combined(self_signed)
    served, combined = folder / _SERVED, _combine(pair)
    if not served.exists() or served.read_text("ascii") != combined:
        write_atomically(served, combined, 0o600)
    return find_served_file(folder)


def pair_file(folder: Path, name: str) -> Path:
    """The file of a certificate from ACME, of the server or a domain: the key, then the certificate with its chain."""
    return folder / name / "pair.pem"


def sni_map(folder: Path) -> Path:
    """Postfix's table of certificates by host name (`tls_server_sni_maps`)."""
    return folder / "sni.map"


def sni_conf(folder: Path) -> Path:
    """Dovecot's certificates by host name."""
    return folder / "sni.conf"


def find_served_file(folder: Path) -> str:
    """The path of the file that the daemons use."""
    return str(folder / _SERVED)


def read_pair(settings: Settings) -> KeyPair:
    """The operator's pair; a permanent Failure if a file can't be read."""
    contents: list[bytes] = []
    for path in (settings.tls.certificate_file, settings.tls.key_file):
        try:
            contents.append(Path(path).read_bytes())
        except OSError as error:
            raise Failure(f"{path} can't be read: {error.strerror}.", permanent=True) from error
    return KeyPair(*contents)


def find_validity(pair: KeyPair) -> tuple[datetime, datetime]:
    """When the certificate begins and ends to be valid; a permanent Failure if the pair is invalid."""
    (leaf, *_), key = _parse(pair)
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if leaf.public_key().public_bytes(*form) != key.public_key().public_bytes(*form):
        raise Failure("tls.key_file is not the key of tls.certificate_file.", permanent=True)
    return leaf.not_valid_before_utc, leaf.not_valid_after_utc


def _parse(pair: KeyPair) -> tuple[list[x509.Certificate], PrivateKeyTypes]:
    try:
        certificates = x509.load_pem_x509_certificates(pair.certificate)
    except ValueError as error:
        raise Failure("tls.certificate_file holds no certificate in PEM.", permanent=True) from error
    try:
        return certificates, load_pem_private_key(pair.key, None)
    except (ValueError, TypeError) as error:
        raise Failure("tls.key_file holds no private key in PEM without a password.", permanent=True) from error


def _combine(pair: KeyPair) -> str:
    """The key, then its certificate and the chain: the order that Postfix's smtpd_tls_chain_files requires."""
    certificates, key = _parse(pair)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return (pem + b"".join(each.public_bytes(Encoding.PEM) for each in certificates)).decode("ascii")


def _read_combined(path: Path) -> KeyPair:
    combined = path.read_bytes()
    return KeyPair(combined, combined)  # a PEM reader skips blocks of other kinds


@dataclass(frozen=True, slots=True)
class ServedCertificate:
    """The served certificate: its validity, whether it is self-signed, and why a renewal was refused."""

    begins: datetime
    ends: datetime
    self_signed: bool
    problem: str | None


def read_served(settings: Settings, folder: Path, at: datetime) -> ServedCertificate | None:
    """The served certificate, read from its files; None before the first start. OSError if it can't be read.

    The operator's files are checked as well: if they are invalid, the renewal has failed.
    """
    served = folder / _SERVED
    if not served.exists():
        return None
    begins, ends = find_validity(_read_combined(served))
    problem: str | None = None
    if settings.tls.certificate_file:
        try:
            start, end = find_validity(read_pair(settings))
            if not start <= at < end:
                problem = f"{settings.tls.certificate_file} is valid from {iso(start)} to {iso(end)}."
        except Failure as failure:
            problem = str(failure)
    (leaf, *_), _ = _parse(_read_combined(served))
    is_self_signed = not settings.tls.certificate_file and leaf.issuer == leaf.subject
    return ServedCertificate(begins, ends, is_self_signed, problem)


def find_missing_names(folder: Path, hosts: Sequence[str]) -> list[str]:
    """The host names that the served certificate is not for (RFC 9525 §6.3). OSError, Failure."""
    (leaf, *_), _ = _parse(_read_combined(folder / _SERVED))
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return list(hosts)
    found = {name.lower() for name in names.get_values_for_type(x509.DNSName)}
    return [host for host in hosts if host not in found and f"*.{host.partition('.')[2]}" not in found]


class Renewal:
    """Watches the operator's files; `reload` makes the daemons read the served pair again."""

    def __init__(self, settings: Settings, folder: Path, reload: Callable[[], Awaitable[None]]) -> None:
        self._settings, self._folder, self._reload = settings, folder, reload
        self._seen = self._stamp()

    async def keep_renewing(self, requested: asyncio.Event) -> None:
        """Check every 30 seconds, and when `requested` is set, until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CHECK_SECONDS):
                    await requested.wait()
            is_requested = requested.is_set()
            requested.clear()
            try:
                await self.renew_if_changed(utc_now(), force=is_requested)
            except Exception:
                log.exception("checking the certificate failed")

    async def renew_if_changed(self, at: datetime, *, force: bool = False) -> bool:
        """Put a renewed pair in place if it is valid; returns whether it did. `force`: also if no file has changed."""
        stamp = self._stamp()
        if not self._settings.tls.certificate_file or (stamp == self._seen and not force):
            return False
        # If only one file is replaced yet, the other one will change the stamp again.
        self._seen = stamp
        try:
            pair = read_pair(self._settings)
            begins, ends = find_validity(pair)
        except Failure as failure:
            log.error("the renewed certificate is refused; the current one stays", reason=str(failure))
            return False
        if not begins <= at < ends:
            reason = f"it is valid from {iso(begins)} to {iso(ends)}"
            log.error("the renewed certificate is refused; the current one stays", reason=reason)
            return False
        served, combined = self._folder / _SERVED, _combine(pair)
        if served.read_text("ascii") == combined:
            return False
        write_atomically(served, combined, 0o600)
        await self._reload()
        log.info("the certificate was renewed", ends=iso(ends))
        return True

    def _stamp(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(_stamp(path) for path in (self._settings.tls.certificate_file, self._settings.tls.key_file))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = Path(path).stat()  # follows links: renewals often replace one
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _is_for(pair: Path, hostname: str) -> bool:
    """Whether a certificate from ACME exists and names the host; also if it has expired."""
    try:
        leaf = x509.load_pem_x509_certificate(pair.read_bytes())
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    return hostname.lower() in names.get_values_for_type(x509.DNSName)


def _is_valid_for(certificate: Path, hostname: str, at: datetime) -> bool:
    found = x509.load_pem_x509_certificate(certificate.read_bytes())
    return found.subject.rfc4514_string() == f"CN={hostname}" and at < found.not_valid_after_utc


def _create_self_signed(hostname: str, at: datetime) -> str:
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hostname)])
    self_signed = (
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
    key = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return (key + self_signed.public_bytes(Encoding.PEM)).decode("ascii")
