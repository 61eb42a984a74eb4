"""Vacations by the API, and the view that Dovecot queries. Replies are in tests/stack/24-vacation."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from mailkeep.core.clock import iso
from mailkeep.db.postgres import Urls
from tests.support.builders import DOMAIN_ID, list_audit_entries
from tests.support.client import EXAMPLE, START, Api, faults, reason

ALICE = f"alice@{EXAMPLE}"
NONE = {"active": False} | dict.fromkeys(("subject", "text", "html", "start_at", "end_at", "days"))


@pytest.fixture
def full(api: Api) -> Api:
    """The API in the full profile."""
    api.app.settings = replace(api.app.settings, mta=replace(api.app.settings.mta, mode="postfix"))
    return api


def path_of(mailbox_id: UUID) -> str:
    return f"/mailboxes/{mailbox_id}/vacation"


@pytest.fixture
async def database_clock(api: Api, database_urls: Urls) -> None:
    """The database's clock is a setting, which `scripts_at` sets."""
    [row] = await api.sql("SELECT current_database() AS name")
    async with await psycopg.AsyncConnection.connect(make_conninfo(database_urls.owner, dbname=row["name"])) as conn:
        await conn.execute(
            "CREATE OR REPLACE FUNCTION mta_time() RETURNS timestamptz LANGUAGE sql STABLE AS "
            "$$ SELECT current_setting('tests.now')::timestamptz $$"
        )


async def scripts_at(api: Api, at: datetime, address: str = ALICE) -> list[dict[str, Any]]:
    """What Dovecot gets for a delivery at this time."""
    async with api.app.db.tx() as conn:
        await conn.execute("SELECT set_config('tests.now', %(at)s, true)", {"at": at.isoformat()})
        cursor = await conn.execute(
            "SELECT script_id, script FROM mta_sieve_scripts WHERE login = %(login)s AND name = 'managed'",
            {"login": address},
        )
        return await cursor.fetchall()


async def test_a_vacation_is_set_read_changed_and_deleted(full: Api) -> None:
    mailbox_id = await full.mailbox(ALICE)
    assert (await full.dora.get(path_of(mailbox_id))).data == NONE
    body = {
        "subject": "Away", "text": "Back on Monday.\r\nAlice", "html": "<p>Back on Monday.</p>", "days": 3,
        "start_at": "2026-03-02T08:00:00+01:00", "end_at": iso(START + timedelta(days=7)),
    }  # fmt: skip
    written = await full.dora.put(path_of(mailbox_id), body)
    stored = body | {"active": True, "start_at": "2026-03-02T07:00:00.000Z"}
    assert written.data == stored | {"warnings": []}
    read = await full.dora.get(path_of(mailbox_id))
    assert (read.data, read.headers["etag"]) == (stored, written.headers["etag"])
    full.clock.advance(hours=1)
    again = await full.dora.put(path_of(mailbox_id), body)
    assert again.headers["etag"] == written.headers["etag"]  # nothing has changed
    off = await full.dora.put(path_of(mailbox_id), {"text": "Away.", "active": False})
    assert off.data == NONE | {"text": "Away.", "days": 7, "warnings": []}
    assert off.headers["etag"] != written.headers["etag"]
    assert (await full.dora.delete(path_of(mailbox_id))).status == 200
    assert (await full.dora.delete(path_of(mailbox_id))).status == 200
    assert (await full.dora.get(path_of(mailbox_id))).data == NONE
    entries = await list_audit_entries(full)
    address = {"address": ALICE}
    assert [action for action, *_ in entries] == ["vacation.update", "vacation.update", "vacation.delete"]
    assert entries[0][2]["after"] == {name: stored[name] for name in entries[0][2]["after"]}
    assert entries[2][2] == {"before": address | NONE | {"text": "Away.", "days": 7}, "after": None}


async def test_the_audit_log_has_the_start_of_a_long_text(full: Api) -> None:
    mailbox_id = await full.mailbox(ALICE)
    for last in "ab":
        await full.dora.put(path_of(mailbox_id), {"text": "x" * 10_000 + last})
    (_, first), (_, second) = [(action, details) for action, _, details in await list_audit_entries(full)]
    assert first["after"]["text"].startswith(f"{'x' * 500}… (10001 characters, SHA-256 ")
    assert second["before"]["text"] == first["after"]["text"] != second["after"]["text"]


@pytest.mark.parametrize(
    "body, code, field",
    [
        ({}, "MISSING_FIELDS", "text"),
        ({"text": ""}, "MISSING_FIELDS", "text"),
        ({"text": None, "html": None}, "MISSING_FIELDS", "text"),
        ({"text": "x", "days": 0}, "INVALID_FIELD", "days"),
        ({"text": "x", "days": 31}, "INVALID_FIELD", "days"),
        ({"text": "x", "subject": "a\nb"}, "INVALID_FIELD", "subject"),
        ({"text": "x" * 20_001}, "INVALID_FIELD", "text"),
        ({"html": "€" * 70_000}, "INVALID_FIELD", "html"),
        ({"text": "x", "start_at": "2026-03-02T08:00:00"}, "INVALID_FIELD", "start_at"),
        ({"text": "x", "start_at": iso(START), "end_at": iso(START)}, "INVALID_FIELD", "end_at"),
        ({"text": "x", "time_zone": "Europe/Berlin"}, "INVALID_FIELD", "time_zone"),
    ],
)
async def test_faults_are_named(full: Api, body: dict[str, Any], code: str, field: str) -> None:
    answer = await full.dora.put(path_of(await full.mailbox(ALICE)), body)
    assert (answer.status, answer.code, faults(answer)) == (400, code, [field])


@pytest.mark.usefixtures("database_clock")
async def test_dovecot_gets_the_script_within_the_exact_period(full: Api) -> None:
    mailbox_id, other = await full.mailbox(ALICE), await full.mailbox(f"bob@{EXAMPLE}")
    await full.vacation(other, active=True)
    start_at, end_at = START + timedelta(days=1), START + timedelta(days=8)
    moment = timedelta(microseconds=1000)
    period = {"start_at": iso(start_at), "end_at": iso(end_at)}
    await full.dora.put(path_of(mailbox_id), {"text": "Away.", **period})
    found = {
        at: len(await scripts_at(full, at)) for at in (start_at - moment, start_at, end_at - moment, end_at)
    }  # fmt: skip
    assert list(found.values()) == [0, 1, 1, 0]
    (row,) = await scripts_at(full, start_at)
    assert "Away." in row["script"]
    # Dovecot compiles it again only if the ID changes.
    await full.dora.put(path_of(mailbox_id), {"text": "Away.", "end_at": iso(end_at)})
    assert await scripts_at(full, START) == [row]
    await full.dora.put(path_of(mailbox_id), {"text": "Gone."})
    (changed,) = await scripts_at(full, end_at)
    assert changed["script_id"] != row["script_id"]
    await full.dora.put(path_of(mailbox_id), {"text": "Gone.", "active": False})
    assert await scripts_at(full, START) == []
    # It belongs to the mailbox, not to the address.
    await full.dora.put(path_of(mailbox_id), {"text": "Gone."})
    assert (await full.dora.patch(f"/mailboxes/{mailbox_id}", {"local_part": "alicia"})).status == 200
    assert await scripts_at(full, START) == []
    assert len(await scripts_at(full, START, f"alicia@{EXAMPLE}")) == 1
    await full.dora.delete(f"/mailboxes/{mailbox_id}")
    assert await scripts_at(full, START, f"alicia@{EXAMPLE}") == []


async def test_warnings_say_why_no_reply_is_sent(full: Api) -> None:
    forward = {"forward_destinations": ["a@far.test"], "forward_keys": ["a@far.test"], "forward_keep_copy": False}
    mailbox_id = await full.mailbox(ALICE, **forward)
    answer = await full.dora.put(path_of(mailbox_id), {"text": "Away.", "end_at": iso(START)})
    assert [warning.partition(":")[0] for warning in answer.data["warnings"]] == [
        "The mailbox only forwards its mail", "The vacation ended at 2026-03-01T12",
    ]  # fmt: skip
    off = await full.dora.put(path_of(mailbox_id), {"text": "Away.", "active": False})
    assert off.data["warnings"] == []


async def test_the_embedded_profile_stores_only_an_inactive_vacation(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE)
    refused = await api.dora.put(path_of(mailbox_id), {"text": "Away."})
    assert (refused.status, refused.code, reason(refused)) == (503, "UNAVAILABLE", "needs_full_profile")
    assert (await api.dora.get(path_of(mailbox_id))).data == NONE
    assert (await api.dora.put(path_of(mailbox_id), {"text": "Away.", "active": False})).status == 200
    assert (await api.dora.get(path_of(mailbox_id))).data["text"] == "Away."
    assert (await api.dora.delete(path_of(mailbox_id))).status == 200


@pytest.mark.parametrize("owner", ["adam", "sue"])
async def test_nobody_changes_that_of_a_higher_ranked_administrator(full: Api, owner: str) -> None:
    mailbox_id = await full.mailbox(f"{owner}@{EXAMPLE}")
    for answer in (
        await full.dora.put(path_of(mailbox_id), {"text": "Gone for good."}),
        await full.dora.delete(path_of(mailbox_id)),
    ):
        assert (answer.code, reason(answer)) == ("FORBIDDEN", "higher_rank")
    assert (await full.callers[owner].put(path_of(mailbox_id), {"text": "Away."})).status == 200


async def test_a_mailbox_has_a_time_zone_for_display(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE)
    path = f"/mailboxes/{mailbox_id}"
    assert (await api.dora.get(path)).data["time_zone"] == "UTC"
    assert (await api.dora.patch(path, {"time_zone": "Europe/Berlin"})).data["time_zone"] == "Europe/Berlin"
    for name in ("Europe/Atlantis", "../../etc/passwd", "posixrules", "CEST+1", ""):
        answer = await api.dora.patch(path, {"time_zone": name})
        assert (answer.code, faults(answer)) == ("INVALID_FIELD", ["time_zone"]), name
    body = {"domain_id": DOMAIN_ID, "local_part": "bob", "password_hash": "{SHA}x"}
    created = await api.dora.post("/mailboxes", body | {"time_zone": "America/New_York"})
    assert created.data["time_zone"] == "America/New_York"
    assert (await api.dora.post("/mailboxes", body | {"local_part": "eve", "time_zone": "Mars"})).status == 400
