"""Replies to Postfix's lookups of a recipient, for mail from outside and for submission."""

from typing import LiteralString

import pytest

from tests.support.client import EXAMPLE, Api

_PAUSED = "450 4.2.1 The domain is inactive; try again later"
_QUERIES: dict[str, LiteralString] = {
    "mta_recipient": "SELECT a FROM mta_recipient(%(local)s, %(domain)s) a",
    "mta_domain_inactive": "SELECT a FROM mta_domain_inactive(%(local)s, %(domain)s) a",
}


async def _replies(api: Api, function: str, local_part: str, domain: str) -> list[str]:
    return [row["a"] for row in await api.sql(_QUERIES[function], local=local_part, domain=domain)]


@pytest.mark.parametrize("domain", [EXAMPLE, EXAMPLE.upper()])
async def test_port_25_refuses_addresses_without_a_recipient(api: Api, domain: str) -> None:
    await api.mailbox(f"alice@{EXAMPLE}")
    asleep = await api.mailbox(f"bob@{EXAMPLE}")
    await api.sue.patch(f"/mailboxes/{asleep}", {"active": False})
    await api.alias(f"sales@{EXAMPLE}", ["someone@elsewhere.test"])
    replies = {
        local: await _replies(api, "mta_recipient", local, domain) for local in ("alice", "Alice", "sales", "bob", "no")
    }
    assert replies == {
        "alice": [],
        "Alice": [],
        "sales": ["expanding"],
        "bob": ["550 5.2.1 Mailbox disabled"],
        "no": ["550 5.1.1 User unknown"],
    }


async def test_a_deactivated_domain_is_deferred_on_both(api: Api) -> None:
    await api.mailbox(f"alice@{EXAMPLE}")
    domain = (await api.sql("SELECT id FROM domains WHERE name = %(name)s", name=EXAMPLE))[0]["id"]
    await api.sue.patch(f"/domains/{domain}", {"active": False})
    for function in ("mta_recipient", "mta_domain_inactive"):
        assert await _replies(api, function, "alice", EXAMPLE) == [_PAUSED]
        assert await _replies(api, function, "alice", EXAMPLE.upper()) == [_PAUSED]


async def test_submission_gets_no_other_replies(api: Api) -> None:
    for local_part, domain in (("no", EXAMPLE), ("someone", "elsewhere.test")):
        assert await _replies(api, "mta_domain_inactive", local_part, domain) == []
    assert await _replies(api, "mta_recipient", "someone", "elsewhere.test") == []
