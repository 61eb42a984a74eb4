"""A copy of the database that answers with rows of others brings none of them back."""

from __future__ import annotations

from uuid import UUID

import psycopg

from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.db.pool import DatabasePool
from mailkeep.db.postgres import Urls
from mailkeep.features.operations.restores import store

DOMAIN, OTHER = uuid7(utc_now()), uuid7(utc_now())


async def test_a_hostile_copy_brings_back_only_what_was_asked_for(database_urls: Urls):
    db = DatabasePool(database_urls.app, min_size=1, max_size=2)
    await db.open()
    try:
        async with db.tx() as conn:
            for domain_id, name in ((DOMAIN, "mine.test"), (OTHER, "other.test")):
                await _insert_domain(conn, domain_id, name)
        # Rows that the copy claims to have: of the wanted domain, and of another one.
        rows = [_alias(DOMAIN, "info"), _alias(OTHER, "info")]
        kept = store.select_owned(store.ALIASES, rows, [DOMAIN])
        assert [row["domain_id"] for row in kept] == [str(DOMAIN)]
        async with db.tx() as conn:
            assert await store.insert_rows(conn, store.ALIASES, kept) == 1
            assert await store.insert_rows(conn, store.ALIASES, kept) == 0
            assert await store.insert_rows(conn, store.ALIASES, [_alias(DOMAIN, "info")]) == 0  # the address is taken
        async with db.tx() as conn:
            row = {**_mailbox(), "password_hash": "{PLAIN}x", "totp_enabled": True, "credentials_epoch": 9}
            assert await store.insert_rows(conn, store.MAILBOX, [row]) == 1
            cursor = await conn.execute("SELECT password_hash, totp_enabled, credentials_epoch FROM mailboxes")
            assert await cursor.fetchone() == {"password_hash": "", "totp_enabled": False, "credentials_epoch": 0}
    finally:
        await db.close()


async def _insert_domain(conn: psycopg.AsyncConnection[dict[str, object]], domain_id: UUID, name: str) -> None:
    row = {
        "id": str(domain_id), "name": name, "active": True, "sending_enabled": True, "receiving_enabled": True,
        "description": "", "default_quota_bytes": 0, "self_service": True, "dkim_delegated": False,
        "dns_managed": False, "mta_sts_mode": "none", "created_at": utc_now(), "updated_at": utc_now(),
    }  # fmt: skip
    assert await store.insert_rows(conn, store.DOMAIN, [row]) == 1


def _alias(domain_id: UUID, source: str) -> dict[str, object]:
    return {
        "id": str(uuid7(utc_now())), "domain_id": str(domain_id), "source_local_part": source, "source_key": source,
        "destinations": ["x@elsewhere.test"], "destination_keys": ["x@elsewhere.test"], "active": True,
        "changed_rank": 2, "created_at": utc_now(), "updated_at": utc_now(), "column_of_another_version": 1,
    }  # fmt: skip


def _mailbox() -> dict[str, object]:
    return {
        "id": str(uuid7(utc_now())), "domain_id": str(DOMAIN), "local_part": "ann", "local_key": "ann", "name": "",
        "active": True, "quota_bytes": 0, "imap": True, "pop3": True, "smtp": True, "sieve": True,
        "time_zone": "UTC", "forward_destinations": [], "forward_keys": [], "forward_keep_copy": True,
        "created_at": utc_now(), "updated_at": utc_now(), "address_key": "someone@else.test",
        "address_since": utc_now(),
    }  # fmt: skip
