"""App passwords by the API, and the SQL functions that Dovecot calls."""

from __future__ import annotations

import asyncio
import hashlib
import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from mailkeep.core.clock import iso
from mailkeep.features.directory.app_passwords import service
from mailkeep.features.directory.mailbox_sessions import service as mailbox_sessions
from tests.support.builders import list_audit_entries, require_app_passwords
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, START, Api, reason

ALICE = f"alice@{EXAMPLE}"
ALL = ["imap", "pop3", "smtp", "sieve"]
DOMAIN = f"/domains/{DOMAIN_IDS[EXAMPLE]}"


def path_of(mailbox_id: UUID) -> str:
    return f"/mailboxes/{mailbox_id}/app-passwords"


async def create(api: Api, mailbox_id: UUID, **more: Any) -> dict[str, Any]:
    answer = await api.dora.post(path_of(mailbox_id), {"name": "Phone"} | more)
    assert answer.status == 201, answer.json
    return answer.data


async def opened(api: Api, password: str, address: str = ALICE) -> list[str]:
    """The protocols that the password opens, and the mailbox's folder is found for."""
    local, _, domain = address.partition("@")
    digest, found = hashlib.sha256(password.encode()).hexdigest(), list[str]()
    for protocol in ALL:
        rows = await api.sql(
            "SELECT login, mailbox_id, access FROM mta_app_login(%(local)s, %(domain)s, %(protocol)s, %(digest)s)",
            local=local, domain=domain, protocol=protocol, digest=digest,
        )  # fmt: skip
        if rows:
            (row,) = rows
            assert row["login"] == (f"{address}/{row['access']}" if protocol == "smtp" else address)
            assert await session_of(api, protocol, row["access"], address) == f"{address}/{row['access'].split('/')[1]}"
            found.append(protocol)
    return found


async def session_of(api: Api, protocol: str, access: str, address: str = ALICE) -> str | None:
    """The login of the session that Dovecot opens after the password was verified; None if it opens none."""
    local, _, domain = address.partition("@")
    rows = await api.sql(
        "SELECT login FROM mta_user(%(local)s, %(domain)s, %(protocol)s, %(access)s)",
        local=local, domain=domain, protocol=protocol, access=access,
    )  # fmt: skip
    return rows[0]["login"] if rows else None


async def own_login(api: Api, protocol: str = "imap", local: str = "alice") -> dict[str, Any] | None:
    """What Dovecot gets for the mailbox's own password."""
    rows = await api.sql(
        "SELECT * FROM mta_login(%(local)s, %(domain)s, %(protocol)s)", local=local, domain=EXAMPLE, protocol=protocol
    )
    return rows[0] if rows else None


async def test_a_password_is_shown_once_and_only_its_digest_is_stored(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE, pop3=False)
    expires_at = iso(START + timedelta(days=90))
    created = await create(api, mailbox_id, name=" Phone ", protocols=["smtp", "imap", "imap"], expires_at=expires_at)
    password = created.pop("password")
    assert re.fullmatch(r"mk-([a-z2-7]{4}-){6}[a-z2-7]{2}", password)
    assert created == {
        "id": created["id"], "name": "Phone", "protocols": ["imap", "smtp"], "expires_at": expires_at,
        "created_at": iso(START), "last_used_at": None, "last_used_ip": None,
    }  # fmt: skip
    other = await create(api, mailbox_id)
    assert (other["protocols"], other["expires_at"]) == (["imap", "smtp", "sieve"], None)
    assert other["password"] != password
    assert (await api.dora.get(path_of(mailbox_id))).data == [
        {name: value for name, value in other.items() if name != "password"}, created
    ]  # fmt: skip
    [row] = await api.sql(
        "SELECT to_jsonb(p) AS stored, digest FROM app_passwords p WHERE id = %(id)s", id=created["id"]
    )
    assert row["digest"] == hashlib.sha256(password.encode()).digest()
    entries = await list_audit_entries(api)
    assert entries[0] == ("app_password.create", "success", {"before": None, "after": {
        "mailbox_id": str(mailbox_id), "address": ALICE, "name": "Phone", "protocols": ["imap", "smtp"],
        "expires_at": expires_at,
    }})  # fmt: skip
    assert password not in str(row["stored"]) + str(entries)


@pytest.mark.parametrize(
    "body, field",
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"protocols": []}, "protocols"),
        ({"protocols": ["imap", "pop3"]}, "protocols[1]"),
        ({"protocols": ["http"]}, "protocols[0]"),
        ({"expires_at": iso(START)}, "expires_at"),
        ({"expires_at": "2036-01-01T00:00:00"}, "expires_at"),
        ({"expires_in_days": 5}, "expires_in_days"),
        ({"password": "of my own choice"}, "password"),
    ],
)
async def test_faults_are_named(api: Api, body: dict[str, Any], field: str) -> None:
    mailbox_id = await api.mailbox(ALICE, pop3=False)
    answer = await api.dora.post(path_of(mailbox_id), {"name": "Phone"} | body)
    assert (answer.status, answer.code) == (400, "INVALID_FIELD")
    assert [each["field"] for each in answer.json["error"]["details"]["fields"]] == [field]


async def test_a_mailbox_without_protocols_gets_none(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE, imap=False, pop3=False, smtp=False, sieve=False)
    assert (await api.dora.post(path_of(mailbox_id), {"name": "Phone"})).code == "INVALID_FIELD"


async def test_a_mailbox_has_at_most_50(api: Api) -> None:
    mailbox_id, other = await api.mailbox(ALICE), await api.mailbox(f"bob@{EXAMPLE}")
    for _ in range(45):
        await api.app_password(mailbox_id)
    answers = await asyncio.gather(*(api.sue.post(path_of(mailbox_id), {"name": f"{n}"}) for n in range(12)))
    refused = [answer for answer in answers if answer.status != 201]
    assert {(answer.code, reason(answer)) for answer in refused} == {("CONFLICT", "limit_reached")}
    assert len(refused) == 7
    assert len((await api.sue.get(path_of(mailbox_id))).data) == 50
    assert (await api.sue.post(path_of(other), {"name": "Phone"})).status == 201
    last = (await api.sue.get(path_of(mailbox_id))).data[0]["id"]
    assert (await api.sue.delete(f"{path_of(mailbox_id)}/{last}")).status == 200
    assert (await api.sue.post(path_of(mailbox_id), {"name": "Phone"})).status == 201


async def test_a_repeated_request_is_answered_without_the_password(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE)
    headers = {"Idempotency-Key": "phone"}
    first = await api.sue("POST", path_of(mailbox_id), {"name": "Phone"}, headers=headers)
    again = await api.sue("POST", path_of(mailbox_id), {"name": "Phone"}, headers=headers)
    assert (again.status, again.data) == (201, first.data | {"password": None})
    assert len((await api.sue.get(path_of(mailbox_id))).data) == 1
    other = path_of(await api.mailbox(f"bob@{EXAMPLE}"))
    assert (await api.sue("POST", other, {"name": "Phone"}, headers=headers)).code == "IDEMPOTENCY_MISMATCH"


async def test_deleting_ends_the_sessions_of_that_password(api: Api) -> None:
    mailbox_id, other = await api.mailbox(ALICE), await api.mailbox(f"bob@{EXAMPLE}")
    leaving = await create(api, mailbox_id, protocols=["imap", "smtp"])
    staying = await create(api, mailbox_id)
    path = f"{path_of(mailbox_id)}/{leaving['id']}"
    assert (await api.dora.delete(f"{path_of(other)}/{leaving['id']}")).code == "NOT_FOUND"
    assert await opened(api, leaving["password"]) == ["imap", "smtp"]
    [row] = await api.sql("SELECT number FROM app_passwords WHERE id = %(id)s", id=leaving["id"])
    api.clock.advance(seconds=5)
    assert (await api.dora.delete(path)).data == {
        "message": "The app password Phone was deleted. Its sessions end now.", "id": leaving["id"]
    }  # fmt: skip
    assert (await api.dora.delete(path)).code == "NOT_FOUND"
    async with api.app.db.autocommit() as conn:
        (end,) = await mailbox_sessions.list_pending_ends(conn)
    assert (end.subject, end.protocols) == (f"{ALICE}/{row['number']}", ("imap", "smtp"))
    assert (end.changed_at, end.password_only) == (api.clock(), False)
    assert (await opened(api, leaving["password"]), await opened(api, staying["password"])) == ([], ALL)
    [deleted] = [each for each in await list_audit_entries(api) if each[:2] == ("app_password.delete", "success")]
    assert (deleted[2]["before"]["name"], deleted[2]["after"]) == ("Phone", None)


async def test_expiry_ends_sessions_once(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE)
    number = {}
    for days in (1, 2):
        created = await create(api, mailbox_id, expires_at=iso(START + timedelta(days=days)))
        [row] = await api.sql("SELECT number FROM app_passwords WHERE id = %(id)s", id=created["id"])
        number[days] = row["number"]
    await create(api, mailbox_id)

    async def end(at: timedelta) -> tuple[list[str], timedelta | None]:
        async with api.app.db.tx() as conn:
            following = await service.end_expired(conn, START + at)
            ends = await mailbox_sessions.list_pending_ends(conn)
            await mailbox_sessions.finish_ends(conn, ends)
        return [each.subject for each in ends], following and following - START

    assert await end(timedelta(hours=23)) == ([], timedelta(days=1))
    assert await end(timedelta(days=1)) == ([f"{ALICE}/{number[1]}"], timedelta(days=2))
    assert await end(timedelta(days=1)) == ([], timedelta(days=2))
    assert await end(timedelta(days=3)) == ([f"{ALICE}/{number[2]}"], None)
    assert len((await api.dora.get(path_of(mailbox_id))).data) == 3


async def test_the_node_agent_is_woken_only_when_there_is_something_to_do(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE)

    async def end_expired() -> None:
        async with api.app.db.autocommit() as conn:
            await service.end_expired(conn, api.app.clock() + timedelta(days=2))

    async with api.app.db.listen("mailkeep_node") as conn:
        await end_expired()
        await create(api, mailbox_id, expires_at=iso(api.app.clock() + timedelta(days=1)))
        await end_expired()
        found = [each.payload async for each in conn.notifies(timeout=30, stop_after=2)]
    assert found == ["app_passwords", "session_ends"]


async def test_dovecot_and_postfix_accept_what_is_valid_now(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE)
    created = await create(api, mailbox_id, protocols=["imap", "smtp"])
    password = created["password"]
    assert await opened(api, password) == ["imap", "smtp"]
    assert await opened(api, password.upper()) == []
    for digest in ("none", "", password, "A" * 64, "x" * 64):
        statement = "SELECT FROM mta_app_login('alice', %(domain)s, 'imap', %(digest)s)"
        assert await api.sql(statement, domain=EXAMPLE, digest=digest) == []
    [row] = await api.sql("SELECT access FROM mta_app_login('alice', %(domain)s, 'smtp', %(digest)s)",
                          domain=EXAMPLE, digest=hashlib.sha256(password.encode()).hexdigest())  # fmt: skip
    access = row["access"]

    async def submits(seconds: int = 0) -> bool:
        [senders] = await api.sql("SELECT coalesce(max(s), '') AS logins FROM mta_senders('alice', %(d)s) s", d=EXAMPLE)
        async with api.app.db.autocommit() as conn:
            may = await mailbox_sessions.may_submit(conn, ALICE, access, api.clock() + timedelta(seconds=seconds))
            assert not await mailbox_sessions.may_submit(conn, ALICE, "", api.clock())
        return may and f"{ALICE}/{access}" in senders["logins"].split(",")

    assert await submits()
    # Another password of the mailbox changes nothing.
    assert (
        await api.dora.patch(f"/mailboxes/{mailbox_id}", {"password": "another password, a long one"})
    ).status == 200
    assert await submits()
    for change, back in (
        ({"protocols": {"smtp": False}}, {"protocols": {"smtp": True}}),
        ({"active": False}, {"active": True}),
    ):
        assert (await api.dora.patch(f"/mailboxes/{mailbox_id}", change)).status == 200
        assert "smtp" not in await opened(api, password)
        assert (await api.dora.patch(f"/mailboxes/{mailbox_id}", back)).status == 200
        assert await opened(api, password) == ["imap", "smtp"]
        assert not await submits()  # an open session ends even if its access is restored at once
    assert (await api.sue.patch(DOMAIN, {"active": False})).status == 200
    assert await opened(api, password) == []
    assert (await api.sue.patch(DOMAIN, {"active": True})).status == 200
    # Expiry: the database's clock for daemons, ours for sessions.
    await api.sql("UPDATE app_passwords SET expires_at = %(at)s", at=START + timedelta(days=36500))
    assert await opened(api, password) == ["imap", "smtp"]
    await api.sql("UPDATE app_passwords SET expires_at = %(at)s", at=START - timedelta(days=3650))
    assert await opened(api, password) == []


async def test_what_opened_a_session_is_checked_again_before_it_opens(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE)
    first = await own_login(api)
    assert first is not None
    assert await session_of(api, "imap", first["access"]) == ALICE
    assert await session_of(api, "imap", f"{first['access']}/1") is None
    assert await session_of(api, "lmtp", "") == ALICE
    await api.dora.patch(f"/mailboxes/{mailbox_id}", {"password": "another password, a long one"})
    assert await session_of(api, "imap", first["access"]) is None


async def test_required_app_passwords_are_inherited(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE)
    path = f"/mailboxes/{mailbox_id}"

    async def state() -> tuple[bool | None, bool, str, bool]:
        """The mailbox's value, the inherited one, its source, and whether the own password is accepted."""
        record, own = (await api.dora.get(path)).data, await own_login(api)
        assert own is not None
        assert (own["password"] is not None) == (await session_of(api, "imap", own["access"]) is not None)
        inherited = record["inherited"]["require_app_passwords"]
        return record["require_app_passwords"], inherited["value"], inherited["source"], own["password"] is not None

    assert await state() == (None, False, "server", True)
    await require_app_passwords(api, True)
    assert await state() == (None, True, "server", False)
    domain = (await api.sue.patch(DOMAIN, {"require_app_passwords": False})).data
    assert (domain["require_app_passwords"], domain["inherited"]["require_app_passwords"]["source"]) == (
        False,
        "server",
    )
    assert await state() == (None, False, "domain", True)
    assert (await api.dora.patch(path, {"require_app_passwords": True})).data["require_app_passwords"] is True
    assert await state() == (True, False, "domain", False)
    assert (await api.sue.patch(DOMAIN, {"require_app_passwords": None})).status == 200
    assert (await api.dora.patch(path, {"require_app_passwords": None})).status == 200
    assert await state() == (None, True, "server", False)
    assert (await api.dora.patch(path, {"require_app_passwords": "yes"})).code == "INVALID_FIELD"
    entries = await list_audit_entries(api)
    changes = [each[2] for each in entries if each[:2] == ("mailbox.update", "success")]
    assert changes == [
        {"before": {"require_app_passwords": None}, "after": {"require_app_passwords": True}},
        {"before": {"require_app_passwords": True}, "after": {"require_app_passwords": None}},
    ]
    body = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "local_part": "bob", "password_hash": "{SHA}x"}
    created = (await api.dora.post("/mailboxes", body | {"require_app_passwords": False})).data
    assert created["require_app_passwords"] is False
    bob = await own_login(api, local="bob")
    assert bob is not None
    assert bob["password"] == "{SHA}x"


@pytest.mark.parametrize("owner", ["adam", "sue"])
async def test_nobody_changes_those_of_a_higher_ranked_administrator(api: Api, owner: str) -> None:
    mailbox_id = await api.mailbox(f"{owner}@{EXAMPLE}")
    existing = await api.app_password(mailbox_id)
    for answer in (
        await api.dora.post(path_of(mailbox_id), {"name": "Phone"}),
        await api.dora.delete(f"{path_of(mailbox_id)}/{existing}"),
        await api.dora.patch(f"/mailboxes/{mailbox_id}", {"require_app_passwords": False}),
    ):
        assert (answer.code, reason(answer)) == ("FORBIDDEN", "higher_rank")
    assert (await api.callers[owner].post(path_of(mailbox_id), {"name": "Phone"})).status == 201


async def test_app_passwords_go_with_their_mailbox(api: Api) -> None:
    mailbox_id = await api.mailbox(ALICE)
    created = await create(api, mailbox_id)
    assert (await api.dora.delete(f"/mailboxes/{mailbox_id}")).status == 200
    assert (await api.dora.get(path_of(mailbox_id))).code == "NOT_FOUND"
    assert await opened(api, created["password"]) == []
    again = await api.mailbox(ALICE)  # a new owner of the address has none of them
    assert (await api.dora.get(path_of(again))).data == []
    assert await opened(api, created["password"]) == []
    assert (await api.dora.delete(f"/mailboxes/{again}?purge=true")).status == 200
    assert (await api.dora.post(f"/mailboxes/{mailbox_id}/restore")).status == 200
    assert await opened(api, created["password"]) == ALL
    assert (await api.dora.patch(f"/mailboxes/{mailbox_id}", {"local_part": "alicia"})).status == 200
    assert await opened(api, created["password"], f"alicia@{EXAMPLE}") == ALL
    assert (await api.dora.delete(f"/mailboxes/{mailbox_id}")).status == 200
    assert (await api.sue.delete(DOMAIN)).status == 200
    assert await api.sql("SELECT id FROM app_passwords") == []
    assert (await api.otto.get(path_of(await api.mailbox(f"otto@{OTHER}")))).data == []
