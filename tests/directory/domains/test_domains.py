from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.builders import DOMAIN_ID, NOWHERE, all_callers, create_domain, create_mailbox, list_audit_entries
from tests.support.client import Api


async def test_a_domain_is_created_with_the_given_values(api: Api):
    body = {"name": "bücher.TEST", "max_aliases": 0, "description": "a\nb"}
    domain = (await api.adam.post("/domains", body)).data
    assert domain["name"] == "xn--bcher-kva.test"
    assert domain["unicode_name"] == "bücher.test"
    assert domain["plus_delimiter"] == "+"
    assert (domain["max_mailboxes"], domain["max_aliases"]) == (None, 0)
    assert domain["usage"] == {"mailboxes": 0, "aliases": 0, "bytes": 0, "alias_domains": 0}
    assert domain["dns"] == {"status": "unchecked", "checked_at": None}
    assert domain["active"]
    assert domain["sending_enabled"]
    assert domain["receiving_enabled"]
    assert (await api.adam.get(f"/domains/{domain['id']}")).data == domain


@pytest.mark.parametrize(
    "body, code",
    [
        ({}, "MISSING_FIELDS"),
        ({"name": ""}, "MISSING_FIELDS"),
        ({"name": "localhost"}, "INVALID_FIELD"),
        ({"name": "a..test"}, "INVALID_FIELD"),
        ({"name": "Ü.test"}, "INVALID_FIELD"),
        ({"name": "127.0.0.1"}, "INVALID_FIELD"),
        ({"name": "a_b.test"}, "INVALID_FIELD"),
        ({"name": "a.test", "max_mailboxes": -1}, "INVALID_FIELD"),
        ({"name": "a.test", "max_mailboxes": True}, "INVALID_FIELD"),
        ({"name": "a.test", "default_quota_bytes": 2**60}, "INVALID_FIELD"),
        ({"name": "a.test", "plus_delimiter": "++"}, "INVALID_FIELD"),
        ({"name": "a.test", "plus_delimiter": "a"}, "INVALID_FIELD"),
        ({"name": "a.test", "plus_delimiter": "."}, "INVALID_FIELD"),
        ({"name": "a.test", "actve": False}, "INVALID_FIELD"),
        ({"name": "EXAMPLE.test"}, "DOMAIN_EXISTS"),
    ],
)
async def test_an_invalid_name_is_refused(api: Api, body: dict[str, Any], code: str):
    answer = await api.adam.post("/domains", body)
    assert (answer.status, answer.code) == (409 if code == "DOMAIN_EXISTS" else 400, code)


async def test_of_many_concurrent_creations_one_succeeds(api: Api):
    answers = await asyncio.gather(*(api.adam.post("/domains", {"name": "race.test"}) for _ in range(5)))
    assert sorted(answer.status for answer in answers) == [201, 409, 409, 409, 409]


async def test_a_change_applies_only_given_fields(api: Api):
    before = (await api.adam.get(f"/domains/{DOMAIN_ID}")).data
    api.clock.advance(seconds=1)
    changes = {"active": False, "max_mailboxes": 3, "plus_delimiter": None, "sending_enabled": False}
    after = (await api.sue.patch(f"/domains/{DOMAIN_ID}", changes)).data
    assert after == before | changes | {"updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]
    cleared = (await api.adam.patch(f"/domains/{DOMAIN_ID}", {"max_mailboxes": None})).data
    assert cleared["max_mailboxes"] is None
    [*_, (action, outcome, details)] = await list_audit_entries(api)
    assert (action, outcome) == ("domain.update", "success")
    assert details == {"before": {"max_mailboxes": 3}, "after": {"max_mailboxes": None}}


@pytest.mark.parametrize(
    "body", [{"name": "other.test"}, {"active": None}, {"description": None}, {"plus_delimiter": "x"}]
)
async def test_an_empty_change_is_refused(api: Api, body: dict[str, Any]):
    assert (await api.adam.patch(f"/domains/{DOMAIN_ID}", body)).code == "INVALID_FIELD"


async def test_a_change_without_effect_is_not_audited(api: Api):
    before = (await api.adam.get(f"/domains/{DOMAIN_ID}")).data
    entries = len(await list_audit_entries(api))
    assert (await api.adam.patch(f"/domains/{DOMAIN_ID}", {"active": True})).data == before
    assert len(await list_audit_entries(api)) == entries


async def test_a_domain_in_use_can_not_be_deleted(api: Api):
    await create_mailbox(api, "alice")
    await api.sql(
        """
        INSERT INTO aliases (id, domain_id, source_local_part, source_key, destinations, destination_keys, active,
                             created_at, updated_at)
        VALUES (gen_random_uuid(), %(id)s, 'a', 'a', '{b@x.test}', '{b@x.test}', true, %(at)s, %(at)s)
        """,
        id=DOMAIN_ID,
        at=api.clock.now,
    )
    answer = await api.adam.delete(f"/domains/{DOMAIN_ID}")
    assert (answer.status, answer.code) == (409, "CONFLICT")
    counts = {"mailboxes": 1, "aliases": 1, "alias_domains": 0}
    assert answer.json["error"]["details"] == {"reason": "has_dependents", **counts, "scheduled_messages": 0}
    assert answer.json["error"]["message"] == "Delete the domain's mailboxes (1) and aliases (1) first."
    usage = (await api.adam.get(f"/domains/{DOMAIN_ID}")).data["usage"]
    assert usage == {"bytes": 0, **counts}


async def test_a_domain_is_deleted_with_its_keys_and_its_trash(api: Api):
    box = await create_mailbox(api, "alice")
    await api.sue.delete(f"/mailboxes/{box['id']}")
    assert (await api.adam.delete(f"/domains/{DOMAIN_ID}")).status == 200
    assert [row["name"] for row in await api.sql("SELECT name FROM domains")] == ["other.test"]
    assert await api.sql("SELECT FROM mailboxes") == []
    assert [str(row["mailbox_id"]) for row in await api.sql("SELECT mailbox_id FROM mail_removals")] == [box["id"]]
    assert (await api.adam.get(f"/domains/{DOMAIN_ID}")).code == "NOT_FOUND"


async def test_lists_are_filtered_and_sorted(api: Api):
    await create_domain(api, "alpha.test", active=False)
    await create_domain(api, "bücher.test")

    who_calls = await all_callers(api)

    async def names(query: str, who: str = "adam") -> list[str]:
        return [row["name"] for row in (await who_calls[who].get(f"/domains?{query}")).data]

    assert await names("") == ["xn--bcher-kva.test", "alpha.test", "other.test", "example.test"]
    assert await names("sort=name") == ["alpha.test", "example.test", "other.test", "xn--bcher-kva.test"]
    assert await names("active=false") == ["alpha.test"]
    assert await names("name=AMPLE") == ["example.test"]
    assert await names("name=b%C3%BCcher") == ["xn--bcher-kva.test"]
    assert await names("", "dora") == ["example.test"]
    assert await names("", "scoped") == ["example.test"]
    assert await names("", "otto") == ["other.test"]
    assert await names("", "stray") == ["other.test"]


@pytest.mark.parametrize("sort", ["created_at", "updated_at", "name"])
async def test_pages_cover_the_list_once(api: Api, sort: str):
    for letter in "cab":
        api.clock.advance(seconds=1)
        await create_domain(api, f"{letter}.test")
    seen: list[str] = []
    cursor = ""
    while True:
        answer = await api.adam.get(f"/domains?sort={sort}&limit=2&cursor={cursor}")
        seen += [row["name"] for row in answer.data]
        pagination = answer.json["meta"]["pagination"]
        if not pagination["has_more"]:
            break
        cursor = pagination["next_cursor"]
    names = ["a.test", "b.test", "c.test", "example.test", "other.test"]
    assert seen == (names if sort == "name" else ["b.test", "a.test", "c.test", "other.test", "example.test"])


WHO_MAY = [
    ("GET", "/domains/{id}", {"sue": 200, "adam": 200, "dora": 200, "scoped": 200, "otto": 403, "stray": 403}),
    ("PATCH", "/domains/{id}", {"sue": 200, "adam": 200, "dora": 403, "scoped": 200, "otto": 403, "stray": 403}),
    ("POST", "/domains", {"sue": 201, "adam": 201, "dora": 403, "scoped": 403, "otto": 403, "stray": 403}),
    ("DELETE", "/domains/{id}", {"dora": 403, "otto": 403, "stray": 403, "scoped": 200}),
    ("GET", "/domains/{id}/dkim-keys", {"sue": 200, "dora": 200, "scoped": 200, "otto": 403, "stray": 403}),
]


@pytest.mark.parametrize("method, path, expected", WHO_MAY)
async def test_permissions_by_role(api: Api, method: str, path: str, expected: dict[str, int]):
    who_calls = await all_callers(api)
    for who, status in expected.items():
        body = {"POST": {"name": f"by-{who}.test"}, "PATCH": {"description": who}}.get(method)
        answer = await who_calls[who](method, path.format(id=DOMAIN_ID), body)
        assert answer.status == status, (who, answer.json)
        if status == 403:
            assert answer.code == ("API_KEY_DOMAIN_SCOPE" if who in ("scoped", "stray") else "FORBIDDEN")


@pytest.mark.parametrize("domain_id", [NOWHERE, "x", NOWHERE.upper().replace("0", "A")])
async def test_an_unknown_domain_is_not_found(api: Api, domain_id: str):
    for method, suffix in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/dkim-keys")):
        answer = await api.adam(method, f"/domains/{domain_id}{suffix}", {} if method == "PATCH" else None)
        assert (answer.status, answer.code) == (404, "NOT_FOUND")


async def test_a_refused_change_is_in_the_audit_log(api: Api):
    await api.dora.delete(f"/domains/{DOMAIN_ID}")
    [*_, (action, outcome, _)] = await list_audit_entries(api)
    assert (action, outcome) == ("domain.delete", "denied")
