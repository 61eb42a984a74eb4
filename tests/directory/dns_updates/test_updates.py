"""DNS updates against a real name server: what is written, what is left as it is, what is removed, and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core import failpoint
from mailkeep.features.directory.dkim_rotation.jobs import DkimWorker
from mailkeep.features.directory.dns_updates.jobs import DnsUpdateWorker
from mailkeep.net import dns_update
from mailkeep.settings.dns import DkimSettings, DnsSettings
from mailkeep.settings.server import ServerSettings
from tests.support.client import Api, reason
from tests.support.knot import KEY_NAME, KNOTD, SECRET, Knot

pytestmark = [pytest.mark.skipif(KNOTD is None, reason="knotd is not installed"), pytest.mark.timeout(120)]

NAME, TAKEN, HOST = "new.test", "taken.test", "mx.host.test"
FOREIGN_MX, FOREIGN_SPF = "10 mail.elsewhere.test", "v=spf1 include:elsewhere.test -all"


@pytest.fixture
def knot(tmp_path: Path, api: Api) -> Iterator[Knot]:
    """A server with an empty zone, one with records of others, the server's own, and one that it may not update."""
    taken = [
        '@ TXT "verification=12345"',
        f'@ TXT "{FOREIGN_SPF}"',
        "@ MX 10 mail.elsewhere.test.",
        '_dmarc TXT "v=DMARC1; p=reject"',
    ]
    zones = {NAME: ['@ TXT "verification=12345"'], TAKEN: taken, "host.test": ["mx A 192.0.2.1"], "locked.test": []}
    with Knot(tmp_path / "knot", zones, updates=[NAME, TAKEN, "host.test"]) as server:
        api.app.settings = replace(api.app.settings, dns=settings_for(server), server=ServerSettings(hostname=HOST))
        yield server


def settings_for(knot: Knot, **more: Any) -> DnsSettings:
    return replace(
        DnsSettings(
            servers=(knot.address,),
            provider="rfc2136",
            update_server=knot.address,
            tsig_key=KEY_NAME,
            tsig_secret=SECRET,
        ),
        **more,
    )


async def managed(api: Api, name: str, **more: Any) -> str:
    answer = await api.sue.post("/domains", {"name": name, "dns_managed": True, **more})
    assert answer.status == 201, answer.body
    return answer.data["id"]


async def updates(api: Api, domain_id: str) -> dict[str, Any]:
    return (await api.adam.get(f"/domains/{domain_id}/dns-updates")).data


def states(shown: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(each["name"], each["type"]): each["state"] for each in shown["records"]}


async def test_the_records_of_a_managed_domain_are_written_and_removed(api: Api, knot: Knot):
    worker = DnsUpdateWorker(api.app)
    domain_id = await managed(api, NAME)
    assert (await updates(api, domain_id))["state"] == "waiting"
    await worker.drain()
    shown = await updates(api, domain_id)
    assert (shown["state"], shown["problem"]) == ("ok", "")
    assert set(states(shown).values()) == {"written"}
    keys = (await api.adam.get(f"/domains/{domain_id}/dkim-keys")).data
    for key in keys:
        assert knot.values(key["dns"]["name"], "TXT") == [key["dns"]["value"]]
    assert knot.values(NAME, "MX") == [f"10 {HOST}"]
    assert knot.values(NAME, "TXT") == ["v=spf1 mx -all", "verification=12345"]
    assert len(knot.values(f"_dmarc.{NAME}", "TXT")) == 1
    # A new key is published at once, and can be activated; a deleted one disappears.
    new = (await api.adam.post(f"/domains/{domain_id}/dkim-keys", {"algorithm": "ed25519"})).data
    await worker.drain()
    assert (await api.adam.post(f"/domains/{domain_id}/dkim-keys/{new['id']}/activate", {})).status == 200
    other = (await api.adam.post(f"/domains/{domain_id}/dkim-keys", {"algorithm": "ed25519"})).data
    await worker.drain()
    assert knot.values(other["dns"]["name"], "TXT")
    await api.adam.delete(f"/domains/{domain_id}/dkim-keys/{other['id']}")
    await worker.drain()
    assert not knot.values(other["dns"]["name"], "TXT")
    # Without changes nothing is written; what somebody removed comes back.
    await dns_update.apply(
        await primary(knot), NAME, dns_update.RecordChange(NAME, "MX", (f"10 {HOST}",), (), (f"10 {HOST}",))
    )
    assert await worker.drain() == 0
    api.clock.advance(hours=1, seconds=1)
    await worker.drain()
    assert knot.values(NAME, "MX") == [f"10 {HOST}"]
    # The deleted domain leaves only what others have published.
    assert (await api.sue.delete(f"/domains/{domain_id}")).status == 200
    await worker.drain()
    assert knot.values(NAME, "TXT") == ["verification=12345"]
    assert not knot.values(NAME, "MX")
    assert not any(knot.values(key["dns"]["name"], "TXT") for key in keys)
    assert await api.sql("SELECT FROM dns_updates") == []


async def primary(knot: Knot, **more: Any) -> dns_update.PrimaryServer:
    return replace(dns_update.PrimaryServer("127.0.0.1", knot.port, KEY_NAME, "hmac-sha256", SECRET), **more)


async def test_records_of_others_stay_untouched(api: Api, knot: Knot):
    domain_id = await managed(api, TAKEN)
    worker = DnsUpdateWorker(api.app)
    await worker.drain()
    shown = await updates(api, domain_id)
    found = states(shown)
    assert shown["state"] == "conflict"
    assert (found[(TAKEN, "MX")], found[(TAKEN, "TXT")], found[(f"_dmarc.{TAKEN}", "TXT")]) == ("conflict",) * 3
    problems = {each["name"] + each["type"]: each["problem"] for each in shown["records"]}
    assert problems[f"{TAKEN}MX"] == (
        f"Somebody else has published MX {FOREIGN_MX} at {TAKEN}, which is left as it is."
    )
    assert FOREIGN_SPF in problems[f"{TAKEN}TXT"]
    assert [state for (name, _), state in found.items() if "._domainkey." in name] == ["written"] * 2
    # The end of the management removes the keys only.
    await api.sue.patch(f"/domains/{domain_id}", {"dns_managed": False})
    await worker.drain()
    assert knot.values(TAKEN, "MX") == [FOREIGN_MX]
    assert knot.values(TAKEN, "TXT") == [FOREIGN_SPF, "verification=12345"]
    assert knot.values(f"_dmarc.{TAKEN}", "TXT") == ["v=DMARC1; p=reject"]
    assert (await updates(api, domain_id))["state"] == "off"


async def test_a_record_of_somebody_else_with_our_value_is_not_removed(api: Api, knot: Knot):
    change = dns_update.RecordChange(NAME, "MX", (), (f"10 {HOST}",))
    await dns_update.apply(await primary(knot), NAME, change)
    domain_id = await managed(api, NAME)
    worker = DnsUpdateWorker(api.app)
    await worker.drain()
    assert states(await updates(api, domain_id))[(NAME, "MX")] == "present"
    await api.sue.patch(f"/domains/{domain_id}", {"dns_managed": False})
    await worker.drain()
    assert knot.values(NAME, "MX") == [f"10 {HOST}"]


async def test_a_record_that_appears_between_look_up_and_change_is_not_touched(
    api: Api, knot: Knot, monkeypatch: pytest.MonkeyPatch
):
    server, apply, foreign = await primary(knot), dns_update.apply, "10 other.elsewhere.test"

    async def interfere(server: dns_update.PrimaryServer, zone: str, change: dns_update.RecordChange) -> None:
        if change.type == "MX" and not knot.values(NAME, "MX"):
            await apply(server, NAME, dns_update.RecordChange(NAME, "MX", (), (foreign,)))
        await apply(server, zone, change)

    monkeypatch.setattr("mailkeep.features.directory.dns_updates.service.apply", interfere)
    domain_id = await managed(api, NAME)
    worker = DnsUpdateWorker(api.app)
    await worker.drain()
    shown = await updates(api, domain_id)
    assert (shown["state"], knot.values(NAME, "MX")) == ("error", [foreign])
    assert "Other records are at new.test" in shown["problem"]
    api.clock.advance(minutes=2)
    await worker.drain()
    assert ((await updates(api, domain_id))["state"], knot.values(NAME, "MX")) == ("conflict", [foreign])
    with pytest.raises(dns_update.RecordsChanged):
        await apply(server, NAME, dns_update.RecordChange(f"ns.{NAME}", "CNAME", (), ("elsewhere.test",)))


async def test_hostile_records_of_others_do_not_stop_the_updates(api: Api, tmp_path: Path):
    lines = [
        '@ TXT "in two " "pieces"',
        '@ TXT "not UTF-8 \\255"',
        '_dmarc TXT "v=DMARC1\\000\\027[2J; p=reject"',
    ]
    with Knot(tmp_path / "knot", {NAME: lines}) as knot:
        api.app.settings = replace(api.app.settings, dns=settings_for(knot), server=ServerSettings(hostname=HOST))
        before = knot.values(NAME, "TXT")
        domain_id = await managed(api, NAME)
        await DnsUpdateWorker(api.app).drain()
        shown = await updates(api, domain_id)
        assert shown["state"] == "conflict"
        assert (states(shown)[(NAME, "TXT")], states(shown)[(f"_dmarc.{NAME}", "TXT")]) == ("written", "conflict")
        assert "v=DMARC1\ufffd\ufffd[2J; p=reject" in shown["problem"]
        assert knot.values(NAME, "TXT") == sorted([*before, "v=spf1 mx -all"])


async def test_a_name_that_is_too_long_for_its_records_is_an_error_in_words(api: Api, knot: Knot):
    domain_id = await managed(api, f"{'.'.join(['a' * 59] * 4)}.{NAME}")  # 248 characters
    await DnsUpdateWorker(api.app).drain()
    shown = await updates(api, domain_id)
    assert (shown["state"], "is no name that DNS can express" in shown["problem"]) == ("error", True), shown


async def test_a_killed_worker_knows_its_own_records_again(api: Api, knot: Knot, monkeypatch: pytest.MonkeyPatch):
    class Killed(BaseException):
        pass

    def die(name: str) -> None:
        if name == "dns_update.applied":
            raise Killed

    domain_id = await managed(api, NAME)
    monkeypatch.setattr(failpoint, "reach", die)
    await DnsUpdateWorker(api.app).drain()
    monkeypatch.undo()
    assert [each["state"] for each in (await updates(api, domain_id))["records"]] == ["waiting"]
    api.clock.advance(minutes=16)
    worker = DnsUpdateWorker(api.app)
    await asyncio.gather(worker.drain(), DnsUpdateWorker(api.app).drain())
    assert set(states(await updates(api, domain_id)).values()) == {"written"}
    assert (await api.sue.delete(f"/domains/{domain_id}")).status == 200
    await worker.drain()
    assert knot.values(NAME, "TXT") == ["verification=12345"]
    assert not knot.values(NAME, "MX")


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"tsig_secret": "YW5vdGhlciBzZWNyZXQgb2YgMzIgb2N0ZXRzISE="}, "The secret of the TSIG key mailkeep.key is not"),
        ({"tsig_key": "other.key"}, "does not accept the TSIG key other.key"),
        ({"tsig_algorithm": "hmac-sha512"}, "does not accept the TSIG key"),
        ({"update_server": "127.0.0.1:1"}, "can't be reached"),
        ({"update_server": "nowhere.invalid:53"}, "The address of the name server nowhere.invalid was not found"),
        ({"update_zones": ("elsewhere.test",)}, "is in none of the zones in dns.update_zones"),
        ({"provider": "none"}, "Set dns.provider"),
    ],
)
async def test_errors_are_shown_in_words_and_retried_when_settings_change(
    api: Api, knot: Knot, changes: dict[str, Any], expected: str
):
    api.app.settings = replace(api.app.settings, dns=settings_for(knot, **changes))
    domain_id = await managed(api, NAME)
    worker = DnsUpdateWorker(api.app)
    await worker.drain()
    shown = await updates(api, domain_id)
    assert (shown["state"], expected in shown["problem"]) == ("error", True), shown
    assert SECRET not in str(shown)
    assert await worker.drain() == 0
    api.app.settings = replace(api.app.settings, dns=settings_for(knot))
    await worker.drain()
    assert (await updates(api, domain_id))["state"] == "ok"


@pytest.mark.parametrize(
    "name, expected", [("locked.test", "or not for this zone"), ("foreign.test", "not authoritative")]
)
async def test_zones_that_can_not_be_updated(api: Api, knot: Knot, name: str, expected: str):
    domain_id = await managed(api, name)
    worker = DnsUpdateWorker(api.app)
    attempts = 0
    for _ in range(12):  # a minute, two, four …, an hour
        attempts += await worker.drain()
        api.clock.advance(minutes=60)
    shown = await updates(api, domain_id)
    assert (shown["state"], expected in shown["problem"]) == ("error", True), shown
    assert attempts == 12
    assert not knot.values(name, "MX")


async def test_a_silent_server_is_an_error(api: Api, knot: Knot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dns_update, "_SECONDS", 0.3)

    async def ignore(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(ignore, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        api.app.settings = replace(api.app.settings, dns=settings_for(knot, update_server=f"127.0.0.1:{port}"))
        domain_id = await managed(api, NAME)
        await DnsUpdateWorker(api.app).drain()
    assert "does not answer in time" in (await updates(api, domain_id))["problem"]


async def test_a_delegated_domain_is_rotated_without_a_manual_step(api: Api, knot: Knot):
    host_name = f"mx.{NAME}"  # in the same zone: Knot follows CNAMEs within a zone only
    api.app.settings = replace(
        api.app.settings,
        dns=settings_for(knot, manage_server=True),
        dkim=DkimSettings(rotate_days=30),
        server=ServerSettings(hostname=host_name),
    )
    domain_id = await managed(api, NAME, dkim_delegated=True)
    records, keys = DnsUpdateWorker(api.app), DkimWorker(api.app)
    await records.drain()
    shown = {key["selector"]: key for key in (await api.adam.get(f"/domains/{domain_id}/dkim-keys")).data}
    assert set(shown) == {"mk-rsa1", "mk-ed1"}
    for key in shown.values():
        assert knot.values(key["dns"]["name"], "CNAME") == [key["dns"]["value"]]
        assert knot.values(key["dns"]["target"]["name"], "TXT") == [key["dns"]["target"]["value"]]
    assert "v=spf1 a -all" in knot.values(host_name, "TXT")
    assert len(await api.sql("SELECT FROM host_dkim_keys")) == 2
    api.clock.advance(days=31)
    for _ in range(3):
        await keys.drain()
        await records.drain()
        api.clock.advance(minutes=2)
    stages = {key["selector"]: key["stage"] for key in (await api.adam.get(f"/domains/{domain_id}/dkim-keys")).data}
    # Caches may still have the record of an earlier key with this selector.
    assert stages == {"mk-rsa1": "active", "mk-ed1": "active", "mk-rsa2": "pending", "mk-ed2": "pending"}
    api.clock.advance(hours=1)
    await keys.drain()
    api.clock.advance(days=6)
    await keys.drain()
    await records.drain()
    found = {key["selector"]: key["stage"] for key in (await api.adam.get(f"/domains/{domain_id}/dkim-keys")).data}
    assert found == {"mk-rsa1": "retired", "mk-ed1": "retired", "mk-rsa2": "active", "mk-ed2": "active"}
    for key in shown.values():
        assert not knot.values(key["dns"]["target"]["name"], "TXT")
    assert await api.sql("SELECT FROM events WHERE kind = 'domain.dkim_due'") == []
    # And back to the first selectors.
    api.clock.advance(days=30)
    for _ in range(3):
        await keys.drain()
        await records.drain()
        api.clock.advance(minutes=90)
    await keys.drain()
    active = (await api.adam.get(f"/domains/{domain_id}/dkim-keys", stage="active")).data
    assert {key["selector"] for key in active} == {"mk-rsa1", "mk-ed1"}


async def test_settings_keep_the_secret_for_its_server_only(api: Api, knot: Knot):
    body = {
        "dns.provider": "rfc2136",
        "dns.update_server": "ns.test:53",
        "dns.tsig_key": "k",
        "dns.tsig_secret": SECRET,
    }
    assert (await api.unscoped.patch("/config", {"changes": body})).code == "FORBIDDEN"  # never with a key
    session = await api.log_in("sue@example.test")
    assert (await session.patch("/config", {"changes": body})).status == 200
    assert SECRET not in str((await session.get("/config")).body)
    for change in ({"dns.update_server": "evil.test:53"}, {"dns.tsig_key": "other"}):
        refused = await session.patch("/config", {"changes": change})
        assert (refused.status, refused.code) == (400, "INVALID_FIELD")
        assert "dns.tsig_secret" in str(refused.body)
    moved = {"dns.update_server": "other.test:53", "dns.provider": "none"}
    assert (await session.patch("/config", {"changes": moved})).status == 200
    shown = {row["key"]: row for row in (await session.get("/config")).data}
    assert shown["dns.tsig_secret"]["value"] == ""
    api.clock.advance(minutes=11)
    refused = await session.patch("/config", {"changes": {"dns.manage_server": True}})
    assert (refused.status, reason(refused)) == (403, "recent_sign_in_required")
