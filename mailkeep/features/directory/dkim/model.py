"""A DKIM key."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

Algorithm = Literal["rsa2048", "rsa4096", "ed25519"]
Stage = Literal["pending", "active", "retiring", "retired"]


@dataclass(frozen=True, slots=True)
class DkimKey:
    """A stored key; `private_key` is encrypted. `domain_id` None: the key of a host name of the server."""

    id: UUID
    domain_id: UUID | None
    selector: str
    algorithm: Algorithm
    stage: Stage
    private_key: bytes
    public_key: bytes
    created_at: datetime
    activated_at: datetime | None

    @property
    def dns_value(self) -> str:
        """The text of the TXT record (RFC 6376 §3.6.1), in one piece: zone files split it at 255 octets."""
        key_type = "ed25519" if self.algorithm == "ed25519" else "rsa"
        return f"v=DKIM1; k={key_type}; p={b64encode(self.public_key).decode()}"

    def dns_name(self, domain_name: str) -> str:
        """The name of the TXT record, without a trailing dot."""
        return f"{self.selector}._domainkey.{domain_name}"

    @property
    def fingerprint_sha256(self) -> str:
        """SHA-256 of the public key in the form of the `p=` tag, in hex."""
        return hashlib.sha256(self.public_key).hexdigest()
