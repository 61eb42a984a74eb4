"""Use cases of DKIM keys."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Mapping, Sequence
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
from mailkeep.features.directory.dkim import rules, store
from mailkeep.features.directory.dkim.model import Algorithm, DkimKey, DnsStatus
from mailkeep.mail.message.dkim import SigningKey

FIRST_ALGORITHMS: Sequence[Algorithm] = ("rsa2048", "ed25519")
"""The keys of a new domain, and of a host name."""
_PURPOSE = "dkim"  # of the encryption key
_SELECTOR_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def generate_key(vault: Vault, domain_id: UUID | None, at: datetime, algorithm: Algorithm = "rsa2048") -> DkimKey:
    """A new active key for a domain (None: for a host name), not stored yet. RSA takes up to a second of CPU: call it
    in a thread.
    """
    if algorithm == "ed25519":
        return seal_key(vault, domain_id, at, Ed25519PrivateKey.generate(), algorithm)
    bits = int(algorithm.removeprefix("rsa"))
    return seal_key(vault, domain_id, at, rsa.generate_private_key(65537, bits), algorithm)


def generate_first_keys(vault: Vault, domain_id: UUID | None, at: datetime) -> list[DkimKey]:
    """The keys of a new domain, both active, not stored yet; as `generate_key`."""
    return [generate_key(vault, domain_id, at, algorithm) for algorithm in FIRST_ALGORITHMS]


def seal_key(
    vault: Vault, domain_id: UUID | None, at: datetime, private: rules.PrivateKey, algorithm: Algorithm
) -> DkimKey:
    """An active key with this private key and a random selector, not stored yet."""
    is_raw = isinstance(private, Ed25519PrivateKey)
    encoding = serialization.Encoding.Raw if is_raw else serialization.Encoding.DER
    public_format = serialization.PublicFormat.Raw if is_raw else serialization.PublicFormat.SubjectPublicKeyInfo
    key_id = uuid7(at)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return DkimKey(
        id=key_id,
        domain_id=domain_id,
        selector=f"mk{at:%Y%m}" + "".join(secrets.choice(_SELECTOR_CHARACTERS) for _ in range(4)),
        algorithm=algorithm,
        stage="active",
        private_key=vault.seal(_PURPOSE, pem, key_id.bytes),
        public_key=private.public_key().public_bytes(encoding, public_format),
        created_at=at,
        activated_at=at,
    )


async def insert(conn: Conn, key: DkimKey) -> None:
    """Store a new key in the caller's transaction. CONFLICT `selector_taken`."""
    await store.insert(conn, key)


async def list_signing_keys(conn: Conn, vault: Vault, domain_name: str) -> list[SigningKey]:
    """The decrypted keys with which a domain signs; empty for a domain that is not managed here.

    Raises RuntimeError if a key can't be decrypted with this master secret: the mail must not be sent unsigned.
    """
    return [decrypt(vault, key) for key in await store.list_active(conn, domain_name)]


async def list_records(conn: Conn, domain_id: UUID) -> list[DkimKey]:
    """The keys of a domain whose records must be published, oldest first: all that are not retired."""
    return await store.list_published(conn, domain_id)


async def list_delegated(conn: Conn, host_name: str) -> list[DkimKey]:
    """The delegated keys of all domains whose records are at names of a host, oldest first: those not retired."""
    return await store.list_delegated(conn, host_name)


async def record_checks(conn: Conn, statuses: Mapping[UUID, DnsStatus], at: datetime) -> None:
    """Store the results of look-ups of keys' records, by the ID of the key."""
    await store.set_dns_statuses(conn, statuses, at)


async def ensure_host_keys(app: App, host_name: str) -> list[DkimKey]:
    """The keys of a host name of the server, one of each algorithm, which are created at the first call. Not for
    managed domains.
    """
    async with app.db.autocommit() as conn:
        keys = await store.list_host_keys(conn, host_name)
    present = {key.algorithm for key in keys}
    missing: list[Algorithm] = [each for each in FIRST_ALGORITHMS if each not in present]
    if not missing:
        return keys
    new = [await asyncio.to_thread(generate_key, app.vault, None, app.clock(), each) for each in missing]
    async with app.db.tx() as conn:
        for key in new:
            await store.insert_host_key(conn, host_name, key)
        return await store.list_host_keys(conn, host_name)


async def page(
    conn: Conn, domain_id: UUID, page_request: PageRequest, stages: Collection[str] = (), algorithm: str | None = None
) -> Page[DkimKey]:
    """A page of a domain's keys, newest first: those in one of `stages` (empty: all) with this algorithm."""
    return await store.page(conn, domain_id, page_request, list(stages) or None, algorithm)


def decrypt(vault: Vault, key: DkimKey) -> SigningKey:
    """The decrypted key. Raises RuntimeError if it was stored with another master secret."""
    pem = vault.open(_PURPOSE, key.private_key, key.id.bytes)
    if pem is None:
        raise RuntimeError(f"DKIM key {key.id} can't be decrypted: it was stored with another master secret")
    return SigningKey(key.selector, key.algorithm, pem)
