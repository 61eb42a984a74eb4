"""Incidents: each action holds until its undo, which restores exactly what the incident changed."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from mailkeep.app import App
from mailkeep.core.address import parse_address
from mailkeep.core.clock import iso
from mailkeep.core.principal import Principal
from mailkeep.core.secret import token_hash
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.incidents import actions, service
from mailkeep.features.mailflow.incidents.model import ActionState
from mailkeep.features.mailflow.scheduling.jobs import ScheduledWorker
from tests.plugins.post import Post, letter
from tests.support.builders import list_audit_entries
from tests.support.caller import Answer
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, KEY_IDS, OTHER, START, Api, Client, reason

ALICE = f"alice@{EXAMPLE}"
OF_A_MAILBOX = [
    "suspend", "disable_sign_in", "disable_app_passwords", "block_app_passwords", "disable_forwards", "end_sessions",
]  # fmt: skip


async def open_incident(client: Client, kind: str, subject_id: UUID, *names: str, **more: Any) -> Answer:
    body = {"subject": {"type": kind, "id": subject_id}, "actions": names, **more}
    return await client.post("/abuse/incidents", body)


async def opened(client: Client, kind: str, subject_id: UUID, *names: str, **more: Any) -> str:
    answer = await open_incident(client, kind, subject_id, *names, **more)
    assert answer.status == 201, answer.body
    return answer.data["id"]


def results(answer: Answer, name: str = "result") -> dict[str, str]:
    return {each["action"]: each[name] for each in answer.data["actions"]}


async def undone(client: Client, incident_id: str) -> dict[str, str]:
    answer = await client.post(f"/abuse/incidents/{incident_id}/undo")
    assert answer.status == 200, answer.body
    assert answer.data["undone_at"]
    return results(answer, "undo")


async def state_of(api: Api, mailbox_id: UUID, owner: Client) -> dict[str, Any]:
    """What an attacker could still do with Alice's mailbox, whose app password is `secret`."""
    digest = token_hash("secret").hex()
    [row] = await api.sql(
        """
        SELECT EXISTS (SELECT FROM mta_login('alice', 'example.test', 'imap')) AS password,
               EXISTS (SELECT FROM mta_app_login('alice', 'example.test', 'smtp', %(digest)s)) AS app_password,
               EXISTS (SELECT FROM session_accesses(%(id)s, 'smtp', %(at)s)) AS sessions,
               (SELECT jsonb_agg(e->>'address') FROM route_address('alice@example.test') r,
                       jsonb_array_elements(r.deliveries) e) AS deliveries,
               (SELECT array_agg(s.script) FROM mta_sieve_scripts s WHERE s.login = 'alice@example.test') AS scripts,
               EXISTS (SELECT FROM suspensions) AS suspended
        """,
        digest=digest, id=mailbox_id, at=api.clock(),
    )  # fmt: skip
    created = await api.dora.post(f"/mailboxes/{mailbox_id}/app-passwords", {"name": "new"})
    if created.status == 201:
        await api.dora.delete(f"/mailboxes/{mailbox_id}/app-passwords/{created.data['id']}")
    return row | {"new": created.status, "me": (await owner.get("/me")).status}


async def test_every_action_holds_until_the_undo_restores_what_was(post: Post):
    api = post.api
    forward = {"forward_destinations": ["a@far.test"], "forward_keys": ["a@far.test"], "forward_keep_copy": False}
    alice = await api.mailbox(ALICE, **forward)
    await api.app_password(alice, digest=token_hash("secret"))
    await api.vacation(alice, active=True)
    owner = await api.owner(alice)
    before = await state_of(api, alice, owner)
    assert before == {
        "password": True, "app_password": True, "sessions": True, "deliveries": ["a@far.test"], "scripts": ["keep;"],
        "suspended": False, "new": 201, "me": 200,
    }  # fmt: skip
    answer = await open_incident(api.dora, "mailbox", alice, *reversed(OF_A_MAILBOX), note="compromised")
    assert results(answer) == dict.fromkeys(OF_A_MAILBOX, "done")
    assert list(results(answer)) == OF_A_MAILBOX  # in the order in which they are carried out
    assert (answer.data["subject"]["label"], answer.data["note"]) == (ALICE, "compromised")
    assert await state_of(api, alice, owner) == {
        "password": False, "app_password": False, "sessions": False, "deliveries": [ALICE], "scripts": ["keep;"],
        "suspended": True, "new": 409, "me": 401,
    }  # fmt: skip
    ends = await api.sql("SELECT subject, protocols FROM session_ends WHERE subject = %(alice)s", alice=ALICE)
    assert {"subject": ALICE, "protocols": ["imap", "pop3", "sieve", "smtp"]} in ends
    assert (await post.send(**{"from": {"email": ALICE}})).code == "MAILBOX_SUSPENDED"

    incident_id = answer.data["id"]
    undo = await api.dora.post(f"/abuse/incidents/{incident_id}/undo")
    assert results(undo, "undo") == dict.fromkeys(OF_A_MAILBOX, "restored") | {"end_sessions": "not_restorable"}
    assert undo.data["not_restored"] == ["end_sessions"]
    assert await state_of(api, alice, owner) == before | {"me": 401}  # its session has ended
    assert reason(await api.dora.post(f"/abuse/incidents/{incident_id}/undo")) == "undone"
    assert reason(await api.dora.post(f"/abuse/incidents/{incident_id}/retry")) == "undone"
    assert await api.sql("SELECT FROM restrictions") == []
    states = [data["state"] for kind, data in await post.events() if kind == "system.incident"]
    assert states == ["open", "undone"]
    log = await list_audit_entries(api)
    entries = [action for action, outcome, _ in log if action.startswith("incident.") and outcome == "success"]
    assert entries == ["incident.create", *["incident.act"] * 12, "incident.undo"]


async def test_sieve_runs_neither_the_vacation_nor_the_owners_script(api: Api):
    alice = await api.mailbox(ALICE)
    await api.vacation(alice, active=True)
    incident_id = UUID(await opened(api.dora, "mailbox", alice, "disable_forwards"))
    restrict = "INSERT INTO restrictions (kind, subject, incident_id) VALUES ('sieve', %(box)s, %(id)s)"
    await api.sql(restrict, box=str(alice), id=incident_id)
    rows = await api.sql("SELECT name, script FROM mta_sieve_scripts WHERE login = 'alice@example.test'")
    assert rows == [{"name": "managed", "script": 'require "fileinto"; fileinto "INBOX";'}]
    await undone(api.dora, str(incident_id))
    await api.sql("DELETE FROM restrictions WHERE kind = 'sieve'")
    assert [row["script"] for row in await api.sql("SELECT script FROM mta_sieve_scripts")] == ["keep;"]


async def test_what_was_so_before_and_what_was_changed_since_stays(api: Api):
    alice, bob = await api.mailbox(ALICE), await api.mailbox(f"bob@{EXAMPLE}")
    await api.suspension(ALICE)  # by the rules, before
    first = await open_incident(api.adam, "mailbox", alice, "suspend", "disable_app_passwords")
    assert results(first) == {"suspend": "unchanged", "disable_app_passwords": "unchanged"}
    assert await undone(api.adam, first.data["id"]) == {"suspend": "unchanged", "disable_app_passwords": "unchanged"}
    assert [row["by_kind"] for row in await api.sql("SELECT by_kind FROM suspensions")] == ["rules"]

    second = await opened(api.adam, "mailbox", bob, "suspend")
    await api.adam.post(f"/mailboxes/{bob}/unsuspend")
    await api.adam.post(f"/mailboxes/{bob}/suspend", {"reason": "again"})
    assert await undone(api.adam, second) == {"suspend": "changed_since"}
    assert len(await api.sql("SELECT FROM suspensions WHERE reason = 'again'")) == 1

    third = await opened(api.sue, "admin", ADMIN_IDS["otto"], "suspend")
    await api.sue.patch(f"/admins/{ADMIN_IDS['otto']}", {"active": True})
    await api.sue.patch(f"/admins/{ADMIN_IDS['otto']}", {"active": False})
    answer = await api.sue.post(f"/abuse/incidents/{third}/undo")
    assert (results(answer, "undo"), answer.data["not_restored"]) == ({"suspend": "changed_since"}, ["suspend"])
    assert (await api.sue.get(f"/admins/{ADMIN_IDS['otto']}")).data["active"] is False


@pytest.mark.parametrize("change", ["trash", "purge", "move"])
async def test_the_undo_lifts_the_suspension_of_an_address_that_the_mailbox_has_left(api: Api, change: str):
    alice = await api.mailbox(ALICE)
    incident_id = await opened(api.dora, "mailbox", alice, "suspend")
    if change == "move":
        assert (await api.dora.patch(f"/mailboxes/{alice}", {"local_part": "alison"})).status == 200
    else:
        assert (await api.dora.delete(f"/mailboxes/{alice}")).status == 200
    if change == "purge":
        assert (await api.dora.delete(f"/mailboxes/{alice}?purge=true")).status == 200
    assert len(await api.sql("SELECT FROM suspensions")) == 1
    assert await undone(api.dora, incident_id) == {"suspend": "restored"}
    assert await api.sql("SELECT FROM suspensions") == []


@pytest.mark.parametrize("by_incident", [False, True])
async def test_a_lower_rank_does_not_lift_a_suspension_of_its_own_that_an_incident_wants_too(
    api: Api, by_incident: bool
):
    alice = await api.mailbox(ALICE)
    if by_incident:
        await opened(api.dora, "mailbox", alice, "suspend")
    else:
        assert (await api.dora.post(f"/mailboxes/{alice}/suspend", {"reason": "first"})).status == 200
    incident_id = await opened(api.adam, "mailbox", alice, "suspend")
    assert (await api.dora.post(f"/mailboxes/{alice}/suspend", {"reason": "again"})).status == 200
    assert (await api.dora.post(f"/mailboxes/{alice}/unsuspend")).status == 403
    assert len(await api.sql("SELECT FROM suspensions WHERE reason <> 'again'")) == 1
    await undone(api.adam, incident_id)
    assert (await api.dora.post(f"/mailboxes/{alice}/unsuspend")).status == 200
    assert await api.sql("SELECT FROM suspensions") == []


async def test_what_two_incidents_do_ends_with_the_second(api: Api):
    alice = await api.mailbox(ALICE)
    names = ("suspend", "disable_sign_in")
    first, second = [await opened(api.dora, "mailbox", alice, *names) for _ in range(2)]
    assert await undone(api.dora, first) == dict.fromkeys(names, "restored")
    statement = """
        SELECT EXISTS (SELECT FROM suspensions) AS suspended,
               EXISTS (SELECT FROM mta_login('alice', 'example.test', 'imap')) AS opens
    """
    assert await api.sql(statement) == [{"suspended": True, "opens": False}]
    assert await undone(api.dora, second) == dict.fromkeys(names, "restored")
    assert await api.sql(statement) == [{"suspended": False, "opens": True}]


async def list_disabled(api: Api) -> set[UUID]:
    return {UUID(each["id"]) for each in (await api.sue.get("/api-keys")).data if each["disabled"]}


async def test_a_disabled_key_authenticates_nothing_and_its_scheduled_mail_waits(post: Post):
    api = post.api
    parent, parent_id = await api.key(api.sue)
    child, child_id = await api.key(parent)
    later = letter(scheduled_at=iso(START + timedelta(hours=1)))
    message_id = (await child.post("/send", later)).data["id"]
    incident = await open_incident(api.sue, "api_key", parent_id, "disable_keys", "end_sessions")
    assert [(each["result"], each["affected"]) for each in incident.data["actions"]] == [("done", 2), ("done", 1)]
    for client in (parent, child):
        assert (await client.get("/auth/me")).code == "API_KEY_INVALID"
    assert await list_disabled(api) == {parent_id, child_id}
    subjects = {row["subject"] for row in await api.sql("SELECT subject FROM session_ends")}
    assert subjects == {f"key:{parent_id}", f"key:{child_id}"}
    api.clock.advance(hours=2)
    await ScheduledWorker(api.app).drain()
    assert (await api.sue.get(f"/messages/{message_id}")).data["status"] == "scheduled"

    assert (await undone(api.sue, incident.data["id"]))["disable_keys"] == "restored"
    assert (await child.get("/auth/me")).status == 200
    assert await list_disabled(api) == set()
    await ScheduledWorker(api.app).drain()
    assert (await api.sue.get(f"/messages/{message_id}")).data["status"] == "queued"


async def test_a_suspended_administrator_is_disabled_until_the_undo(api: Api):
    otto, key = api.otto, (await api.key(api.otto))[0]
    incident_id = await opened(api.adam, "admin", ADMIN_IDS["otto"], "suspend", "disable_keys", "end_sessions")
    assert (await otto.get("/auth/me")).code == "SESSION_INVALID"
    assert (await key.get("/auth/me")).code == "API_KEY_INVALID"
    await undone(api.adam, incident_id)
    assert (await otto.get("/auth/me")).code == "SESSION_INVALID"
    assert (await key.get("/auth/me")).status == 200


@pytest.mark.parametrize(
    "by, kind, subject, expected",
    [
        ("dora", "mailbox", "alice", None),
        ("otto", "mailbox", "alice", "FORBIDDEN"),
        ("scoped", "mailbox", "alice", None),
        ("scoped", "mailbox", "otherbox", "API_KEY_DOMAIN_SCOPE"),
        ("dora", "mailbox", "adam", "FORBIDDEN"),  # the mailbox of an admin
        ("adam", "mailbox", "sue", "FORBIDDEN"),
        ("dora", "admin", "otto", "FORBIDDEN"),
        ("dora", "api_key", "scoped", "FORBIDDEN"),
        ("scoped", "admin", "otto", "API_KEY_DOMAIN_SCOPE"),
        ("adam", "admin", "otto", None),
        ("adam", "admin", "adam", "FORBIDDEN"),
        ("adam", "admin", "sue", "FORBIDDEN"),
        ("adam", "api_key", "scoped", None),  # his own
        ("adam", "api_key", "unscoped", "FORBIDDEN"),
        ("unscoped", "admin", "adam", None),
        ("sue", "admin", "sue", "FORBIDDEN"),
        ("sue", "api_key", "unknown", "NOT_FOUND"),
    ],
)
async def test_who_may_act_on_whom(api: Api, by: str, kind: str, subject: str, expected: str | None):
    ids: dict[str, UUID] = {"mailbox": {}, "admin": ADMIN_IDS, "api_key": KEY_IDS}[kind]
    if kind == "mailbox":
        address = f"box@{OTHER}" if subject == "otherbox" else f"{subject}@{EXAMPLE}"
        ids = {subject: await api.mailbox(address)}
    subject_id = ids.get(subject, UUID("01890000-0000-7000-8000-000000000000"))
    answer = await open_incident(api.callers[by], kind, subject_id, "end_sessions")
    assert (answer.status, answer.code if expected else None) == (
        (201, None) if expected is None else (404 if expected == "NOT_FOUND" else 403, expected)
    )


async def test_nobody_undoes_what_a_higher_rank_has_opened(api: Api):
    alice = await api.mailbox(ALICE)
    incident_id = await opened(api.adam, "mailbox", alice, "disable_forwards")
    for call in ("undo", "retry"):
        answer = await api.dora.post(f"/abuse/incidents/{incident_id}/{call}")
        assert (answer.code, reason(answer)) == ("FORBIDDEN", "higher_rank")
    shown = (await api.dora.get(f"/abuse/incidents/{incident_id}")).data
    assert (shown["by"], shown["undone_at"]) == ("admin", None)  # she does not see all administrators
    assert await undone(api.sue, incident_id) == {"disable_forwards": "restored"}


async def test_a_domain_admin_frees_no_address_of_what_a_higher_rank_holds(api: Api):
    """Deleted or moved, a mailbox leaves its address to a new one, which has no incident and no thresholds."""
    alice = await api.mailbox(ALICE)
    path, moved = f"/mailboxes/{alice}", {"local_part": "alice2"}

    async def tries() -> list[str]:
        deletions = [await api.dora.delete(path), await api.dora.delete(f"{path}?purge=true")]
        return [reason(each) for each in (*deletions, await api.dora.patch(path, moved))]

    own = await opened(api.dora, "mailbox", alice, "disable_forwards")  # does not prevent what she does
    by_admin = await opened(api.adam, "mailbox", alice, "disable_sign_in")
    assert await tries() == ["incident_open"] * 3
    await undone(api.adam, by_admin)

    limits = {"scope": "mailbox", "id": str(alice)}
    for value, expected in ((50, ["limits_set"] * 3), (5000, None)):
        assert (
            await api.adam.patch("/abuse/thresholds", limits | {"values": {"sender_per_hour": value}})
        ).status == 200
        if expected:
            assert await tries() == expected

    async with api.app.db.tx() as conn:
        await abuse.suspend_by_rules(conn, api.clock(), parse_address(ALICE), DOMAIN_IDS[EXAMPLE], "Spam.")
    assert reason(await api.dora.patch(path, moved)) == "suspended"
    assert (await api.dora.delete(f"{path}?purge=true")).status == 200
    new = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "local_part": "alice", "password": "incorrect pony charger clip"}
    created = (await api.dora.post("/mailboxes", new)).data
    assert created["suspended"]["by"] == "rules"
    assert (await api.dora.get(f"/abuse/incidents/{own}")).data["undone_at"] is None


async def test_actions_that_do_not_apply_are_refused_before_anything_is_done(api: Api):
    alice = await api.mailbox(ALICE)
    answer = await open_incident(api.dora, "mailbox", alice, "suspend", "disable_keys")
    [fault] = answer.json["error"]["details"]["fields"]
    assert (answer.code, fault["field"]) == ("INVALID_FIELD", "actions[1]")
    assert (await open_incident(api.dora, "mailbox", alice)).code == "MISSING_FIELDS"
    assert await api.sql("SELECT FROM incidents") == await api.sql("SELECT FROM suspensions") == []


async def test_a_failed_action_leaves_the_others_and_can_be_repeated(api: Api, monkeypatch: pytest.MonkeyPatch):
    alice = await api.mailbox(ALICE)
    answer = await open_incident(api.dora, "mailbox", alice, "suspend", "disable_sieve", "hold_queue")
    assert results(answer) == {"suspend": "done", "disable_sieve": "failed", "hold_queue": "failed"}
    error = answer.data["actions"][2]["error"]
    assert (error["code"], error["details"]) == ("UNAVAILABLE", {"reason": "needs_full_profile"})
    incident_id = answer.data["id"]

    async def hold(*_: object) -> int:
        return 3

    monkeypatch.setattr(actions, "hold_queue", hold)
    answer = await api.dora.post(f"/abuse/incidents/{incident_id}/retry")
    assert results(answer) == {"suspend": "done", "disable_sieve": "failed", "hold_queue": "done"}
    assert answer.data["actions"][2] | {"undo": 0} == {
        "action": "hold_queue", "result": "done", "affected": 3, "error": None, "undo": 0,
    }  # fmt: skip
    suspensions = await api.sql("SELECT id FROM suspensions")
    assert len(suspensions) == 1
    assert (await undone(api.dora, incident_id))["suspend"] == "restored"


async def test_what_several_undo_at_the_same_time_is_undone_once(api: Api):
    alice = await api.mailbox(ALICE)
    incident = await opened(api.adam, "mailbox", alice, *OF_A_MAILBOX)
    answers = await asyncio.gather(*[api.adam.post(f"/abuse/incidents/{incident}/undo") for _ in range(4)])
    assert {each.status for each in answers} <= {200, 409}
    found = results(await api.adam.get(f"/abuse/incidents/{incident}"), "undo")
    assert found == dict.fromkeys(OF_A_MAILBOX, "restored") | {
        "disable_app_passwords": "unchanged",
        "end_sessions": "not_restorable",
    }


async def test_an_incident_can_be_undone_while_it_is_carried_out(api: Api, monkeypatch: pytest.MonkeyPatch):
    alice = await api.mailbox(ALICE)
    carry_out = service._carry_out_action

    async def interrupted(app: App, who: Principal, incident_id: UUID, state: ActionState) -> None:
        if state.action == "block_app_passwords":
            await undone(api.sue, str(incident_id))
        await carry_out(app, who, incident_id, state)

    monkeypatch.setattr(service, "_carry_out_action", interrupted)
    answer = await open_incident(api.adam, "mailbox", alice, *OF_A_MAILBOX)
    assert answer.data["undone_at"]
    assert (results(answer)["suspend"], results(answer, "undo")["suspend"]) == ("done", "restored")
    assert (results(answer)["end_sessions"], results(answer, "undo")["end_sessions"]) == ("failed", "unchanged")
    assert await api.sql("SELECT FROM restrictions") == []


async def test_a_repeated_call_with_the_same_key_opens_one_incident(api: Api):
    alice = await api.mailbox(ALICE)
    body = {"subject": {"type": "mailbox", "id": alice}, "actions": ["suspend"]}
    calls = [await api.dora("POST", "/abuse/incidents", body, headers={"idempotency-key": "one"}) for _ in range(2)]
    assert calls[0].data == calls[1].data
    assert calls[1].headers["idempotent-replayed"] == "true"
    assert len(await api.sql("SELECT FROM incidents")) == 1


async def test_a_domain_that_is_added_again_starts_without_incidents(api: Api):
    gone = await api.domain("gone.test")
    box = await api.mailbox("box@gone.test")
    incident_id = await opened(api.sue, "mailbox", box, "suspend", "disable_sign_in")
    await api.sue.delete(f"/mailboxes/{box}", purge="true")
    assert (await api.sue.delete(f"/domains/{gone}")).status == 200
    await api.domain("gone.test")
    await api.mailbox("box@gone.test")
    assert (await api.sue.get("/abuse/incidents")).data == []
    assert (await api.sue.get(f"/abuse/incidents/{incident_id}")).code == "NOT_FOUND"
    for statement in ("SELECT FROM restrictions", "SELECT FROM suspensions"):
        assert await api.sql(statement) == []
    assert await api.sql("SELECT FROM mta_login('box', 'gone.test', 'imap')") != []


async def test_the_list_filters_by_state_subject_and_domain(api: Api):
    alice, bob = await api.mailbox(ALICE), await api.mailbox(f"bob@{EXAMPLE}")
    first, second = [await opened(api.dora, "mailbox", each, "disable_forwards") for each in (alice, bob)]
    other = await opened(api.sue, "mailbox", await api.mailbox(f"box@{OTHER}"), "disable_forwards")
    about_key = await opened(api.sue, "api_key", KEY_IDS["scoped"], "end_sessions")
    await undone(api.dora, first)

    async def ids(client: Client, **query: Any) -> list[str]:
        return [each["id"] for each in (await client.get("/abuse/incidents", **query)).data]

    assert await ids(api.dora) == [second, first]
    assert await ids(api.adam) == [about_key, other, second, first]
    assert await ids(api.dora, state="open") == [second]
    assert await ids(api.dora, state="undone") == await ids(api.dora, subject_id=alice) == [first]
    assert await ids(api.sue, domain_id=DOMAIN_IDS[OTHER]) == [other]


async def test_an_alert_is_resolved_with_what_is_done_about_its_sender(api: Api, monkeypatch: pytest.MonkeyPatch):
    alice = await api.mailbox(ALICE)
    await api.app_password(alice)
    await api.suspension(ALICE)  # by the rules
    alert_id = await api.alert(EXAMPLE, subject=ALICE)
    path, everything = f"/abuse/alerts/{alert_id}/resolve", {"unsuspend": True, "revoke_app_passwords": True}
    deleted: list[UUID] = []

    async def delete(app: object, kind: str, mailbox_id: UUID) -> int:
        deleted.append(mailbox_id)
        return 7

    refused = await api.adam.post(path, everything | {"purge_queue": True})
    assert (refused.code, reason(refused)) == ("UNAVAILABLE", "needs_full_profile")
    monkeypatch.setattr(actions, "delete_queue", delete)
    assert (await api.dora.post(path, everything | {"purge_queue": True})).code == "FORBIDDEN"  # the rules suspended
    assert deleted == []
    assert len(await api.sql("SELECT FROM suspensions, app_passwords")) == 1  # nothing is done by halves
    answer = await api.adam.post(path, everything | {"purge_queue": True, "note": "It was a game."})
    shown = {name: answer.data[name] for name in ("state", "note", "unsuspended", "revoked_app_passwords")}
    assert shown == {"state": "resolved", "note": "It was a game.", "unsuspended": True, "revoked_app_passwords": 1}
    assert (answer.data["deleted_messages"], deleted) == (7, [alice])
    assert await api.sql("SELECT FROM suspensions") == await api.sql("SELECT FROM app_passwords") == []
    assert reason(await api.adam.post(path, {})) == "resolved"

    about_domain = await api.alert(EXAMPLE, subject=EXAMPLE)
    answer = await api.dora.post(f"/abuse/alerts/{about_domain}/resolve", {"purge_queue": True})
    assert (answer.code, reason(answer)) == ("CONFLICT", "no_mailbox")
    assert (await api.dora.post(f"/abuse/alerts/{about_domain}/resolve", {})).data["unsuspended"] is False
