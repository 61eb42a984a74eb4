"""The texts of refusals, which must say what to do instead."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mailkeep.core.errors import Conflict, NotFound
from mailkeep.features.operations.orchestrator import rules, wire
from mailkeep.features.operations.orchestrator.model import ApplyRequest, ConfigurationPlan, PlannedFile

FILE = PlannedFile("postfix", "main.cf", "drifted", "", None, is_edited_and_changed=True)
AT = datetime(2026, 1, 1, tzinfo=UTC)
UNTIL = AT + rules.PLAN_LIFETIME
ID = rules.identify_plan("digest", UNTIL)
PLAN = ConfigurationPlan(ID, 1, 2, UNTIL, files=[FILE])


def test_edited_files_are_named_with_their_service() -> None:
    refusal = rules.refuse(PLAN, ApplyRequest(ID, overwrite_drift=["main.cf"]), AT)
    assert refusal
    assert "Not edited by hand: main.cf." in refusal.text
    assert refusal.text.endswith("edited by hand: postfix/main.cf.")
    assert rules.refuse(PLAN, ApplyRequest(ID, overwrite_drift=["postfix/main.cf"]), AT) is None


def test_only_the_api_names_its_fields() -> None:
    refusal = rules.refuse(PLAN, ApplyRequest(ID), AT)
    assert refusal
    assert "overwrite_drift" not in refusal.text
    assert "overwrite_drift" in wire.refuse(refusal).message


def test_what_is_possible_is_named() -> None:
    with pytest.raises(NotFound, match=r"no service frob\. Services: database, dovecot\."):
        rules.require_possible("frob", "stop", ["database", "dovecot"])
    with pytest.raises(Conflict, match="Possible: start, stop, restart"):
        rules.require_possible("worker", "reload", ["worker"])
    with pytest.raises(Conflict, match="mailkeep up"):
        rules.require_possible(rules.OWN_PROCESS, "restart", [rules.OWN_PROCESS])


def test_a_consequence_says_how_long_it_lasts() -> None:
    assert rules.describe_consequence("dovecot", "restart") == (
        "IMAP, POP3 and ManageSieve sessions end. Mail programs can't sign in, and incoming mail waits in the queue. "
        "This lasts a few seconds."
    )
    assert "until the service is started again" in rules.describe_consequence("worker", "stop")
    assert "not available" in rules.describe_consequence("something new", "stop")
