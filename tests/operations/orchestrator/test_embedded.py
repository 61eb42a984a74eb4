"""The orchestrator's endpoints in the embedded profile, which has one process."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.support.client import Api, reason

RESTART = "smtp.max_sessions"


async def test_the_one_process_is_described(api: Api):
    overview = (await api.sue.get("/orchestrator")).data
    (service,) = overview["services"]
    assert (service["name"], service["state"], service["pid"]) == ("mailkeep", "running", os.getpid())
    assert (service["actions"], service["drift"], service["config_hash"]) == ([], None, None)
    assert (overview["generation"], overview["generations"], overview["operation_id"]) == (None, [], None)
    assert (await api.sue.get("/orchestrator/drift")).data == []
    assert (await api.sue.get("/orchestrator/operations")).data == []


async def test_the_empty_plan_is_applied(api: Api):
    plan = (await api.sue.get("/orchestrator/plan")).data
    assert [plan[name] for name in ("files", "actions", "checks", "settings", "warnings")] == [[], [], [], [], []]
    answer = await api.sue.post("/orchestrator/apply", {"plan_id": plan["id"]})
    assert answer.status == 202, answer.body
    operation = (await api.sue.get(f"/orchestrator/operations/{answer.data['operation_id']}")).data
    assert (operation["kind"], operation["state"], operation["error"]) == ("apply", "succeeded", None)
    assert [each["id"] for each in (await api.sue.get("/orchestrator/operations")).data] == [operation["id"]]
    assert len(await api.audit_entries("orchestrator.apply")) == 1


async def test_what_waits_for_a_restart_is_not_applied(api: Api):
    empty = (await api.sue.get("/orchestrator/plan")).data
    await api.sue("PATCH", "/config", {"changes": {RESTART: 7, "filter.spam_score": 7}})
    stale = await api.sue.post("/orchestrator/apply", {"plan_id": empty["id"]})
    assert (stale.code, reason(stale)) == ("CONFLICT", "plan_stale")
    plan = stale.json["error"]["details"]["plan"]
    assert (plan["settings"], [(each["service"], each["action"]) for each in plan["actions"]]) == (
        [RESTART], [("mailkeep", "restart")]
    )  # fmt: skip
    refused = await api.sue.post("/orchestrator/apply", {"plan_id": plan["id"]})
    assert (refused.code, reason(refused)) == ("CONFLICT", "restart_required")
    assert "Restart Mailkeep" in refused.json["error"]["message"]
    assert RESTART in refused.json["error"]["message"]
    assert (await api.sue.get("/orchestrator/operations")).data == []


async def test_an_expired_plan_is_not_applied(api: Api):
    plan = (await api.sue.get("/orchestrator/plan")).data
    api.clock.advance(minutes=15)
    expired = await api.sue.post("/orchestrator/apply", {"plan_id": plan["id"]})
    assert (expired.code, reason(expired)) == ("CONFLICT", "plan_stale")
    assert f"expired at {plan['expires_at']}" in expired.json["error"]["message"]
    assert (await api.sue.get("/orchestrator/operations")).data == []
    new = expired.json["error"]["details"]["plan"]
    assert new["expires_at"] > plan["expires_at"]
    for no_id in (plan["id"].partition("-")[0], f"{new['id']}0000"):
        assert reason(await api.sue.post("/orchestrator/apply", {"plan_id": no_id})) == "plan_stale"
    assert (await api.sue.post("/orchestrator/apply", {"plan_id": new["id"]})).status == 202


@pytest.mark.parametrize(
    "path, body, expected",
    [
        ("rollback", {"generation": 1}, ("UNAVAILABLE", "needs_full_profile")),
        ("confirm", None, ("CONFLICT", "nothing_to_confirm")),
        ("services/postfix/restart", None, ("UNAVAILABLE", "needs_full_profile")),
        ("services/mailkeep/stop", None, ("CONFLICT", "needed_by_api")),
        ("services/mailkeep/restart", None, ("CONFLICT", "not_supported")),
        ("services/mailkeep/reload", None, ("CONFLICT", "not_supported")),
    ],
)
async def test_what_needs_daemons_is_refused(api: Api, path: str, body: Any, expected: tuple[str, str]):
    answer = await api.sue("POST", f"/orchestrator/{path}", body)
    assert (answer.code, reason(answer)) == expected, answer.body
    assert (await api.sue.get("/orchestrator/operations")).data == []
