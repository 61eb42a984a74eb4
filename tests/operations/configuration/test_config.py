"""GET and PATCH /config, revisions, rollback."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core.ids import uuid7
from mailkeep.features.operations.orchestrator import service as operations, store as operation_store
from mailkeep.features.operations.orchestrator.model import Operation
from mailkeep.features.record.settings_revisions import service as revisions
from mailkeep.run.runtime import stored_settings
from mailkeep.settings import SETTING_FIELDS, Settings, SettingsError, is_storable, load_settings
from tests.support.caller import Answer
from tests.support.client import PASSWORD, VAULT, Api, faults, reason

LIVE, RESTART, SECRET = "abuse.sender_per_hour", "smtp.max_sessions", "outbound.relay_password"
RELAY = {"outbound.relay": "relay.example:587", "outbound.relay_username": "we", SECRET: "s3cret-word"}


async def patch(api: Api, changes: dict[str, Any], *, if_match: str | None = None, **fields: Any) -> Answer:
    headers = {"if-match": if_match} if if_match else {}
    return await api.sue("PATCH", "/config", {"changes": changes, **fields}, headers=headers)


async def setting(api: Api, key: str) -> dict[str, Any]:
    answer = await api.sue.get("/config")
    return next(each for each in answer.data if each["key"] == key)


async def take_over(api: Api) -> None:
    async with api.app.db.autocommit() as conn:
        await stored_settings.take_over(api.app, conn)


async def states(api: Api) -> list[tuple[int, str]]:
    return [(each["n"], each["state"]) for each in (await api.sue.get("/config/revisions")).data]


async def test_a_live_setting_is_applied_with_its_change(api: Api):
    changed = await patch(api, {LIVE: 7}, comment="Less")
    assert (changed.status, changed.headers["etag"]) == (200, '"1"')
    assert changed.data == {
        "revision": 1, "changes": {LIVE: {"before": None, "after": 7}}, "needs_restart": [], "dry_run": False,
        "warnings": [],
    }  # fmt: skip
    await take_over(api)
    assert api.app.settings.abuse.sender_per_hour == 7
    shown = await setting(api, LIVE)
    assert (shown["value"], shown["source"], shown["effect"], shown["services"]) == (7, "database", "none", [])
    (revision,) = (await api.sue.get("/config/revisions")).data
    assert (revision["author"], revision["comment"], revision["state"]) == ("sue@example.test", "Less", "applied")
    await patch(api, {LIVE: None})
    await take_over(api)
    assert (await setting(api, LIVE))["source"] == "default"
    assert api.app.settings.abuse.sender_per_hour == 1000


async def test_a_setting_that_needs_a_restart_waits_for_it(api: Api, tmp_path: Path):
    assert (await patch(api, {RESTART: 8})).data["needs_restart"] == [RESTART]
    assert (await patch(api, {LIVE: 7})).data["needs_restart"] == [RESTART]
    await take_over(api)
    assert (api.app.settings.smtp.max_sessions, api.app.settings.abuse.sender_per_hour) == (200, 7)
    shown = await setting(api, RESTART)
    assert (shown["value"], shown["pending"], shown["source"]) == (200, 8, "default")
    assert (shown["effect"], shown["services"]) == ("restart", ["mailkeep"])
    assert await states(api) == [(2, "desired"), (1, "superseded")]
    async with api.app.db.tx() as conn:
        loaded, _ = await stored_settings.apply_newest(conn, tmp_path, VAULT, api.app.loaded)
    assert loaded.settings.smtp.max_sessions == 8
    assert await states(api) == [(2, "applied"), (1, "superseded")]
    await take_over(api)
    assert "pending" not in await setting(api, RESTART)
    # A process that starts while the database is away uses the copy.
    assert stored_settings.load_copy(tmp_path, VAULT, api.app.loaded).settings == api.app.settings


async def test_taking_back_a_pending_change_leaves_nothing_pending(api: Api):
    await patch(api, {RESTART: 8})
    assert (await patch(api, {RESTART: None})).data["needs_restart"] == []
    assert await states(api) == [(2, "applied"), (1, "superseded")]


async def test_a_rollback_is_a_new_revision_with_the_old_values(api: Api):
    for value in (5, 6):
        await patch(api, {LIVE: value, "retention.content_days": value})
    rolled_back = await api.sue.post("/config/revisions/1/rollback", {})
    assert rolled_back.data["changes"][LIVE] == {"before": 6, "after": 5}
    assert (await api.sue.post("/config/revisions/0/rollback", {})).data["revision"] == 4
    revisions = (await api.sue.get("/config/revisions")).data
    assert [(each["n"], each["comment"]) for each in revisions][:2] == [
        (4, "Rollback to revision 0"), (3, "Rollback to revision 1")
    ]  # fmt: skip
    assert (await setting(api, LIVE))["source"] == "default"
    assert (await api.sue.post("/config/revisions/9/rollback", {})).code == "NOT_FOUND"
    page = await api.sue.get("/config/revisions", limit=1)
    following = await api.sue.get("/config/revisions", limit=1, cursor=page.json["meta"]["pagination"]["next_cursor"])
    assert (page.data[0]["n"], following.data[0]["n"]) == (4, 3)


async def test_of_two_changes_of_one_revision_the_second_is_refused(api: Api):
    answers = await asyncio.gather(*(patch(api, {LIVE: value}, if_match='"0"') for value in (5, 6, 7)))
    assert sorted(each.status for each in answers) == [200, 412, 412]
    back = await api.sue("POST", "/config/revisions/0/rollback", {}, headers={"if-match": '"0"'})
    assert (back.status, back.json["error"]["details"]["changed"]) == (412, [LIVE])
    refused = await patch(api, {"retention.content_days": 9}, if_match='"0"')
    assert refused.json["error"]["details"] == {"expected": '"0"', "actual": '"1"', "changed": [LIVE]}
    assert (await patch(api, {"retention.content_days": 9}, if_match='"1"')).status == 200
    back = await api.sue("POST", "/config/revisions/0/rollback", {}, headers={"if-match": '"2"'})
    assert (back.status, back.data["revision"]) == (200, 3)


async def test_every_fault_of_a_change_is_named(api: Api):
    changes = {
        LIVE: "many", RESTART: -1, "http.listen": "0.0.0.0:80", "filter.spam_scor": 1, "tls.key_file": "/etc/shadow",
        "outbound.relay_networks": ["10.0.0.0/8"], "mta.mode": "postfix",
        "oidc.providers": [{"id": "x", "issuer": "https://x.test", "client_id": "x", "client_secret_file": "/etc/x"}],
    }  # fmt: skip
    refused = await patch(api, changes, current_password=PASSWORD)
    assert (refused.status, refused.code) == (400, "INVALID_FIELD")
    # What can't be stored is found first, then what is not valid.
    assert faults(refused) == sorted(f"changes.{key}" for key in changes if key not in (LIVE, RESTART))
    assert "did you mean filter.spam_score?" in refused.body.decode()
    assert faults(await patch(api, {LIVE: "many", RESTART: -1})) == [f"changes.{LIVE}", f"changes.{RESTART}"]
    assert faults(await patch(api, {"ports.imap": 587})) == ["changes.ports.imap"]
    assert faults(await patch(api, {"outbound.relay_username": "we"}, current_password=PASSWORD)) == [
        "changes.outbound.relay", "changes.outbound.relay_password"
    ]  # fmt: skip
    assert await states(api) == []


async def test_what_file_or_environment_set_is_refused_with_its_source(api: Api, tmp_path: Path):
    (tmp_path / "mailkeep.toml").write_text("abuse.sender_per_hour = 3\n")
    environ = {"MAILKEEP_RETENTION__CONTENT_DAYS": "3"}
    api.app.loaded = load_settings(tmp_path, environ, {"smtp.listen": "127.0.0.1:1"})
    refused = await patch(api, {LIVE: 4, "retention.content_days": 4, "smtp.listen": "127.0.0.1:2"})
    reasons = {each["field"]: each["reason"] for each in refused.json["error"]["details"]["fields"]}
    assert {key.removeprefix("changes."): text.split(":")[0] for key, text in reasons.items()} == {
        LIVE: "is set by mailkeep.toml",
        "retention.content_days": "is set by the environment",
        "smtp.listen": "is set by a command-line option",
    }
    assert ((await setting(api, LIVE))["source"], (await setting(api, "smtp.listen"))["source"]) == ("file", "env")


async def test_a_stored_value_wins_over_a_later_environment(api: Api):
    await patch(api, {LIVE: 4})
    api.app.loaded = load_settings(Path("/nowhere"), {"MAILKEEP_ABUSE__SENDER_PER_HOUR": "3"})
    await take_over(api)
    assert api.app.settings.abuse.sender_per_hour == 4
    assert (await patch(api, {LIVE: None})).status == 200


async def test_secrets_are_stored_encrypted_and_never_shown(api: Api):
    assert (await patch(api, RELAY, current_password=PASSWORD)).status == 200
    shown = [await api.sue.get("/config"), await api.sue.get("/config/revisions"), await api.sue.get("/audit")]
    rows = await api.sql("SELECT changes::text, stored FROM settings_revisions")
    assert "s3cret-word" not in repr(rows) + "".join(each.body.decode() for each in shown)
    assert (await setting(api, SECRET))["value"] == "********"
    async with api.app.db.autocommit() as conn:
        loaded, _ = await stored_settings.apply_newest(conn, api.app.data_dir, VAULT, api.app.loaded)
    assert loaded.settings.outbound.relay_password == "s3cret-word"


@pytest.mark.parametrize(
    "key, value",
    [
        ("outbound.relay_password", "********"), ("mta.password", "********"),
        ("oidc.providers", [{"id": "x", "issuer": "https://x.test", "client_id": "x", "client_secret": "********"}]),
    ],
)  # fmt: skip
async def test_what_is_shown_in_place_of_a_secret_is_not_stored(api: Api, key: str, value: object):
    await patch(api, RELAY, current_password=PASSWORD)
    refused = await patch(api, {key: value}, current_password=PASSWORD)
    assert (refused.code, faults(refused)) == ("INVALID_FIELD", [f"changes.{key}"])
    assert "in place of a secret" in refused.body.decode()


@pytest.mark.parametrize(
    "changes", [{"outbound.relay": "evil.example:587"}, {"outbound.relay_tls": "tls"}, {"outbound.relay_username": "x"}]
)
async def test_another_destination_does_not_receive_the_secret(api: Api, changes: dict[str, str]):
    await patch(api, RELAY, current_password=PASSWORD)
    assert faults(await patch(api, changes, current_password=PASSWORD)) == ["changes.outbound.relay_password"]
    assert (await patch(api, changes | {SECRET: "another"}, current_password=PASSWORD)).status == 200
    unset = {"outbound.relay": None, "outbound.relay_username": None}
    assert (await patch(api, unset, current_password=PASSWORD)).status == 200
    assert (await setting(api, SECRET))["source"] == "default"


async def test_a_rollback_to_another_destination_uses_the_secret_of_that_time(api: Api):
    await patch(api, RELAY, current_password=PASSWORD)
    await patch(api, {"outbound.relay": "other.example:25", SECRET: "for-the-other"}, current_password=PASSWORD)
    back = await api.sue.post("/config/revisions/1/rollback", {"current_password": PASSWORD})
    assert back.status == 200
    async with api.app.db.autocommit() as conn:
        loaded, _ = await stored_settings.apply_newest(conn, api.app.data_dir, VAULT, api.app.loaded)
    assert loaded.settings.outbound.relay_password == "s3cret-word"


@pytest.mark.parametrize(
    "changes",
    [
        {"auth.require_second_factor": ["super_admin"]}, {"oidc.allowed_networks": ["127.0.0.0/8"]},
        {"cors.origins": ["https://a.test"]}, {"dns.servers": ["192.0.2.53"]},
        {"filter.dns_servers": ["192.0.2.53:53"]}, {"outbound.relay": "evil.example:25"},
        {"webhooks.allowed_networks": ["10.0.0.0/8"]}, {"overlays.postfix": "smtpd_timeout = 30s\n"},
        {"overlays.rspamd": {"greylist.conf": "timeout = 300;"}},
    ],
    ids=str,
)  # fmt: skip
async def test_sensitive_settings_need_a_recent_sign_in(api: Api, changes: dict[str, Any]):
    with_key = await api.unscoped("PATCH", "/config", {"changes": changes, "current_password": PASSWORD})
    assert (with_key.code, reason(with_key)) == ("FORBIDDEN", "recent_sign_in_required")
    api.clock.advance(minutes=11)
    refused = await patch(api, changes)
    assert (refused.status, reason(refused)) == (403, "recent_sign_in_required")
    assert (await patch(api, changes, current_password="wrong word here")).code == "INVALID_CREDENTIALS"
    assert (await patch(api, changes, dry_run=True)).status == 200
    assert (await patch(api, changes, current_password=PASSWORD)).status == 200
    api.clock.advance(minutes=11)
    back = await api.sue.post("/config/revisions/0/rollback", {})
    assert reason(back) == "recent_sign_in_required"


@pytest.mark.parametrize(
    "key, value, reason",
    [
        ("postfix", "smtpd_timeout = 30s\nrelayhost = evil.example", "line 2: relayhost can't be set here"),
        ("dovecot", "!include /etc/shadow", "line 1: expected a setting"),
        ("rspamd", {"groups.conf": '.include "/x"'}, "groups.conf, line 1: a value may only have"),
        ("rspamd", {"multimap.conf": "x = 1"}, "multimap.conf, line 1: multimap.conf is none of the possible files"),
    ],
)
async def test_lines_for_a_daemon_are_checked(api: Api, key: str, value: object, reason: str):
    refused = await patch(api, {f"overlays.{key}": value}, current_password=PASSWORD)
    assert (refused.code, faults(refused)) == ("INVALID_FIELD", [f"changes.overlays.{key}"])
    assert reason in refused.body.decode()


async def test_nobody_can_exclude_their_own_network(api: Api):
    refused = await patch(api, {"auth.allowed_networks": ["10.0.0.0/8"]}, current_password=PASSWORD)
    assert faults(refused) == ["changes.auth.allowed_networks"]
    networks = ["10.0.0.0/8", "192.0.2.0/24"]
    assert (await patch(api, {"auth.allowed_networks": networks}, current_password=PASSWORD)).status == 200


async def test_a_change_without_an_effect_adds_no_revision(api: Api):
    await patch(api, {LIVE: 4})
    assert (await patch(api, {LIVE: 4})).data["revision"] == 1
    assert len(await api.audit_entries("config.update")) == 1


async def test_a_change_is_audited_with_both_values(api: Api):
    await patch(api, {LIVE: 4})
    (entry,) = await api.audit_entries("config.update")
    assert entry["details"]["after"] == {LIVE: 4}
    assert entry["details"]["before"] == {LIVE: None}


async def test_invalid_stored_values_stop_a_start_with_advice(api: Api, tmp_path: Path):
    await patch(api, {"ports.imap": 5555})
    loaded = load_settings(tmp_path, {"MAILKEEP_PORTS__SMTP": "5555"})
    async with api.app.db.autocommit() as conn:
        with pytest.raises(SettingsError, match="mailkeep config unset"):
            await stored_settings.apply_newest(conn, tmp_path, VAULT, loaded)


async def test_a_running_process_ignores_settings_that_became_invalid(api: Api):
    await patch(api, {LIVE: 4, "outbound.hide_client": False})
    await take_over(api)
    before = api.app.settings
    api.app.loaded = replace(api.app.loaded, layers=[*api.app.loaded.layers])
    await api.sql("UPDATE settings_revisions SET stored = %(stored)s", stored=b"x" * 40)
    with pytest.raises(Exception, match="another master secret"):
        await take_over(api)
    assert api.app.settings == before


async def test_every_storable_setting_takes_its_default(api: Api):
    for key, field in SETTING_FIELDS.items():
        if is_storable(key) and key not in ("outbound.relay_username", "sendmail.allowed", "oidc.providers"):
            answer = await patch(api, {key: field.default}, dry_run=True)
            assert answer.status == 200, answer.body


async def test_the_schema_has_every_storable_setting(api: Api):
    schema = (await api.sue.get("/config/schema")).data
    assert set(schema["properties"]) == {key for key in SETTING_FIELDS if is_storable(key)}


async def test_processes_take_over_a_change_when_notified(api: Api):
    watching = asyncio.create_task(stored_settings.keep_current(api.app))
    try:
        await asyncio.sleep(0.2)
        await patch(api, {LIVE: 4, "limits.requests_per_second": 3})
        async with asyncio.timeout(5):
            while api.app.settings.abuse.sender_per_hour != 4:
                await asyncio.sleep(0.02)
        answers = [(await api.sue.get("/auth/me")).status for _ in range(8)]
        assert 429 in answers  # rate limits are live too
    finally:
        watching.cancel()


async def test_an_apply_that_is_rolled_back_keeps_newer_revisions(api: Api):
    async def restart_uses() -> bool:
        async with api.app.db.autocommit() as conn:
            return (await revisions.read(conn, VAULT, is_full_profile=False)).use_at_start

    await patch(api, {RESTART: 8})
    await patch(api, {RESTART: 9})
    # A newer revision came before the apply began: nothing took effect, and the newer one was not tried.
    assert not await operations.take_effect(api.app, 1)
    await operations.restore(api.app, 0, 1)
    assert (await states(api), await restart_uses()) == ([(2, "desired"), (1, "superseded")], True)
    # While the apply runs, a live setting and another one change: both stay the newest, and the live one in effect.
    assert await operations.take_effect(api.app, 2)
    await patch(api, {LIVE: 7})
    await patch(api, {RESTART: 10})
    await operations.restore(api.app, 0, 2)
    assert await states(api) == [(4, "desired"), (3, "superseded"), (2, "superseded"), (1, "superseded")]
    assert not await restart_uses()
    await take_over(api)
    assert (api.app.settings.abuse.sender_per_hour, api.app.settings.smtp.max_sessions) == (
        7,
        Settings().smtp.max_sessions,
    )
    assert (await setting(api, RESTART))["pending"] == 10
    await operations.restore(api.app, 0, 2)  # again, after a kill
    assert (await states(api))[0] == (4, "desired")
    assert await operations.take_effect(api.app, 4)
    assert (await restart_uses(), (await states(api))[0]) == (True, (4, "applied"))


async def test_a_rollback_to_a_generation_that_fails_leaves_nothing_pending(api: Api):
    await patch(api, {LIVE: 7})
    await patch(api, {RESTART: 8})
    at = api.clock()
    operation = Operation(uuid7(at), "rollback", None, "running", None, "someone", at)
    async with api.app.db.autocommit() as conn:
        assert await operation_store.insert(conn, operation)
    assert await operations.take_effect(api.app, 2)
    for _ in range(2):  # again, after a kill
        await operations.restore(api.app, 1, 2, operation.id)
        assert await states(api) == [(3, "applied"), (2, "superseded"), (1, "superseded")]
    assert "pending" not in await setting(api, RESTART)
    assert (await setting(api, LIVE))["value"] == 7
    await patch(api, {RESTART: 9})  # while the rollback runs: that is not taken back
    await operations.restore(api.app, 1, 2, operation.id)
    assert (await states(api))[0] == (4, "desired")
