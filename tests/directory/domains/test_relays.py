"""A domain's relay: its validation; its password reaches no other server and no reader."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.builders import DOMAIN_ID, list_audit_entries
from tests.support.client import Api

RELAY = {"host": "Relay.Example.test", "port": 465, "tls": "tls", "username": "shop", "password": "s3cret-word"}
SHOWN = {"host": "relay.example.test", "port": 465, "tls": "tls", "username": "shop", "has_password": True}


async def stored(api: Api) -> bytes | None:
    (row,) = await api.sql("SELECT relay_password FROM domains WHERE id = %(id)s", id=DOMAIN_ID)
    return row["relay_password"]


async def test_a_domain_has_its_own_relay_with_a_write_only_password(api: Api):
    made = (await api.adam.post("/domains", {"name": "relayed.test", "relay": RELAY})).data
    assert made["relay"] == SHOWN
    changed = (await api.adam.patch(f"/domains/{DOMAIN_ID}", {"relay": RELAY})).data
    assert changed["relay"] == SHOWN
    sealed = await stored(api)
    assert sealed
    assert b"s3cret-word" not in sealed
    assert "s3cret-word" not in str([await list_audit_entries(api), (await api.adam.get("/domains")).json])
    [*_, (_, _, details)] = await list_audit_entries(api)
    shown = {key: value for key, value in SHOWN.items() if key != "has_password"}
    assert details == {"before": {"relay": None}, "after": {"relay": shown | {"authentication": "set"}}}
    minimal = (await api.adam.patch(f"/domains/{DOMAIN_ID}", {"relay": {"host": "mx.example.test"}})).data["relay"]
    assert minimal == {
        "host": "mx.example.test", "port": 587, "tls": "starttls", "username": "", "has_password": False,
    }  # fmt: skip
    assert (await api.adam.patch(f"/domains/{DOMAIN_ID}", {"relay": None})).data["relay"] is None


@pytest.mark.parametrize(
    "change", [{"host": "evil.example.test"}, {"port": 2525}, {"tls": "starttls"}, {"username": "other"}]
)
async def test_another_host_port_tls_mode_or_user_clears_the_password(api: Api, change: dict[str, Any]):
    await api.adam.patch(f"/domains/{DOMAIN_ID}", {"relay": RELAY})
    without = {key: value for key, value in RELAY.items() if key != "password"}
    kept = await stored(api)
    assert (await api.adam.patch(f"/domains/{DOMAIN_ID}", {"relay": without})).data["relay"]["has_password"]
    assert await stored(api) == kept
    assert not (await api.adam.patch(f"/domains/{DOMAIN_ID}", {"relay": without | change})).data["relay"][
        "has_password"
    ]
    assert await stored(api) is None


async def test_a_new_password_is_in_the_audit_log_without_its_value(api: Api):
    await api.adam.patch(f"/domains/{DOMAIN_ID}", {"relay": RELAY})
    await api.adam.patch(f"/domains/{DOMAIN_ID}", {"relay": RELAY | {"password": "another-word"}})
    [*_, (action, _, details)] = await list_audit_entries(api)
    assert action == "domain.update"
    assert (details["before"]["relay"]["authentication"], details["after"]["relay"]["authentication"]) == (
        "set",
        "changed",
    )
    assert "word" not in str(details)


@pytest.mark.parametrize(
    "relay, field",
    [
        ({"host": "a b"}, "relay.host"),
        ({"host": "127.0.0.1"}, "relay.host"),
        ({"host": "10.1.2.3"}, "relay.host"),
        ({"host": "[fe80::1]"}, "relay.host"),
        ({"host": "2130706433"}, "relay.host"),
        ({"host": "relay.test", "tls": "none", "username": "shop", "password": "x"}, "relay.tls"),
        ({"host": "relay.test", "password": "x"}, "relay.username"),
        ({"host": "relay.test", "port": 0}, "relay.port"),
        ({"host": "relay.test", "tls": "ssl"}, "relay.tls"),
        ({"host": "relay.test", "user": "x"}, "relay.user"),
    ],
)
async def test_a_relay_that_would_expose_its_password_or_our_network_is_refused(
    api: Api, relay: dict[str, Any], field: str
):
    answer = await api.adam.patch(f"/domains/{DOMAIN_ID}", {"relay": relay})
    assert (answer.status, answer.code) == (400, "INVALID_FIELD"), answer.json
    assert [each["field"] for each in answer.json["error"]["details"]["fields"]] == [field]
    assert (await api.dora.patch(f"/domains/{DOMAIN_ID}", {"relay": RELAY})).code == "FORBIDDEN"
