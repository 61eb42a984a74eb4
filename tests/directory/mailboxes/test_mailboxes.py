from __future__ import annotations

import asyncio
from typing import Any

import pytest
from argon2 import PasswordHasher

from mailkeep.features.directory.mailboxes import service
from tests.support.builders import DOMAIN_ID, NOWHERE, all_callers, create_domain, create_mailbox, list_audit_entries
from tests.support.client import Api


def body_of(api: Api, **more: Any) -> dict[str, Any]:
    return {"domain_id": DOMAIN_ID, "local_part": "alice", "password": "correct horse battery"} | more


async def test_a_mailbox_is_created_with_the_given_values(api: Api):
    await api.adam.patch(f"/domains/{DOMAIN_ID}", {"default_quota_bytes": 5000})
    mailbox = (await api.dora.post("/mailboxes", body_of(api, local_part="Alice+x", protocols={"pop3": False}))).data
    assert mailbox["address"] == "Alice+x@example.test"
    assert mailbox["protocols"] == {"imap": True, "pop3": False, "smtp": True, "sieve": True}
    assert mailbox["forward"] == {"destinations": [], "keep_copy": True}
    assert mailbox["quota_bytes"] == 5000
    assert (mailbox["used_bytes"], mailbox["message_count"], mailbox["suspended"], mailbox["deleted_at"]) == (
        0,
        0,
        None,
        None,
    )
    assert mailbox["last_login"] == {"at": None, "protocol": None, "ip": None}
    assert not {"password", "password_hash"} & mailbox.keys()
    assert (await api.dora.get(f"/mailboxes/{mailbox['id']}")).data == mailbox


async def test_a_password_is_stored_for_dovecot_and_never_shown(api: Api):
    mailbox = (await api.dora.post("/mailboxes", body_of(api))).data
    [row] = await api.sql("SELECT password_hash FROM mailboxes")
    scheme, _, phc = row["password_hash"].partition("}")
    assert scheme == "{ARGON2ID"
    assert phc.startswith("$argon2id$v=19$")
    assert PasswordHasher().verify(phc, "correct horse battery")
    answer = await api.dora.patch(f"/mailboxes/{mailbox['id']}", {"password": "another good one"})
    assert answer.status == 200
    [row] = await api.sql("SELECT password_hash FROM mailboxes")
    assert PasswordHasher().verify(row["password_hash"].partition("}")[2], "another good one")
    [*_, (action, _, details)] = await list_audit_entries(api)
    assert action == "mailbox.update"
    assert details == {"before": {"password": "(secret)"}, "after": {"password": "(secret)"}}
    assert "argon2" not in str(await list_audit_entries(api))


async def test_all_missing_fields_are_reported_together(api: Api):
    answer = await api.adam.post("/mailboxes", {})
    assert (answer.status, answer.code) == (400, "MISSING_FIELDS")
    assert answer.json["error"]["details"]["fields"] == [
        {"field": "domain_id", "reason": "is required"},
        {"field": "local_part", "reason": "is required"},
        {"field": "password", "reason": "one of password, password_hash, invite is required"},
    ]


@pytest.mark.parametrize(
    "changes, status, code",
    [
        ({"password": "short"}, 400, "WEAK_PASSWORD"),
        ({"password": "password123"}, 400, "WEAK_PASSWORD"),
        ({"password": "alice@example.test"}, 400, "WEAK_PASSWORD"),
        ({"password": "x" * 257}, 400, "WEAK_PASSWORD"),
        ({"password": None}, 400, "MISSING_FIELDS"),
        ({"password": ""}, 400, "MISSING_FIELDS"),
        ({"password_hash": "{SHA}x"}, 400, "INVALID_FIELD"),
        ({"password": None, "password_hash": "{ROT13}x"}, 400, "INVALID_FIELD"),
        ({"password": None, "password_hash": "{PLAIN}x"}, 400, "INVALID_FIELD"),
        ({"local_part": ""}, 400, "MISSING_FIELDS"),
        ({"local_part": "a b"}, 400, "INVALID_FIELD"),
        ({"quota_bytes": -1}, 400, "INVALID_FIELD"),
        ({"quota_bytes": "5"}, 400, "INVALID_FIELD"),
        ({"protocols": {"imap": None}}, 400, "INVALID_FIELD"),
        ({"protocols": {"ftp": True}}, 400, "INVALID_FIELD"),
        ({"forward": {"destinations": ["nobody"]}}, 400, "INVALID_FIELD"),
        ({"forward": {"destinations": [f"{n}@x.test" for n in range(11)]}}, 400, "INVALID_FIELD"),
        ({"forward": {"destinations": ["alice@example.test"]}}, 409, "CONFLICT"),
        ({"domain_id": NOWHERE}, 404, "DOMAIN_NOT_FOUND"),
        ({"domain_id": NOWHERE, "password": "short"}, 400, "WEAK_PASSWORD"),
        ({"domain_id": "x"}, 400, "INVALID_FIELD"),
    ],
)
async def test_what_is_no_mailbox_is_refused(api: Api, changes: dict[str, Any], status: int, code: str):
    answer = await api.adam.post("/mailboxes", body_of(api) | changes)
    assert (answer.status, answer.code) == (status, code), answer.json
    assert await api.sql("SELECT FROM mailboxes") == []


async def test_an_address_is_unique_in_any_spelling(api: Api):
    await create_mailbox(api, "Straße")
    for local_part in ("STRASSE", "straße", "strasse"):
        answer = await api.adam.post("/mailboxes", body_of(api, local_part=local_part))
        assert answer.json["error"]["details"]["reason"] == "address_taken"
        assert answer.json["error"]["message"].startswith(f"{local_part}@example.test already has a mailbox. Choose")


async def test_nothing_is_made_in_a_deactivated_domain(api: Api):
    await api.adam.patch(f"/domains/{DOMAIN_ID}", {"active": False})
    answer = await api.adam.post("/mailboxes", body_of(api))
    assert (answer.status, answer.code) == (403, "DOMAIN_INACTIVE")


async def test_the_limit_of_a_domain_holds_under_a_rush(api: Api):
    await api.adam.patch(f"/domains/{DOMAIN_ID}", {"max_mailboxes": 2})
    answers = await asyncio.gather(
        *(
            api.adam.post("/mailboxes", body_of(api, local_part=f"a{n}", password=None, password_hash="{SHA}x"))
            for n in range(6)
        )
    )
    assert sorted(answer.status for answer in answers) == [201, 201, 409, 409, 409, 409]
    refused = next(answer for answer in answers if answer.status == 409)
    assert refused.json["error"]["details"] == {"reason": "limit_reached", "limit": 2, "present": 2}
    assert "limit of mailboxes (max_mailboxes: 2) is reached" in refused.json["error"]["message"]


async def test_a_change_applies_only_given_fields(api: Api):
    before = await create_mailbox(api, "alice", forward={"destinations": ["a@x.test"], "keep_copy": False})
    changes = {"name": "Alice", "active": False, "quota_bytes": 7, "protocols": {"imap": False}}
    after = (await api.dora.patch(f"/mailboxes/{before['id']}", changes)).data
    expected = before | changes | {"protocols": before["protocols"] | {"imap": False}}
    assert after == expected | {"updated_at": after["updated_at"]}
    forward = {"destinations": ["b@x.test", "B@x.test"]}
    after = (await api.dora.patch(f"/mailboxes/{before['id']}", {"forward": forward})).data
    assert after["forward"] == {"destinations": ["b@x.test"], "keep_copy": False}
    after = (await api.dora.patch(f"/mailboxes/{before['id']}", {"forward": {"destinations": []}})).data
    assert after["forward"]["destinations"] == []


async def test_a_mailbox_that_moves_keeps_its_id_and_frees_its_address(api: Api):
    other = await create_domain(api, "third.test", max_mailboxes=1)
    box = await create_mailbox(api, "alice")
    moved = (await api.adam.patch(f"/mailboxes/{box['id']}", {"domain_id": other, "local_part": "al"})).data
    assert (moved["id"], moved["address"], moved["domain_id"]) == (box["id"], "al@third.test", other)
    second = await create_mailbox(api, "alice")
    answer = await api.adam.patch(f"/mailboxes/{second['id']}", {"domain_id": other})
    assert answer.json["error"]["details"]["reason"] == "limit_reached"
    assert (await api.dora.patch(f"/mailboxes/{second['id']}", {"domain_id": other})).code == "FORBIDDEN"
    await create_mailbox(api, "bob")
    answer = await api.adam.patch(f"/mailboxes/{second['id']}", {"local_part": "BOB"})
    assert answer.json["error"]["details"]["reason"] == "address_taken"
    assert (await api.dora.patch(f"/mailboxes/{box['id']}", {"name": "x"})).code == "FORBIDDEN"
    async with api.app.db.autocommit() as conn:
        found = await service.find_by_address(conn, "al@third.test")
        assert found is not None
        assert str(found.id) == box["id"]
        assert await service.find_by_address(conn, "nobody@third.test") is None


async def test_forwards_never_close_a_circle(api: Api):
    first = await create_mailbox(api, "first", forward={"destinations": ["second@example.test"]})
    second = await create_mailbox(api, "second", forward={"destinations": ["third@example.test"]})
    third = await create_mailbox(api, "third")
    back = {"forward": {"destinations": ["x@x.test", "first@example.test"]}}
    answer = await api.adam.patch(f"/mailboxes/{third['id']}", back)
    assert answer.json["error"]["details"] == {"reason": "alias_loop", "destinations": ["first@example.test"]}
    assert (await api.adam.get(f"/mailboxes/{third['id']}")).data == third
    # In the trash it closes no loop; restored or renamed it would.
    await api.adam.delete(f"/mailboxes/{second['id']}")
    assert (await api.adam.patch(f"/mailboxes/{third['id']}", back)).status == 200
    answer = await api.adam.post(f"/mailboxes/{second['id']}/restore")
    assert answer.json["error"]["details"]["reason"] == "alias_loop"
    fourth = await create_mailbox(api, "fourth", forward={"destinations": ["third@example.test"]})
    answer = await api.adam.patch(f"/mailboxes/{fourth['id']}", {"local_part": "second"})
    assert answer.json["error"]["details"]["reason"] == "alias_loop"
    assert first["forward"]["destinations"] == ["second@example.test"]


async def test_two_forwards_at_once_make_no_circle(api: Api):
    a, b = await create_mailbox(api, "a"), await create_mailbox(api, "b")
    for _ in range(5):
        answers = await asyncio.gather(
            api.adam.patch(f"/mailboxes/{a['id']}", {"forward": {"destinations": ["b@example.test"]}}),
            api.adam.patch(f"/mailboxes/{b['id']}", {"forward": {"destinations": ["a@example.test"]}}),
        )
        assert sorted(answer.status for answer in answers) == [200, 409]
        for box in (a, b):
            await api.adam.patch(f"/mailboxes/{box['id']}", {"forward": {"destinations": []}})


async def test_lists_are_filtered_and_sorted(api: Api):
    other = await create_domain(api, "third.test")
    for local_part in ("carol", "alice", "Bob"):
        await create_mailbox(api, local_part)
    away = await create_mailbox(api, "zoe", domain_id=other, active=False)
    gone = await create_mailbox(api, "gone")
    await api.adam.delete(f"/mailboxes/{gone['id']}")

    async def names(query: str, who: str = "adam") -> list[str]:
        return [row["local_part"] for row in (await api.callers[who].get(f"/mailboxes?{query}")).data]

    assert await names("") == ["zoe", "Bob", "alice", "carol"]
    assert await names("sort=address") == ["alice", "Bob", "carol", "zoe"]
    assert await names("active=false") == ["zoe"]
    assert await names(f"domain_id={other}") == ["zoe"]
    assert await names("q=BO") == ["Bob"]
    assert await names("q=third.test") == ["zoe"]
    assert await names("trashed=true") == ["gone"]
    assert await names("", "dora") == ["Bob", "alice", "carol"]
    assert await names("", "scoped") == ["Bob", "alice", "carol"]
    assert await names("", "otto") == []
    await api.adam.patch(f"/mailboxes/{away['id']}", {"name": "Zoe"})
    assert (await names("sort=updated_at"))[0] == "zoe"
    assert (await api.dora.get(f"/mailboxes?domain_id={other}")).code == "FORBIDDEN"
    assert (await api.scoped.get(f"/mailboxes?domain_id={other}")).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.adam.get(f"/mailboxes?domain_id={NOWHERE}")).code == "DOMAIN_NOT_FOUND"


@pytest.mark.parametrize("sort", ["created_at", "updated_at", "address"])
async def test_pages_cover_the_list_once(api: Api, sort: str):
    for local_part in ("c", "a", "e", "b", "d"):
        await create_mailbox(api, local_part)
    seen: list[str] = []
    cursor = ""
    while True:
        answer = await api.dora.get(f"/mailboxes?sort={sort}&limit=2&cursor={cursor}")
        seen += [row["local_part"] for row in answer.data]
        cursor = answer.json["meta"]["pagination"]["next_cursor"]
        if not cursor:
            break
    assert seen == (["a", "b", "c", "d", "e"] if sort == "address" else ["d", "b", "e", "a", "c"])


WHO_MAY = [
    ("GET", "/mailboxes/{id}", None),
    ("PATCH", "/mailboxes/{id}", {"name": "x"}),
    ("POST", "/mailboxes/{id}/suspend", {"reason": "x"}),
    ("POST", "/mailboxes/{id}/unsuspend", None),
    ("DELETE", "/mailboxes/{id}", None),
    ("POST", "/mailboxes/{id}/restore", None),
]


@pytest.mark.parametrize("method, path, body", WHO_MAY)
async def test_who_may(api: Api, method: str, path: str, body: dict[str, Any] | None):
    box = await create_mailbox(api, "alice")
    if path.endswith("restore"):
        await api.sue.delete(f"/mailboxes/{box['id']}")
    who_calls = await all_callers(api)
    for who, code in (("otto", "FORBIDDEN"), ("stray", "API_KEY_DOMAIN_SCOPE")):
        answer = await who_calls[who](method, path.format(id=box["id"]), body)
        assert (answer.status, answer.code) == (403, code)
    assert (await api.nobody(method, path.format(id=box["id"]), body)).status == 401
    assert (await api.adam(method, path.format(id=NOWHERE), body)).code == "NOT_FOUND"
    assert (await api.dora(method, path.format(id=box["id"]), body)).status == 200


async def test_mailboxes_are_made_only_where_one_may(api: Api):
    who_calls = await all_callers(api)
    for who, code in (("otto", "FORBIDDEN"), ("stray", "API_KEY_DOMAIN_SCOPE")):
        assert (await who_calls[who].post("/mailboxes", body_of(api))).code == code
    assert (await api.scoped.post("/mailboxes", body_of(api))).status == 201


async def test_a_lower_rank_keeps_off_a_mailbox_that_belongs_to_a_higher_one(api: Api):
    box = await create_mailbox(api, "sue")
    path = f"/mailboxes/{box['id']}"
    changes: list[dict[str, Any]] = [
        {"password": "correct horse battery"},
        {"password_hash": "{SHA}x"},
        {"active": False},
        {"quota_bytes": 9},
        {"protocols": {"imap": False}},
        {"forward": {"destinations": ["dora@x.test"]}},
        {"local_part": "other"},
    ]
    for who in ("dora", "adam"):
        for change in changes:
            assert (await api.callers[who].patch(path, change)).code == "FORBIDDEN"
        assert (await api.callers[who].delete(path)).code == "FORBIDDEN"
        assert (await api.callers[who].delete(path + "?purge=true")).code == "FORBIDDEN"
        assert (await api.callers[who].post(path + "/suspend", {})).code == "FORBIDDEN"
        assert (await api.callers[who].post(path + "/unsuspend")).code == "FORBIDDEN"
    assert (await api.adam.patch(path, {"name": "S"})).status == 200
    domain = {"default_quota_bytes": 9}
    assert (await api.adam.patch(f"/domains/{DOMAIN_ID}", domain)).status == 200
    assert (await api.sue.get(path)).data["quota_bytes"] == box["quota_bytes"]
    assert (await api.sue.patch(path, {"password": "correct horse battery"})).status == 200
    assert (await api.sue.delete(path)).status == 200
    assert (await api.dora.post(path + "/restore")).code == "FORBIDDEN"
    assert (await api.dora.post("/mailboxes", body_of(api, local_part="SUE"))).code == "FORBIDDEN"
    mine = (await api.dora.post("/mailboxes", body_of(api, local_part="dora"))).data
    assert (await api.dora.patch(f"/mailboxes/{mine['id']}", {"local_part": "adam"})).code == "FORBIDDEN"


async def test_mail_is_counted(api: Api):
    box = await create_mailbox(api, "alice")
    async with api.app.db.tx() as conn:
        await service.add_mail(conn, service.UUID(box["id"]), 700)
        await service.add_mail(conn, service.UUID(box["id"]), 300)
    seen = (await api.adam.get(f"/mailboxes/{box['id']}")).data
    assert (seen["used_bytes"], seen["message_count"]) == (1000, 2)
    assert (await api.adam.get(f"/domains/{DOMAIN_ID}")).data["usage"]["bytes"] == 1000
    async with api.app.db.tx() as conn:
        await service.add_mail(conn, service.UUID(box["id"]), -5000, -9)
    seen = (await api.adam.get(f"/mailboxes/{box['id']}")).data
    assert (seen["used_bytes"], seen["message_count"]) == (0, 0)
