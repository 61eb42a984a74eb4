"""Mail that Mailkeep itself writes: who gets it, with which content, how often, and after which failures."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any
from uuid import UUID

import dkim
import pytest

from mailkeep.core import failpoint
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.access.admins import rules as admin_rules, service as admins
from mailkeep.features.access.admins.model import NO_PASSWORD, NewAdmin
from mailkeep.features.directory.dkim import service as dkim_keys
from mailkeep.features.mailflow.sending import jobs as sending_jobs
from mailkeep.features.mailflow.system_mail_delivery.jobs import SystemMailWorker
from mailkeep.features.operations.configuration import service as configuration
from mailkeep.features.operations.orchestrator import service as orchestrator
from mailkeep.features.record.system_mail import service as system_mail
from mailkeep.jobs.run import ClaimLimits
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.settings import Settings
from mailkeep.settings.server import ServerSettings
from tests.plugins.api import NO_RATE_LIMITS
from tests.plugins.post import Post
from tests.support.client import ADMIN_IDS, EXAMPLE, PASSWORD, Api, email_of

HOST = "mx.host.test"
CORS = {"changes": {"cors.origins": ["https://secret-name.test"]}, "current_password": PASSWORD}
NORA = {"email": "nora@elsewhere.test", "password": "seven green bottles"}
_ONE = ClaimLimits(1, 1, {}, UUID(int=0))
CLI = Principal(None, "root", Role.SUPER_ADMIN, ActorType.CLI)


@pytest.fixture
def api_settings() -> Settings:
    return replace(NO_RATE_LIMITS, server=ServerSettings(hostname=HOST))


async def jobs(api: Api) -> list[dict[str, Any]]:
    return await api.sql("SELECT recipient, kind, items, item_count, next_attempt_at FROM system_mail ORDER BY id")


async def send(post: Post) -> list[tuple[str, EmailMessage]]:
    """Send what is due; every mail of Mailkeep in the sandbox, with its envelope recipient, oldest first."""
    await SystemMailWorker(post.api.app).drain()
    rows = await post.api.sql("SELECT id, mail_from, rcpt_to FROM sandbox_messages ORDER BY id")
    mails: list[tuple[str, EmailMessage]] = []
    for row in rows:
        raw = (await post.api.sue.get(f"/sandbox/messages/{row['id']}/raw")).body
        mails.append((row["rcpt_to"][0], message_from_bytes(raw, policy=policy.default)))
        assert (row["mail_from"], len(row["rcpt_to"])) == ("", 1)
    return mails


def body(mail: EmailMessage) -> str:
    return mail.get_content()


async def test_every_super_admin_gets_mail_about_a_sensitive_setting(post: Post):
    api = post.api
    inbox = await api.mailbox(f"boss@{EXAMPLE}")
    await api.sue.post("/admins", {"email": f"boss@{EXAMPLE}", "password": PASSWORD, "role": "super_admin"})
    await api.sql("DELETE FROM system_mail")
    assert (await api.sue.patch("/config", CORS)).status == 200
    assert (await api.sue.patch("/config", {"changes": {"abuse.sender_per_hour": 7}})).status == 200
    mails = await send(post)
    assert sorted(to for to, _ in mails) == [f"boss@{EXAMPLE}", email_of("sue")]
    for _, mail in mails:
        assert mail["From"] == f"Mailkeep <postmaster@{HOST}>"
        assert mail["Auto-Submitted"] == "auto-generated"
        assert mail["Subject"] == f"Settings of {HOST} were changed"
        assert "cors.origins" in body(mail)
        assert f"by {email_of('sue')}, from the address 192.0.2.1" in body(mail)
        assert "secret-name" not in mail.as_string()
    # A local mailbox gets it like any other mail.
    await post.run_queue()
    (arrived,) = post.mail_of(inbox)
    assert arrived["Subject"] == f"Settings of {HOST} were changed"


async def test_it_is_signed_with_the_keys_of_the_host_name(post: Post):
    await post.api.sue.patch("/config", CORS)
    await send(post)
    (row,) = await post.caught()
    raw = (await post.api.sue.get(f"/sandbox/messages/{row['id']}/raw")).body
    keys = await dkim_keys.ensure_host_keys(post.api.app, HOST)
    again = await asyncio.gather(*(dkim_keys.ensure_host_keys(post.api.app, HOST) for _ in range(3)))
    assert again == [keys] * 3
    assert {key.algorithm for key in keys} == {"rsa2048", "ed25519"}
    stored = await post.api.sql("SELECT private_key FROM host_dkim_keys")
    assert all(b"PRIVATE KEY" not in row["private_key"] for row in stored)
    records = {f"{key.dns_name(HOST)}.": key.dns_value.encode() for key in keys}

    assert raw.count(b"DKIM-Signature:") == 2
    for index in range(2):
        assert dkim.DKIM(raw).verify(index, lambda name, timeout=5: records[name.decode()])
    assert f"d={HOST}".encode() in raw


@pytest.mark.parametrize("mode, sent", [("sandbox", ["admin@localhost", NORA["email"]]), ("smtp", [NORA["email"]])])
async def test_an_address_that_no_mail_reaches_gets_mail_in_the_sandbox_only(post: Post, mode: str, sent: list[str]):
    settings = post.api.app.settings
    post.api.app.settings = replace(settings, mta=replace(settings.mta, mode=mode))
    async with post.api.app.db.tx() as conn:
        recipients = ["admin@localhost", NORA["email"]]
        await system_mail.notify(conn, post.api.clock(), "alert", recipients, {"alerts": [], "more": 0})
    assert sorted(recipient for recipient, _ in await send(post)) == sent  # they are sent at the same time
    assert [row["next_attempt_at"] for row in await jobs(post.api)] == [None, None]


@pytest.mark.parametrize("hostname, domain", [("MX.host.test.", HOST), ("192.0.2.7", "localhost")])
async def test_any_host_name_has_a_sender(post: Post, hostname: str, domain: str):
    post.api.app.settings = replace(post.api.app.settings, server=ServerSettings(hostname=hostname))
    await post.api.sue.patch("/config", CORS)
    ((_, mail),) = await send(post)
    assert mail["From"] == f"Mailkeep <postmaster@{domain}>"
    assert ("DKIM-Signature" in mail) == (domain == HOST)


async def test_a_managed_host_name_signs_with_its_own_keys(post: Post):
    post.api.app.settings = replace(post.api.app.settings, server=ServerSettings(hostname=EXAMPLE))
    await post.api.sue.patch("/config", CORS)
    ((_, mail),) = await send(post)
    (signature,) = mail.get_all("DKIM-Signature", [])
    assert f"d={EXAMPLE}" in signature
    assert await post.api.sql("SELECT FROM host_dkim_keys") == []


async def test_the_history_has_it_without_counts_and_with_an_alert_only_if_it_is_lost(post: Post):
    api = post.api
    api.app.counters.drain()
    await api.sue.patch("/config", CORS)
    await send(post)
    await post.run_queue()
    (row,) = await post.messages()
    assert (row["source"], row["domain_id"], row["status"]) == ("mailkeep", None, "bounced")  # sue has no mailbox
    assert (await api.sue.get(f"/messages/{row['id']}/events")).data[-1]["kind"] == "bounced"
    assert (await api.sue.get(f"/messages/{row['id']}/raw")).status == 200
    assert (await api.dora.get(f"/messages/{row['id']}")).status == 403
    ((kind, alert),) = await post.events()
    assert (kind, alert["alert"], alert["to"]) == ("system.alert", "system_mail_undelivered", [email_of("sue")])
    counted = await api.sql("SELECT FROM send_counts") + await api.sql("SELECT FROM forward_charges")
    assert counted == []
    assert not {name for name, *_ in api.app.counters.drain()} & {"deliveries", "messages_accepted"}


@pytest.mark.parametrize("path", ["cli", "rollback", "restore"])
async def test_every_way_to_change_a_sensitive_setting_is_reported(api: Api, path: str):
    lines = {"dns.servers": ["127.0.0.1:53"]}
    if path == "cli":
        await configuration.change(api.app, CLI, lines)
    else:
        await api.sue.patch("/config", {"changes": lines, "current_password": PASSWORD})
        await api.sql("DELETE FROM system_mail")
        if path == "rollback":
            await api.sue.post("/config/revisions/0/rollback", {"current_password": PASSWORD})
        else:  # the orchestrator restores what was in effect before an apply
            await orchestrator.take_effect(api.app, 1)
            await orchestrator.restore(api.app, 0, 1)
    (job,) = await jobs(api)
    (item,) = job["items"]
    expected = {"cli": ("update", "cli"), "rollback": ("rollback", "session"), "restore": ("restore", "system")}[path]
    assert (item["action"], item["actor_type"], item["settings"]) == (*expected, ["dns.servers"])


async def test_a_dry_run_and_a_refused_change_are_not_reported(api: Api):
    assert (await api.sue.patch("/config", CORS | {"dry_run": True})).status == 200
    assert (
        await api.sue.patch("/config", CORS | {"changes": {"dns.servers": ["192.0.2.5"], "ports.imap": 0.5}})
    ).status == 400

    async def fail() -> None:
        async with api.app.db.tx() as conn:
            address = admin_rules.parse_email(NORA["email"])
            await admins.create(conn, CLI, api.clock(), NewAdmin(address, NO_PASSWORD, Role.SUPER_ADMIN))
            raise RuntimeError("the change fails")

    with pytest.raises(RuntimeError, match="the change fails"):
        await fail()
    assert await jobs(api) == []


async def test_new_and_changed_administrators_are_reported(post: Post):
    api = post.api
    created = await api.unscoped.post("/admins", NORA)
    nora = created.data["id"]
    await api.sue.patch(f"/admins/{nora}", {"role": "super_admin"})
    await api.sue.patch(f"/admins/{nora}", {"email": "nora.new@elsewhere.test", "password": "eight green bottles"})
    # Neither a domain_admin nor an own password is reported, nor a change without effect.
    dora = {"email": "eve@elsewhere.test", "password": "seven green bottles", "role": "domain_admin"}
    await api.sue.post("/admins", dora)
    await api.sue.patch(f"/admins/{ADMIN_IDS['dora']}", {"password": "eight green bottles"})
    await api.sue.patch(f"/admins/{nora}", {"role": "super_admin"})
    await api.sue.post("/auth/password", {"current_password": PASSWORD, "new_password": "nine green bottles"})
    mails = await send(post)
    by_recipient = {to: [body(mail) for other, mail in mails if other == to] for to, _ in mails}
    old, new = "nora@elsewhere.test", "nora.new@elsewhere.test"
    texts = "\n".join(by_recipient.pop(email_of("sue")))
    assert f"The account {old} was created with the role admin." in texts
    assert "by an API key (ID " in texts
    assert f"The role of the account {old} was changed from admin to super_admin." in texts
    assert f"The email of the account {old} was changed to {new}." in texts
    assert f"The account {new} got a new password." in texts
    # The account itself gets what others have done to it, at its old address too.
    assert {to: len(each) for to, each in by_recipient.items()} == {old: 2, new: 1}


async def test_a_super_admin_who_loses_the_role_gets_mail(api: Api):
    created = await api.sue.post("/admins", NORA | {"role": "super_admin"})
    await api.sql("DELETE FROM system_mail")
    await api.sue.patch(f"/admins/{created.data['id']}", {"role": "domain_admin"})
    assert {each["recipient"] for each in await jobs(api)} == {email_of("sue"), NORA["email"]}


async def test_a_deleted_administrator_gets_mail_like_the_super_admins(post: Post):
    api = post.api
    for number, role in enumerate(("super_admin", "admin", "domain_admin")):
        created = await api.sue.post("/admins", NORA | {"email": f"{role}@elsewhere.test", "role": role})
        await api.sql("DELETE FROM system_mail")
        assert (await api.unscoped.delete(f"/admins/{created.data['id']}")).status == 200
        queued = {each["recipient"] for each in await jobs(api)}
        assert queued == ({email_of("sue"), f"{role}@elsewhere.test"} if number < 2 else set())
        texts = [body(mail) for to, mail in await send(post) if to == f"{role}@elsewhere.test"]
        assert all(f"The account {role}@elsewhere.test with the role {role} was deleted." in text for text in texts)
        assert len(texts) == len(queued) // 2


async def test_a_flood_of_changes_becomes_a_few_mails(post: Post):
    api = post.api

    async def change(number: int) -> None:
        new = NewAdmin(admin_rules.parse_email(f"admin{number}@elsewhere.test"), NO_PASSWORD)
        async with api.app.db.tx() as conn:
            await admins.create(conn, CLI, api.clock(), new)

    await asyncio.gather(*(change(number) for number in range(100)))
    assert len(await send(post)) == 5
    api.clock.advance(minutes=10)
    mails = await send(post)
    assert len(mails) == 6
    assert body(mails[-1][1]).count("was created with the role admin") == 50
    assert "45 more changes are not listed here." in body(mails[-1][1])
    # Within the hour further ones are collected again, afterwards they leave at once.
    await change(100)
    assert len(await send(post)) == 6
    api.clock.advance(minutes=61)
    await change(101)
    assert len(await send(post)) == 8
    assert all(each["next_attempt_at"] is None for each in await jobs(api))
    async with api.app.db.tx() as conn:
        await system_mail.prune(conn, api.clock())
        assert len(await jobs(api)) == 8
    api.clock.advance(hours=25)
    async with api.app.db.tx() as conn:
        await system_mail.prune(conn, api.clock())
    assert await jobs(api) == []


async def test_it_waits_for_the_mail_server_and_is_given_up_in_the_end(post: Post):
    api = post.api
    await api.sue.patch("/config", CORS)
    sandbox, api.app.mta = api.app.mta, SmtpPool(Relay("127.0.0.1", 1))
    assert sandbox is not None
    for _ in range(3):
        await SystemMailWorker(api.app).drain()
        api.clock.advance(minutes=1)
    # Reconciliation leaves it to its job.
    assert await sending_jobs.reconcile(api.app, api.clock()) == 0
    (row,) = await post.messages()
    assert row["status"] == "submitting"
    api.app.mta = sandbox
    assert len(await send(post)) == 1
    (row,) = await post.messages()
    assert row["status"] == "queued"
    await api.sue.patch("/config", CORS | {"changes": {"cors.origins": ["https://b.test"]}})
    api.app.mta = None
    await SystemMailWorker(api.app).drain()
    api.clock.advance(hours=121)
    await SystemMailWorker(api.app).drain()
    assert [each["status"] for each in await post.messages()] == ["failed", "queued"]
    assert [each["next_attempt_at"] for each in await jobs(api)] == [None, None]
    ((kind, alert),) = await post.events()
    assert (kind, alert["alert"], alert["to"]) == ("system.alert", "system_mail_undelivered", [email_of("sue")])
    api.app.mta = sandbox


class Crash(BaseException):
    """Ends a worker as a crash does: nothing is cleaned up."""


async def test_after_a_crash_it_is_sent_once_more(post: Post, monkeypatch: pytest.MonkeyPatch):
    api = post.api
    await api.sue.patch("/config", CORS)

    def crash(name: str) -> None:
        if name == "system_mail.submitted":
            raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(failpoint, "reach", crash)
        worker = SystemMailWorker(api.app)
        (mail,) = await worker._claim(_ONE)
        with pytest.raises(Crash):
            await worker._work(mail)
    assert len(await send(post)) == 1  # the lease has not ended
    api.clock.advance(minutes=11)
    mails = await send(post)
    assert len(mails) == 2
    assert mails[0][1]["Message-ID"] == mails[1][1]["Message-ID"]
    assert [each["status"] for each in await post.messages()] == ["queued"]
    api.clock.advance(minutes=11)
    assert len(await send(post)) == 2
