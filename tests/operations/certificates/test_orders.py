"""Orders, renewals and revocations with a real authority (Pebble), real DNS and port 80."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from mailkeep.core import failpoint
from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Unavailable
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.operations.certificates import rules, service
from mailkeep.net.acme.answers import AcmeError, explain_refusal
from mailkeep.net.acme.client import AcmeClient
from mailkeep.net.client import OutboundResponse
from tests.operations.certificates.conftest import HOST, Scene
from tests.support.knot import KEY_NAME, KNOTD, SECRET, Knot
from tests.support.pebble import EAB_KEY, EAB_KEY_ID, PEBBLE, Pebble

pytestmark = [
    pytest.mark.skipif(PEBBLE is None, reason="pebble is not installed (`make daemons`)"),
    pytest.mark.root,
    pytest.mark.timeout(120),
]
SUE = Principal(None, "sue", Role.SUPER_ADMIN, ActorType.SYSTEM)


def names_of(certificate: x509.Certificate) -> list[str]:
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return sorted(found.get_values_for_type(x509.DNSName))


@contextlib.contextmanager
def interrupted_at(name: str) -> Iterator[None]:
    """Interrupt what reaches this failpoint."""

    def reach(reached: str) -> None:
        if reached == name:
            raise Unavailable("interrupted")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failpoint, "reach", reach)
        yield


async def renew(scene: Scene, name: str = "server") -> None:
    async with scene.api.app.db.tx() as conn:
        await service.renew(scene.api.app, conn, SUE, (await scene.find(name)).id)


async def test_first_certificates_of_server_and_domains_where_one_unreachable_domain_fails_alone(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    def note(response: OutboundResponse) -> AcmeError:
        refused.append((error := explain_refusal(response)).kind)
        return error

    monkeypatch.setattr("mailkeep.net.acme.client.explain_refusal", note)
    domains = [f"d{number}.test" for number in range(10)]
    for domain in domains:
        await scene.api.domain(domain)
        scene.lead_here(f"autoconfig.{domain}", f"mta-sts.{domain}")
    scene.dns.withdraw("autoconfig.d3.test")
    scene.dns.publish("mta-sts.d3.test", "A", "127.0.0.1")  # nothing answers there on port 80
    scene.dns.withdraw("autoconfig.d4.test")  # the other name is ordered nevertheless
    await scene.work()

    assert names_of(await scene.issued()) == [HOST]
    for domain in set(domains) - {"d3.test", "d4.test"}:
        assert names_of(await scene.issued(domain)) == [f"autoconfig.{domain}", f"mta-sts.{domain}"]
    assert names_of(await scene.issued("d4.test")) == ["mta-sts.d4.test"]
    failed = await scene.find("d3.test")
    assert (failed.source, failed.failures, failed.chain) == ("none", 0, None)
    assert {each.name: each.status for each in failed.checks} == {
        "autoconfig.d3.test": "not_published",
        "autodiscover.d3.test": "not_published",
        "mta-sts.d3.test": "failed",
    }
    assert "mta-sts.d3.test accepts no connection on port 80" in failed.problem
    assert failed.next_attempt_at == scene.api.clock() + rules.LOOK_AGAIN
    # Pebble's authority has signed what is stored, with the key that is stored; 20 of 100 nonces were refused.
    async with scene.api.app.db.autocommit() as conn:
        pairs = await service.list_pairs(scene.api.app, conn)
    assert len(pairs) == 10
    assert all(pair.key.startswith(b"-----BEGIN PRIVATE KEY-----") for pair in pairs)
    root = x509.load_pem_x509_certificate(scene.pebble.root().encode())
    chain = x509.load_pem_x509_certificates(pairs[0].chain.encode())
    chain[0].verify_directly_issued_by(chain[1])
    chain[1].verify_directly_issued_by(root)
    assert "badNonce" in refused
    assert await scene.api.sql("SELECT token FROM acme_tokens") == []

    # When the name leads here later, it is ordered at the next look.
    scene.lead_here("mta-sts.d3.test", "autoconfig.d4.test")
    scene.api.clock.advance(hours=1)
    await scene.work()
    assert names_of(await scene.issued("d3.test")) == ["mta-sts.d3.test"]
    assert names_of(await scene.issued("d4.test")) == ["autoconfig.d4.test", "mta-sts.d4.test"]
    assert await scene.alerts() == []


async def test_a_failing_validation_is_retried_with_pauses_and_reported_once(scene: Scene) -> None:
    scene.dns.withdraw(HOST)
    await scene.work()
    first = await scene.find()
    assert first.failures == 1
    assert await scene.alerts() == []
    scene.api.clock.advance(minutes=9)
    assert await scene.work() == 0
    for _ in range(2):
        scene.api.clock.advance(minutes=20)
        await scene.work()
    assert (await scene.find()).failures == 3
    assert await scene.alerts() == ["certificate_failed"]
    (event,) = await scene.api.sql("SELECT data FROM events WHERE kind = 'system.alert'")
    assert f"{HOST} has no address in DNS." in event["data"]["reason"]
    assert await scene.api.sql("SELECT FROM system_mail") == []  # the alert about the health is mailed
    scene.lead_here(HOST)
    scene.api.clock.advance(hours=1)
    await scene.work()
    assert names_of(await scene.issued()) == [HOST]
    assert await scene.alerts() == ["certificate_failed", "certificate_recovered"]


async def test_what_the_authority_refuses_is_reported_with_its_reason(scene: Scene) -> None:
    """A validation that fails at the authority only, a name that it does not serve, and an unknown profile."""
    await scene.api.domain("broken.test")
    await scene.api.domain("blocked.test")
    scene.configure(check_first=False, domain_names=("mail",))
    scene.lead_here("mail.broken.test", "mail.blocked.test")
    await scene.work()
    broken, blocked = await scene.find("broken.test"), await scene.find("blocked.test")
    assert "(unauthorized)" in broken.problem
    assert "404" in broken.problem
    assert "(rejectedIdentifier)" in blocked.problem
    assert (broken.failures, blocked.failures) == (1, 1)
    scene.configure(profile="tiny")
    await renew(scene)
    await scene.work()
    assert "has no profile tiny (acme.profile); it has: default, shortlived" in (await scene.find()).problem
    assert names_of(await scene.issued()) == [HOST]  # the earlier one stays


async def test_renewal_in_the_window_of_the_authority_with_another_key(scene: Scene) -> None:
    await scene.work()
    before = await scene.find()
    assert before.chain
    start = utc_now() + timedelta(days=3)
    scene.pebble.suggest(before.chain, start, start + timedelta(hours=2))
    scene.api.clock.advance(hours=6)
    await scene.work()
    asked = await scene.find()
    assert asked.renew_at is not None
    assert start <= asked.renew_at <= start + timedelta(hours=2)
    assert asked.serial == before.serial
    scene.api.clock.now = asked.renew_at
    await scene.work()
    after = await scene.find()
    assert after.serial != before.serial
    assert after.fingerprint != before.fingerprint
    assert after.chain
    old, new = (x509.load_pem_x509_certificate(chain.encode()) for chain in (before.chain, after.chain))
    assert old.public_key() != new.public_key()


async def test_a_window_after_the_end_of_the_certificate_does_not_delay_the_renewal(scene: Scene) -> None:
    await scene.work()
    before = await scene.find()
    assert before.chain
    assert before.not_after
    scene.pebble.suggest(before.chain, before.not_after, before.not_after + timedelta(days=30))
    scene.api.clock.advance(hours=6)
    await scene.work()
    asked = await scene.find()
    assert asked.renew_at is not None
    assert asked.renew_at < before.not_after - timedelta(hours=12)


async def test_short_lived_profile_is_renewed_at_half_of_its_life_without_ari(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: Any) -> None:
        return None

    scene.configure(profile="shortlived")
    monkeypatch.setattr("mailkeep.net.acme.client.AcmeClient.find_window", nothing)
    await scene.work()
    first = await scene.issued()
    assert (first.not_valid_after_utc - first.not_valid_before_utc) // timedelta(hours=1) == 143
    scene.api.clock.advance(days=2, hours=12)
    await scene.work()
    assert (await scene.issued()).serial_number == first.serial_number
    scene.api.clock.advance(hours=12)
    await scene.work()
    assert (await scene.issued()).serial_number != first.serial_number


async def test_a_clock_that_jumps_neither_loses_nor_delays_a_certificate(scene: Scene) -> None:
    await scene.work()
    first = await scene.issued()
    now = scene.api.clock.now
    scene.api.clock.now = now + timedelta(days=400)  # long after its end
    await scene.work()
    second = await scene.issued()
    assert second.serial_number != first.serial_number
    scene.api.clock.now = now  # back: all times in the rows are in the future
    assert await scene.work() == 3
    after = await scene.find()
    assert after.attempted_at == now
    assert after.next_attempt_at <= now + timedelta(hours=24)
    assert (await scene.issued()).serial_number == second.serial_number


@pytest.mark.parametrize("at_once", [False, True])
async def test_revoked_and_replaced(scene: Scene, at_once: bool) -> None:
    await scene.work()
    before = await scene.find()
    async with scene.api.app.db.tx() as conn:
        await service.revoke(scene.api.app, conn, SUE, before.id, "key_compromise", at_once=at_once)
    await scene.work()
    after = await scene.find()
    assert (after.revoke_reason, after.revoking, after.forced) == (None, None, False)
    assert after.serial != before.serial
    assert scene.pebble.status_of(before.serial) == "Revoked"
    assert scene.pebble.status_of(after.serial) == "Valid"


async def test_a_revocation_that_is_requested_during_a_renewal_concerns_the_old_certificate(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scene.work()
    before = await scene.find()
    await renew(scene)
    obtain, orders = AcmeClient.obtain, list[str]()

    async def obtain_slowly(*arguments: Any) -> str:
        orders.append(await obtain(*arguments))
        if len(orders) == 1:
            async with scene.api.app.db.tx() as conn:
                await service.revoke(scene.api.app, conn, SUE, before.id, "key_compromise", at_once=False)
        return orders[-1]

    monkeypatch.setattr(AcmeClient, "obtain", obtain_slowly)
    await scene.work()
    after = await scene.find()
    assert scene.pebble.status_of(before.serial) == "Revoked"
    assert scene.pebble.status_of(after.serial) == "Valid"
    assert (after.revoke_reason, after.revoking) == (None, None)


async def test_a_revoked_certificate_is_replaced_because_ari_says_so(scene: Scene) -> None:
    """As after a revocation by the authority itself."""
    await scene.work()
    before = await scene.find()
    assert before.chain
    session = await service.open_session(scene.api.app)
    await session.revoke(before.chain, 4)
    scene.api.clock.advance(hours=6)
    await scene.work()
    assert (await scene.find()).serial != before.serial


async def test_a_name_that_leads_elsewhere_is_kept_until_there_is_no_more_time(scene: Scene) -> None:
    await scene.api.domain("moved.test")
    scene.lead_here("autoconfig.moved.test", "mta-sts.moved.test")
    await scene.work()
    first = await scene.issued("moved.test")
    scene.dns.withdraw("mta-sts.moved.test")
    await renew(scene, "moved.test")
    await scene.work()
    kept = await scene.find("moved.test")
    assert kept.failures == 1
    assert kept.problem == "mta-sts.moved.test is in the certificate, but: mta-sts.moved.test has no address in DNS."
    assert (await scene.issued("moved.test")).serial_number == first.serial_number
    # Pebble chooses between its profiles, of 90 and of 6 days, at random.
    scene.api.clock.now = first.not_valid_after_utc - (first.not_valid_after_utc - first.not_valid_before_utc) / 9
    await scene.work()
    assert names_of(await scene.issued("moved.test")) == ["autoconfig.moved.test"]


@pytest.mark.parametrize("pebble_options", [{"binding": True, "reject_nonces": 60}])
async def test_external_account_binding_and_a_change_of_the_account_key(scene: Scene) -> None:
    """Also after a change that was interrupted, before and after the authority knew the new key."""
    app = scene.api.app
    await scene.work()
    assert "requires an external account binding" in (await scene.find()).problem
    scene.configure(eab_key_id=EAB_KEY_ID, eab_key=EAB_KEY[::-1])
    scene.api.clock.advance(hours=1)
    await scene.work()
    assert (await scene.find()).source == "none"
    scene.configure(eab_key=EAB_KEY)
    scene.api.clock.advance(hours=2)
    await scene.work()
    assert names_of(await scene.issued()) == [HOST]

    async def read() -> tuple[str, bytes, bytes | None]:
        (row,) = await scene.api.sql("SELECT url, key_sealed, next_key_sealed FROM acme_accounts")
        return row["url"], row["key_sealed"], row["next_key_sealed"]

    url, key, _ = await read()
    await service.change_account_key(app, SUE)
    assert (await read())[0] == url
    assert (await read())[1] != key
    assert (await read())[2] is None
    for step in ("acme.key_stored", "acme.key_changed"):
        before = (await read())[1]
        with interrupted_at(step), pytest.raises(Unavailable):
            await service.change_account_key(app, SUE)
        assert (await read())[2] is not None
        await renew(scene)
        serial = (await scene.find()).serial
        await scene.work()
        assert (await scene.find()).serial != serial
        assert (await read())[2] is None
        assert ((await read())[1] != before) == (step == "acme.key_changed")


async def test_an_authority_that_has_lost_the_account_gets_it_again(scene: Scene) -> None:
    await scene.work()
    await scene.api.sql("UPDATE acme_accounts SET url = url || 'unknown' WHERE url <> '' RETURNING url")
    await renew(scene)
    before = (await scene.find()).serial
    await scene.work()
    assert (await scene.find()).serial != before


async def test_a_self_signed_certificate_replaces_none_that_was_ordered_meanwhile(scene: Scene) -> None:
    await scene.work()
    before = await scene.find()
    assert before.chain
    async with scene.api.app.db.autocommit() as conn, scene.api.app.db.listen("mailkeep_node") as listening:
        await service.record_served(scene.api.app, conn, "self_signed", before.chain)
        assert await scene.find() == before
        for _ in range(2):
            await service.record_served(scene.api.app, conn, "file", before.chain)
        # `node` records it whenever it is notified: what changes nothing must not notify it.
        assert [each.payload async for each in listening.notifies(timeout=2, stop_after=2)] == ["certificates"]
    assert ((await scene.find()).source, (await scene.find()).chain) == ("file", None)


async def test_a_killed_worker_repeats_the_order(scene: Scene) -> None:
    with interrupted_at("certificates.issued"):
        await scene.work()
    assert (await scene.find()).chain is None
    scene.api.clock.advance(minutes=21)
    await scene.work()
    assert names_of(await scene.issued()) == [HOST]


@pytest.mark.skipif(KNOTD is None, reason="knotd is not installed")
async def test_dns_01_writes_and_removes_the_record(scene: Scene, tmp_path: Path) -> None:
    zones = {"host.test": ['_acme-challenge.mx TXT "of somebody else"'], "own.test": [], "locked.test": []}
    with (
        Knot(tmp_path / "knot", zones, updates=["host.test", "own.test"]) as knot,
        Pebble(tmp_path / "other", knot.address) as pebble,
    ):
        settings = scene.api.app.settings
        dns = replace(
            settings.dns, servers=(knot.address,), provider="rfc2136", update_server=knot.address,
            tsig_key=KEY_NAME, tsig_secret=SECRET,
        )  # fmt: skip
        scene.api.app.settings = replace(settings, dns=dns)
        scene.configure(
            challenge="dns", domain_names=("autoconfig",), directory=pebble.directory, extra_ca_file=str(pebble.ca_file)
        )
        await scene.api.domain("own.test")
        await scene.api.domain("foreign.test")
        await scene.work()
        assert names_of(await scene.issued()) == [HOST]
        assert names_of(await scene.issued("own.test")) == ["autoconfig.own.test"]
        assert knot.values("_acme-challenge.mx.host.test", "TXT") == ["of somebody else"]
        assert knot.values("_acme-challenge.autoconfig.own.test", "TXT") == []
        foreign = await scene.find("foreign.test")
        assert foreign.chain is None
        assert "not authoritative" in foreign.problem or "REFUSED" in foreign.problem, foreign.problem
    assert scene.asked == []
