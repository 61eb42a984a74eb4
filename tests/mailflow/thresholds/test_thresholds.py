"""/abuse/thresholds: values of domains and mailboxes, who may set which, and that every way of sending uses them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from mailkeep.core.address import parse_address
from mailkeep.core.errors import RateLimitExceeded
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.mailflow.abuse import service
from mailkeep.features.mailflow.abuse.model import SendCharge
from tests.support.builders import NOWHERE
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client

DOMAIN = DOMAIN_IDS[EXAMPLE]
WHO = Principal(None, "somebody", Role.ADMIN, ActorType.SESSION)


async def read(client: Client, **query: Any) -> dict[str, Any]:
    return (await client.get("/abuse/thresholds", **query)).data["values"]


async def change(client: Client, subject: UUID, scope: str = "domain", **values: float | None) -> Answer:
    return await client.patch("/abuse/thresholds", {"scope": scope, "id": str(subject), "values": values})


async def sender_limit(api: Api, mailbox_id: UUID) -> tuple[float, str]:
    shown = (await read(api.dora, scope="mailbox", id=mailbox_id))["sender_per_hour"]
    return shown["value"], shown["source"]


async def limit_of(api: Api, sender: str) -> int:
    """The limit that a message beyond every limit exceeds."""
    charge = SendCharge(parse_address(sender), DOMAIN, 10**8)
    [refusal] = await service.count(api.app, WHO, api.clock(), [charge])
    assert isinstance(refusal, RateLimitExceeded)
    assert refusal.details
    return int(refusal.details["limit"])


async def test_the_usage_of_a_domain_is_shown_with_its_limits(api: Api):
    assert await service.charge_forwards(api.app, api.clock(), "4jW9T1xz0bz1", {EXAMPLE: 7}) is None
    shown = await read(api.sue, scope="domain", id=DOMAIN)
    assert shown["forward_per_hour"] == {
        "value": 10_000,
        "source": "global",
        "inherited": 10_000,
        "highest": 10_000,
        "used": 7,
    }
    assert (shown["domain_per_hour"]["used"], shown["sender_per_hour"]["used"]) == (0, None)
    api.clock.advance(minutes=62)
    assert (await read(api.sue, scope="domain", id=DOMAIN))["forward_per_hour"]["used"] == 0
    assert {each["used"] for each in (await read(api.dora)).values()} == {None}


async def test_the_most_specific_value_counts_and_a_lowered_ceiling_holds(api: Api):
    mailbox = await api.mailbox()
    assert await sender_limit(api, mailbox) == (1000, "global")
    assert (await change(api.adam, DOMAIN, sender_per_hour=800)).status == 200
    assert await sender_limit(api, mailbox) == (800, "domain")
    # A domain_admin lowers, for a mailbox also above its own value of the domain, never above the admin's.
    assert (await change(api.dora, DOMAIN, sender_per_hour=300)).status == 200
    assert (await change(api.dora, mailbox, "mailbox", sender_per_hour=500)).status == 200
    assert await sender_limit(api, mailbox) == (500, "mailbox")
    assert await limit_of(api, f"alice@{EXAMPLE}") == 500
    assert await limit_of(api, f"somebody@{EXAMPLE}") == 300
    refused = await change(api.dora, mailbox, "mailbox", sender_per_hour=801, domain_per_hour=9)
    assert refused.code == "INVALID_FIELD"
    assert [each["field"] for each in refused.json["error"]["details"]["fields"]] == [
        "values.sender_per_hour",
        "values.domain_per_hour",
    ]
    # The admin's value is lowered below the mailbox's.
    assert (await change(api.adam, DOMAIN, sender_per_hour=100)).status == 200
    assert await sender_limit(api, mailbox) == (100, "domain")
    assert await limit_of(api, f"alice@{EXAMPLE}") == 100
    # An admin's own value for the mailbox holds, also above those of the domain and of the settings.
    assert (await change(api.adam, mailbox, "mailbox", sender_per_hour=5000, bounce_act=12)).status == 200
    assert await limit_of(api, f"alice@{EXAMPLE}") == 5000
    assert (await change(api.dora, mailbox, "mailbox", sender_per_hour=4000)).status == 200
    assert (await change(api.dora, mailbox, "mailbox", sender_per_hour=None)).status == 200
    assert await sender_limit(api, mailbox) == (5000, "mailbox")
    assert (await change(api.adam, mailbox, "mailbox", sender_per_hour=None)).status == 200
    assert await sender_limit(api, mailbox) == (100, "domain")


async def test_a_mailbox_has_its_limit_for_addresses_with_tags(api: Api):
    mailbox = await api.mailbox()
    assert (await change(api.adam, mailbox, "mailbox", sender_per_hour=5)).status == 200
    assert await limit_of(api, f"alice+news@{EXAMPLE}") == 5


async def test_forwards_count_for_the_forwarding_domain(api: Api):
    assert (await change(api.dora, DOMAIN, forward_per_hour=5)).status == 200
    assert await service.charge_forwards(api.app, api.clock(), "q1", {EXAMPLE: 5, OTHER: 50}) is None
    refusal = await service.charge_forwards(api.app, api.clock(), "q2", {EXAMPLE: 1, OTHER: 1})
    assert isinstance(refusal, RateLimitExceeded)
    assert (refusal.details or {})["limit"] == 5
    async with api.app.db.autocommit() as conn:
        assert await service.forward_use(api.app, conn, EXAMPLE) == (5, 5)
        assert await service.forward_use(api.app, conn, OTHER) == (50, 10_000)


async def test_a_domain_that_is_added_again_starts_without_thresholds(api: Api):
    """T47."""
    created = (await api.adam.post("/domains", {"name": "again.test"})).data["id"]
    assert (await change(api.adam, created, sender_per_hour=7)).status == 200
    assert (await api.adam.delete(f"/domains/{created}")).status == 200
    again = (await api.adam.post("/domains", {"name": "again.test"})).data["id"]
    assert (await read(api.adam, scope="domain", id=again))["sender_per_hour"]["source"] == "global"


@pytest.mark.parametrize(
    "values, field",
    [
        ({"sender_per_hour": 0}, "values.sender_per_hour"),
        ({"sender_per_hour": 1.5}, "values.sender_per_hour"),
        ({"forward_per_hour": 10**9 + 1}, "values.forward_per_hour"),
        ({"unknown": 1}, "values.unknown"),
    ],
)
async def test_invalid_values_are_refused_and_change_nothing(api: Api, values: dict[str, float], field: str):
    body = {"scope": "domain", "id": str(DOMAIN), "values": values}
    refused = await api.adam.patch("/abuse/thresholds", body)
    assert refused.code == "INVALID_FIELD"
    assert refused.json["error"]["details"]["fields"][0]["field"] == field
    assert await api.sql("SELECT FROM thresholds") == []


async def test_invalid_scopes_are_refused(api: Api):
    mailbox = await api.mailbox()
    assert (await api.sue.get("/abuse/thresholds", scope="domain")).code == "MISSING_FIELDS"
    assert (await api.sue.get("/abuse/thresholds", id=DOMAIN)).code == "INVALID_FIELD"
    assert (await api.sue.get("/abuse/thresholds", scope="planet")).code == "INVALID_FIELD"
    assert (await api.sue.get("/abuse/thresholds", scope="domain", id=NOWHERE)).code == "DOMAIN_NOT_FOUND"
    assert (await api.sue.get("/abuse/thresholds", scope="mailbox", id=NOWHERE)).code == "NOT_FOUND"
    assert (await change(api.sue, mailbox, "mailbox", domain_per_hour=5)).code == "INVALID_FIELD"
    everything = await api.sue.patch("/abuse/thresholds", {"scope": "global", "values": {"sender_per_hour": 1}})
    assert everything.code == "INVALID_FIELD"
    scoped = await api.scoped.get("/abuse/thresholds", scope="domain", id=DOMAIN_IDS[OTHER])
    assert scoped.code == "API_KEY_DOMAIN_SCOPE"
