"""GET /abuse/overview: who is suspended, near a limit or sends most, what spikes, and where sign-ins fail."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from mailkeep.core.address import parse_address
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.abuse.model import SendCharge
from tests.support.builders import NOWHERE
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client

WHO = Principal(None, "somebody", Role.ADMIN, ActorType.SESSION)
ALICE, MALLORY = f"alice@{EXAMPLE}", f"mallory@{OTHER}"


async def read(client: Client, **query: Any) -> dict[str, Any]:
    answer = await client.get("/abuse/overview", **query)
    assert answer.status == 200, answer.body
    return answer.data


async def send(api: Api, sender: str, recipients: int) -> None:
    domain = sender.partition("@")[2]
    charge = SendCharge(parse_address(sender), DOMAIN_IDS[domain], recipients)
    assert await abuse.count(api.app, WHO, api.clock(), [charge]) == [None]


async def fill(api: Api) -> None:
    """The same in two domains: a suspended sender, one near its limit, a spike, failed sign-ins from one address."""
    for domain in (EXAMPLE, OTHER):
        await api.suspension(f"spammer@{domain}")
        await api.alert(domain, kind="spike", subject=domain, observed=900.0, baseline=155.8)
        await api.alert(domain)
    await send(api, ALICE, 900)
    await send(api, MALLORY, 800)
    await send(api, f"bob@{EXAMPLE}", 100)
    for number in range(3):
        for address in (ALICE, MALLORY):
            credentials = {"address": address, "password": f"wrong {number}"}
            assert (await api.nobody.from_address("203.0.113.9").post("/me/login", credentials)).status == 401


async def test_the_overview_shows_senders_limits_spikes_and_failed_sign_ins(api: Api):
    alice = await api.mailbox(ALICE)
    await fill(api)
    shown = await read(api.sue)
    assert {each["address"] for each in shown["suspended"]} == {f"spammer@{EXAMPLE}", f"spammer@{OTHER}"}
    assert shown["near_limit"] == [
        {
            "name": "sender_per_hour", "subject": ALICE, "domain_id": str(DOMAIN_IDS[EXAMPLE]),
            "mailbox_id": str(alice), "used": 900, "limit": 1000,
        },
        {
            "name": "sender_per_hour", "subject": MALLORY, "domain_id": str(DOMAIN_IDS[OTHER]),
            "mailbox_id": None, "used": 800, "limit": 1000,
        },
    ]  # fmt: skip
    assert [each["subject"] for each in shown["spikes"]] == [OTHER, EXAMPLE]
    assert (shown["spikes"][0]["observed"], shown["spikes"][0]["baseline"]) == (900, 155.8)
    assert [each["used"] for each in shown["top_senders"]] == [900, 800, 100]
    failures = shown["authentication_failures"]
    [address] = failures["by_address"]
    assert (address["address"], address["failures"], address["accounts"]) == ("203.0.113.9", 6, 2)
    assert [(each["account"], each["account_kind"], each["failures"]) for each in failures["by_account"]] == [
        (ALICE, "mailbox", 3),
        (MALLORY, "mailbox", 3),
    ]


@pytest.mark.parametrize("caller", ["dora", "scoped"])
async def test_others_see_only_what_belongs_to_their_domains(api: Api, caller: str):
    await fill(api)
    # The address is blocked, also because of accounts elsewhere.
    await api.sign_in_block(None, "203.0.113.9")
    await api.sign_in_block(f"mailbox:{ALICE}")
    shown = await read(getattr(api, caller))
    assert OTHER not in str(shown)
    assert [each["address"] for each in shown["suspended"]] == [f"spammer@{EXAMPLE}"]
    assert [each["subject"] for each in shown["spikes"]] == [EXAMPLE]
    assert [each["subject"] for each in shown["top_senders"]] == [ALICE, f"bob@{EXAMPLE}"]
    failures = shown["authentication_failures"]
    [address], [account] = failures["by_address"], failures["by_account"]
    assert (address["failures"], address["accounts"], address["blocked_until"]) == (3, 1, None)
    assert account["account"] == ALICE
    assert account["blocked_until"]
    assert (await read(api.sue))["authentication_failures"]["by_address"][0]["blocked_until"]
    # With a filter, those who see all see the same.
    assert await read(api.sue, domain_id=DOMAIN_IDS[EXAMPLE]) == shown
    refused = await getattr(api, caller).get("/abuse/overview", domain_id=DOMAIN_IDS[OTHER])
    assert refused.code == ("FORBIDDEN" if caller == "dora" else "API_KEY_DOMAIN_SCOPE")
    assert (await api.sue.get("/abuse/overview", domain_id=NOWHERE)).code == "DOMAIN_NOT_FOUND"


async def test_own_thresholds_decide_who_is_near_and_an_hour_later_nobody_is(api: Api):
    alice = await api.mailbox(ALICE)
    body = {"scope": "mailbox", "id": str(alice), "values": {"sender_per_hour": 10}}
    assert (await api.adam.patch("/abuse/thresholds", body)).status == 200
    body = {
        "scope": "domain",
        "id": str(DOMAIN_IDS[EXAMPLE]),
        "values": {"domain_per_hour": 100, "forward_per_hour": 5},
    }
    assert (await api.adam.patch("/abuse/thresholds", body)).status == 200
    await send(api, ALICE, 7)
    await send(api, f"bob@{EXAMPLE}", 72)
    assert await abuse.charge_forwards(api.app, api.clock(), "4jW9T1xz0bz1", {EXAMPLE: 3}) is None
    assert (await read(api.dora))["near_limit"] == []
    await send(api, ALICE, 1)
    assert await abuse.charge_forwards(api.app, api.clock(), "4jW9T1xz0bz2", {EXAMPLE: 2}) is None
    shown = await read(api.dora)
    assert [(each["name"], each["subject"], each["used"], each["limit"]) for each in shown["near_limit"]] == [
        ("forward_per_hour", EXAMPLE, 5, 5),
        ("sender_per_hour", ALICE, 8, 10),
        ("domain_per_hour", EXAMPLE, 80, 100),
    ]
    api.clock.advance(minutes=62)
    shown = await read(api.dora)
    assert (shown["near_limit"], shown["top_senders"]) == ([], [])


async def test_a_domain_that_is_added_again_starts_with_an_empty_overview(api: Api):
    """T47."""
    created = (await api.adam.post("/domains", {"name": "again.test"})).data["id"]

    await api.suspension("spammer@again.test", domain_id=UUID(created))
    await api.alert("again.test", kind="spike")
    charge = SendCharge(parse_address("a@again.test"), UUID(created), 999)
    assert await abuse.count(api.app, WHO, api.clock(), [charge]) == [None]
    credentials = {"address": "a@again.test", "password": "wrong"}
    assert (await api.nobody.from_address("203.0.113.9").post("/me/login", credentials)).status == 401
    assert all((await read(api.adam, domain_id=created)).values())
    assert (await api.adam.delete(f"/domains/{created}")).status == 200
    again = (await api.adam.post("/domains", {"name": "again.test"})).data["id"]
    assert await read(api.adam, domain_id=again) == {
        "suspended": [], "near_limit": [], "spikes": [], "top_senders": [],
        "authentication_failures": {"by_address": [], "by_account": []},
    }  # fmt: skip
