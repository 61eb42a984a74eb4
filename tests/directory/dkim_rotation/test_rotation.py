"""The automatic rotation of DKIM keys, with a clock that only the test advances."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import dkim as dkim_verifier
import pytest

from mailkeep.core import failpoint
from mailkeep.features.directory.dkim_rotation.jobs import DkimWorker
from mailkeep.settings.dns import DkimSettings, DnsSettings
from tests.plugins.post import Post
from tests.support.builders import create_domain
from tests.support.client import ADMIN_IDS, Api, email_of
from tests.support.dns_server import DnsServer

NAME = "new.test"


@pytest.fixture
def resolver(api: Api) -> Iterator[DnsServer]:
    with DnsServer() as server:
        api.app.settings = replace(
            api.app.settings, dns=DnsSettings(servers=(server.address,)), dkim=DkimSettings(rotate_days=30)
        )
        yield server


@pytest.fixture
async def domain(api: Api) -> str:
    """A new domain, which is assigned to Otto."""
    domain_id = await create_domain(api, NAME)
    await api.sql(
        "INSERT INTO admin_domains (admin_id, domain_id) VALUES (%(admin)s, %(domain)s)",
        admin=ADMIN_IDS["otto"],
        domain=domain_id,
    )
    return domain_id


async def keys(api: Api, domain: str, **filters: Any) -> list[dict[str, Any]]:
    return (await api.adam.get(f"/domains/{domain}/dkim-keys", limit=200, **filters)).data


async def count_stages(api: Api, domain: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for key in await keys(api, domain):
        found[key["stage"]] = found.get(key["stage"], 0) + 1
    return found


async def requests(api: Api) -> list[tuple[int, int]]:
    """For each event that asks for publication, the reminder's number and how many records are missing."""
    rows = await api.sql("SELECT data FROM events WHERE kind = 'domain.dkim_due' ORDER BY id")
    return [(row["data"]["reminder"], len(row["data"]["records"])) for row in rows]


async def test_keys_are_replaced_when_they_are_old(api: Api, domain: str, resolver: DnsServer):
    worker = DkimWorker(api.app)
    assert await worker.drain() == 0
    api.clock.advance(days=29, hours=23)
    assert await worker.drain() == 0
    api.clock.advance(hours=1)
    await worker.drain()
    assert await count_stages(api, domain) == {"active": 2, "pending": 2}
    pending = await keys(api, domain, stage="pending")
    assert {key["algorithm"] for key in pending} == {"rsa2048", "ed25519"}
    assert all(key["automatic"] for key in pending)
    # One event and one mail, to the domain's administrator, with the records.
    assert await requests(api) == [(0, 2)]
    [mail] = await api.sql("SELECT recipient, items FROM system_mail WHERE kind = 'dkim_due'")
    assert mail["recipient"] == email_of("otto")
    assert {record["name"] for record in mail["items"][0]["records"]} == {key["dns"]["name"] for key in pending}
    assert "PRIVATE" not in str(mail)
    # Nothing changes until the records are visible; then both keys sign.
    for _ in range(5):
        api.clock.advance(minutes=10)
        await worker.drain()
    assert await count_stages(api, domain) == {"active": 2, "pending": 2}
    assert {key["dns"]["status"] for key in await keys(api, domain, stage="pending")} == {"missing"}
    for key in pending:
        resolver.publish(key["dns"]["name"], "TXT", key["dns"]["value"])
    api.clock.advance(hours=1)
    await worker.drain()
    assert await count_stages(api, domain) == {"active": 2, "retiring": 2}
    assert {key["id"] for key in await keys(api, domain, stage="active")} == {key["id"] for key in pending}
    entries = await api.audit_entries("dkim.activate")
    assert {(entry["actor_type"], entry["actor_label"]) for entry in entries} == {("system", "DKIM rotation")}
    # The old ones are retired when no mail can be in the queue any more: 120 hours, the last retry, an hour.
    api.clock.advance(hours=121)
    await worker.drain()
    assert await count_stages(api, domain) == {"active": 2, "retiring": 2}
    api.clock.advance(seconds=4000)
    await worker.drain()
    assert await count_stages(api, domain) == {"active": 2, "retired": 2}
    assert all(key["safe_to_remove_from_dns"] for key in await keys(api, domain, stage="retired"))
    assert [
        row["private_key"] for row in await api.sql("SELECT private_key FROM dkim_keys WHERE stage = 'retired'")
    ] == [b""] * 2
    assert await requests(api) == [(0, 2)]


async def test_a_record_that_never_appears_breaks_nothing(api: Api, domain: str, resolver: DnsServer):
    worker, steps = DkimWorker(api.app), 0
    api.clock.advance(days=30)
    await worker.drain()
    for _ in range(90 * 4):
        api.clock.advance(hours=6)
        steps += await worker.drain()
    assert await count_stages(api, domain) == {"active": 2, "pending": 2}
    assert await requests(api) == [(reminder, 2) for reminder in range(4)]
    assert steps <= 2 * 90 * 4


async def test_several_workers_rotate_once(api: Api, domain: str, resolver: DnsServer):
    api.clock.advance(days=30)
    await asyncio.gather(*(DkimWorker(api.app).drain() for _ in range(4)))
    pending = await keys(api, domain, stage="pending")
    assert len(pending) == 2
    assert await requests(api) == [(0, 2)]
    for key in pending:
        resolver.publish(key["dns"]["name"], "TXT", key["dns"]["value"])
    api.clock.advance(minutes=1)
    await asyncio.gather(*(DkimWorker(api.app).drain() for _ in range(4)))
    assert await count_stages(api, domain) == {"active": 2, "retiring": 2}
    assert len(await api.audit_entries("dkim.activate")) == 2


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.parametrize("point", ["dkim.generated", "dkim.switched"])
async def test_a_killed_worker_leaves_nothing_half_done(
    api: Api, domain: str, resolver: DnsServer, monkeypatch: pytest.MonkeyPatch, point: str
):
    def die(name: str) -> None:
        if name == point:
            raise Killed

    api.clock.advance(days=30)
    if point == "dkim.switched":
        await DkimWorker(api.app).drain()
        for key in await keys(api, domain, stage="pending"):
            resolver.publish(key["dns"]["name"], "TXT", key["dns"]["value"])
        api.clock.advance(minutes=1)
    before = await count_stages(api, domain)
    monkeypatch.setattr(failpoint, "reach", die)
    await DkimWorker(api.app).drain()
    monkeypatch.undo()
    assert await count_stages(api, domain) == before
    assert await DkimWorker(api.app).drain() == 0  # the lease
    api.clock.advance(minutes=6)
    await DkimWorker(api.app).drain()
    expected = {"active": 2, "retiring": 2} if point == "dkim.switched" else {"active": 2, "pending": 2}
    assert await count_stages(api, domain) == expected
    assert await requests(api) == [(0, 2)]


async def test_changes_of_administrators_and_a_rotation_go_together(api: Api, domain: str, resolver: DnsServer):
    path = f"/domains/{domain}/dkim-keys"
    api.clock.advance(days=30)
    await DkimWorker(api.app).drain()
    rsa_key, ed_key = sorted(await keys(api, domain, stage="pending"), key=lambda key: key["algorithm"], reverse=True)
    assert (await api.adam.post(f"{path}/{rsa_key['id']}/activate", {"force": True})).data["automatic"] is False
    assert (await api.adam.delete(f"{path}/{ed_key['id']}")).status == 200
    api.app.settings = replace(api.app.settings, dkim=DkimSettings(rotate_days=0))
    api.clock.advance(days=60)
    await DkimWorker(api.app).drain()
    assert await count_stages(api, domain) == {"active": 2, "retired": 1}
    # A deleted domain ends everything.
    api.app.settings = replace(api.app.settings, dkim=DkimSettings(rotate_days=1))
    assert (await api.sue.delete(f"/domains/{domain}")).status == 200
    assert await DkimWorker(api.app).drain() == 0


async def test_an_inactive_domain_is_not_rotated_and_a_weak_key_is_replaced(api: Api, domain: str, resolver: DnsServer):
    await api.sql("UPDATE dkim_keys SET algorithm = 'rsa1024' WHERE algorithm = 'rsa2048'")
    await api.sue.patch(f"/domains/{domain}", {"active": False})
    api.clock.advance(days=31)
    assert await DkimWorker(api.app).drain() == 0
    await api.sue.patch(f"/domains/{domain}", {"active": True})
    await DkimWorker(api.app).drain()
    assert {key["algorithm"] for key in await keys(api, domain, stage="pending")} == {"rsa2048", "ed25519"}


async def test_without_an_administrator_of_the_domain_super_admins_get_the_mail(api: Api, resolver: DnsServer):
    await create_domain(api, NAME)
    api.clock.advance(days=30)
    await DkimWorker(api.app).drain()
    rows = await api.sql("SELECT recipient FROM system_mail WHERE kind = 'dkim_due'")
    assert [row["recipient"] for row in rows] == [email_of("sue")]


async def test_the_sandbox_signs_with_both_keys_before_and_after_a_switch(post: Post):
    api = post.api
    with DnsServer() as server:
        api.app.settings = replace(
            api.app.settings, dns=DnsSettings(servers=(server.address,)), dkim=DkimSettings(rotate_days=30)
        )
        domain_id = await create_domain(api, NAME)
        worker = DkimWorker(api.app)
        for count in (1, 2):
            for key in await keys(api, domain_id):
                server.publish(key["dns"]["name"], "TXT", key["dns"]["value"])
            assert (await post.send(**{"from": {"email": f"shop@{NAME}"}})).status == 200
            caught = await post.caught()
            assert len(caught) == count
            raw = (await api.sue.get(f"/sandbox/messages/{caught[0]['id']}/raw")).body
            signatures = [dkim_verifier.DKIM(raw) for _ in range(2)]
            for index, verifier in enumerate(signatures):
                answers = {f"{key['dns']['name']}.": key["dns"]["value"] for key in await keys(api, domain_id)}
                assert verifier.verify(index, lambda name, timeout=5, answers=answers: answers[name.decode()].encode())
            used = {verifier.signature_fields[b"s"].decode() for verifier in signatures}
            assert used == {key["selector"] for key in await keys(api, domain_id, stage="active")}
            api.clock.advance(days=30)
            await worker.drain()
            for key in await keys(api, domain_id):
                server.publish(key["dns"]["name"], "TXT", key["dns"]["value"])
            api.clock.advance(minutes=1)
            await worker.drain()
