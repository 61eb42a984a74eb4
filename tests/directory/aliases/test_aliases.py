"""Aliases over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unicodedata import normalize
from uuid import UUID

import pytest

from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client, faults, reason

HERE, THERE = str(DOMAIN_IDS[EXAMPLE]), str(DOMAIN_IDS[OTHER])
UNKNOWN = "0198f0f0-0000-7000-8000-000000000000"


async def make(client: Client, source: str = "info", destination: str = "x@else.test", **more: Any) -> Answer:
    body = {"domain_id": HERE, "source_local_part": source, "destination": destination}
    return await client.post("/aliases", body | more)


async def test_an_alias_is_created_read_changed_and_deleted(api: Api) -> None:
    created = await make(api.dora, "Info", " x@Else.test , y@else.test, X@else.test ")
    assert created.status == 201
    alias = created.data
    assert alias == {
        "id": alias["id"],
        "domain_id": HERE,
        "source_local_part": "Info",
        "destination": "x@else.test,y@else.test",
        "active": True,
        "status": {"state": "ok", "text": ""},
        "created_at": "2026-03-01T12:00:00.000Z",
        "updated_at": "2026-03-01T12:00:00.000Z",
        "warnings": [],
    }
    assert (await api.dora.get(f"/aliases/{alias['id']}")).data == alias
    api.clock.advance(minutes=1)
    changed = await api.dora.patch(f"/aliases/{alias['id']}", {"destination": "z@else.test", "active": False})
    assert changed.status == 200
    assert changed.data == alias | {
        "destination": "z@else.test",
        "active": False,
        "status": {"state": "inactive", "text": "Inactive: mail is routed as if the alias did not exist."},
        "updated_at": "2026-03-01T12:01:00.000Z",
    }
    deleted = await api.dora.delete(f"/aliases/{alias['id']}")
    assert deleted.status == 200
    assert deleted.data == {"message": "The alias is deleted.", "id": alias["id"]}
    assert (await api.dora.get(f"/aliases/{alias['id']}")).code == "NOT_FOUND"
    assert (await api.dora.delete(f"/aliases/{alias['id']}")).code == "NOT_FOUND"


async def test_each_change_has_its_row_in_the_audit_log(api: Api) -> None:
    alias = (await make(api.adam)).data["id"]
    await api.adam.patch(f"/aliases/{alias}", {"active": False})
    await api.adam.patch(f"/aliases/{alias}", {"active": False})
    await api.adam.patch(f"/aliases/{alias}", {})
    await api.adam.delete(f"/aliases/{alias}")
    (created,) = await api.audit_entries("alias.create")
    assert created["details"]["after"] == {
        "source_local_part": "info",
        "destination": "x@else.test",
        "active": True,
    }
    assert (created["resource_id"], created["domain_id"], created["domain_name"]) == (
        alias,
        DOMAIN_IDS[EXAMPLE],
        EXAMPLE,
    )
    (updated,) = await api.audit_entries("alias.update")
    assert updated["details"] == {"before": {"active": True}, "after": {"active": False}}
    (deleted,) = await api.audit_entries("alias.delete")
    assert deleted["details"]["before"]["destination"] == "x@else.test"


async def test_a_refused_alias_leaves_nothing_but_its_audit_row(api: Api) -> None:
    assert (await make(api.adam, "loop", f"loop@{EXAMPLE}")).code == "CONFLICT"
    assert await api.sql("SELECT id FROM aliases") == []
    (row,) = await api.audit_entries("alias.create")
    assert (row["outcome"], row["error_code"]) == ("failed", "CONFLICT")


@pytest.mark.parametrize(
    "body, missing",
    [
        ({}, ["destination", "domain_id", "source_local_part"]),
        ({"domain_id": HERE, "source_local_part": "", "destination": ""}, ["destination"]),
        ({"domain_id": HERE, "source_local_part": None, "destination": "x@else.test"}, ["source_local_part"]),
    ],
)
async def test_missing_fields_are_reported(api: Api, body: dict[str, Any], missing: list[str]) -> None:
    answer = await api.dora.post("/aliases", body)
    assert answer.code == "MISSING_FIELDS"
    assert faults(answer) == missing


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"domain_id": "x"}, "domain_id"),
    ({"source_local_part": "a@b"}, "source_local_part"),
    ({"source_local_part": "a\x00b"}, "source_local_part"),
    ({"destination": ["x@else.test"]}, "destination"),
    ({"destination": "nobody"}, "destination"),
    ({"destination": "x@else.test\r\nBcc: y@else.test"}, "destination"),
    ({"destination": ",".join(f"u{n}@else.test" for n in range(11))}, "destination"),
    ({"active": "yes"}, "active"),
    ({"activ": True}, "activ"),
]


async def test_invalid_fields_are_reported(api: Api) -> None:
    for more, field in WRONG:
        answer = await make(api.dora, **more)
        assert answer.code == "INVALID_FIELD", more
        assert faults(answer) == [field], more


WRONG_CHANGES: list[dict[str, Any]] = [
    {"destination": "nobody"},
    {"destination": ""},
    {"destination": None},
    {"active": None},
    {"source_local_part": "other"},
]


async def test_a_wrong_change_is_refused(api: Api) -> None:
    alias = await api.alias(f"info@{EXAMPLE}", ["x@else.test"])
    for changes in WRONG_CHANGES:
        assert (await api.dora.patch(f"/aliases/{alias}", changes)).code == "INVALID_FIELD", changes


TWINS = [("info", "info"), ("info", "INFO"), ("straße", "STRASSE"), ("u\u0308ber", "ÜBER"), ("", "")]


async def test_a_source_is_unique_in_its_domain_compared_folded(api: Api) -> None:
    for first, twin in TWINS:
        assert (await make(api.sue, first)).status == 201
        answer = await make(api.sue, twin)
        assert (answer.status, answer.code, reason(answer)) == (409, "CONFLICT", "source_taken")
        existing = f"an alias {normalize('NFC', twin)}" if twin else "a catch-all"
        assert answer.json["error"]["message"] == f"The domain already has {existing}. Edit that one instead."
        assert (await make(api.sue, twin, domain_id=THERE)).status == 201
        await api.sql("DELETE FROM aliases")


async def test_an_unknown_domain_is_not_found(api: Api) -> None:
    for client in (api.sue, api.dora, api.scoped):
        answer = await make(client, domain_id=UNKNOWN)
        assert (answer.status, answer.code) == (404, "DOMAIN_NOT_FOUND")
        answer = await client.get("/aliases", domain_id=UNKNOWN)
        assert (answer.status, answer.code) == (404, "DOMAIN_NOT_FOUND")


@pytest.mark.parametrize(
    "name, code",
    [
        ("sue", None),
        ("adam", None),
        ("unscoped", None),
        ("otto", None),
        ("dora", "FORBIDDEN"),
        ("scoped", "API_KEY_DOMAIN_SCOPE"),
    ],
)
async def test_aliases_of_other_domains_are_forbidden(api: Api, name: str, code: str | None) -> None:
    alias = await api.alias(f"info@{OTHER}", ["x@else.test"])
    client = api.callers[name]
    answers = [
        await client.get(f"/aliases/{alias}"),
        await client.patch(f"/aliases/{alias}", {"active": False}),
        await client.get("/aliases", domain_id=THERE),
        await make(client, "new", domain_id=THERE),
        await client.delete(f"/aliases/{alias}"),
    ]
    assert [answer.code for answer in answers] == [code] * len(answers)
    left = await api.sql("SELECT active FROM aliases WHERE source_key = 'info'")
    assert left == ([] if code is None else [{"active": True}])


async def test_an_inactive_domain_refuses_new_aliases_and_changes(api: Api) -> None:
    await api.domain("asleep.test", active=False)
    alias = await api.alias("info@asleep.test", ["x@else.test"])
    domain_id = (await api.sue.get(f"/aliases/{alias}")).data["domain_id"]
    assert (await make(api.sue, domain_id=domain_id)).code == "DOMAIN_INACTIVE"
    assert (await api.sue.patch(f"/aliases/{alias}", {"active": False})).code == "DOMAIN_INACTIVE"
    assert (await api.sue.delete(f"/aliases/{alias}")).status == 200


async def test_a_domain_may_limit_its_aliases(api: Api) -> None:
    await api.sql("UPDATE domains SET max_aliases = 1 WHERE name = %(name)s", name=EXAMPLE)
    assert (await make(api.dora, "one")).status == 201
    answer = await make(api.dora, "two")
    assert (answer.code, reason(answer)) == ("CONFLICT", "limit_reached")


async def test_destinations_that_lead_nowhere_are_in_warnings(api: Api) -> None:
    await api.mailbox(f"alice@{EXAMPLE}")
    created = await make(api.dora, "team", f"alice@{EXAMPLE}, ghost@{EXAMPLE}, ghost@{OTHER}, out@else.test")
    assert created.status == 201
    assert created.data["warnings"] == [
        f"ghost@{EXAMPLE} leads nowhere: nobody has this address",
        f"ghost@{OTHER} leads nowhere: nobody has this address",
    ]
    await api.mailbox(f"ghost@{EXAMPLE}")
    assert len((await api.dora.get(f"/aliases/{created.data['id']}")).data["warnings"]) == 1


async def test_warnings_show_no_details_of_other_domains(api: Api) -> None:
    await api.alias(f"team@{OTHER}", [f"secret@{OTHER}"])
    created = await make(api.dora, "team", f"team@{OTHER}")
    assert created.data["warnings"] == [f"team@{OTHER} leads nowhere: nobody has this address"]


async def test_a_list_goes_through_all_aliases_newest_first(api: Api) -> None:
    made: list[str] = []
    for number in range(5):
        made.insert(0, (await make(api.sue, f"a{number}")).data["id"])
    other = (await make(api.sue, domain_id=THERE)).data["id"]
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        page = await api.dora.get("/aliases", domain_id=HERE, limit=2, cursor=cursor)
        seen += [alias["id"] for alias in page.data]
        pagination = page.json["meta"]["pagination"]
        cursor = pagination["next_cursor"]
        assert pagination["has_more"] == bool(cursor)
        assert all("warnings" not in alias for alias in page.data)
    assert seen == made
    assert cursor == ""
    assert [alias["id"] for alias in (await api.sue.get("/aliases")).data] == [other, *made]
    upward = await api.sue.get("/aliases", order="asc")
    assert [alias["id"] for alias in upward.data] == [*reversed(made), other]
    assert {alias["domain_id"] for alias in (await api.scoped.get("/aliases")).data} == {HERE}


async def test_a_list_sorts_by_the_last_change(api: Api) -> None:
    made = [(await make(api.sue, f"a{number}")).data["id"] for number in range(3)]
    api.clock.advance(seconds=1)
    await api.sue.patch(f"/aliases/{made[0]}", {"active": False})
    expected = [made[0], made[2], made[1]]
    for query in ({}, {"domain_id": HERE}):
        seen: list[str] = []
        cursor = None
        while cursor != "":
            page = await api.sue.get("/aliases", sort="updated_at", limit=1, cursor=cursor, **query)
            seen += [alias["id"] for alias in page.data]
            cursor = page.json["meta"]["pagination"]["next_cursor"]
        assert seen == expected, query
    upward = await api.sue.get("/aliases", sort="updated_at", order="asc")
    assert [alias["id"] for alias in upward.data] == expected[::-1]


async def test_a_domain_admin_must_name_the_domain(api: Api) -> None:
    answer = await api.dora.get("/aliases")
    assert answer.code == "MISSING_FIELDS"
    assert faults(answer) == ["domain_id"]
    assert (await api.dora.get("/aliases", domain_id=HERE)).data == []


async def test_a_wrong_page_is_refused(api: Api) -> None:
    for query in ({"limit": "0"}, {"limit": "201"}, {"sort": "name"}, {"cursor": "x"}):
        assert (await api.sue.get("/aliases", **query)).code == "INVALID_PAGINATION", query


async def test_a_cursor_belongs_to_its_domain_and_its_caller(api: Api) -> None:
    for number in range(3):
        await make(api.sue, f"a{number}")
    cursor = (await api.sue.get("/aliases", domain_id=HERE, limit=1)).json["meta"]["pagination"]["next_cursor"]
    assert (await api.sue.get("/aliases", domain_id=HERE, cursor=cursor)).status == 200
    assert (await api.sue.get("/aliases", domain_id=THERE, cursor=cursor)).code == "INVALID_PAGINATION"
    assert (await api.adam.get("/aliases", domain_id=HERE, cursor=cursor)).code == "INVALID_PAGINATION"


async def test_an_unknown_alias_is_not_found(api: Api) -> None:
    for alias_id in (UNKNOWN, "x", "{0198f0f0-0000-7000-8000-000000000000}"):
        assert (await api.sue.get(f"/aliases/{alias_id}")).code == "NOT_FOUND"
        assert (await api.sue.patch(f"/aliases/{alias_id}", {"active": True})).code == "NOT_FOUND"
        assert (await api.sue.delete(f"/aliases/{alias_id}")).code == "NOT_FOUND"


async def test_a_change_applies_to_the_next_message(api: Api) -> None:
    async def decision() -> str:
        return (await api.dora.get("/routing/explain", address=f"info@{EXAMPLE}")).data["decision"]

    assert await decision() == "unknown_user"
    alias = UUID((await make(api.dora)).data["id"])
    assert await decision() == "deliver"
    await api.dora.patch(f"/aliases/{alias}", {"active": False})
    assert await decision() == "unknown_user"
    await api.dora.patch(f"/aliases/{alias}", {"active": True})
    assert await decision() == "deliver"
    await api.dora.delete(f"/aliases/{alias}")
    assert await decision() == "unknown_user"


async def test_an_alias_has_as_many_destinations_as_the_setting_allows(api: Api) -> None:
    def named(count: int) -> dict[str, str]:
        destination = ", ".join(f"person.number.{n}@elsewhere.test" for n in range(count))
        return {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "source_local_part": f"list{count}", "destination": destination}

    refused = await api.sue.post("/aliases", named(11))
    assert faults(refused) == ["destination"]
    limits = replace(api.app.settings.limits, alias_destinations=1000)
    api.app.settings = replace(api.app.settings, limits=limits)
    created = await api.sue.post("/aliases", named(1000))
    assert created.status == 201
    (warning,) = created.data["warnings"]
    assert warning.startswith("Mail is rejected: there are 1000 external destinations in all, and at most 100 are")
    assert (await api.sue.post("/aliases", named(100))).data["warnings"] == []
    assert faults(await api.sue.post("/aliases", named(1001))) == ["destination"]
    (fault,) = (await api.sue.post("/aliases", named(5000))).json["error"]["details"]["fields"]
    assert fault["reason"] == "must have at most 1000 different addresses"


async def test_the_list_is_searched_by_address_and_destination(api: Api) -> None:
    for source, destination in (("Sales", "zoe@else.test"), ("info", "ann@else.test"), ("", "zoe@else.test")):
        await make(api.sue, source, destination)

    async def found(q: str) -> list[str]:
        answer = await api.dora.get(f"/aliases?domain_id={HERE}&q={q}&order=asc")
        return [row["source_local_part"] for row in answer.data]

    assert await found("ALES") == ["Sales"]
    assert await found("sales%40example") == ["Sales"]
    assert await found("zoe") == ["Sales", ""]
    assert await found("%25") == []
    assert (await api.dora.get("/aliases?q=sales")).code == "MISSING_FIELDS"
