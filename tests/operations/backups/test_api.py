"""Backups in the API: requests that are refused, one operation at a time, cancelling, the policy, contents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from mailkeep.backup import restic
from mailkeep.core.ids import uuid7
from mailkeep.features.operations.backups import rules
from tests.support.client import EXAMPLE, PASSWORD, Api, faults, reason

pytestmark = pytest.mark.skipif(restic.find_program() is None, reason="restic is not installed")


async def operations(api: Api) -> list[dict[str, Any]]:
    return await api.sql("SELECT id, kind, state, backup_id, argument, author FROM backup_operations ORDER BY id")


async def test_a_backup_is_requested_once_at_a_time_and_cancelled(api: Api):
    made = await api.sue("POST", "/backups", {}, headers={"idempotency-key": "first"})
    assert (made.status, made.data["state"], made.data["operation"]["state"]) == (202, "running", "waiting")
    again = await api.sue("POST", "/backups", {}, headers={"idempotency-key": "first"})
    assert (again.status, again.data["id"]) == (202, made.data["id"])
    busy = await api.sue.post("/backups", {})
    assert (busy.status, busy.code) == (409, "ORCHESTRATOR_BUSY")
    operation_id = made.data["operation"]["id"]
    assert busy.json["error"]["details"] == {"reason": "backups", "operation_id": operation_id}
    assert (await api.sue.get("/backups/policy")).data["operation"]["id"] == operation_id
    assert [each["id"] for each in (await api.sue.get("/backups")).data] == [made.data["id"]]  # none of the refused one
    followed = (await api.sue.get(f"/operations/{operation_id}")).data
    assert (followed["kind"], followed["state"]) == ("backup.create", "running")
    assert (await api.adam.get(f"/operations/{operation_id}")).code == "FORBIDDEN"

    refused = await api.sue.delete(f"/backups/{made.data['id']}")
    assert (refused.code, reason(refused)) == ("CONFLICT", "running")
    cancelled = await api.sue.post(f"/backups/{made.data['id']}/cancel", {})
    assert (cancelled.status, cancelled.data["state"], cancelled.data["operation"]) == (202, "cancelled", None)
    assert (await api.sue.get(f"/operations/{operation_id}")).data["state"] == "cancelled"
    refused = await api.sue.post(f"/backups/{made.data['id']}/cancel", {})
    assert (refused.code, reason(refused)) == ("CONFLICT", "not_running")
    deleted = await api.sue.delete(f"/backups/{made.data['id']}")  # the repository does not have it
    assert (deleted.status, deleted.data["operation"]) == (202, None)
    assert (await api.sue.get("/backups")).data == []
    actions = [each["action"] for each in (await api.sue.get("/audit?limit=20")).data if each["outcome"] == "success"]
    assert {"backup.create", "backup.cancel", "backup.delete"} <= set(actions)


async def test_a_running_operation_is_asked_to_end(api: Api):
    backup_id = await api.backup()
    await api.sue.post(f"/backups/{backup_id}/verify", {})
    await api.sql("UPDATE backup_operations SET state = 'running', process = gen_random_uuid()")
    answer = await api.sue.post(f"/backups/{backup_id}/cancel", {})
    assert (answer.data["state"], answer.data["operation"]["cancel_requested"]) == ("succeeded", True)


async def test_a_stored_backup_is_removed_by_an_operation(api: Api):
    backup_id = await api.backup()
    api.app.settings = replace(api.app.settings, backup=replace(api.app.settings.backup, append_only=True))
    refused = await api.sue.delete(f"/backups/{backup_id}")
    assert (refused.code, reason(refused)) == ("CONFLICT", "append_only")
    api.app.settings = replace(api.app.settings, backup=replace(api.app.settings.backup, append_only=False))
    assert (await api.sue.delete(f"/backups/{backup_id}")).data["operation"]["kind"] == "prune"
    (operation,) = await operations(api)
    assert operation["argument"] == {"backup_id": str(backup_id)}
    assert (await api.sue.get(f"/backups/{backup_id}")).status == 200  # until the operation has removed it


@pytest.mark.parametrize(
    "body, field",
    [
        ({"scope": "domain", "dry_run": True}, "domain_id"),
        ({"scope": "mailbox", "domain_id": str(UUID(int=1)), "dry_run": True}, "domain_id"),
        ({"scope": "domain", "domain_id": str(UUID(int=1)), "current_password": PASSWORD}, "confirm"),
        ({"scope": "domain", "domain_id": str(UUID(int=1)), "into": "nowhere"}, "into"),
    ],
)
async def test_a_restore_needs_an_object_and_a_confirmation(api: Api, body: dict[str, Any], field: str):
    answer = await api.sue.post(f"/backups/{await api.backup()}/restore", body)
    assert (answer.code, list(faults(answer))) == ("INVALID_FIELD", [field])
    assert await operations(api) == []


async def test_a_restore_is_an_operation_after_a_recent_sign_in(api: Api):
    backup_id, domain_id = await api.backup(), str(UUID(int=7))
    path, body = f"/backups/{backup_id}/restore", {"scope": "domain", "domain_id": domain_id, "confirm": True}
    for caller in (api.sue, api.callers["unscoped"]):
        refused = await caller.post(path, body)
        assert (refused.code, reason(refused)) == ("FORBIDDEN", "recent_sign_in_required")
    answer = await api.sue.post(path, body | {"current_password": PASSWORD, "into": "in_place"})
    assert (answer.status, answer.data["kind"], answer.data["backup_id"]) == (202, "restore", str(backup_id))
    (operation,) = await operations(api)
    assert operation["argument"] == {"scope": "domain", "domain_id": domain_id, "into": "in_place", "dry_run": False}
    refused = await api.sue.post(path, {"scope": "all", "current_password": PASSWORD})
    assert (refused.code, reason(refused)) == ("CONFLICT", "needs_empty_data_directory")
    assert "mailkeep restore" in refused.json["error"]["details"]["command"]
    failed = await api.backup(state="failed", snapshot="")
    refused = await api.sue.post(f"/backups/{failed}/verify", {})
    assert (refused.code, reason(refused)) == ("CONFLICT", "not_stored")


async def test_without_restic_its_installation_is_named(api: Api, monkeypatch: pytest.MonkeyPatch):
    backup_id = await api.backup()
    monkeypatch.setattr(restic, "find_program", lambda: None)
    calls = [("POST", "/backups"), ("POST", f"/backups/{backup_id}/verify"), ("GET", f"/backups/{backup_id}/contents")]
    for method, path in calls:
        answer = await api.sue(method, path, {} if method == "POST" else None)
        assert (answer.status, reason(answer)) == (503, "needs_restic")
        assert answer.json["error"]["details"]["command"] == restic.INSTALL_COMMAND
    assert len((await api.sue.get("/backups")).data) == 1


async def test_an_external_database_is_not_backed_up(api: Api):
    database = replace(api.app.settings.database, url="postgresql://db.example/mail")
    api.app.settings = replace(api.app.settings, database=database)
    assert reason(await api.sue.post("/backups", {})) == "external_database"


async def test_the_policy_is_a_revision_of_the_settings(api: Api):
    before = await api.sue.get("/backups/policy")
    assert (before.data["schedule"], before.data["next_backup_at"], before.data["recovery_key"]) == ("off", None, None)
    body = {"schedule": "daily", "start_time": "03:15", "retention": {"daily": 14}}
    assert reason(await api.sue.patch("/backups/policy", body)) == "recent_sign_in_required"
    changed = await api.sue.patch("/backups/policy", body | {"current_password": PASSWORD})
    assert (changed.status, changed.data["retention"]["daily"], changed.data["retention"]["hourly"]) == (200, 14, 24)
    assert changed.data["next_backup_at"] == "2026-03-02T03:15:00.000Z"
    assert changed.headers["etag"] != before.headers["etag"]
    (revision,) = (await api.sue.get("/config/revisions")).data
    assert set(revision["changes"]) == {"backup.schedule", "backup.start_time", "backup.keep_daily"}
    wrong = await api.sue.patch("/backups/policy", {"start_time": "25:00", "current_password": PASSWORD})
    assert (wrong.code, list(faults(wrong))) == ("INVALID_FIELD", ["start_time"])
    wrong = await api.sue.patch("/backups/policy", {"repository": "relative/path", "current_password": PASSWORD})
    assert (wrong.code, list(faults(wrong))) == ("INVALID_FIELD", ["repository"])
    stale = {"current_password": PASSWORD, "schedule": "off"}
    refused = await api.sue("PATCH", "/backups/policy", stale, headers={"if-match": before.headers["etag"]})
    assert refused.code == "PRECONDITION_FAILED"


async def test_contents_are_browsed_by_page_and_messages_found(api: Api):
    mailbox_id = uuid7(api.clock())
    path = f"/backups/{await api.backup((mailbox_id, f'alice@{EXAMPLE}'))}/contents"
    (domain,) = (await api.sue.get(path)).data
    assert (domain["type"], domain["name"], domain["mailboxes"], domain["messages"]) == ("domain", EXAMPLE, 1, 1)
    (mailbox,) = (await api.sue.get(f"{path}?domain_id={domain['domain_id']}")).data
    assert (mailbox["mailbox_id"], mailbox["size_bytes"]) == (str(mailbox_id), 2048)
    (folder,) = (await api.sue.get(f"{path}?mailbox_id={mailbox_id}")).data
    assert (folder["folder"], folder["messages"]) == ("INBOX", 1)
    (message,) = (await api.sue.get(f"{path}?message_id=%3Creport@example.com%3E")).data
    assert (message["name"], message["folder"], message["date"]) == (
        f"alice@{EXAMPLE}", "INBOX", "2026-02-25T06:13:20.000Z",
    )  # fmt: skip
    for query in ("message_id=%3Cabsent@example.com%3E", f"domain_id={mailbox_id}"):
        assert (await api.sue.get(f"{path}?{query}")).data in (None, [])


@pytest.mark.parametrize("every, days, late", [("daily", 1, False), ("daily", 3, True), ("off", 300, False)])
def test_what_is_overdue(every: str, days: int, late: bool):
    from datetime import UTC, datetime, timedelta

    at = datetime(2026, 3, 1, tzinfo=UTC)
    assert rules.is_overdue(every, at - timedelta(days=days), at) == late
