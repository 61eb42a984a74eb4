"""`/routing/explain`: the route that mail takes, with the details that the caller may see."""

from __future__ import annotations

import pytest

from mailkeep.features.directory.routing import rules, service
from tests.support.client import EXAMPLE, OTHER, Api, faults


async def test_an_explanation_has_decision_steps_deliveries_and_warnings(api: Api) -> None:
    mailbox = await api.mailbox(f"alice@{EXAMPLE}")
    alias = await api.alias(f"sales@{EXAMPLE}", [f"alice@{EXAMPLE}", f"ghost@{EXAMPLE}", "x@else.test"])
    explained = (await api.dora.get("/routing/explain", address=f"Sales@{EXAMPLE.upper()}")).data
    assert explained["decision"] == "deliver"
    assert explained["deliveries"] == [
        {"type": "mailbox", "address": f"alice@{EXAMPLE}", "mailbox_id": str(mailbox)},
        {"type": "external", "address": "x@else.test", "mailbox_id": None},
    ]
    assert explained["warnings"] == [f"ghost@{EXAMPLE} leads nowhere: nobody has this address"]
    assert [(step["step"], step["result"]) for step in explained["steps"][:3]] == [
        ("domain", "managed"),
        ("mailbox", "no_match"),
        ("alias", "match"),
    ]
    assert explained["steps"][2]["row"] == {"id": str(alias), "address": f"sales@{EXAMPLE}"}


async def test_an_address_of_a_foreign_domain_is_not_explained(api: Api) -> None:
    refused = {"dora": "FORBIDDEN", "scoped": "API_KEY_DOMAIN_SCOPE"}
    for name, client in api.callers.items():
        answer = await client.get("/routing/explain", address=f"alice@{OTHER}")
        assert answer.code == refused.get(name), name


async def test_details_of_a_domain_are_shown_to_those_who_may_see_it(api: Api) -> None:
    await api.mailbox(f"bob@{OTHER}")
    await api.alias(f"team@{EXAMPLE}", [f"team@{OTHER}"])
    await api.alias(f"team@{OTHER}", [f"bob@{OTHER}", "private@else.test"])
    for client in (api.dora, api.scoped):
        answer = await client.get("/routing/explain", address=f"team@{EXAMPLE}")
        assert answer.data["deliveries"] == [{"type": "external", "address": f"team@{OTHER}", "mailbox_id": None}]
        assert b"bob" not in answer.body
        assert b"private" not in answer.body
    everything = await api.adam.get("/routing/explain", address=f"team@{EXAMPLE}")
    assert [place["address"] for place in everything.data["deliveries"]] == [f"bob@{OTHER}", "private@else.test"]


async def test_an_address_of_another_server_is_reported_as_such(api: Api) -> None:
    explained = (await api.dora.get("/routing/explain", address="x@else.test")).data
    assert (explained["decision"], explained["deliveries"]) == ("not_managed", [])
    assert explained["steps"][-1]["step"] == "reject"


async def test_what_is_no_address_is_refused(api: Api) -> None:
    for address in ("x", "@else.test", "a b@else.test", "x@else.test\n", "x@[127.0.0.1]"):
        answer = await api.sue.get("/routing/explain", address=address)
        assert answer.code == "INVALID_FIELD"
        assert faults(answer) == ["address"]


async def test_an_address_must_be_given(api: Api) -> None:
    for answer in (await api.sue.get("/routing/explain"), await api.sue.get("/routing/explain", address="")):
        assert answer.code == "MISSING_FIELDS"
        assert faults(answer) == ["address"]


@pytest.mark.parametrize(
    "recipient, normalized",
    [
        ("Alice@Example.TEST", "Alice@example.test"),
        ("alice@bücher.example", "alice@xn--bcher-kva.example"),
        ('"a@b"@EXAMPLE.test', '"a@b"@example.test'),
        ("alice@[127.0.0.1]", "alice@[127.0.0.1]"),
        ("postmaster", "postmaster"),
        ("", ""),
    ],
)
def test_a_recipient_is_looked_up_by_its_a_labels(recipient: str, normalized: str) -> None:
    assert rules.normalize_recipient(recipient) == normalized


async def test_the_listener_uses_the_same_route(api: Api) -> None:
    mailbox = await api.mailbox(f"alice@{EXAMPLE}")
    async with api.app.db.autocommit() as conn:
        route = await service.route(conn, f"Alice+x@{EXAMPLE.upper()}")
        assert (await service.route(conn, f"nobody@{EXAMPLE}")).decision == "unknown_user"
        assert (await service.route(conn, "postmaster")).decision == "no_administrator"
    assert route.decision == "deliver"
    (place,) = route.deliveries
    assert (place.type, place.address, place.mailbox_id) == ("mailbox", f"Alice+x@{EXAMPLE}", mailbox)
