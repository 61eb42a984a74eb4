"""The requests of the filter: signing keys, and verdicts on incoming mail."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import DatabasePool
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.mail.smtp import unix_socket
from mailkeep.run.processes.keys import KeysListener
from tests.support.client import EXAMPLE, Api

ALICE = f"alice@{EXAMPLE}"


@pytest.fixture
async def listener(api: Api) -> KeysListener:
    await api.mailbox(ALICE)
    return KeysListener(api.app, HitCounter(api.app))


async def test_managed_domains_have_keys(api: Api, listener: KeysListener) -> None:
    assert (await api.sue.post("/domains", {"name": "signed.test"})).status == 201
    status, body = await listener.answer("/keys/SIGNED.test")
    assert (status, b'"selector"' in body) == (200, True)
    assert (await listener.answer("/keys/far.test"))[0] == 404


async def alerts(api: Api) -> list[str]:
    found = (await api.sue.get("/events?kind=system.alert")).data
    return [each["data"]["reason"] for each in found if each["data"]["alert"] == "forward_unsealed"]


async def test_a_domain_seals_with_its_newest_rsa_key(api: Api, listener: KeysListener) -> None:
    domain_id = (await api.sue.post("/domains", {"name": "sealed.test"})).data["id"]
    (first,) = [
        each for each in (await api.sue.get(f"/domains/{domain_id}/dkim-keys")).data if each["algorithm"] != "ed25519"
    ]
    status, body = await listener.answer("/seals/SEALED.test/0")
    found = json.loads(body)
    assert (status, found["domain"], found["selector"]) == (200, "sealed.test", first["selector"])
    assert found["algorithm"] == "rsa"
    assert await alerts(api) == []


async def test_a_domain_without_keys_seals_nothing_and_causes_one_alert(api: Api, listener: KeysListener) -> None:
    await api.sue.post("/domains", {"name": "keyless.test"})
    await api.sql("UPDATE dkim_keys SET stage = 'retired' RETURNING id")
    for _ in range(2):
        assert await listener.answer("/seals/keyless.test/0") == (200, b"{}")
    (reason,) = await alerts(api)
    assert reason.startswith("keyless.test has no active RSA key")


async def test_messages_that_left_unsealed_cause_one_alert_until_the_listener_answers_again(
    api: Api, listener: KeysListener
) -> None:
    await api.sue.post("/domains", {"name": "sealed.test"})
    for count, alerted in (("2", 1), ("1", 1), ("0", 1), ("3", 2)):
        assert (await listener.answer(f"/seals/sealed.test/{count}"))[0] == 200
        assert len(await alerts(api)) == alerted
    assert sorted(each[:40] for each in await alerts(api)) == [
        f"{n} forwarded messages left without an ARC" for n in "23"
    ]


@pytest.mark.parametrize("path", ["far.test/0", "mx.example.com/0", "%ff/0", "x/y/0", ""])
async def test_a_name_that_is_not_managed_seals_nothing_without_alert(
    api: Api, listener: KeysListener, path: str
) -> None:
    assert await listener.answer(f"/seals/{path}") == (200, b"{}")
    assert await alerts(api) == []


async def request_keys(listener: KeysListener, sender: str, login: str) -> tuple[int, Any]:
    """The answer for an address in From and a login."""
    status, body = await listener.answer(f"/keys/{quote(sender, safe='')}/{quote(login, safe='')}")
    return status, json.loads(body)


@pytest.fixture
async def tenants(api: Api) -> KeysListener:
    """Two domains with keys: alice and bob in one, the boss in the other, which has an alias for alice."""
    ids: dict[str, str] = {}
    for name in ("a.test", "b.test", "xn--e1aybc.test"):
        ids[name] = (await api.sue.post("/domains", {"name": name})).data["id"]
    for address in ("alice@a.test", "bob@a.test", "boss@b.test", "alice@xn--e1aybc.test"):
        await api.mailbox(address)
    for domain, source in (("a.test", "team"), ("b.test", "help"), ("a.test", "")):
        body = {"domain_id": ids[domain], "source_local_part": source, "destination": "alice@a.test"}
        assert (await api.sue.post("/aliases", body)).status == 201
    return KeysListener(api.app, HitCounter(api.app))


@pytest.mark.parametrize(
    "sender, domain",
    [
        ("alice@a.test", "a.test"),
        ("ALICE@A.Test", "a.test"),
        ("alice+shop@a.test", "a.test"),
        ("team@a.test", "a.test"),
        ("team+x@a.test", "a.test"),
        ("help@b.test", "b.test"),
    ],
)
async def test_a_login_signs_with_its_addresses_tags_and_aliases(
    tenants: KeysListener, sender: str, domain: str
) -> None:
    status, answer = await request_keys(tenants, sender, "alice@a.test")
    assert (status, answer.get("domain")) == (200, domain)
    assert answer["keys"]


@pytest.mark.parametrize("sender", ["alice@тест.test", "alice@xn--e1aybc.test", "alice@XN--E1aybc.test"])
async def test_a_domain_is_known_in_each_of_its_forms(tenants: KeysListener, sender: str) -> None:
    status, answer = await request_keys(tenants, sender, "alice@xn--e1aybc.test")
    assert (status, answer["domain"]) == (200, "xn--e1aybc.test")
    domain = quote(sender.partition("@")[2])
    assert (await tenants.answer(f"/keys/{domain}"))[0] == 200


@pytest.mark.parametrize(
    "sender, login",
    [
        ("boss@b.test", "alice@a.test"),
        ("bob@a.test", "alice@a.test"),
        ("help@b.test", "bob@a.test"),
        ("anything@a.test", "alice@a.test"),  # a catch-all allows no sender addresses
        ("x@far.test", "alice@a.test"),
        ("alice@a.test", ""),
        ("alice@a.test", "alice"),
        ("", "alice@a.test"),
        ("alice@a.test@b.test", "alice@a.test"),
        ("Group: alice@a.test", "alice@a.test"),
        ("alice@a.test,boss@b.test", "alice@a.test"),
        ("al\0ice@a.test", "alice@a.test"),
        ("alice@ａ.test", "alice@a.test"),  # full-width: never mapped
    ],
)
async def test_a_login_cannot_sign_for_other_senders(tenants: KeysListener, sender: str, login: str) -> None:
    assert await request_keys(tenants, sender, login) == (403, {"refused": "You may not send as this address"})


async def test_bytes_that_are_not_utf8_have_no_keys(tenants: KeysListener) -> None:
    assert (await tenants.answer("/keys/al%ffice%40a.test/alice%40a.test"))[0] == 403
    assert (await tenants.answer("/keys/%ff.test"))[0] == 404


async def test_each_login_is_checked_separately(tenants: KeysListener) -> None:
    assert (await request_keys(tenants, "alice@a.test", "alice@a.test"))[0] == 200
    assert (await request_keys(tenants, "alice@a.test", "bob@a.test"))[0] == 403
    assert (await request_keys(tenants, "alice@a.test", "alice@a.test"))[0] == 200


async def test_no_keys_if_sending_is_disabled_for_the_domain_of_from(api: Api, tenants: KeysListener) -> None:
    await api.sql("UPDATE domains SET sending_enabled = false WHERE name = 'b.test' RETURNING id")
    refused = (403, {"refused": "Sending is disabled for this domain"})
    assert await request_keys(tenants, "help@b.test", "alice@a.test") == refused
    assert (await tenants.answer("/keys/b.test"))[0] == 200


async def test_without_the_database_the_answer_is_503(tenants: KeysListener, monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def away(self: DatabasePool) -> AsyncIterator[Any]:
        raise Unavailable
        yield

    monkeypatch.setattr(DatabasePool, "autocommit", away)
    assert (await request_keys(tenants, "boss@b.test", "alice@a.test"))[0] == 503


@pytest.mark.parametrize(
    "sent, status", [("/keys", 400), ("/others/x", 400), ("/verdict/{}", 400), ("/verdict/[", 400), ("", 400)]
)
async def test_unknown_requests_are_refused(listener: KeysListener, sent: str, status: int) -> None:
    assert await listener.answer(sent) == (status, b"{}")


async def test_requests_come_by_a_unix_socket(listener: KeysListener, tmp_path: Path) -> None:
    path = tmp_path / "keys.sock"
    with unix_socket.bind_unix_socket(path, 0o660, os.getgid()) as listening:
        assert path.stat().st_mode & 0o777 == 0o660
        server = await asyncio.start_unix_server(listener.handle_connection, sock=listening)
        async with server, asyncio.timeout(30):
            reader, writer = await asyncio.open_unix_connection(path)
            for path, answer in (("/ping/", b"200 {}\n"), ("/keys/far.test", b"404 {}\n")):
                writer.write(f"{path}\n".encode())
                assert await reader.readline() == answer
            writer.close()
