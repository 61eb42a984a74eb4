"""The application in the test process, called through ASGI, with fixed users and a clock that only tests advance.

The users: Sue (super_admin), Adam (admin), Dora (domain_admin of example.test), Otto (domain_admin of other.test), each
with the password `PASSWORD` and a session; Sue's unscoped key, and Adam's key, scoped to example.test. Methods of `Api`
with `columns` insert a row with SQL; `columns` override its defaults.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from base64 import b32decode
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, LiteralString
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID

import cbor2
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from psycopg import AsyncConnection
from psycopg.pq import ExecStatus
from psycopg.sql import SQL, Identifier, Placeholder
from psycopg.types.json import Jsonb

from mailkeep.app import App
from mailkeep.backup.index import begin_index
from mailkeep.backup.layout import INDEX
from mailkeep.core import totp
from mailkeep.core.address import fold_local, parse_address
from mailkeep.core.ids import uuid7
from mailkeep.core.secret import Vault, new_token as new_session_token, token_hash
from mailkeep.features.mailflow.unsubscribe.model import UnsubscribeLink
from mailkeep.features.mailflow.unsubscribe.rules import new_token
from mailkeep.settings import OidcProvider
from mailkeep.settings.external import AcmeSettings, OidcSettings
from mailkeep.web.pipeline import Pipeline
from tests.support.authenticator import SoftKey
from tests.support.caller import Answer, Caller

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
VAULT = Vault(b"the master secret of all tests, 32+")
PASSWORD = "correct horse battery staple"
# The hash of PASSWORD with the cheapest parameters.
PASSWORD_HASH = "$argon2id$v=19$m=8,t=1,p=1$P7JIiysfHrfbZHbJnfpKAA$XNi4K4Z0OkPAw/8bGcEMMBbYjAJFxGq9+WDBHKVfxcc"

EXAMPLE, OTHER = "example.test", "other.test"
ADMINS = {"sue": "super_admin", "adam": "admin", "dora": "domain_admin", "otto": "domain_admin"}
ASSIGNED = {"dora": EXAMPLE, "otto": OTHER}
KEYS = {"unscoped": ("sue", None), "scoped": ("adam", EXAMPLE)}


def fixed_id(number: int) -> UUID:
    """The ID of a fixed row: the same in every test, and older than the IDs that tests create."""
    return UUID(int=(int((START - timedelta(days=1)).timestamp() * 1000) << 80) | (7 << 76) | (2 << 62) | number)


DOMAIN_IDS = {EXAMPLE: fixed_id(1), OTHER: fixed_id(2)}
ADMIN_IDS = {name: fixed_id(10 + index) for index, name in enumerate(ADMINS)}
SESSION_IDS = {name: fixed_id(20 + index) for index, name in enumerate(ADMINS)}
KEY_IDS = {name: fixed_id(30 + index) for index, name in enumerate(KEYS)}


def email_of(name: str) -> str:
    return f"{name}@{EXAMPLE}"


def token_of(name: str) -> str:
    """The session token, or the random part of the key, of a test user."""
    return f"{name:_<43}"


def cookie_of(token: str) -> str:
    return f"svc_session={token}.{VAULT.sign('session', token.encode())}"


def owner_cookie_of(token: str) -> str:
    return f"svc_mailbox={token}.{VAULT.sign('session of an owner', token.encode())}"


def key_of(name: str) -> str:
    return f"svc_sk_{token_of(name)}"


class ManualClock:
    """A clock that only the test advances."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **delta: float) -> None:
        self.now += timedelta(**delta)


def reason(answer: Answer) -> Any:
    """`error.details.reason` of a refusal."""
    return (answer.json["error"]["details"] or {}).get("reason")


def faults(answer: Answer) -> list[str]:
    """The names of the faulty or missing fields of a refusal, sorted."""
    return sorted(fault["field"] for fault in answer.json["error"]["details"]["fields"])


@dataclass(frozen=True)
class Client:
    """A caller: `headers` are sent with every call, `address` is its source address."""

    app: Pipeline
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    address: str = "192.0.2.1"

    async def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Call a path below /api/v1. `body` is sent as JSON, bytes unchanged; None in `query` is omitted."""
        all_headers = dict(self.headers)
        pieces: list[bytes] = []
        if body is not None:
            raw = body if isinstance(body, bytes) else json.dumps(body, default=str).encode()
            pieces = [raw]
            all_headers |= {"content-type": "application/json", "content-length": str(len(raw))}
        parameters = {name: value for name, value in (query or {}).items() if value is not None}
        target = f"/api/v1{path}" + (f"?{urlencode(parameters)}" if parameters else "")
        return await Caller(self.app, self.address)(method, target, all_headers | dict(headers or {}), pieces)

    async def get(self, path: str, **query: Any) -> Answer:
        return await self("GET", path, query=query)

    async def post(self, path: str, body: Any = None) -> Answer:
        return await self("POST", path, body)

    async def put(self, path: str, body: Any = None) -> Answer:
        return await self("PUT", path, body)

    async def patch(self, path: str, body: Any) -> Answer:
        return await self("PATCH", path, body)

    async def delete(self, path: str, **query: Any) -> Answer:
        return await self("DELETE", path, query=query)

    def from_address(self, address: str) -> Client:
        return replace(self, address=address)

    def with_key(self, key: str) -> Client:
        return replace(self, headers={"authorization": f"Bearer {key}"})

    def with_cookie(self, cookie: str) -> Client:
        """`cookie` as `name=value`, or a whole Set-Cookie."""
        return replace(self, headers={"cookie": cookie.partition(";")[0]})


@dataclass(frozen=True)
class Authenticator:
    """An authenticator and its recovery codes."""

    secret: bytes
    clock: ManualClock
    recovery_codes: tuple[str, ...] = ()

    def code(self, drift: int = 0) -> str:
        """The code of the current step, or of the step `drift` steps away."""
        return totp.hotp(self.secret, totp.step_of(self.clock()) + drift)

    def next_code(self) -> str:
        """Advance the clock by one step and return its code, which was not used yet."""
        self.clock.advance(seconds=totp.STEP_SECONDS)
        return self.code()

    def wrong_code(self) -> str:
        """Six digits that match no current step."""
        valid_codes = {self.code(drift) for drift in (-1, 0, 1)}
        return next(code for number in range(4) if (code := f"{number:06}") not in valid_codes)


@dataclass
class Api:
    """A running application with its own database."""

    app: App
    pipeline: Pipeline
    clock: ManualClock

    @property
    def nobody(self) -> Client:
        return Client(self.pipeline)

    def session(self, name: str) -> Client:
        """A test user with its initial session."""
        return self.nobody.with_cookie(cookie_of(token_of(name)))

    @property
    def sue(self) -> Client:
        return self.session("sue")

    @property
    def adam(self) -> Client:
        return self.session("adam")

    @property
    def dora(self) -> Client:
        return self.session("dora")

    @property
    def otto(self) -> Client:
        return self.session("otto")

    @property
    def scoped(self) -> Client:
        """Adam's key, scoped to example.test."""
        return self.nobody.with_key(key_of("scoped"))

    @property
    def unscoped(self) -> Client:
        """Sue's key, without a scope."""
        return self.nobody.with_key(key_of("unscoped"))

    @property
    def callers(self) -> dict[str, Client]:
        """All test users and keys, by name."""
        return {name: self.session(name) for name in ADMINS} | {"scoped": self.scoped, "unscoped": self.unscoped}

    async def log_in(self, email: str, password: str = PASSWORD, address: str = "192.0.2.1") -> Client:
        """A new session, opened by POST /auth/login."""
        client = self.nobody.from_address(address)
        answer = await client.post("/auth/login", {"email": email, "password": password})
        assert answer.status == 200, answer.body
        return client.with_cookie(answer.headers["set-cookie"])

    async def owner(self, mailbox_id: UUID, **columns: Any) -> Client:
        """A new session of the owner of a mailbox, inserted."""
        session_id, at = uuid7(self.clock()), self.clock()
        token = f"{session_id.hex:_<43}"
        row = {
            "id": session_id,
            "mailbox_id": mailbox_id,
            "token_hash": token_hash(token),
            "credentials_epoch": 0,
            "ip_address": "192.0.2.1",
            "user_agent": "owner",
            "created_at": at,
            "expires_at": at + timedelta(days=3650),
        }
        await self._insert("owner_sessions", row | columns)
        return self.nobody.with_cookie(owner_cookie_of(token))

    async def log_in_owner(self, address: str, password: str = PASSWORD, source: str = "192.0.2.1") -> Client:
        """A new session, opened by POST /me/login."""
        client = self.nobody.from_address(source)
        answer = await client.post("/me/login", {"address": address, "password": password})
        assert answer.status == 200, answer.body
        return client.with_cookie(answer.headers["set-cookie"])

    async def set_up(self, client: Client, area: str = "/auth") -> Authenticator:
        """An authenticator with the secret of a pending setup."""
        answer = await client.post(f"{area}/totp/setup")
        assert answer.status == 200, answer.body
        (secret,) = parse_qs(urlsplit(answer.data["provisioning_uri"]).query)["secret"]
        return Authenticator(b32decode(secret), self.clock)

    async def enrol(self, client: Client, area: str = "/auth") -> Authenticator:
        """Enrol an authenticator over HTTP; this uses up the code of the current step."""
        authenticator = await self.set_up(client, area)
        answer = await client.post(f"{area}/totp/verify", {"code": authenticator.code()})
        assert answer.status == 200, answer.body
        return replace(authenticator, recovery_codes=tuple(answer.data["recovery_codes"]))

    async def factor(self, name: str, **columns: Any) -> Authenticator:
        """Insert an authenticator of a test user; pending unless `enabled_at` is given."""
        admin_id, at, secret = ADMIN_IDS[name], self.clock(), b"12345678901234567890"
        row = {"admin_id": admin_id, "secret": VAULT.seal("totp", secret, admin_id.bytes), "created_at": at}
        async with self.app.db.autocommit() as conn:
            await insert_row(conn, "totp_secrets", row | columns)
        if columns.get("enabled_at"):
            await self.sql("UPDATE admins SET totp_enabled = true WHERE id = %(id)s", id=admin_id)
        return Authenticator(secret, self.clock)

    async def passkey(self, name: str, key: SoftKey | None = None, **columns: Any) -> tuple[SoftKey, UUID]:
        """Insert a passkey of a test user; returns it and its id."""
        return await self._passkey({"admin_id": ADMIN_IDS[name]}, key, **columns)

    async def _passkey(
        self, account: dict[str, UUID], key: SoftKey | None = None, **columns: Any
    ) -> tuple[SoftKey, UUID]:
        key, at = key or SoftKey(), self.clock()
        [account_id] = account.values()
        key.user_handle = account_id.bytes
        row = {
            **account,
            "id": uuid7(at),
            "credential_id": key.credential_id,
            "public_key": cbor2.dumps(key.public_key()),
            "sign_count": key.counter,
            "name": "A key",
            "aaguid": UUID(int=0),
            "transports": ["internal"],
            "backup_eligible": False,
            "backed_up": False,
            "created_at": at,
        }
        return key, await self._insert("passkeys", row | columns)

    async def key(self, owner: Client, **fields: Any) -> tuple[Client, UUID]:
        """Create a key over HTTP; returns a client with it, and its id."""
        answer = await owner.post("/api-keys", {"name": "a key", **fields})
        assert answer.status == 201, answer.body
        return self.nobody.with_key(answer.data["key"]), UUID(answer.data["api_key"]["id"])

    async def sql(self, statement: LiteralString, **named: Any) -> list[dict[str, Any]]:
        """Run a statement as the application's role; returns the rows, if any."""
        async with self.app.db.autocommit() as conn:
            cursor = await conn.execute(statement, named)
            # `description` is None for a SELECT without columns.
            returns_rows = cursor.pgresult is not None and cursor.pgresult.status == ExecStatus.TUPLES_OK
            return await cursor.fetchall() if returns_rows else []

    async def audit_entries(self, action: str) -> list[dict[str, Any]]:
        """The audit log's entries of an action, oldest first."""
        return await self.sql("SELECT * FROM audit_entries WHERE action = %(action)s ORDER BY id", action=action)

    async def domain(self, name: str, **columns: Any) -> UUID:
        """Insert a domain without a DKIM key."""
        async with self.app.db.tx() as conn:
            return await insert_domain(conn, uuid7(self.clock()), name, self.clock(), **columns)

    async def mailbox(self, address: str = f"alice@{EXAMPLE}", **columns: Any) -> UUID:
        """Insert a mailbox with `PASSWORD`; the domain exists."""
        parsed, at = parse_address(address), self.clock()
        row: dict[str, Any] = {
            "id": uuid7(at),
            "domain_id": await self._domain_id(parsed.domain),
            "local_part": parsed.local_part,
            "local_key": fold_local(parsed.local_part),
            "name": "",
            "password_hash": "{ARGON2ID}" + PASSWORD_HASH,
            "active": True,
            "quota_bytes": 0,
            "imap": True,
            "pop3": True,
            "smtp": True,
            "sieve": True,
            "created_at": at,
            "updated_at": at,
        }
        return await self._insert("mailboxes", row | columns)

    async def app_password(self, mailbox_id: UUID, **columns: Any) -> UUID:
        """Insert an app password for all protocols; nobody knows its secret."""
        at = self.clock()
        row = {
            "id": uuid7(at),
            "mailbox_id": mailbox_id,
            "name": "Phone",
            "digest": os.urandom(32),
            "protocols": ["imap", "pop3", "smtp", "sieve"],
            "created_at": at,
        }
        return await self._insert("app_passwords", row | columns)

    async def dkim_key(self, domain_id: UUID, **columns: Any) -> UUID:
        """Insert a pending Ed25519 key of a domain."""
        at, key_id = self.clock(), columns.get("id") or uuid7(self.clock())
        private = Ed25519PrivateKey.generate()
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        row = {
            "id": key_id,
            "domain_id": domain_id,
            "selector": f"mk{os.urandom(4).hex()}",
            "algorithm": "ed25519",
            "stage": "pending",
            "private_key": VAULT.seal("dkim", pem, key_id.bytes),
            "public_key": private.public_key().public_bytes_raw(),
            "created_at": at,
            "updated_at": at,
        }
        return await self._insert("dkim_keys", row | columns)

    async def vacation(self, mailbox_id: UUID, **columns: Any) -> None:
        """Insert an inactive vacation, whose script does nothing."""
        row = {
            "mailbox_id": mailbox_id,
            "active": False,
            "text_body": "I am away.",
            "days": 7,
            "script": "keep;",
            "updated_at": self.clock(),
        }
        async with self.app.db.autocommit() as conn:
            await insert_row(conn, "vacations", row | columns)

    async def filter_entry(self, value: str, list_name: str = "deny", kind: str = "address", **columns: Any) -> UUID:
        """Insert a list entry of the server, or of the domain or mailbox in `columns`."""
        at = self.clock()
        row: dict[str, Any] = {"id": uuid7(at), "list": list_name, "kind": kind, "value": value}
        return await self._insert("filter_entries", row | {"created_by": "test", "created_at": at} | columns)

    async def alias(self, source: str, destinations: Sequence[str], **columns: Any) -> UUID:
        """Insert an alias, unchecked; `source` is an address, or `@domain` for a catch-all."""
        local_part, _, domain = source.rpartition("@")
        at = self.clock()
        row: dict[str, Any] = {
            "id": uuid7(at),
            "domain_id": await self._domain_id(domain),
            "source_local_part": local_part,
            "source_key": fold_local(local_part),
            "destinations": list(destinations),
            "destination_keys": [parse_address(text).key for text in destinations],
            "active": True,
            "created_at": at,
            "updated_at": at,
        }
        return await self._insert("aliases", row | columns)

    async def suspension(self, address: str, **columns: Any) -> UUID:
        """Insert a suspension by the abuse rules; the domain exists."""
        parsed, at = parse_address(address), self.clock()
        row: dict[str, Any] = {
            "id": uuid7(at),
            "domain_id": await self._domain_id(parsed.domain),
            "address": parsed.text,
            "address_key": parsed.key,
            "reason": "too many",
            "by_kind": "rules",
            "by_label": "rules",
            "by_rank": None,
            "created_at": at,
        }
        return await self._insert("suspensions", row | columns)

    async def incident(self, mailbox_id: UUID, **columns: Any) -> UUID:
        """Insert an open incident about a mailbox, whose action has failed."""
        box = (await self.sql("SELECT domain_id, address_key FROM mailboxes WHERE id = %(id)s", id=mailbox_id))[0]
        at = self.clock()
        row: dict[str, Any] = {
            "id": uuid7(at),
            "domain_id": box["domain_id"],
            "subject_type": "mailbox",
            "subject_id": mailbox_id,
            "subject": box["address_key"],
            "note": "",
            "by_label": "otto",
            "by_rank": 0,
            "created_at": at,
        }
        incident_id = await self._insert("incidents", row | columns)
        action = {"incident_id": incident_id, "position": 1, "action": "disable_forwards", "result": "failed"}
        async with self.app.db.autocommit() as conn:
            await insert_row(conn, "incident_actions", action)
        return incident_id

    async def alert(self, domain: str | None = None, **columns: Any) -> UUID:
        """Insert an open alert: about abuse in a domain, or without one about the server's health."""
        at = self.clock()
        alert_id = uuid7(at)
        row: dict[str, Any] = {
            "id": alert_id,
            "area": "abuse" if domain else "health",
            "kind": "bounce_rate" if domain else "health_disk",
            "subject": f"{alert_id.hex[-8:]}@{domain}" if domain else alert_id.hex[-8:],
            "domain_id": await self._domain_id(domain) if domain else None,
            "severity": "warning",
            "reason": "Too many bounces." if domain else "Free up disk space.",
            "state": "open",
            "created_at": at,
            "seen_at": at,
            "reported_at": at,
            "changed_at": at,
        }
        return await self._insert("alerts", row | columns)

    async def suppression(self, address: str, domain: str = EXAMPLE, **columns: Any) -> UUID:
        """Insert a suppression for all mail of a domain."""
        parsed, at = parse_address(address), self.clock()
        row: dict[str, Any] = {
            "id": uuid7(at),
            "domain_id": await self._domain_id(domain),
            "address": parsed.text,
            "address_key": parsed.key,
            "reason": "hard_bounce",
            "created_at": at,
        }
        return await self._insert("suppressions", row | columns)

    async def unsubscribe_group(self, name: str, domain: str = EXAMPLE) -> UUID:
        """Insert an unsubscribe group."""
        at = self.clock()
        row = {"id": uuid7(at), "domain_id": await self._domain_id(domain), "name": name}
        return await self._insert("unsubscribe_groups", row | {"created_at": at, "updated_at": at})

    async def sign_in_block(self, account: str | None, source: str | None = None, **columns: Any) -> UUID:
        """Insert a block of sign-ins that ends in an hour."""
        at = self.clock()
        row: dict[str, Any] = {
            "id": uuid7(at),
            "account": account,
            "source": source,
            "failures": 10,
            "failure_id": uuid7(at),
            "created_at": at,
            "until": at + timedelta(hours=1),
        }
        return await self._insert("sign_in_blocks", row | columns)

    async def certificate(self, name: str = "server", **columns: Any) -> UUID:
        """Insert a certificate of the server or of a managed domain, and switch ACME on with an authority that is not
        reachable.
        """
        acme = AcmeSettings(enabled=True, agree_terms=True, directory="https://127.0.0.1:1/dir")
        self.app.settings = replace(self.app.settings, acme=acme)
        at = self.clock()
        row: dict[str, Any] = {
            "id": uuid7(at),
            "name": name,
            "domain_id": None if name == "server" else await self._domain_id(name),
            "source": "acme",
            "chain": "-----BEGIN CERTIFICATE-----",
            "key_sealed": b"sealed",
            "names": [name],
            "issuer": "CN=Authority",
            "serial": "1f",
            "not_before": at,
            "not_after": at + timedelta(days=90),
            "next_attempt_at": at + timedelta(hours=6),
            "created_at": at,
        }
        return await self._insert("certificates", row | columns)

    async def backup(self, mailbox: tuple[UUID, str] | None = None, **columns: Any) -> UUID:
        """Insert a backup that has succeeded. With `mailbox` (its ID and address) its contents are known: a message in
        INBOX of that mailbox.
        """
        backup_id = uuid7(self.clock())
        row: dict[str, Any] = {
            "id": backup_id,
            "state": "succeeded",
            "trigger": "manual",
            "created_at": self.clock(),
            "finished_at": self.clock() + timedelta(seconds=5),
            "snapshot": backup_id.hex * 2,
            "size_bytes": 3_000_000,
            "added_bytes": 120_000,
            "domains": 1,
            "mailboxes": 1,
            "messages": 1,
            "version": "0.1.0",
        }
        if mailbox is not None:
            domain_id = await self._domain_id(mailbox[1].partition("@")[2])
            await asyncio.to_thread(write_contents, self.app.data_dir, row["snapshot"], domain_id, *mailbox)
        return await self._insert("backups", row | columns)

    async def running_backup(self) -> UUID:
        """Insert a backup that is being made, with its operation."""
        backup_id = await self.backup(
            state="running", finished_at=None, snapshot="", size_bytes=None, added_bytes=None, messages=None
        )
        at = self.clock()
        operation = {"id": uuid7(at), "kind": "create", "state": "waiting", "backup_id": backup_id, "author": "test"}
        await self._insert("backup_operations", operation | {"created_at": at})
        return backup_id

    async def acme_token(self) -> str:
        """Insert the token of a challenge; its content is the token with `.content`."""
        token = new_session_token()
        row = {"token": token, "content": f"{token}.content", "expires_at": self.clock() + timedelta(hours=1)}
        async with self.app.db.autocommit() as conn:
            await insert_row(conn, "acme_tokens", row)
        return token

    async def webhook(self, domain: str | None = None, url: str = "https://127.0.0.1:1/", **columns: Any) -> UUID:
        """Insert a webhook of Sue's, for all domains or one, with a pending delivery that has the webhook's id."""
        at = self.clock()
        webhook_id = uuid7(at)
        row: dict[str, Any] = {
            "id": webhook_id,
            "url": url,
            "events": ["mail.sent"],
            "domain_id": await self._domain_id(domain) if domain else None,
            "active": True,
            "secret": VAULT.seal("webhook secret", b"whsec_c2VjcmV0", webhook_id.bytes),
            "created_by": ADMIN_IDS["sue"],
            "created_at": at,
            "updated_at": at,
        }
        delivery = {
            "id": webhook_id,
            "webhook_id": webhook_id,
            "event_id": uuid7(at),
            "kind": "mail.sent",
            "state": "pending",
            "next_attempt_at": at,
            "created_at": at,
        }
        await self._insert("webhook_deliveries", delivery)
        return await self._insert("webhooks", row | columns)

    async def template(self, domain: str | None = None, *, published: bool = False, **columns: Any) -> UUID:
        """Insert a template for all domains or one, with the required variable `name`."""
        at = self.clock()
        template_id = uuid7(at)
        content: dict[str, Any] = {
            "subject": "Hello {{ name }}",
            "text_body": "Hello {{ name }}.",
            "html_body": None,
            "variables": Jsonb([{"name": "name", "required": True, "example": "Ann"}]),
            "inline_css": False,
        }
        row = {
            "id": template_id,
            "domain_id": await self._domain_id(domain) if domain else None,
            "name": f"Template {template_id}",
            "version": 1,
            "published_version": 1 if published else None,
            "is_draft_published": published,
            "uses": Jsonb({"subject": ["name"], "text_body": ["name"]}),
            "created_at": at,
            "updated_at": at,
        }
        await self._insert("templates", row | content | columns)
        if published:
            version = {"template_id": template_id, "version": 1, "id": uuid7(at), "created_at": at}
            await self._insert("template_versions", version | content)
        return template_id

    async def invitation(self, kind: Literal["admin", "mailbox"], account_id: UUID, **columns: Any) -> str:
        """Insert an invitation of an account that ends in an hour; returns its token."""
        invitation_id = uuid7(self.clock())
        token = VAULT.sign("invitation", invitation_id.bytes)
        row: dict[str, Any] = {
            "id": invitation_id,
            f"{kind}_id": account_id,
            "token_hash": token_hash(token),
            "expires_at": self.clock() + timedelta(hours=1),
        }
        await self._insert("invitations", row | columns)
        return token

    async def setup_link(self, mailbox_id: UUID) -> str:
        """Insert a setup link of a mailbox that ends in an hour; returns its token."""
        link_id = uuid7(self.clock())
        token = VAULT.sign("setup link", link_id.bytes)
        row = {"id": link_id, "mailbox_id": mailbox_id, "token_hash": token_hash(token)}
        await self._insert("setup_links", row | {"expires_at": self.clock() + timedelta(hours=1)})
        return token

    async def placeholders(self) -> dict[str, str]:
        """Create the objects for the endpoints' examples, which Sue calls; return the values of their `{name}`."""
        log_in = await self.nobody.post("/auth/login", {"email": email_of("sue"), "password": PASSWORD})
        # One code for both: Sue is setting up an authenticator, Adam has one with the same secret and is logging in.
        await self.factor("sue")
        authenticator = await self.factor("adam", enabled_at=self.clock())
        pending_login = await self.nobody.post("/auth/login", {"email": email_of("adam"), "password": PASSWORD})
        _, passkey_id = await self.passkey("sue")
        adam, _ = await self.passkey("adam")
        passkeys = await self._passkeys_in_examples(self.sue, "/auth", passkey_id, adam)
        self.configure_provider()
        await self.identity(ADMIN_IDS["sue"])
        deletion = {"action": "delete", "items": [{"id": fixed_id(0)}]}
        values = {
            "bulk_operation_id": (await self.sue.post("/mailboxes/bulk", deletion)).data["operation_id"],
            "domain_id": DOMAIN_IDS[EXAMPLE],
            "dkim_key_id": await self.dkim_key(DOMAIN_IDS[EXAMPLE]),
            "empty_domain_id": await self.domain("empty.test"),
            "mailbox_id": (mailbox_id := await self.mailbox(f"alice@{EXAMPLE}")),
            "app_password_id": await self.app_password(mailbox_id),
            "setup_token": await self.setup_link(mailbox_id),
            "trashed_mailbox_id": await self.mailbox(f"tom@{EXAMPLE}", deleted_at=self.clock()),
            "alias_id": await self.alias(f"sales@{EXAMPLE}", [f"alice@{EXAMPLE}"]),
            "server_filter_entry_id": await self.filter_entry("bad.test", kind="domain", enforced=True),
            "domain_filter_entry_id": await self.filter_entry("a@bad.test", domain_id=DOMAIN_IDS[EXAMPLE]),
            "mailbox_filter_entry_id": await self.filter_entry("a@bad.test", mailbox_id=mailbox_id),
            "suspension_id": await self.suspension(f"noisy@{EXAMPLE}"),
            "incident_id": await self.incident(mailbox_id),
            "incident_to_undo_id": await self.incident(mailbox_id),
            "alert_id": await self.alert(EXAMPLE),
            "health_alert_id": await self.alert(),
            "suppression_id": await self.suppression("bounced@elsewhere.test"),
            "unsubscribe_group_id": (group_id := await self.unsubscribe_group("News")),
            "unsubscribe_token": new_token(VAULT, UnsubscribeLink(group_id, fixed_id(9), "a@elsewhere.test")),
            "sign_in_block_id": await self.sign_in_block(f"mailbox:bob@{EXAMPLE}"),
            "certificate_id": await self.certificate(),
            "backup_id": (backup_id := await self.backup((mailbox_id, f"alice@{EXAMPLE}"))),
            "failed_backup_id": await self.backup(state="failed", snapshot="", error="No space is left on the device."),
            "running_backup_id": backup_id,
            "acme_token": await self.acme_token(),
            "webhook_id": (webhook_id := await self.webhook()),
            "delivery_id": webhook_id,
            "template_id": await self.template(EXAMPLE),
            "published_template_id": await self.template(EXAMPLE, published=True),
            "admin_id": ADMIN_IDS["otto"],
            "key_id": KEY_IDS["scoped"],
            "session_id": log_in.data["session_id"],
            "totp_session": pending_login.data["totp_session"],
            "invitation_token": await self.invitation("admin", ADMIN_IDS["dora"]),
            "used_token": await self.invitation("mailbox", await self.mailbox(f"iris@{EXAMPLE}")),
            "totp_code": authenticator.code(),
        }
        await self.vacation(mailbox_id)
        return {name: str(value) for name, value in (values | passkeys).items()}

    def configure_provider(self) -> None:
        """Configure the identity provider `keycloak`, which is not reachable."""
        provider = OidcProvider(id="keycloak", name="Keycloak", issuer="https://127.0.0.1:1", client_id="mailkeep")
        self.app.settings = replace(self.app.settings, oidc=OidcSettings(providers=(provider,)))

    async def identity(self, admin_id: UUID) -> None:
        """Insert an identity at `keycloak` for an account."""
        row = {"admin_id": admin_id, "issuer": "https://127.0.0.1:1", "subject": str(admin_id)}
        async with self.app.db.autocommit() as conn:
            await insert_row(conn, "oidc_identities", row | {"linked_at": self.clock()})
        await self.sql("UPDATE admins SET oidc_provider = 'keycloak' WHERE id = %(id)s", id=admin_id)

    async def owner_placeholders(self, mailbox_id: UUID) -> tuple[Client, dict[str, str]]:
        """As `placeholders`, for the endpoints of the owner of this mailbox, who calls them; the owner is setting up an
        authenticator with Sue's secret. Only what differs.
        """
        owner, other_id = await self.owner(mailbox_id), uuid7(self.clock())
        await self.owner(mailbox_id, id=other_id)
        secret = VAULT.seal("totp", b"12345678901234567890", mailbox_id.bytes)
        async with self.app.db.autocommit() as conn:
            row = {"mailbox_id": mailbox_id, "secret": secret, "created_at": self.clock()}
            await insert_row(conn, "totp_secrets", row)
        key, passkey_id = await self._passkey({"mailbox_id": mailbox_id})
        passkeys = await self._passkeys_in_examples(owner, "/me", passkey_id, key)
        return owner, {name: str(value) for name, value in (passkeys | {"session_id": other_id}).items()}

    async def _passkeys_in_examples(
        self, client: Client, area: str, passkey_id: UUID, signing_in: SoftKey
    ) -> dict[str, Any]:
        """A passkey of the client, a passkey that it is registering, and a login with another passkey."""
        creation = await client.post(f"{area}/passkeys/register/options", {"current_password": PASSWORD})
        attestation = SoftKey().create(creation.data["options"])
        request = await self.nobody.post(f"{area}/passkeys/login/options")
        assertion = signing_in.get(request.data["options"])
        return {
            "passkey_id": passkey_id,
            "registration_id": attestation["id"],
            "registration_client_data": attestation["response"]["clientDataJSON"],
            "registration_attestation": attestation["response"]["attestationObject"],
            "login_id": assertion["id"],
            "login_client_data": assertion["response"]["clientDataJSON"],
            "login_data": assertion["response"]["authenticatorData"],
            "login_signature": assertion["response"]["signature"],
            "login_handle": assertion["response"]["userHandle"],
        }

    async def _domain_id(self, name: str) -> UUID:
        return (await self.sql("SELECT id FROM domains WHERE name = %(name)s", name=name))[0]["id"]

    async def _insert(self, table: LiteralString, row: Mapping[str, Any]) -> UUID:
        async with self.app.db.autocommit() as conn:
            await insert_row(conn, table, row)
        return row["id"]


async def insert_row(conn: AsyncConnection[Any], table: LiteralString, row: Mapping[str, Any]) -> None:
    statement = SQL("INSERT INTO {} ({}) VALUES ({})").format(
        Identifier(table), SQL(", ").join(map(Identifier, row)), SQL(", ").join(map(Placeholder, row))
    )
    await conn.execute(statement, dict(row))


def write_contents(data_dir: Path, snapshot: str, domain_id: UUID, mailbox_id: UUID, address: str) -> None:
    """Write the index of a snapshot with one message, as it is kept after it was read from the repository."""
    folder = data_dir / "backup" / "contents"
    folder.mkdir(parents=True, exist_ok=True)
    begin_index(folder, folder / "absent")
    path = (folder / INDEX).rename(folder / f"{snapshot}.sqlite")
    with closing(sqlite3.connect(path)) as index, index:
        index.execute("INSERT INTO domains VALUES (?, ?)", (str(domain_id), address.partition("@")[2]))
        index.execute("INSERT INTO mailboxes VALUES (?, ?, ?, 1, 2048)", (str(mailbox_id), str(domain_id), address))
        row = (str(mailbox_id), "", "1764.M1.host", "cur/1764.M1.host:2,S", 2048, 1_772_000_000 * 10**9, b"")
        index.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, "<report@example.com>"))


async def insert_domain(conn: AsyncConnection[Any], domain_id: UUID, name: str, at: datetime, **columns: Any) -> UUID:
    row: dict[str, Any] = {
        "id": domain_id,
        "name": name,
        "active": True,
        "sending_enabled": True,
        "receiving_enabled": True,
        "description": "",
        "max_mailboxes": None,
        "max_aliases": None,
        "default_quota_bytes": 0,
        "plus_delimiter": "+",
        "dns_status": "unchecked",
        "dns_checked_at": None,
        "created_at": at,
        "updated_at": at,
    }
    await insert_row(conn, "domains", row | columns)
    return domain_id


async def insert_test_users(conn: AsyncConnection[Any]) -> None:
    """Insert the test users and their two domains into an empty database."""
    at = START - timedelta(days=1)
    for name, domain_id in DOMAIN_IDS.items():
        await insert_domain(conn, domain_id, name, at)
    for name, role in ADMINS.items():
        account = {
            "id": ADMIN_IDS[name],
            "email": email_of(name),
            "email_key": email_of(name),
            "password_hash": PASSWORD_HASH,
            "role": role,
            "created_at": at,
            "updated_at": at,
        }
        await insert_row(conn, "admins", account)
        session = {
            "id": SESSION_IDS[name],
            "admin_id": ADMIN_IDS[name],
            "token_hash": token_hash(token_of(name)),
            "credentials_epoch": 0,
            "ip_address": "192.0.2.1",
            "user_agent": "cast",
            "created_at": at,
            "expires_at": START + timedelta(days=3650),
        }
        await insert_row(conn, "sessions", session)
    for name, domain in ASSIGNED.items():
        assignment = {"admin_id": ADMIN_IDS[name], "domain_id": DOMAIN_IDS[domain]}
        await insert_row(conn, "admin_domains", assignment)
    for name, (owner, scope) in KEYS.items():
        key = {
            "id": KEY_IDS[name],
            "admin_id": ADMIN_IDS[owner],
            "name": f"{owner}'s {name} key",
            "key_prefix": key_of(name)[:12],
            "token_hash": token_hash(key_of(name)),
            "is_scoped": scope is not None,
            "rate_limit": 0,
            "created_at": at,
        }
        await insert_row(conn, "api_keys", key)
        if scope:
            await insert_row(conn, "api_key_domains", {"key_id": KEY_IDS[name], "domain_id": DOMAIN_IDS[scope]})
