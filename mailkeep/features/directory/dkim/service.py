"""Use cases of DKIM keys."""

from __future__ import annotations

import asyncio
import secrets
from datetime import datetime
from uuid import UUID

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mailkeep.app import App
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.secret import Vault
from mailkeep.db.pool import Conn
from mailkeep.features.directory.dkim import store
from mailkeep.features.directory.dkim.model import Algorithm, DkimKey
from mailkeep.mail.message.dkim import SigningKey

_PURPOSE = "dkim"  # of the encryption key
_SELECTOR_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_BITS = {"rsa2048": 2048, "rsa4096": 4096}


def generate_key(vault: Vault, domain_id: UUID | None, at: datetime, algorithm: Algorithm = "rsa2048") -> DkimKey:
    """A new active key for a domain (None: for a host name), not stored yet. RSA takes up to a second of CPU: call it
    in a thread.
    """
    private: rsa.RSAPrivateKey | Ed25519PrivateKey
    if algorithm == "ed25519":
        private = Ed25519PrivateKey.generate()
        encoding, public_format = serialization.Encoding.Raw, serialization.PublicFormat.Raw
    else:
        private = rsa.generate_private_key(65537, _BITS[algorithm])
        encoding, public_format = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    key_id = uuid7(at)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return DkimKey(
        id=key_id,
        domain_id=domain_id,
        selector=f"mk{at:%Y%m}{secrets.choice(_SELECTOR_CHARACTERS)}{secrets.choice(_SELECTOR_CHARACTERS)}",
        algorithm=algorithm,
        stage="active",
        private_key=vault.seal(_PURPOSE, pem, key_id.bytes),
        public_key=private.public_key().public_bytes(encoding, public_format),
        created_at=at,
        activated_at=at,
    )


async def insert(conn: Conn, key: DkimKey) -> None:
    """Store a new key in the caller's transaction."""
    await store.insert(conn, key)


async def list_signing_keys(conn: Conn, vault: Vault, domain_name: str) -> list[SigningKey]:
    """The decrypted keys with which a domain signs; empty for a domain that is not managed here.

    Raises RuntimeError if a key can't be decrypted with this master secret: the mail must not be sent unsigned.
    """
    return [decrypt(vault, key) for key in await store.list_active(conn, domain_name)]


async def ensure_host_key(app: App, host_name: str) -> DkimKey:
    """The key of a host name of the server, which is created at the first call. Not for managed domains."""
    async with app.db.autocommit() as conn:
        key = await store.find_host_key(conn, host_name)
    if key is not None:
        return key
    new = await asyncio.to_thread(generate_key, app.vault, None, app.clock())
    async with app.db.autocommit() as conn:
        return await store.insert_host_key(conn, host_name, new)


async def page(conn: Conn, domain_id: UUID, page_request: PageRequest) -> Page[DkimKey]:
    """A page of a domain's keys, newest first."""
    return await store.page(conn, domain_id, page_request)


def decrypt(vault: Vault, key: DkimKey) -> SigningKey:
    """The decrypted key. Raises RuntimeError if it was stored with another master secret."""
    pem = vault.open(_PURPOSE, key.private_key, key.id.bytes)
    if pem is None:
        raise RuntimeError(f"DKIM key {key.id} can't be decrypted: it was stored with another master secret")
    return SigningKey(key.selector, key.algorithm, pem)
