from __future__ import annotations

import pytest

from tests.support.builders import create_mailbox, list_audit_entries
from tests.support.client import Api


async def suspended(api: Api, key: str) -> bool:
    rows = await api.sql("SELECT id FROM suspensions WHERE address_key = %(key)s", key=key)
    return bool(rows)


async def test_a_suspension_is_shown_on_the_address_and_the_mailbox(api: Api):
    box = await create_mailbox(api, "Alice")
    answer = await api.dora.post(f"/mailboxes/{box['id']}/suspend", {"reason": "spam"})
    assert answer.data["id"] == box["id"]
    shown = answer.data["suspended"]
    assert (shown["reason"], shown["by"]) == ("spam", "dora@example.test")
    assert (await api.dora.get(f"/mailboxes/{box['id']}")).data["suspended"] == shown
    assert await suspended(api, "alice@example.test")
    answer = await api.dora.post(f"/mailboxes/{box['id']}/unsuspend")
    assert answer.data["suspended"] is None
    assert not await suspended(api, "alice@example.test")
    assert [row[0] for row in await list_audit_entries(api)][-2:] == ["mailbox.suspend", "mailbox.unsuspend"]


@pytest.mark.parametrize("by, role", [("sue", "super_admin"), ("adam", "admin"), ("unscoped", "super_admin")])
async def test_callers_who_do_not_see_all_admins_see_the_suspenders_role(api: Api, by: str, role: str):
    box = await create_mailbox(api, "alice")
    name = (await api.callers[by].post(f"/mailboxes/{box['id']}/suspend", {})).data["suspended"]["by"]
    assert name != role
    for reader, seen in (("sue", name), ("adam", name), ("dora", role), ("scoped", role)):
        client, found = api.callers[reader], list[str]()
        found.append((await client.get(f"/mailboxes/{box['id']}")).data["suspended"]["by"])
        found += [row["suspended"]["by"] for row in (await client.get("/mailboxes", q="alice")).data]
        found.append((await client.patch(f"/mailboxes/{box['id']}", {"name": reader})).data["suspended"]["by"])
        if reader == "dora":
            found.append((await client.post(f"/mailboxes/{box['id']}/suspend", {})).data["suspended"]["by"])
        else:
            found += [row["by"]["label"] for row in (await client.get("/abuse/suspensions")).data]
        assert found == [seen] * 4, reader


async def test_lifting_what_is_not_suspended_changes_nothing(api: Api):
    box = await create_mailbox(api, "alice")
    entries = len(await list_audit_entries(api))
    assert (await api.dora.post(f"/mailboxes/{box['id']}/unsuspend")).data["suspended"] is None
    assert len(await list_audit_entries(api)) == entries


@pytest.mark.parametrize(
    "by, lifted_by",
    [
        ("dora", {"dora": 200}),
        ("adam", {"dora": 403, "scoped": 200}),
        ("sue", {"dora": 403, "adam": 200}),
        ("rules", {"dora": 403, "adam": 200}),
    ],
)
async def test_who_may_lift_a_suspension(api: Api, by: str, lifted_by: dict[str, int]):
    box = await create_mailbox(api, "alice")
    if by == "rules":
        await api.suspension("alice@example.test")
    else:
        await api.callers[by].post(f"/mailboxes/{box['id']}/suspend", {})
    for who, status in lifted_by.items():
        assert (await api.callers[who].post(f"/mailboxes/{box['id']}/unsuspend")).status == status
    assert not await suspended(api, "alice@example.test")


@pytest.mark.parametrize(
    "first, second, holder",
    [
        ("dora", "dora", "second"),
        ("dora", "adam", "second"),
        ("adam", "dora", "first"),
        ("sue", "adam", "first"),
        ("rules", "dora", "first"),
        ("rules", "adam", "second"),
    ],
)
async def test_a_lower_rank_does_not_replace_a_suspension(api: Api, first: str, second: str, holder: str):
    box = await create_mailbox(api, "alice")
    if first == "rules":
        await api.suspension("alice@example.test")
    else:
        await api.callers[first].post(f"/mailboxes/{box['id']}/suspend", {"reason": "first"})
    answer = await api.callers[second].post(f"/mailboxes/{box['id']}/suspend", {"reason": "second"})
    assert answer.status == 200
    assert (answer.data["suspended"]["reason"] == "second") == (holder == "second")


async def test_an_address_that_is_assigned_again_is_still_suspended(api: Api):
    box = await create_mailbox(api, "alice")
    await api.adam.post(f"/mailboxes/{box['id']}/suspend", {"reason": "spam"})
    await api.dora.delete(f"/mailboxes/{box['id']}?purge=true")
    assert (await create_mailbox(api, "ALICE"))["suspended"]["reason"] == "spam"


async def test_a_reason_is_text_of_at_most_500_characters(api: Api):
    box = await create_mailbox(api, "alice")
    for reason in ("x" * 501, 7, "a\x00b"):
        answer = await api.adam.post(f"/mailboxes/{box['id']}/suspend", {"reason": reason})
        assert answer.code == "INVALID_FIELD"
