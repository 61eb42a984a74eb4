"""The plan in the answer to a dry run, and what a change of a setting needs in each profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mailkeep.features.operations.configuration import service
from mailkeep.features.record.settings_revisions import service as revisions
from mailkeep.settings import SETTING_FIELDS, find_effect, is_storable, load_settings
from tests.support.caller import Answer
from tests.support.client import VAULT, Api

RESTART, DAEMON, FILTER = "smtp.max_sessions", "filter.spam_score", "filter.antivirus_encrypted"


async def dry_run(api: Api, changes: dict[str, Any]) -> Answer:
    answer = await api.sue("PATCH", "/config", {"changes": changes, "dry_run": True})
    assert answer.status == 200, answer.body
    return answer


def use_full_profile(api: Api) -> None:
    api.app.loaded = load_settings(Path("/nowhere"), {}, {"mta.mode": "postfix"})
    api.app.settings = api.app.loaded.settings


async def test_a_dry_run_returns_the_plan_and_changes_nothing(api: Api):
    answer = (await dry_run(api, {RESTART: 8, DAEMON: 8})).data
    plan = answer.pop("plan")
    assert answer == {
        "revision": 0,
        "changes": {RESTART: {"before": None, "after": 8}, DAEMON: {"before": None, "after": 8}},
        "needs_restart": [RESTART],
        "dry_run": True,
        "warnings": [],
    }
    assert (plan["base"], plan["target"], plan["settings"], plan["files"], plan["checks"]) == (0, 1, [RESTART], [], [])
    (action,) = plan["actions"]
    assert (action["service"], action["action"], action["because"]) == ("mailkeep", "restart", [RESTART])
    assert (await api.sue.get("/config/revisions")).data == []
    assert (await api.sue.get("/orchestrator/plan")).data["settings"] == []
    assert await api.audit_entries("config.update") == []


async def test_the_plan_of_a_dry_run_is_that_of_the_change(api: Api):
    proposed = (await dry_run(api, {RESTART: 8})).data["plan"]
    await api.sue("PATCH", "/config", {"changes": {RESTART: 8}})
    made = (await api.sue.get("/orchestrator/plan")).data
    assert {**made, "expires_at": ""} == {**proposed, "expires_at": ""}
    assert (await dry_run(api, {RESTART: None})).data["plan"]["settings"] == []


async def test_without_the_node_agent_a_dry_run_answers_without_a_plan(api: Api, monkeypatch: pytest.MonkeyPatch):
    use_full_profile(api)
    monkeypatch.setattr(service, "_PLAN_SECONDS", 0.2)
    secret = {
        "outbound.relay": "a.example:25",
        "outbound.relay_username": "a",
        "outbound.relay_password": "s3cret-word",
    }
    answer = (await dry_run(api, secret)).data
    assert (answer["plan"], answer["needs_restart"]) == (None, sorted(secret))
    assert "log/node.log" in answer["warnings"][0]
    # The proposed values stay in the database with the task: sealed.
    (task,) = await api.sql("SELECT kind, argument FROM node_tasks")
    assert "s3cret-word" not in repr(task)
    assert revisions.unseal(VAULT, bytes.fromhex(task["argument"]["stored"])) == secret


async def test_each_profile_has_its_own_effects(api: Api):
    async def effect(key: str) -> tuple[str, list[str]]:
        found = next(each for each in (await api.sue.get("/config")).data if each["key"] == key)
        return found["effect"], found["services"]

    assert await effect(FILTER) == ("none", [])
    assert await effect("server.hostname") == ("restart", ["mailkeep"])
    assert (await api.sue("PATCH", "/config", {"changes": {FILTER: "junk"}})).data["needs_restart"] == []
    use_full_profile(api)
    assert await effect(FILTER) == ("reload", ["rspamd"])
    assert await effect(RESTART) == ("none", [])
    kind, services = await effect("server.hostname")
    assert (kind, services[:2], "api" in services, "node" in services) == (
        "restart",
        ["dovecot", "postfix"],
        True,
        False,
    )
    assert (await api.sue("PATCH", "/config", {"changes": {FILTER: "refuse"}})).data["needs_restart"] == [FILTER]


@pytest.mark.parametrize("is_full_profile", [False, True])
def test_what_can_not_be_stored_needs_a_restart_of_all_of_mailkeep(is_full_profile: bool):
    for key in SETTING_FIELDS:
        effect = find_effect(key, is_full_profile=is_full_profile)
        if not is_storable(key) and (is_full_profile or not key.startswith("tls.")):
            assert (effect.effect, effect.services[-1]) == ("restart", "mailkeep"), key
        elif is_full_profile:  # else an apply could not put it in effect
            assert "mailkeep" not in effect.services, key
