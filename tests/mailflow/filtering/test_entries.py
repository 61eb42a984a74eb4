"""Allow and deny lists: entries, limits, import."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from mailkeep.features.mailflow.filtering.model import MAX_ENTRIES, Facts, Subject
from mailkeep.features.mailflow.filtering.service import decide, find_policies
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, Api, faults, reason

DOMAIN = f"/domains/{DOMAIN_IDS[EXAMPLE]}/filtering/entries"
SERVER = "/filtering/entries"


def entry(value: str, list_name: str = "deny", kind: str = "address", **fields: Any) -> dict[str, Any]:
    return {"list": list_name, "kind": kind, "value": value, **fields}


async def test_an_entry_applies_to_the_next_message_until_it_is_deleted(api: Api):
    owner = await api.owner(mailbox_id := await api.mailbox())
    subject, facts = Subject(DOMAIN_IDS[EXAMPLE], mailbox_id), Facts(author="spam@bad.test")

    async def action() -> str:
        async with api.app.db.autocommit() as conn:
            return decide((await find_policies(conn, [subject], facts))[subject], facts).action

    created = await owner.post("/me/filtering/entries", entry("Spam@BAD.test", comment="Offers"))
    assert created.status == 201
    assert {name: value for name, value in created.data.items() if name not in ("id", "created_at")} == {
        "list": "deny", "kind": "address", "value": "spam@bad.test", "enforced": False, "comment": "Offers",
        "created_by": f"alice@{EXAMPLE}", "hits": 0, "last_hit_at": None,
    }  # fmt: skip
    assert (await api.dora.get(f"/mailboxes/{mailbox_id}/filtering/entries")).data == [created.data]
    assert await action() == "refuse"
    deleted = await owner.delete(f"/me/filtering/entries/{created.data['id']}")
    assert deleted.data["message"] == "The entry to deny spam@bad.test was deleted."
    assert await action() == "inbox"
    assert (await owner.delete(f"/me/filtering/entries/{created.data['id']}")).code == "NOT_FOUND"
    [after] = await api.audit_entries("filter_entry.create")
    assert after["details"]["after"]["owner"] == f"alice@{EXAMPLE}"
    assert len(await api.audit_entries("filter_entry.delete")) == 2  # one was refused


async def test_an_entry_is_reached_only_by_the_path_of_its_owner(api: Api):
    mailbox_id = await api.mailbox()
    own = await api.filter_entry("a@x.test", mailbox_id=mailbox_id)
    for path in (DOMAIN, SERVER, f"/mailboxes/{await api.mailbox(f'bob@{EXAMPLE}')}/filtering/entries"):
        assert (await api.sue.delete(f"{path}/{own}")).code == "NOT_FOUND"
        assert (await api.sue.get(path)).data == []


@pytest.mark.parametrize(
    "kind, value, canonical",
    [
        ("address", "Jürgen+x@Bücher.TEST", "jürgen+x@xn--bcher-kva.test"),
        ("domain", "Bücher.test", "xn--bcher-kva.test"),
        ("domain", "NEWS.Example.co.uk", "news.example.co.uk"),
        ("network", "192.0.2.9", "192.0.2.9/32"),
        ("network", "10.0.0.0/8", "10.0.0.0/8"),
        ("network", "2001:DB8:0::/32", "2001:db8::/32"),
        ("network", "2001:db8::1", "2001:db8::1/128"),
    ],
)
async def test_values_are_stored_in_one_form(api: Api, kind: str, value: str, canonical: str):
    created = await api.sue.post(SERVER, entry(value, kind=kind))
    assert created.data["value"] == canonical
    again = await api.sue.post(SERVER, entry(canonical, kind=kind))
    assert (again.status, reason(again)) == (409, "exists")
    assert again.json["error"]["details"]["entry_id"] == created.data["id"]
    assert (await api.sue.post(SERVER, entry(canonical, "allow", kind))).status == 201


@pytest.mark.parametrize(
    "kind, value, why",
    [
        ("address", "no address", "has no @"),
        ("address", "a@", "the domain is empty"),
        ("domain", "co.uk", "public suffix"),
        ("domain", "github.io", "public suffix"),
        ("domain", "com", "public suffix"),
        ("domain", "*.example.test", "may contain only"),
        ("domain", "192.0.2.1", "is an IP address"),
        ("domain", "a@example.test", "may contain only"),
        ("network", "192.0.2.1/24", "did you mean 192.0.2.0/24"),
        ("network", "2001:db8::1/32", "did you mean 2001:db8::/32"),
        ("network", "0.0.0.0/0", "from /8 to /32"),
        ("network", "::/0", "from /16 to /64"),
        ("network", "2001:db8::/65", "from /16 to /64"),
        ("network", "::ffff:192.0.2.0/120", "IPv4"),
        ("network", "fe80::1%eth0", "zone"),
        ("network", "example.test", "must be an IP address"),
    ],
)
async def test_values_that_are_refused(api: Api, kind: str, value: str, why: str):
    refused = await api.sue.post(SERVER, entry(value, kind=kind))
    assert (refused.code, faults(refused)) == ("INVALID_FIELD", ["value"])
    assert why in refused.json["error"]["details"]["fields"][0]["reason"]


async def test_who_may_allow_networks_and_enforce_entries(api: Api):
    owner = await api.owner(mailbox_id := await api.mailbox())
    mailbox, network = f"/mailboxes/{mailbox_id}/filtering/entries", entry("192.0.2.0/24", "allow", "network")
    enforced = entry("bad.test", kind="domain", enforced=True)
    for body in (network, enforced):
        assert (await owner.post("/me/filtering/entries", body)).code == "FORBIDDEN"
    assert (await owner.post("/me/filtering/entries", network | {"list": "deny"})).status == 201
    assert (await api.dora.post(mailbox, network)).status == 201
    assert faults(await api.dora.post(mailbox, enforced)) == ["enforced"]
    assert (await api.dora.post(DOMAIN, enforced)).data["enforced"] is True
    assert faults(await api.dora.post(DOMAIN, enforced | {"list": "allow"})) == ["enforced"]
    rows = [network, enforced, entry("a@x.test")]
    imported = await owner.post("/me/filtering/entries/import", {"items": rows})
    assert [each.get("code") for each in imported.data["results"]] == ["FORBIDDEN", "FORBIDDEN", None]


async def test_an_administrator_of_lower_rank_can_not_change_the_lists_of_a_higher_one(api: Api):
    await api.sql("UPDATE admins SET email_key = %(key)s WHERE id = %(id)s", key=f"root@{EXAMPLE}", id=ADMIN_IDS["sue"])
    path = f"/mailboxes/{await api.mailbox(f'root@{EXAMPLE}')}/filtering"
    assert (await api.dora.get(path)).status == 200
    assert (await api.dora.post(f"{path}/entries", entry("a@x.test"))).code == "FORBIDDEN"
    assert (await api.dora.patch(path, {"junk_score": 1})).code == "FORBIDDEN"


async def test_pages_and_filters(api: Api):
    for number in range(5):
        api.clock.advance(seconds=1)
        await api.filter_entry(f"user{number}@x.test", ("deny", "allow")[number % 2])
    await api.filter_entry("100%.test", kind="domain", comment="Discount 100% Off")
    await api.filter_entry("elsewhere.test", kind="domain", domain_id=DOMAIN_IDS[EXAMPLE])

    async def values(**query: str) -> list[str]:
        found: list[str] = []
        while True:
            answer = await api.sue.get(SERVER, limit="2", **query)
            found += [each["value"] for each in answer.data]
            if not (cursor := answer.json["meta"]["pagination"]["next_cursor"]):
                return found
            query["cursor"] = cursor

    assert await values() == ["100%.test", *(f"user{number}@x.test" for number in reversed(range(5)))]
    assert await values(list="allow", order="asc") == ["user1@x.test", "user3@x.test"]
    assert await values(kind="domain") == await values(q="0% o") == ["100%.test"]
    assert await values(q="USER3") == ["user3@x.test"]
    assert await values(q="_") == []
    assert (await api.sue.get(SERVER, kind="none")).code == "INVALID_FIELD"


async def test_the_limit_holds_under_concurrent_calls(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(cast(Any, MAX_ENTRIES), "mailbox", 5)
    mailbox_id = await api.mailbox()
    path = f"/mailboxes/{mailbox_id}/filtering/entries"
    imports = [{"items": [entry(f"import{number}-{row}@x.test") for row in range(3)]} for number in range(2)]
    answers = await asyncio.gather(
        *(api.dora.post(path, entry(f"user{number}@x.test")) for number in range(4)),
        *(api.dora.post(f"{path}/import", body) for body in imports),
    )
    [count] = await api.sql("SELECT count(*) AS n FROM filter_entries")
    assert count["n"] == 5
    assert sum(each.status == 201 for each in answers) + sum(each.data["succeeded"] for each in answers[4:]) == 5
    refused = [each for each in answers[:4] if each.status != 201]
    assert {(each.status, reason(each)) for each in refused} <= {(409, "limit_reached")}
    full = await api.dora.post(path, entry("late@x.test"))
    assert full.json["error"]["details"] == {"reason": "limit_reached", "limit": 5}


async def test_of_identical_concurrent_entries_one_is_created(api: Api):
    for path in (SERVER, DOMAIN):
        answers = await asyncio.gather(*(api.sue.post(path, entry("a@x.test")) for _ in range(4)))
        assert sorted(each.status for each in answers) == [201, 409, 409, 409]
        ids = {each.data["id"] if each.status == 201 else each.json["error"]["details"]["entry_id"] for each in answers}
        assert len(ids) == 1


@pytest.mark.parametrize("kind", ["domains", "mailboxes"])
async def test_a_domain_or_mailbox_that_is_deleted_meanwhile(api: Api, kind: str):
    is_domain = kind == "domains"
    deleted_id = await api.domain("gone.test") if is_domain else await api.mailbox()
    path = f"/{kind}/{deleted_id}/filtering/entries"
    calls = [api.sue.post(path, entry(f"{number}@x.test")) for number in range(4)]
    purge = {} if is_domain else {"purge": "true"}
    *answers, deleted = await asyncio.gather(*calls[:2], api.sue.delete(f"/{kind}/{deleted_id}", **purge), *calls[2:])
    answers, deleted = [*answers[:2], *answers[3:], deleted], answers[2]
    assert deleted.status == 200
    assert {(each.status, each.code if each.status >= 400 else None) for each in answers} <= {
        (201, None),
        (404, "NOT_FOUND"),
    }
    assert await api.sql("SELECT FROM filter_entries") == []
    assert (await api.sue.post(path, entry("a@x.test"))).code == "NOT_FOUND"
    assert (await api.sue.post(f"{path}/import", {"items": [entry("a@x.test")]})).code == "NOT_FOUND"


async def test_entries_move_with_their_mailbox(api: Api):
    mailbox_id = await api.mailbox()
    await api.filter_entry("a@x.test", mailbox_id=mailbox_id)
    domain_id = await api.domain("new.test")
    assert (await api.sue.patch(f"/mailboxes/{mailbox_id}", {"domain_id": str(domain_id)})).status == 200
    path = f"/mailboxes/{mailbox_id}/filtering/entries"
    assert [each["value"] for each in (await api.sue.get(path)).data] == ["a@x.test"]
    assert (await api.dora.get(path)).code == "FORBIDDEN"


async def test_an_import_is_answered_row_by_row(api: Api):
    existing = await api.filter_entry("old@x.test", domain_id=DOMAIN_IDS[EXAMPLE])
    table = (
        "list,kind,value,comment,enforced\n"
        "deny,domain,Bad.test,'=Offers,TRUE\n"
        "deny,address,old@x.test,,\n"
        "deny,address,old@x.test,,true\n"
        "deny,domain,bad.test,,true\n"
        "deny,domain,com,,\n"
        "block,address,a@x.test,,\n"
        "allow,network,192.0.2.0/24,,yes\n"
        "allow,network,192.0.2.0/24,,false\n"
        "deny,address,,,\n"
    )
    answer = await api.dora("POST", f"{DOMAIN}/import", table.encode(), headers={"content-type": "text/csv"})
    assert answer.status == 200, answer.body
    assert [answer.data[name] for name in ("total", "succeeded", "failed")] == [9, 4, 5]
    results = answer.data["results"]
    assert [each.get("code") for each in results] == [
        None, None, "CONFLICT", None, "INVALID_FIELD", "INVALID_FIELD", "INVALID_FIELD", None, "MISSING_FIELDS",
    ]  # fmt: skip
    assert results[0]["id"] == results[3]["id"]
    assert results[1]["id"] == str(existing) == results[2]["details"]["entry_id"]
    stored = (await api.dora.get(DOMAIN)).data
    assert {each["value"]: (each["enforced"], each["comment"]) for each in stored} == {
        "old@x.test": (False, ""), "bad.test": (True, "=Offers"), "192.0.2.0/24": (False, ""),
    }  # fmt: skip
    [audited] = await api.audit_entries("filter_entry.import")
    assert audited["details"] == {"owner": EXAMPLE, "rows": 9, "added": 2, "failed": 5}
    again = await api.dora.post(f"{DOMAIN}/import", {"items": [entry("new@x.test"), 7]})
    assert [each.get("code") for each in again.data["results"]] == [None, "INVALID_FIELD"]
    twice = {"items": [entry("twice@x.test"), entry("twice@x.test") | {"enforced": True}]}
    first, second = (await api.dora.post(f"{DOMAIN}/import", twice)).data["results"]
    assert (second["code"], second["details"]["entry_id"]) == ("CONFLICT", first["id"])
    for body, code in (({"items": []}, "EMPTY_BATCH"), ({"items": [{}] * 10_001}, "BATCH_TOO_LARGE")):
        assert (await api.dora.post(f"{DOMAIN}/import", body)).code == code
