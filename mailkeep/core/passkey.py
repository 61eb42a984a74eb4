"""Passkeys (Web Authentication Level 3, W3C): parses a browser's response and verifies it with `webauthn`.

Input that could exhaust that library's parsers is rejected first: sizes are limited, and CBOR must have the form that
authenticators write (CTAP 2.1 §8: no tags, no indefinite lengths, at most four levels).

Attestation is not requested, and an attestation statement is ignored (§7.1, step 24).
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit
from uuid import UUID

from mailkeep.core.errors import invalid_field
from mailkeep.core.secret import decode_base64url

if TYPE_CHECKING:
    from webauthn.registration.verify_registration_response import VerifiedRegistration

ALGORITHMS = (-7, -8, -257)
"""COSE: ES256, EdDSA, RS256."""

_SIZES = {
    "clientDataJSON": 8 << 10,
    "attestationObject": 64 << 10,
    "authenticatorData": 4 << 10,
    "signature": 1 << 10,
    "userHandle": 64,
}
_ID_BYTES = 1023  # §7.1, step 25
_KEY_BYTES = 1 << 10  # RSA of 4096 bits has half of it
_HEAD = 37  # rpIdHash, flags, signCount (§6.1)
_ATTESTED, _EXTENDED = 0x40, 0x80
_DEPTH = 4
_TRANSPORTS = ("ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb")


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The domain that passkeys belong to, and the one origin whose pages may use them (§4, §13.4.9)."""

    id: str
    origin: str


@dataclass(frozen=True, slots=True)
class CredentialResponse:
    """A decoded `PublicKeyCredential.toJSON()`, of a registration or of a login."""

    credential_id: bytes
    challenge: bytes
    client_data: bytes
    attestation: bytes = b""
    authenticator_data: bytes = b""
    signature: bytes = b""
    user_handle: bytes | None = None
    transports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RegisteredCredential:
    """A verified new credential. `sign_count` is 0 if the authenticator has no signature counter."""

    credential_id: bytes
    public_key: bytes
    sign_count: int
    aaguid: UUID
    transports: tuple[str, ...]
    backup_eligible: bool
    backed_up: bool


@dataclass(frozen=True, slots=True)
class VerifiedAssertion:
    """A verified login with a credential."""

    sign_count: int
    backup_eligible: bool
    backed_up: bool


def relying_party(public_url: str) -> RelyingParty | None:
    """The relying party of an installation (§5.1.2).

    None if browsers don't support passkeys at this URL: they require https or localhost, and a host name instead of an
    IP address.
    """
    parts = urlsplit(public_url.lower())
    host = parts.hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        return None
    is_local = host == "localhost" or host.endswith(".localhost")
    if not host or (parts.scheme != "https" and not is_local):
        return None
    default_port = {"https": 443, "http": 80}[parts.scheme]
    port = "" if parts.port in (None, default_port) else f":{parts.port}"
    return RelyingParty(host, f"{parts.scheme}://{host}{port}")


def parse_registration(credential: Mapping[str, Any]) -> CredentialResponse:
    """Parse the result of `navigator.credentials.create()`. Raises INVALID_FIELD."""
    response = _response(credential)
    client_data = _bytes(response, "clientDataJSON")
    transports = response.get("transports")
    values = cast(list[object], transports) if isinstance(transports, list) else []
    return CredentialResponse(
        credential_id=_credential_id(credential),
        challenge=_challenge(client_data),
        client_data=client_data,
        attestation=_bytes(response, "attestationObject"),
        transports=tuple(name for name in _TRANSPORTS if name in values),
    )


def parse_assertion(credential: Mapping[str, Any]) -> CredentialResponse:
    """Parse the result of `navigator.credentials.get()`. Raises INVALID_FIELD."""
    response = _response(credential)
    client_data = _bytes(response, "clientDataJSON")
    return CredentialResponse(
        credential_id=_credential_id(credential),
        challenge=_challenge(client_data),
        client_data=client_data,
        authenticator_data=_bytes(response, "authenticatorData"),
        signature=_bytes(response, "signature"),
        user_handle=None if response.get("userHandle") is None else _bytes(response, "userHandle"),
    )


def verify_registration(response: CredentialResponse, party: RelyingParty) -> RegisteredCredential:
    """Verify a new credential (§7.1). Raises INVALID_FIELD if it is damaged or was created for another site.

    The caller checks the challenge. Takes a few milliseconds, 200 the first time: call it in a thread.
    """
    try:
        verified = _verify(response, party)
    except Exception as fault:  # noqa: BLE001 - untrusted input passes through four libraries
        reason = str(fault)[:200].encode("ascii", "backslashreplace").decode()
        raise invalid_field("credential", f"can't be verified: {reason}") from None
    if verified.credential_id != response.credential_id:
        raise invalid_field("credential.id", "is not the ID that the authenticator signed")
    return RegisteredCredential(
        credential_id=verified.credential_id,
        public_key=verified.credential_public_key,
        sign_count=verified.sign_count,
        aaguid=UUID(verified.aaguid),
        transports=response.transports,
        backup_eligible=verified.credential_device_type.value == "multi_device",
        backed_up=verified.credential_backed_up,
    )


def _verify(response: CredentialResponse, party: RelyingParty) -> VerifiedRegistration:
    from webauthn import verify_registration_response
    from webauthn.helpers import (
        bytes_to_base64url,
        decode_credential_public_key,
        decoded_public_key_to_cryptography,
        encode_cbor,
        parse_cbor,
    )
    from webauthn.helpers.cose import COSEAlgorithmIdentifier
    from webauthn.helpers.structs import AuthenticatorAttestationResponse, RegistrationCredential

    if _end_of_item(response.attestation, 0, _DEPTH) != len(response.attestation):
        raise ValueError("attestationObject has trailing bytes")
    data = parse_cbor(response.attestation)["authData"]
    _check_layout(data, attested=True)
    unattested = encode_cbor({"fmt": "none", "attStmt": {}, "authData": data})
    verified = verify_registration_response(
        credential=RegistrationCredential(
            id=bytes_to_base64url(response.credential_id),
            raw_id=response.credential_id,
            response=AuthenticatorAttestationResponse(response.client_data, unattested),
        ),
        expected_challenge=response.challenge,
        expected_rp_id=party.id,
        expected_origin=party.origin,
        supported_pub_key_algs=[COSEAlgorithmIdentifier(number) for number in ALGORITHMS],
    )
    decoded_public_key_to_cryptography(
        decode_credential_public_key(verified.credential_public_key)
    )  # raises if malformed
    return verified


def verify_assertion(
    response: CredentialResponse, party: RelyingParty, public_key: bytes, *, user_verified: bool
) -> VerifiedAssertion | None:
    """Verify a login with the credential of this key (§7.2). None if it is for another site or signed by another key.

    `user_verified`: the authenticator must have asked for a PIN or a biometric. The caller compares challenge, counter,
    user handle and backup eligibility. Call it in a thread, like `verify_registration`.
    """
    from webauthn import verify_authentication_response
    from webauthn.helpers import bytes_to_base64url
    from webauthn.helpers.structs import AuthenticationCredential, AuthenticatorAssertionResponse

    try:
        _check_layout(response.authenticator_data, attested=False)
        verified = verify_authentication_response(
            credential=AuthenticationCredential(
                id=bytes_to_base64url(response.credential_id),
                raw_id=response.credential_id,
                response=AuthenticatorAssertionResponse(
                    response.client_data, response.authenticator_data, response.signature
                ),
            ),
            expected_challenge=response.challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=public_key,
            credential_current_sign_count=0,
            require_user_verification=user_verified,
        )
    except Exception:  # noqa: BLE001 - untrusted input passes through four libraries
        return None
    eligible = verified.credential_device_type.value == "multi_device"
    return VerifiedAssertion(verified.new_sign_count, eligible, verified.credential_backed_up)


def _check_layout(data: object, *, attested: bool) -> None:
    """Check that authenticator data has exactly the parts its flags announce (§6.1). Raises ValueError."""
    if not isinstance(data, bytes) or len(data) < _HEAD:
        raise ValueError(f"authenticatorData is not a byte string of at least {_HEAD} bytes")
    flags, end = data[32], _HEAD
    if bool(flags & _ATTESTED) is not attested:
        received, needed = ("login", "registration") if attested else ("registration", "login")
        raise ValueError(f"authenticatorData belongs to a {received}, not a {needed}")
    if attested:
        key = _HEAD + 18 + int.from_bytes(data[_HEAD + 16 : _HEAD + 18], "big")
        end = _end_of_item(data, key, _DEPTH)
        if end - key > _KEY_BYTES:
            raise ValueError(f"the public key is longer than {_KEY_BYTES} bytes")
    if flags & _EXTENDED:
        end = _end_of_item(data, end, _DEPTH)
    if end != len(data):
        raise ValueError("authenticatorData has missing or extra bytes (they do not match its flags)")


def _end_of_item(data: bytes, start: int, depth: int) -> int:
    """The end of the CBOR item that begins at `start` (RFC 8949 §3). Raises ValueError for what CTAP 2.1 §8 forbids."""
    if depth < 0:
        raise ValueError(f"the CBOR data is nested deeper than {_DEPTH} levels")
    if start >= len(data):
        raise ValueError("the CBOR data is incomplete")
    major, additional = data[start] >> 5, data[start] & 0x1F
    if major == 6 or additional > 27:
        raise ValueError("the CBOR data has a tag or an item of indefinite length")
    width = (1 << (additional - 24)) if additional >= 24 else 0
    end = start + 1 + width
    size = int.from_bytes(data[start + 1 : end], "big") if width else additional
    if major in (2, 3):
        end += size
    elif major in (4, 5):
        for _ in range(min(size * (major - 3), len(data) + 1)):
            end = _end_of_item(data, end, depth - 1)
    if end > len(data):
        raise ValueError("the CBOR data is incomplete")
    return end


def _response(credential: Mapping[str, Any]) -> Mapping[str, Any]:
    if credential.get("type") != "public-key":
        raise invalid_field("credential.type", "must be 'public-key'")
    response = credential.get("response")
    if not isinstance(response, Mapping):
        raise invalid_field("credential.response", "must be an object")
    return cast(Mapping[str, Any], response)


def _credential_id(credential: Mapping[str, Any]) -> bytes:
    credential_id = _decode(credential.get("id"), _ID_BYTES)
    if not credential_id:
        raise invalid_field("credential.id", f"must be 1 to {_ID_BYTES} bytes in base64url without padding")
    return credential_id


def _bytes(response: Mapping[str, Any], name: str) -> bytes:
    content = _decode(response.get(name), _SIZES[name])
    if content is None:
        raise invalid_field(
            f"credential.response.{name}", f"must be at most {_SIZES[name]} bytes in base64url without padding"
        )
    return content


def _decode(text: object, size: int) -> bytes | None:
    if not isinstance(text, str) or len(text) > size * 4 // 3 + 4:
        return None
    content = decode_base64url(text)
    return content if content is not None and len(content) <= size else None


def _challenge(client_data: bytes) -> bytes:
    """The challenge in the client data, which the browser writes (§5.8.1)."""
    name = "credential.response.clientDataJSON"
    try:
        content: object = json.loads(client_data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise invalid_field(name, "must be JSON") from None
    values = cast(dict[str, object], content) if isinstance(content, dict) else {}
    challenge = values.get("challenge")
    if not isinstance(challenge, str) or not isinstance(values.get("origin"), str):
        raise invalid_field(name, "must have the strings challenge and origin")
    decoded = decode_base64url(challenge)
    if decoded is None:
        raise invalid_field(name, "must have a challenge in base64url")
    if values.get("crossOrigin") not in (None, False):
        raise invalid_field(name, "must not come from a frame (iframe) in a page of another site")
    return decoded
