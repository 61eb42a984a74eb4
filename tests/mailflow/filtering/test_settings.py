"""Filter settings of the server, domains, mailboxes and owners."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from mailkeep.features.mailflow.filtering import service
from mailkeep.features.mailflow.filtering.model import Facts, Subject
from mailkeep.run.runtime import stored_settings
from mailkeep.settings import load_settings
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, VAULT, Api, faults

DOMAIN = f"/domains/{DOMAIN_IDS[EXAMPLE]}/filtering"


def effective(answer: Answer) -> dict[str, tuple[Any, str]]:
    return {name: (field["value"], field["scope"]) for name, field in answer.data["effective"].items()}


def own(answer: Answer) -> list[Any]:
    return [answer.data[name] for name in ("junk_score", "reject_score", "digest", "learn")]


async def thresholds(api: Api, subject: Subject) -> list[tuple[float, str]]:
    """Those that a decision uses."""
    async with api.app.db.autocommit() as conn:
        policy = (await service.find_policies(conn, [subject], Facts()))[subject]
    return [(each.score, each.scope) for each in (policy.junk, policy.reject)]


async def test_each_scope_inherits_what_it_does_not_set(api: Api):
    mailbox_id = await api.mailbox()
    mailbox, subject = f"/mailboxes/{mailbox_id}/filtering", Subject(DOMAIN_IDS[EXAMPLE], mailbox_id)
    owner = await api.owner(mailbox_id)
    shown = await api.dora.get(mailbox)
    assert own(shown) == [None] * 4
    assert effective(shown) == {
        "junk_score": (6, "default"), "reject_score": ("off", "default"), "digest": ("off", "default"),
        "learn": (True, "default"),
    }  # fmt: skip
    assert shown.data["training"] == {
        "state": "unavailable", "spam_learned": 0, "ham_learned": 0, "required": 200,
        "lessons": {"accepted": 0, "dropped": 0},
    }  # fmt: skip

    assert (await api.sue.patch("/filtering", {"junk_score": 7, "learn": False})).status == 200
    assert (await api.dora.patch(DOMAIN, {"junk_score": "off", "reject_score": 12.5})).status == 200
    changed = await owner.patch("/me/filtering", {"reject_score": 0, "digest": "weekly"})
    assert own(changed) == [None, "off", "weekly", None]
    expected = {
        "junk_score": ("off", "domain"), "reject_score": ("off", "mailbox"), "digest": ("weekly", "mailbox"),
        "learn": (False, "server"),
    }  # fmt: skip
    assert effective(changed) == effective(await api.dora.get(mailbox)) == expected
    assert await thresholds(api, subject) == [(0, "domain"), (0, "mailbox")]
    assert effective(await api.dora.get(DOMAIN))["reject_score"] == (12.5, "domain")
    async with api.app.db.autocommit() as conn:
        found = await service.find_effective(conn, DOMAIN_IDS[EXAMPLE], mailbox_id)
    assert (found.digest.value, found.learn.scope) == ("weekly", "server")

    assert own(await owner.patch("/me/filtering", {"reject_score": None})) == [None, None, "weekly", None]
    assert await thresholds(api, subject) == [(0, "domain"), (12.5, "domain")]
    assert [entry["details"] for entry in await api.audit_entries("filter.update")][-1] == {
        "before": {"reject_score": "off"}, "after": {"reject_score": None},
    }  # fmt: skip


async def test_the_servers_settings_are_a_revision_and_null_unsets_them(api: Api):
    before = await api.sue.get("/filtering")
    assert own(before) == [None] * 4
    assert effective(before)["junk_score"] == (6, "default")
    changed = await api.sue.patch("/filtering", {"junk_score": "off", "reject_score": 20, "digest": "daily"})
    assert own(changed) == ["off", 20, "daily", None]
    assert effective(changed)["junk_score"] == ("off", "server")
    subject = Subject(DOMAIN_IDS[EXAMPLE])
    assert await thresholds(api, subject) == [(0, "server"), (20, "server")]
    (revision,) = (await api.sue.get("/config/revisions")).data
    assert revision["changes"] == {
        "filter.digest": {"before": None, "after": "daily"},
        "filter.reject_score": {"before": None, "after": 20},
        "filter.spam_score": {"before": None, "after": 0},
    }
    tag = changed.headers["etag"]
    assert tag != before.headers["etag"]
    stale = await api.sue("PATCH", "/filtering", {"learn": False}, headers={"if-match": before.headers["etag"]})
    assert stale.code == "PRECONDITION_FAILED"
    unset = await api.sue("PATCH", "/filtering", {"junk_score": None}, headers={"if-match": tag})
    assert own(unset) == [None, 20, "daily", None]
    assert await thresholds(api, subject) == [(6, "server"), (20, "server")]


async def test_what_the_file_or_environment_sets_can_not_be_changed(api: Api, tmp_path: Path):
    (tmp_path / "mailkeep.toml").write_text("[filter]\nspam_score = 5\n")
    api.app.loaded = load_settings(tmp_path, {"MAILKEEP_FILTER__LEARN": "false"})
    async with api.app.db.tx() as conn:
        await service.apply_settings(conn, api.app.loaded.settings, api.clock())
    refused = await api.sue.patch("/filtering", {"junk_score": 7, "learn": None, "digest": "daily"})
    assert (refused.code, faults(refused)) == ("INVALID_FIELD", ["junk_score"])
    assert "mailkeep.toml" in refused.json["error"]["details"]["fields"][0]["reason"]
    shown = await api.sue.get("/filtering")
    assert own(shown) == [5, None, None, False]


async def test_a_start_writes_the_values_of_file_and_database(api: Api, tmp_path: Path):
    await api.sue.patch("/filtering", {"reject_score": 20})
    (tmp_path / "mailkeep.toml").write_text("[filter]\nspam_score = 5\n")
    loaded = load_settings(tmp_path, {})
    async with api.app.db.tx() as conn:
        newest, _ = await stored_settings.apply_newest(conn, tmp_path, VAULT, loaded)
        await service.apply_settings(conn, newest.settings, api.clock())
    assert await thresholds(api, Subject(DOMAIN_IDS[EXAMPLE])) == [(5, "server"), (20, "server")]


@pytest.mark.parametrize(
    "body, fields",
    [
        ({"junk_score": -1}, ["junk_score"]),
        ({"junk_score": 1001, "reject_score": "on"}, ["junk_score", "reject_score"]),
        ({"junk_score": True, "digest": "hourly", "learn": "yes"}, ["junk_score", "digest", "learn"]),
        ({"digest": 0}, ["digest"]),
        ({"spam_score": 5}, ["spam_score"]),
    ],
)
async def test_invalid_settings_are_refused_everywhere(api: Api, body: dict[str, Any], fields: list[str]):
    owner = await api.owner(await api.mailbox())
    for client, path in ((api.sue, "/filtering"), (api.dora, DOMAIN), (owner, "/me/filtering")):
        refused = await client.patch(path, body)
        assert (refused.status, sorted(faults(refused))) == (400, sorted(fields)), path


async def test_of_concurrent_first_changes_both_remain(api: Api):
    answers = await asyncio.gather(
        *(api.dora.patch(DOMAIN, change) for change in ({"junk_score": 3}, {"reject_score": 9}, {"digest": "daily"}))
    )
    assert [each.status for each in answers] == [200] * 3
    assert own(await api.dora.get(DOMAIN)) == [3, 9, "daily", None]


async def test_settings_of_what_was_deleted_are_gone(api: Api):
    mailbox_id = await api.mailbox()
    path = f"/mailboxes/{mailbox_id}/filtering"
    assert (await api.dora.patch(path, {"junk_score": 3})).status == 200
    assert (await api.sue.delete(f"/mailboxes/{mailbox_id}", purge="true")).status == 200
    for answer in (await api.dora.get(path), await api.dora.patch(path, {"junk_score": 4})):
        assert answer.code == "NOT_FOUND"
    assert await api.sql("SELECT FROM filter_settings WHERE mailbox_id IS NOT NULL") == []
