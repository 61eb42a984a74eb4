"""Apple's configuration profile for a mail account, signed with the server's certificate.

iPhone, iPad and Mac ask for the password when the profile is installed. UUIDs and identifiers derive from host and
address, so that a later profile replaces an earlier one. Where the certificate is self-signed, the device shows the
profile as not verified.
"""

from __future__ import annotations

import plistlib
import uuid
from dataclasses import dataclass
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key, pkcs7

from mailkeep.core.errors import Failure
from mailkeep.mail.client_setup.services import MailService, find_preferred

MEDIA_TYPE = "application/x-apple-aspen-config"


@dataclass(frozen=True, slots=True)
class AppleProfile:
    """A profile: the account's address, which is also the user name, and its services."""

    address: str
    incoming: MailService
    outgoing: MailService


def make_profile(address: str, services: list[MailService]) -> AppleProfile | None:
    """The profile with the preferred services; None if there are none to read mail or none to send it."""
    incoming = find_preferred(services, "imap") or find_preferred(services, "pop3")
    outgoing = find_preferred(services, "smtp")
    return AppleProfile(address, incoming, outgoing) if incoming and outgoing else None


def compose(profile: AppleProfile) -> bytes:
    """The profile as a property list."""
    address, incoming, outgoing = profile.address, profile.incoming, profile.outgoing
    name = f"{incoming.host}.{address}"
    account: dict[str, Any] = {
        **_payload("com.apple.mail.managed", f"{name}.mail", address),
        "EmailAccountType": "EmailTypeIMAP" if incoming.protocol == "imap" else "EmailTypePOP",
        "EmailAccountDescription": address,
        "EmailAddress": address,
        **_server("Incoming", incoming, address),
        **_server("Outgoing", outgoing, address),
        "OutgoingPasswordSameAsIncomingPassword": True,
    }
    whole = _payload("Configuration", name, f"Mail for {address}")
    whole |= {"PayloadOrganization": incoming.host, "PayloadContent": [account]}
    return plistlib.dumps(whole)


def _payload(kind: str, identifier: str, title: str) -> dict[str, Any]:
    return {
        "PayloadType": kind,
        "PayloadVersion": 1,
        "PayloadIdentifier": identifier,
        "PayloadUUID": str(uuid.uuid5(uuid.NAMESPACE_URL, f"mailkeep:{identifier}")).upper(),
        "PayloadDisplayName": title,
    }


def _server(direction: str, service: MailService, login: str) -> dict[str, Any]:
    """STARTTLS is used where the port does not begin with TLS."""
    return {
        f"{direction}MailServerAuthentication": "EmailAuthPassword",
        f"{direction}MailServerHostName": service.host,
        f"{direction}MailServerPortNumber": service.port,
        f"{direction}MailServerUseSSL": True,
        f"{direction}MailServerUsername": login,
    }


def sign(profile: AppleProfile, pem: bytes) -> bytes:
    """The profile in a CMS signature. `pem` holds the certificate, its chain and its key, RSA or ECDSA. Failure."""
    try:
        certificate, *chain = x509.load_pem_x509_certificates(pem)
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError) as error:
        raise Failure("The server's certificate or its key can't be read.") from error
    if not isinstance(key, RSAPrivateKey | EllipticCurvePrivateKey):
        raise Failure("A profile can be signed only with an RSA or ECDSA certificate.")
    builder = pkcs7.PKCS7SignatureBuilder().set_data(compose(profile)).add_signer(certificate, key, SHA256())
    for each in chain:
        builder = builder.add_certificate(each)
    return builder.sign(Encoding.DER, [pkcs7.PKCS7Options.Binary])
