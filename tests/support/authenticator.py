"""A software authenticator with a browser (Web Authentication Level 3, §5.1, §6).

It returns the form of `PublicKeyCredential.toJSON()`. For invalid responses, tests change fields: another origin or
site, no user verification, a counter that does not increase.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

UP, UV, BE, BS, AT, ED = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80
PrivateKey = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


def b64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    return urlsafe_b64decode(text + "==")


def bomb(levels: int) -> bytes:
    """CBOR in which each level refers to the next one twice: few bytes, 2^levels elements when expanded."""
    shared = b"".join(b"\xd8\x1d" + cbor2.dumps(level) for level in range(levels - 1, 0, -1))
    return b"\xd8\x1c\x82" * levels + b"\x00\x00" + shared


@dataclass
class SoftKey:
    """A credential. `counts`: whether its signature counter increases."""

    origin: str = "http://localhost:8080"
    rp_id: str = "localhost"
    flags: int = UP | UV
    counts: bool = True
    key: PrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: os.urandom(32))
    aaguid: bytes = bytes(16)
    counter: int = 0
    user_handle: bytes | None = None
    client_data: Mapping[str, Any] = field(default_factory=dict[str, Any])  # overrides the browser's values

    def create(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The result for creation options; stores the user handle."""
        self.user_handle = unb64(options["user"]["id"])
        client_data = self._client_data("webauthn.create", options["challenge"])
        attestation = {"fmt": "none", "attStmt": {}, "authData": self.made_data()}
        response = {
            "clientDataJSON": b64(client_data),
            "attestationObject": b64(cbor2.dumps(attestation)),
            "transports": ["internal", "hybrid"],
        }
        return self._credential(response)

    def get(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The result for request options."""
        self.counter += self.counts
        client_data = self._client_data("webauthn.get", options["challenge"])
        data = self.used_data()
        response = {
            "clientDataJSON": b64(client_data),
            "authenticatorData": b64(data),
            "signature": b64(self.sign(data + hashlib.sha256(client_data).digest())),
        }
        if self.user_handle is not None:
            response["userHandle"] = b64(self.user_handle)
        return self._credential(response)

    def made_data(self) -> bytes:
        """Authenticator data with the new credential (§6.5.1)."""
        size = len(self.credential_id).to_bytes(2, "big")
        return self._head(AT) + self.aaguid + size + self.credential_id + cbor2.dumps(self.public_key())

    def used_data(self) -> bytes:
        return self._head(0)

    def public_key(self) -> dict[int, Any]:
        """As a COSE key (RFC 9053 §7)."""
        match self.key:
            case ec.EllipticCurvePrivateKey():
                numbers = self.key.public_key().public_numbers()
                x, y = numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")
                return {1: 2, 3: -7, -1: 1, -2: x, -3: y}
            case ed25519.Ed25519PrivateKey():
                return {1: 1, 3: -8, -1: 6, -2: self.key.public_key().public_bytes_raw()}
            case rsa.RSAPrivateKey():
                numbers = self.key.public_key().public_numbers()
                return {1: 3, 3: -257, -1: numbers.n.to_bytes(256, "big"), -2: numbers.e.to_bytes(3, "big")}

    def sign(self, data: bytes) -> bytes:
        match self.key:
            case ec.EllipticCurvePrivateKey():
                return self.key.sign(data, ec.ECDSA(hashes.SHA256()))
            case ed25519.Ed25519PrivateKey():
                return self.key.sign(data)
            case rsa.RSAPrivateKey():
                return self.key.sign(data, padding.PKCS1v15(), hashes.SHA256())

    def _head(self, flags: int) -> bytes:
        rp_id_hash = hashlib.sha256(self.rp_id.encode()).digest()
        return rp_id_hash + bytes([self.flags | flags]) + self.counter.to_bytes(4, "big")

    def _client_data(self, kind: str, challenge: str) -> bytes:
        client_data = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(client_data | dict(self.client_data)).encode()

    def _credential(self, response: dict[str, Any]) -> dict[str, Any]:
        name = b64(self.credential_id)
        return {
            "id": name,
            "rawId": name,
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": response,
        }
