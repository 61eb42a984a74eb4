"""Keeps the present schema, with data, for the tests of upgrades: `.venv/bin/python -m tests.upgrade.make`.

It writes `tests/upgrade/NNNN.sql`, NNNN being the newest migration: a database with rows in every table, made by the
application itself and dumped by the oldest PostgreSQL that is supported, so that every supported one reads it. Each
schema that a release brings is kept so, before it lands, and never written again: who upgrades has such a database.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
from pathlib import Path

import psycopg
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7
from mailkeep.core.secret import token_hash
from mailkeep.db import migrate, postgres
from mailkeep.db.partitions import ensure_partitions
from mailkeep.db.postgres import Urls
from mailkeep.db.postgres_binaries import DEBIAN, OLDEST_MAJOR
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.record.audit import jobs as audit_jobs
from mailkeep.settings import Settings
from mailkeep.settings.tree import EventsSettings, LimitsSettings, SmtpSettings
from tests.plugins.api import running_on
from tests.plugins.post import LETTER, Post, letter, with_mail
from tests.support.client import (
    ADMIN_IDS,
    DOMAIN_IDS,
    EXAMPLE,
    OTHER,
    PASSWORD,
    START,
    VAULT,
    Api,
    email_of,
    insert_cast,
    insert_row,
)
from tests.support.scratch import new_directory

HERE = Path(__file__).parent
_BIN = DEBIAN / str(OLDEST_MAJOR) / "bin"
_SETTINGS = Settings(
    limits=LimitsSettings(login_per_second=0, requests_per_second=0),
    smtp=SmtpSettings(listen="127.0.0.1:0"),
    events=EventsSettings(received_full=True),
)


def main() -> None:
    """Write the dump."""
    newest = migrate.read_migrations()[-1].number
    scratch = new_directory("mailkeep-upgrade-", 0o755)
    try:
        text = asyncio.run(_made(scratch))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    path = HERE / f"{newest:04d}.sql"
    path.write_text(text, "utf-8")
    print(f"{path}: {len(text)} characters")


async def _made(scratch: Path) -> str:
    assert _BIN.is_dir(), f"apt install postgresql-{OLDEST_MAJOR}"
    # Of what Debian has, only the oldest.
    (scratch / "debian").mkdir()
    (scratch / "debian" / str(OLDEST_MAJOR)).symlink_to(_BIN.parent)
    for name in ("server", "data"):
        (scratch / name).mkdir()
    server = await postgres.start(
        scratch / "server", postgres.Options(debian=scratch / "debian", settings={"fsync": "off"})
    )
    try:
        await migrate.migrate(server.urls.owner, lambda: START)
        await fill(server.urls, scratch / "data")
        return _dump(server.urls.owner)
    finally:
        await server.stop()


async def fill(urls: Urls, data_dir: Path) -> None:
    """Rows in every table, by the application where it has a way."""
    async with await psycopg.AsyncConnection.connect(urls.app) as conn:
        await insert_cast(conn)
    async with running_on(urls, _SETTINGS, data_dir) as api:
        async with api.app.db.tx() as conn:
            await ensure_partitions(conn, START)
            for domain_id in DOMAIN_IDS.values():
                await dkim.insert(conn, dkim.make(VAULT, domain_id, START, "ed25519"))
        async with with_mail(api) as post:
            await _manage(api)
            await _mail(post)
        await _accounts(api)
        await _full_profile(api)
    # A server that counts transactions from anew, as the tests' does, must find none of its future.
    async with await psycopg.AsyncConnection.connect(urls.owner) as conn:
        for table in ("events", "audit_entries"):
            await conn.execute(f"UPDATE {table} SET tx = '3'".encode())
    async with running_on(urls, _SETTINGS, data_dir) as api:
        assert await audit_jobs.seal(api.app)
    await _refuse_empty(urls.owner)


async def _manage(api: Api) -> None:
    for local_part in ("alice", "Bob.Smith", "straße"):
        body = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "local_part": local_part, "password": "a quiet long password"}
        assert (await api.sue.post("/mailboxes", body)).status == 201
    await api.mailbox(f"tom@{EXAMPLE}", deleted_at=START)
    read = {"used_bytes": 700, "message_count": 2, "figures_told_at": START, "figures_counted_at": START}
    await api.mailbox(f"uma@{EXAMPLE}", **read, last_login_at=START, last_login_protocol="imap", last_login_ip="::1")
    for source, destination in (
        ("sales", f"alice@{EXAMPLE}"),
        ("away", "partner@elsewhere.test"),
        ("", f"alice@{EXAMPLE}"),
    ):
        body = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "source_local_part": source, "destination": destination}
        answer = await api.sue.post("/aliases", body)
        assert answer.status == 201, answer.body
    await api.suspension(f"noisy@{OTHER}")
    answer = await api.sue.post("/webhooks", {"url": "https://hooks.elsewhere.test/in", "events": ["*"]})
    assert answer.status == 201, answer.body
    assert (await api.sue.post(f"/webhooks/{answer.data['id']}/rotate-secret")).status == 200


async def _mail(post: Post) -> None:
    sent = await post.api.unscoped(
        "POST", "/send", letter(tags=["order"], metadata={"n": "1"}), headers={"idempotency-key": "first"}
    )
    assert sent.status == 200, sent.body
    await post.run_queue()
    assert (await post.send(to=[{"email": "defer@elsewhere.test"}])).status == 200
    assert (await post.deliver(f"sales@{EXAMPLE}", content=LETTER)).code == 250
    assert (await post.deliver(f"away@{EXAMPLE}", content=LETTER)).code == 250


async def _accounts(api: Api) -> None:
    """What is left behind by logins, keys, second factors and what was removed."""
    await api.log_in(email_of("sue"))
    wrong = await api.nobody.post("/auth/login", {"email": email_of("nobody"), "password": "a wrong password"})
    assert wrong.status == 401, wrong.body
    await api.factor("adam", enabled_at=START)
    await api.passkey("otto")
    assert (await api.nobody.post("/auth/passkeys/login/options")).status == 200
    half_way = await api.nobody.post("/auth/login", {"email": email_of("adam"), "password": PASSWORD})
    assert half_way.status == 200, half_way.body
    limited, _ = await api.key(api.sue, rate_limit=10)
    assert (await limited.get("/auth/me")).status == 200
    async with api.app.db.tx() as conn:
        await insert_row(conn, "recovery_codes", {"admin_id": ADMIN_IDS["adam"], "code_hash": token_hash("a code")})
        identity = {"issuer": "https://id.example.test", "subject": "dora", "linked_at": START}
        await insert_row(conn, "oidc_identities", identity | {"admin_id": ADMIN_IDS["dora"]})
        under_way = {"state_hash": b"s", "browser_hash": b"b", "provider": "keycloak", "next_path": "/"}
        await insert_row(conn, "oidc_logins", under_way | {"expires_at": START})
        await insert_row(conn, "mail_removals", {"mailbox_id": uuid7(START)})


async def _full_profile(api: Api) -> None:
    """What the agents beside Postfix keep: the log read so far, mail in its queue, and what the node is to do."""
    seen = {"queue_id": "4jW9Zx0abcz5", "sender": f"alice@{EXAMPLE}"}
    async with api.app.db.tx() as conn:
        await insert_row(conn, "mail_logs", {"name": "mail.log", "caught_up_at": START})
        position = {"log": "mail.log", "inode": 1201, "first_line": b"Nov 21", "read_to": 4096, "read_at": START}
        await insert_row(conn, "mail_log_positions", position)
        queued = {"origin": "submission", "login": f"alice@{EXAMPLE}", "header_id": f"<one@{EXAMPLE}>", "size": 900}
        told = {"head": Jsonb({}), "expansions": Jsonb({}), "told": [], "noted": True, "recipients": 1}
        await insert_row(conn, "queued_mail", seen | queued | told | {"first_seen_at": START})
        asked = {"login": f"alice@{EXAMPLE}", "recipients": ["customer@elsewhere.test"], "client": "127.0.0.1"}
        await insert_row(conn, "submissions", seen | asked | {"created_at": START})
        await insert_row(conn, "tallies", {"name": "deliveries", "labels": ["outbound", "delivered"], "count": 7})
        charged = {"queue_id": "4jW9Zx0abcz5", "domains": [EXAMPLE], "copies": [2], "charged_at": START}
        await insert_row(conn, "forward_charges", charged)
        operation = {"id": uuid7(START), "kind": "queue", "argument": Jsonb({}), "state": "waiting"}
        end = {"id": 1, "subject": f"alice@{EXAMPLE}", "protocols": ["imap"], "changed_at": START}
        await insert_row(conn, "session_ends", end)
        await insert_row(conn, "operations", operation | {"requested_at": START})


async def _refuse_empty(owner: str) -> None:
    """A table without rows would not be tested: whoever adds one fills it here."""
    async with await psycopg.AsyncConnection.connect(owner) as conn:
        cursor = await conn.execute(
            """
            SELECT c.oid::regclass::text FROM pg_class c
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            """
        )
        tables = [name for (name,) in await cursor.fetchall()]
        empty = [
            table
            for table in tables
            if not await (await conn.execute(f"SELECT 1 FROM {table} LIMIT 1".encode())).fetchone()
        ]
    assert not empty, empty


def _dump(owner: str) -> str:
    """The database in words that every PostgreSQL since the oldest takes, as one string of statements."""
    command = [_BIN / "pg_dump", "--no-owner", "--inserts", "--rows-per-insert=100", f"--dbname={owner}"]
    told = subprocess.run(command, check=True, capture_output=True, timeout=60).stdout.decode()
    # psql's own commands, and headings, which tell of this machine.
    return re.sub(r"^(\\.*\n|--\n-- .*\n--\n|-- Dumped .*\n)\n*", "", told, flags=re.MULTILINE)


if __name__ == "__main__":
    main()
