"""Invitations over HTTP: of administrators and of mailboxes, shown or mailed, used once."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import replace
from datetime import datetime
from email import message_from_bytes, policy
from typing import Any
from uuid import UUID

import pytest
from psycopg.sql import SQL, Identifier
from structlog.testing import capture_logs

from mailkeep.features.access.invitations import rules
from mailkeep.features.directory.bulk.jobs import BulkWorker
from mailkeep.features.directory.invitation_acceptance import service as acceptance
from mailkeep.features.mailflow.system_mail_delivery.jobs import SystemMailWorker
from mailkeep.settings import Settings
from mailkeep.settings.server import ServerSettings
from mailkeep.settings.tree import AuthSettings
from tests.plugins.api import NO_RATE_LIMITS
from tests.plugins.post import Post
from tests.support.caller import Answer
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, OTHER, PASSWORD, VAULT, Api, email_of, faults, reason

HOST, FAR = "mx.host.test", "nora@elsewhere.test"
NORA = {"email": "nora@example.test", "invite": True}
IVAN = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "local_part": "ivan", "invite": True}
CHOSEN = "seven green bottles"


@pytest.fixture
def api_settings() -> Settings:
    return replace(NO_RATE_LIMITS, server=ServerSettings(hostname=HOST))


def token_in(text: str) -> str:
    """The token of the link in a text."""
    (token,) = re.findall(r"http://localhost:8080/invitation#([A-Za-z0-9_-]{43})", text)
    return token


async def create(api: Api, path: str, body: dict[str, Any]) -> tuple[Answer, str]:
    """Create an invited account; returns the response and the token."""
    answer = await api.sue.post(path, body)
    assert answer.status == 201, answer.body
    return answer, token_in(answer.data["invitation"]["url"])


async def accept(api: Api, token: str, password: str = CHOSEN) -> Answer:
    return await api.nobody.post(f"/invitations/{token}", {"password": password})


async def outcomes(api: Api, token: str) -> list[tuple[int, str | None]]:
    """Of both calls with a token."""
    answers = [await api.nobody.post("/invitations/lookup", {"token": token}), await accept(api, token)]
    return [(answer.status, answer.code) for answer in answers]


ENDED = [(404, "NOT_FOUND"), (404, "NOT_FOUND")]


async def test_an_invited_admin_sets_a_password_once(api: Api):
    answer, token = await create(api, "/admins", NORA)
    invitation = answer.data["invitation"]
    assert (invitation["sent_to"], invitation["expires_at"]) == (None, "2026-03-04T12:00:00.000Z")
    for password in ("", PASSWORD, CHOSEN):
        login = await api.nobody.post("/auth/login", {"email": NORA["email"], "password": password or "x"})
        assert (login.status, login.code) == (401, "INVALID_CREDENTIALS")
    shown = await api.nobody.post("/invitations/lookup", {"token": token})
    assert shown.data == {"type": "admin", "address": NORA["email"], "expires_at": invitation["expires_at"]}
    for weak in ("short", NORA["email"], "password1"):
        refused = await accept(api, token, str(weak))
        assert (refused.status, refused.code) == (400, "WEAK_PASSWORD")
    accepted = await accept(api, token)
    assert (accepted.status, accepted.data["type"], accepted.data["address"]) == (200, "admin", NORA["email"])
    assert "set-cookie" not in accepted.headers
    nora = await api.log_in("nora@example.test", CHOSEN)
    assert (await nora.get("/auth/me")).data["id"] == answer.data["id"]
    assert await outcomes(api, token) == ENDED


async def test_an_invited_mailbox_has_no_password_until_its_owner_sets_one(api: Api):
    answer, token = await create(api, "/mailboxes", IVAN)

    async def stored() -> str | None:
        """What Dovecot compares a password with."""
        [row] = await api.sql("SELECT password FROM mta_login('ivan', %(domain)s, 'imap')", domain=EXAMPLE)
        return row["password"]

    assert await stored() is None
    accepted = await accept(api, token)
    assert (accepted.data["type"], accepted.data["address"]) == ("mailbox", f"ivan@{EXAMPLE}")
    assert str(await stored()).startswith("{ARGON2ID}$argon2id$")
    assert await outcomes(api, token) == ENDED
    (entry,) = await api.audit_entries("invitation.accept")
    assert (entry["resource_type"], entry["resource_id"], entry["actor_type"], entry["actor_label"]) == (
        "mailbox", answer.data["id"], "system", "invitation",
    )  # fmt: skip
    assert entry["details"]["after"] == {"password": "(secret)"}


@pytest.mark.parametrize("path, body", [("/admins", NORA), ("/mailboxes", IVAN)])
async def test_password_and_invite_exclude_each_other_and_one_is_required(api: Api, path: str, body: dict[str, Any]):
    without = {name: value for name, value in body.items() if name != "invite"}
    for refused in (without, without | {"invite": False}, without | {"invite": None}):
        answer = await api.sue.post(path, refused)
        assert (answer.code, faults(answer)) == ("MISSING_FIELDS", ["password"])
    for faulty, field in (
        (body | {"password": CHOSEN}, "invite"),
        (without | {"password": CHOSEN, "invite_to": FAR}, "invite_to"),
        (body | {"invite_to": "no address"}, "invite_to"),
    ):
        answer = await api.sue.post(path, faulty)
        assert (answer.code, faults(answer)) == ("INVALID_FIELD", [field])


async def test_a_bulk_operation_invites_nobody(api: Api):
    item = {"address": f"ivan@{EXAMPLE}", "invite": True}
    answer = await api.sue.post("/mailboxes/bulk", {"action": "create", "items": [item]})
    await BulkWorker(api.app).drain()
    [result] = (await api.sue.get(f"/operations/{answer.data['operation_id']}")).data["results"]
    assert result["error"]["code"] == "INVALID_FIELD"


@pytest.mark.parametrize("path, body", [("/admins", NORA), ("/mailboxes", IVAN)])
async def test_a_repeated_call_does_not_show_the_link_again(api: Api, path: str, body: dict[str, Any]):
    key = {"idempotency-key": "once"}
    first = await api.sue("POST", path, body, headers=key)
    again = await api.sue("POST", path, body, headers=key)
    assert first.data["invitation"]["url"]
    assert (again.status, again.data["id"], again.data["invitation"]) == (201, first.data["id"], None)
    renewed = await api.sue("POST", f"{path}/{first.data['id']}/invite", {}, headers=key)
    again = await api.sue("POST", f"{path}/{first.data['id']}/invite", {}, headers=key)
    assert again.data == renewed.data | {"url": None}
    assert (await api.sql("SELECT count(*) AS n FROM invitations"))[0]["n"] == 1


@pytest.mark.parametrize("path, body", [("/admins", NORA), ("/mailboxes", IVAN)])
async def test_a_new_link_ends_the_old_one(api: Api, path: str, body: dict[str, Any]):
    answer, old = await create(api, path, body)
    renewed = await api.sue.post(f"{path}/{answer.data['id']}/invite", {})
    new = token_in(renewed.data["url"])
    assert await outcomes(api, old) == ENDED
    assert (await accept(api, new)).status == 200
    # Also for an account with a password, which stays valid until the link is used.
    token = token_in((await api.sue.post(f"{path}/{answer.data['id']}/invite", {})).data["url"])
    if path == "/admins":
        assert (await api.log_in("nora@example.test", CHOSEN)).headers
    assert (await accept(api, token, "eight green bottles")).status == 200


async def test_a_link_expires(api: Api):
    _, token = await create(api, "/admins", NORA)
    api.clock.advance(hours=71, minutes=59)
    assert (await api.nobody.post("/invitations/lookup", {"token": token})).status == 200
    api.clock.advance(minutes=1)
    assert await outcomes(api, token) == ENDED
    await create(api, "/mailboxes", IVAN)
    assert len(await api.sql("SELECT FROM invitations")) == 1  # the expired one was deleted


@pytest.mark.parametrize("change", [{"password": PASSWORD}, {"active": False}])
@pytest.mark.parametrize("path, body", [("/admins", NORA), ("/mailboxes", IVAN)])
async def test_a_link_ends_with_a_password_or_when_its_account_is_disabled(
    api: Api, path: str, body: dict[str, Any], change: dict[str, Any]
):
    answer, token = await create(api, path, body)
    assert (await api.sue.patch(f"{path}/{answer.data['id']}", change)).status == 200
    assert await outcomes(api, token) == ENDED


@pytest.mark.parametrize("path, body", [("/admins", NORA), ("/mailboxes", IVAN)])
async def test_a_link_ends_with_its_account(api: Api, path: str, body: dict[str, Any]):
    answer, token = await create(api, path, body)
    assert (await api.sue.delete(f"{path}/{answer.data['id']}")).status == 200
    assert await outcomes(api, token) == ENDED
    if path == "/mailboxes":
        assert (await api.sue.post(f"{path}/{answer.data['id']}/restore")).status == 200
        assert await outcomes(api, token) == ENDED


@pytest.mark.parametrize("path, body", [("/admins", NORA), ("/mailboxes", IVAN)])
async def test_a_link_that_is_used_many_times_at_once_works_once(api: Api, path: str, body: dict[str, Any]):
    answer, token = await create(api, path, body)
    passwords = [f"{number} green bottles" for number in range(6)]
    change = api.sue.patch(f"{path}/{answer.data['id']}", {"password": PASSWORD})
    *answers, changed = await asyncio.gather(*(accept(api, token, each) for each in passwords), change)
    assert changed.status == 200
    assert sorted(each.status for each in answers)[1:] == [404] * 5
    assert await outcomes(api, token) == ENDED


@pytest.mark.parametrize(
    "token", ["", "x", "x" * 43, "%00", "lookup", "\N{SNOWMAN}", rules.derive_token(VAULT, UUID(int=1))]
)
async def test_other_tokens_are_unknown(api: Api, token: str):
    await create(api, "/admins", NORA)
    answer = await api.nobody.post("/invitations/lookup", {"token": token or "-"})
    assert (answer.status, answer.code) in ((404, "NOT_FOUND"), (400, "INVALID_FIELD"))


async def test_an_administrator_accepts_only_from_allowed_networks(api: Api):
    _, token = await create(api, "/admins", NORA)
    _, other = await create(api, "/mailboxes", IVAN)
    api.app.settings = replace(api.app.settings, auth=AuthSettings(allowed_networks=("198.51.100.0/24",)))
    answer = await accept(api, token)
    assert (answer.status, reason(answer)) == (403, "network")
    assert (await accept(api, other)).status == 200
    inside = api.nobody.from_address("198.51.100.7")
    assert (await inside.post(f"/invitations/{token}", {"password": CHOSEN})).status == 200


async def test_nobody_invites_themselves_or_a_higher_rank(api: Api):
    answer = await api.sue.post(f"/admins/{ADMIN_IDS['sue']}/invite", {})
    assert (answer.status, answer.code) == (403, "FORBIDDEN")
    mailbox_id = await api.mailbox(email_of("sue"))
    answer = await api.dora.post(f"/mailboxes/{mailbox_id}/invite", {})
    assert (answer.status, reason(answer)) == (403, "higher_rank")
    assert not await api.sql("SELECT FROM invitations")


async def test_all_super_admins_hear_of_a_link_for_an_admin(api: Api):
    assert (await api.sue.post(f"/admins/{ADMIN_IDS['adam']}/invite", {})).status == 201
    assert (await api.sue.post(f"/admins/{ADMIN_IDS['dora']}/invite", {})).status == 201
    [row] = await api.sql("SELECT recipient, items FROM system_mail")
    assert (row["recipient"], row["items"][0]["email"], row["items"][0]["changes"]) == (
        email_of("sue"), email_of("adam"), ["invited"],
    )  # fmt: skip


async def sent(post: Post) -> list[tuple[str, str]]:
    """Send what is due; recipient and text of each mail with an invitation."""
    await SystemMailWorker(post.api.app).drain()
    found: list[tuple[str, str]] = []
    for row in await post.api.sql("SELECT id, rcpt_to FROM sandbox_messages ORDER BY id"):
        raw = (await post.api.sue.get(f"/sandbox/messages/{row['id']}/raw")).body
        mail = message_from_bytes(raw, policy=policy.default)
        if mail["Subject"] == f"Set your password on {HOST}":
            found.append((row["rcpt_to"][0], mail.get_content()))
    return found


@pytest.mark.parametrize("path, body", [("/admins", NORA), ("/mailboxes", IVAN)])
async def test_a_mailed_link_is_not_shown(post: Post, path: str, body: dict[str, Any]):
    answer = await post.api.sue.post(path, body | {"invite_to": FAR})
    invitation = answer.data["invitation"]
    assert (invitation["url"], invitation["sent_to"]) == (None, FAR)
    [(recipient, text)] = await sent(post)
    assert recipient == FAR
    # No text of users, such as the local part or the name that somebody chose.
    assert not re.search("nora|ivan|example", text)
    assert f"Open this link until {datetime.fromisoformat(invitation['expires_at']):%-d %B %Y, %H:%M} UTC:" in text
    assert (await accept(post.api, token_in(text))).status == 200


async def test_a_link_that_has_ended_is_not_mailed(post: Post):
    answer = await post.api.sue.post("/admins", NORA | {"invite_to": FAR})
    await post.api.sue.patch(f"/admins/{answer.data['id']}", {"password": PASSWORD})
    assert await sent(post) == []
    assert not await post.api.sql("SELECT FROM system_mail WHERE kind = 'invitation' AND next_attempt_at IS NOT NULL")


@pytest.mark.parametrize("path, body", [("/admins", NORA), ("/mailboxes", IVAN)])
async def test_without_a_host_name_nothing_is_created(api: Api, path: str, body: dict[str, Any]):
    api.app.settings = replace(api.app.settings, server=ServerSettings())
    answer = await api.sue.post(path, body | {"invite_to": FAR})
    assert (answer.status, reason(answer)) == (409, "hostname_not_set")
    assert (await api.sue.post(path, body)).status == 201


async def test_three_mails_a_day_reach_a_recipient(api: Api):
    path = f"/mailboxes/{await api.mailbox()}/invite"
    for address in (FAR, FAR.upper(), FAR):
        assert (await api.sue.post(path, {"invite_to": address})).status == 201
        api.clock.advance(hours=7)
    answer = await api.sue.post(path, {"invite_to": FAR})
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (429, "RATE_LIMIT_EXCEEDED", str(3 * 3600))
    assert (await api.sue.post(path, {"invite_to": "other@elsewhere.test"})).status == 201
    assert (await api.sue.post(path, {})).status == 201
    api.clock.advance(hours=3, seconds=1)
    assert (await api.sue.post(path, {"invite_to": FAR})).status == 201


async def test_twenty_mails_an_hour_leave_for_a_domain_also_at_once(api: Api):
    path, other = f"/mailboxes/{await api.mailbox()}/invite", f"/mailboxes/{await api.mailbox(f'bob@{OTHER}')}/invite"
    bodies = [{"invite_to": f"person{number}@elsewhere.test"} for number in range(24)]
    answers = await asyncio.gather(*(api.sue.post(path, body) for body in bodies))
    assert sorted(answer.status for answer in answers) == [201] * 20 + [429] * 4
    refused = await api.sue.post("/mailboxes", IVAN | {"invite_to": FAR})
    assert refused.status == 429
    assert (await api.sue.get("/mailboxes", q="ivan")).data == []
    assert (await api.sue.post(other, bodies[0])).status == 201
    api.clock.advance(hours=1, seconds=1)
    assert (await api.sue.post(path, bodies[0])).status == 201


async def test_no_table_log_or_audit_entry_contains_a_token(
    post: Post, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """Shown and mailed ones; those that were used, were refused, and failed with a bug of ours."""
    api = post.api

    async def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    with caplog.at_level(logging.DEBUG), capture_logs() as entries:
        _, shown = await create(api, "/admins", NORA)
        await api.sue.post("/mailboxes", IVAN | {"invite_to": FAR})
        [(_, text)] = await sent(post)
        mailed = token_in(text)
        await accept(api, shown, "short")
        monkeypatch.setattr(acceptance, "accept", fail)
        assert (await accept(api, shown)).status == 500
        monkeypatch.undo()
        await accept(api, shown)
        await api.nobody.post("/invitations/lookup", {"token": mailed})
    logged = caplog.text + repr(entries)
    assert "/invitations/{token}" in logged
    texts = {"the log": logged}
    for table in await api.sql(
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'"
    ):
        async with api.app.db.autocommit() as conn:
            cursor = await conn.execute(SQL("SELECT t::text AS row FROM {} t").format(Identifier(table["name"])))
            texts[table["name"]] = repr(await cursor.fetchall())
    assert "invitation.accept" in texts["audit_entries"]
    assert [name for name, content in texts.items() if shown in content or mailed in content] == []
    for file in (api.app.data_dir / "content").rglob("*.eml"):
        assert mailed.encode() not in file.read_bytes(), file
    [message] = (await api.sue.get("/messages", to=FAR)).data
    assert (await api.adam.get(f"/messages/{message['id']}/raw")).status == 404
