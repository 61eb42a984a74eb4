"""Edits by hand that are adopted into the settings, with a stand-in for the process `node`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from mailkeep.core.errors import Failure
from mailkeep.features.operations.orchestrator.model import AdoptionResult, ApplyRefusal
from tests.mailflow.queue.stand_in import answering
from tests.support.client import PASSWORD, Api, reason

CHANGES = {"overlays.postfix": "max_idle = 60s\n"}
APPLY = {"plan_id": "old", "adopt_drift": ["postfix/main.cf"], "current_password": PASSWORD}


@pytest.mark.parametrize("ends", ["refused", "failed", "begun"])
async def test_adopted_lines_stay_only_if_the_apply_begins(api: Api, monkeypatch: pytest.MonkeyPatch, ends: str):
    async def adopt(_: Mapping[str, Any]) -> Mapping[str, Any]:
        return msgspec.to_builtins(AdoptionResult(None, CHANGES, "new"))

    async def prepare(argument: Mapping[str, Any]) -> Mapping[str, Any]:
        assert argument["request"]["plan_id"] == "new"
        if ends == "failed":
            raise Failure("no space left")
        refusal = ApplyRefusal("plan_stale", "The plan is another one now.") if ends == "refused" else None
        return {"refusal": msgspec.to_builtins(refusal)}

    await api.sue.patch("/config", {"changes": {"filter.spam_score": 7}})
    handlers = {"orchestrator.adopt": adopt, "orchestrator.prepare": prepare}
    async with answering(api.app, monkeypatch, [], handlers):
        answer = await api.sue.post("/orchestrator/apply", APPLY)
    expected = {"refused": (409, "plan_stale"), "failed": (503, "operation_failed"), "begun": (202, None)}[ends]
    assert (answer.status, reason(answer) if answer.status != 202 else None) == expected
    stored = await api.sql("SELECT n, changes, comment FROM settings_revisions ORDER BY n")
    assert [list(each["changes"]) for each in stored[1:]] == [["overlays.postfix"]] * (1 if ends == "begun" else 2)
    assert stored[1]["comment"] == "Adopted edits by hand: postfix/main.cf"
    if ends != "begun":
        assert stored[2]["changes"]["overlays.postfix"]["after"] is None


async def test_what_somebody_else_stored_meanwhile_stays(api: Api, monkeypatch: pytest.MonkeyPatch):
    """Somebody else stores the same lines between the plan and the apply, which is refused then."""

    async def adopt(_: Mapping[str, Any]) -> Mapping[str, Any]:
        stored = await api.sue.patch("/config", {"changes": CHANGES, "current_password": PASSWORD})
        assert stored.status == 200, stored.body
        return msgspec.to_builtins(AdoptionResult(None, CHANGES, "new"))

    async def prepare(_: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"refusal": msgspec.to_builtins(ApplyRefusal("plan_stale", "The plan is another one now."))}

    handlers = {"orchestrator.adopt": adopt, "orchestrator.prepare": prepare}
    async with answering(api.app, monkeypatch, [], handlers):
        answer = await api.sue.post("/orchestrator/apply", APPLY)
    assert (answer.status, reason(answer)) == (409, "plan_stale")
    assert [list(each["changes"]) for each in await api.sql("SELECT changes FROM settings_revisions")] == [[*CHANGES]]
