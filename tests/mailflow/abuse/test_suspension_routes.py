"""/abuse/suspensions: visibility and lifting."""

from __future__ import annotations

import pytest

from tests.support.builders import NOWHERE, all_callers, create_mailbox
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api


async def test_the_json_of_a_suspension(api: Api):
    box = await create_mailbox(api, "Alice")
    await api.adam.post(f"/mailboxes/{box['id']}/suspend", {"reason": "spam"})
    [shown] = (await api.adam.get("/abuse/suspensions")).data
    assert shown | {"id": "", "at": ""} == {
        "id": "",
        "domain_id": str(DOMAIN_IDS[EXAMPLE]),
        "address": f"Alice@{EXAMPLE}",
        "reason": "spam",
        "by": {"kind": "admin", "label": f"adam@{EXAMPLE}"},
        "at": "",
    }
    assert shown["at"].endswith("Z")
    assert (await api.adam.get(f"/abuse/suspensions/{shown['id']}")).data == shown


async def test_who_sees_which_suspensions(api: Api):
    ids = [str(await api.suspension(f"noisy@{name}")) for name in (EXAMPLE, OTHER)]
    seen = {"sue": ids, "adam": ids, "unscoped": ids, "scoped": ids[:1], "stray": ids[1:]}
    for name, client in (await all_callers(api)).items():
        listed = await client.get("/abuse/suspensions")
        if name not in seen:
            assert (listed.status, listed.code) == (403, "FORBIDDEN")
            assert (await client.get(f"/abuse/suspensions/{ids[0]}")).code == "FORBIDDEN"
            assert (await client.delete(f"/abuse/suspensions/{ids[0]}")).code == "FORBIDDEN"
            continue
        assert sorted(row["id"] for row in listed.data) == sorted(seen[name])
        for suspension in ids:
            code = None if suspension in seen[name] else "API_KEY_DOMAIN_SCOPE"
            assert (await client.get(f"/abuse/suspensions/{suspension}")).code == code
            if code:
                assert (await client.delete(f"/abuse/suspensions/{suspension}")).code == code


async def test_the_list_is_filtered_sorted_and_paged(api: Api):
    for local_part in ("c", "a", "b"):
        await api.suspension(f"{local_part}@{EXAMPLE}")
    await api.suspension(f"z@{OTHER}")

    async def listed(**query: object) -> list[str]:
        found: list[str] = []
        cursor = None
        while cursor != "":
            answer = await api.adam.get("/abuse/suspensions", limit=2, cursor=cursor, **query)
            assert answer.status == 200, answer.body
            found += [row["address"][0] for row in answer.data]
            cursor = answer.json["meta"]["pagination"]["next_cursor"]
        return found

    assert await listed() == ["z", "b", "a", "c"]
    assert await listed(domain_id=DOMAIN_IDS[EXAMPLE]) == ["b", "a", "c"]
    assert await listed(sort="address") == ["a", "b", "c", "z"]
    assert (await api.adam.get("/abuse/suspensions", domain_id=NOWHERE)).code == "DOMAIN_NOT_FOUND"
    assert (await api.scoped.get("/abuse/suspensions", domain_id=DOMAIN_IDS[OTHER])).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.adam.get("/abuse/suspensions", sort="reason")).code == "INVALID_PAGINATION"


@pytest.mark.parametrize("by", ["rules", "admin"])
async def test_lifting_the_suspension_of_a_sender_without_a_mailbox(api: Api, by: str):
    suspension = await api.suspension(f"noisy@{EXAMPLE}", by_kind=by)
    answer = await api.scoped.delete(f"/abuse/suspensions/{suspension}")
    assert answer.status == 200, answer.body
    assert (answer.data["id"], answer.data["address"]) == (str(suspension), f"noisy@{EXAMPLE}")
    assert (await api.adam.get("/abuse/suspensions")).data == []
    assert (await api.adam.delete(f"/abuse/suspensions/{suspension}")).code == "NOT_FOUND"
    lifted, refused = await api.audit_entries("sender.unsuspend")
    assert lifted["details"] == {
        "before": {"address": f"noisy@{EXAMPLE}", "suspended": {"reason": "too many", "by": "rules"}},
        "after": {"address": f"noisy@{EXAMPLE}", "suspended": None},
    }
    assert (lifted["resource_type"], lifted["domain_name"]) == ("suspension", EXAMPLE)
    assert (refused["outcome"], refused["error_code"]) == ("failed", "NOT_FOUND")


async def test_a_replaced_suspension_is_not_found(api: Api):
    box = await create_mailbox(api, "alice")
    await api.adam.post(f"/mailboxes/{box['id']}/suspend", {})
    [first] = (await api.adam.get("/abuse/suspensions")).data
    await api.sue.post(f"/mailboxes/{box['id']}/suspend", {})
    assert (await api.adam.delete(f"/abuse/suspensions/{first['id']}")).code == "NOT_FOUND"
    [second] = (await api.adam.get("/abuse/suspensions")).data
    assert (await api.adam.delete(f"/abuse/suspensions/{second['id']}")).status == 200
    assert (await api.adam.get(f"/mailboxes/{box['id']}")).data["suspended"] is None


async def test_only_a_higher_rank_lifts_the_suspension_of_its_mailbox(api: Api):
    suspension = await api.suspension(f"SUE@{EXAMPLE}")
    assert (await api.adam.delete(f"/abuse/suspensions/{suspension}")).code == "FORBIDDEN"
    assert (await api.sue.delete(f"/abuse/suspensions/{suspension}")).status == 200
