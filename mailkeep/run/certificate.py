"""The certificate of a full instance: the operator's, else one of our own that lasts for ten years."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from mailkeep.core.errors import Failure
from mailkeep.db.instance import write_whole
from mailkeep.settings import Settings

_DAYS = 3650


def files(settings: Settings, folder: Path, hostname: str, at: datetime) -> tuple[str, str]:
    """The files of certificate and key. Without settings one of our own, made where it is absent or for another name.

    Fails permanently where only one of `tls.certificate_file` and `tls.key_file` is set, or one can't be read.
    """
    given = settings.tls
    if bool(given.certificate_file) != bool(given.key_file):
        raise Failure("tls.certificate_file and tls.key_file go together: one of them is not set.", permanent=True)
    if given.certificate_file:
        for path in (given.certificate_file, given.key_file):
            try:
                Path(path).read_bytes()
            except OSError as error:
                raise Failure(f"{path} can't be read: {error.strerror}.", permanent=True) from error
        return given.certificate_file, given.key_file
    certificate, key = folder / "self-signed.pem", folder / "self-signed.key"
    if not (key.exists() and certificate.exists() and _is_for(certificate, hostname)):
        _make(certificate, key, hostname, at)
    return str(certificate), str(key)


def _is_for(certificate: Path, hostname: str) -> bool:
    found = x509.load_pem_x509_certificate(certificate.read_bytes())
    return found.subject.rfc4514_string() == f"CN={hostname}"


def _make(certificate: Path, key: Path, hostname: str, at: datetime) -> None:
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
    write_whole(key, private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(), 0o600)
    write_whole(certificate, made.public_bytes(Encoding.PEM).decode(), 0o644)
