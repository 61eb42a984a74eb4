"""The answers to Dovecot's questions about logins."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import DatabasePool
from mailkeep.features.directory.mail_logins.service import LoginPolicy
from mailkeep.mail.daemons import probe_mailbox
from mailkeep.mail.dovecot.auth import PROCEED, REFUSE, LoginQuestion, LoginReport
from tests.support.client import EXAMPLE, Api

ALICE = f"alice@{EXAMPLE}"
HOME, ELSEWHERE = "192.0.2.1", "198.51.100.1"


class Dovecot:
    """Asks and reports as Dovecot does; `pwhash` stands for the password."""

    def __init__(self, api: Api) -> None:
        self.policy = LoginPolicy(api.app)
        self.data_dir = api.app.data_dir

    async def ask(self, pwhash: str, remote: str = ELSEWHERE, login: str = ALICE, digest: str = "") -> int:
        return await self.policy.decide(LoginQuestion(login, remote, "imap", pwhash, digest))

    async def succeed(self, mailbox_id: Any, pwhash: str, remote: str) -> None:
        home = f"{self.data_dir / 'mail'}/{mailbox_id}"
        await self.policy.record(LoginReport(True, home, remote, "imap", ALICE, pwhash=pwhash))

    async def log_in(self, mailbox_id: Any, remote: str) -> int:
        answer = await self.ask("right", remote)
        if answer != REFUSE:
            await self.succeed(mailbox_id, "right", remote)
        return answer


@pytest.fixture
def dovecot(api: Api) -> Dovecot:
    return Dovecot(api)


async def test_guesses_are_delayed_then_refused_and_the_owner_is_not(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    assert await dovecot.log_in(alice, HOME) == PROCEED
    answers = [await dovecot.ask(f"guess {n}", f"198.51.100.{n}", ALICE.upper()) for n in range(12)]
    assert answers == [0, 0, 0, 0, 1, 2, 4, 4, 4, 4, REFUSE, REFUSE]
    assert await dovecot.log_in(alice, "203.0.113.9") == REFUSE
    assert await dovecot.log_in(alice, HOME) == PROCEED
    (block,) = (await api.sue.get("/sign-in-blocks")).data
    assert (block["account"], block["account_kind"]) == (ALICE, "mailbox")
    # An administrator with the same address is another account, and so is a new mailbox with the address.
    await api.sql("UPDATE admins SET email = %(a)s, email_key = %(a)s WHERE email_key = 'sue@example.test'", a=ALICE)
    await api.log_in(ALICE, address=ELSEWHERE)
    await api.sql("UPDATE mailboxes SET deleted_at = %(at)s", at=api.clock())
    await api.mailbox(ALICE)
    assert await dovecot.ask("right", HOME) == REFUSE


async def test_logins_are_counted_by_protocol_and_result(api: Api, dovecot: Dovecot) -> None:
    for report in (
        LoginReport(True, "/mail/gone", HOME, "imap", ALICE),
        LoginReport(False, remote=HOME, protocol="smtp", login=ALICE),
        LoginReport(False, remote=HOME, protocol="doveadm", login=ALICE, policy_reject=True),
        LoginReport(False, protocol="imap", login=ALICE),  # by the server itself
        LoginReport(True, remote=HOME, protocol="imap", login=probe_mailbox.ADDRESS),
    ):
        await dovecot.policy.record(report)
    counts = {labels: count for (name, labels), count in api.app.counters.drain() if name == "logins"}
    assert counts == {("imap", "success"): 1, ("smtp", "failed"): 1, ("other", "refused"): 1}


async def test_parallel_guesses_gain_nothing(api: Api, dovecot: Dovecot) -> None:
    await api.mailbox(ALICE)
    answers = await asyncio.gather(*(dovecot.ask(f"guess {n}", f"198.51.100.{n}") for n in range(60)))
    assert answers.count(REFUSE) == 50


async def test_right_passwords_and_repeated_ones_count_once(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    assert set(await asyncio.gather(*(dovecot.ask("right") for _ in range(30)))) == {PROCEED}
    await dovecot.succeed(alice, "right", ELSEWHERE)
    assert await api.sql("SELECT at FROM sign_in_failures") == []
    for _ in range(50):
        assert await dovecot.ask("an old one", "203.0.113.1") == PROCEED


async def test_a_valid_app_password_always_proceeds(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    created = await api.sue.post(f"/mailboxes/{alice}/app-passwords", {"name": "Phone", "protocols": ["imap"]})
    digest = hashlib.sha256(created.data["password"].encode()).hexdigest()
    for n in range(11):
        await dovecot.ask(f"guess {n}", f"203.0.113.{n}")
    assert await dovecot.ask("another", digest="0" * 64) == REFUSE
    assert await dovecot.ask("app", digest=digest) == PROCEED
    assert await dovecot.ask("app", login=f"bob@{EXAMPLE}", digest=digest) == PROCEED  # not blocked
    assert await dovecot.policy.decide(LoginQuestion(ALICE, ELSEWHERE, "smtp", "app", digest)) == REFUSE


async def test_the_probe_and_local_tools_always_proceed(api: Api, dovecot: Dovecot) -> None:
    for n in range(60):
        assert await dovecot.ask(f"guess {n}", login=probe_mailbox.ADDRESS) == PROCEED
        assert await dovecot.ask(f"guess {n}", remote="") == PROCEED
    assert await api.sql("SELECT at FROM sign_in_failures") == []


async def test_without_the_database_logins_proceed(api: Api, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = await api.mailbox(ALICE)

    @asynccontextmanager
    async def unavailable(self: DatabasePool) -> AsyncIterator[Any]:
        raise Unavailable
        yield

    async with api.app.db.tx() as conn:
        # Another process holds the lock of the account: the decision takes longer than a second.
        await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended(%(lock)s, 0))",
                           {"lock": f"mailkeep.sign-in account mailbox:{ALICE}"})  # fmt: skip
        with capture_logs() as logged:
            assert await dovecot.ask("guess") == PROCEED
    monkeypatch.setattr(DatabasePool, "tx", unavailable)
    with capture_logs() as more:
        for n in range(20):
            assert await dovecot.ask(f"guess {n}") == PROCEED
        await dovecot.succeed(alice, "right", HOME)
    assert [each["event"] for each in (*logged, *more)] == [
        "logins are not limited: the database does not answer",
        "the result of a login was not recorded: the database does not answer",
    ]


# The Kelvin sign is folded to k: in Dovecot's query, the last name is a mailbox.
@pytest.mark.parametrize(
    "login", ["", "apikey", "a b@c", "\x00", "ü" * 4000, "@", "\N{KELVIN SIGN}" * 22 + f"@{EXAMPLE}"]
)
async def test_names_that_are_no_address_are_refused_and_count_for_their_source(
    api: Api, dovecot: Dovecot, login: str
) -> None:
    await api.mailbox(f"{'k' * 22}@{EXAMPLE}")
    for _ in range(2):
        assert await dovecot.ask("x", login=login) == REFUSE
    assert len(await api.sql("SELECT source FROM sign_in_failures")) == 1


async def ask_with_key(
    dovecot: Dovecot, secret: str, remote: str = ELSEWHERE, *, user: str = "apikey", protocol: str = "smtp"
) -> int:
    key = hashlib.sha256(secret.encode()).hexdigest() if secret.startswith("svc_sk_") else ""
    return await dovecot.policy.decide(LoginQuestion(user, remote, protocol, secret[-3:], key=key))


async def test_an_api_key_is_never_delayed_and_wrong_ones_count_per_address(api: Api, dovecot: Dovecot) -> None:
    created = (await api.sue.post("/api-keys", {"name": "shop", "permissions": "sending"})).data
    valid = created["key"]
    assert [await ask_with_key(dovecot, f"svc_sk_{n:043}") for n in range(8)] == [0, 0, 0, 0, 1, 2, 4, 4]
    assert await ask_with_key(dovecot, f"svc_sk_{7:043}") == 4  # the same again counts once
    assert await ask_with_key(dovecot, f"svc_sk_{7:043}", HOME) == PROCEED  # from another address
    accounts = await api.sql("SELECT DISTINCT account, source FROM sign_in_failures ORDER BY source")
    assert [row["account"] for row in accounts] == [f"apikey:{row['source']}" for row in accounts]
    assert await ask_with_key(dovecot, valid) == PROCEED
    assert await ask_with_key(dovecot, valid, user="ApiKey") == PROCEED
    assert await ask_with_key(dovecot, valid, protocol="imap") == REFUSE
    for guess in range(40):  # an address that is blocked for other accounts
        await dovecot.ask(f"guess {guess}", login=f"user{guess}@{EXAMPLE}")
    assert await ask_with_key(dovecot, f"svc_sk_{9:043}") == REFUSE
    assert await ask_with_key(dovecot, valid) == PROCEED
    assert (await api.sue.delete(f"/api-keys/{created['api_key']['id']}")).status == 200
    assert await ask_with_key(dovecot, valid) == REFUSE


async def test_a_session_of_an_api_key_is_recorded_and_has_to_end_with_the_key(api: Api, dovecot: Dovecot) -> None:
    key_id = (await api.sue.post("/api-keys", {"name": "shop"})).data["api_key"]["id"]
    report = LoginReport(True, "", HOME, "smtp", "apikey", access=f"key:{key_id}")
    await dovecot.policy.record(report)
    assert await api.sql("SELECT key_id::text AS key, client, pid FROM key_sessions") == [
        {"key": key_id, "client": HOME, "pid": 0}
    ]
    assert (await api.sue.delete(f"/api-keys/{key_id}")).status == 200
    ends = "SELECT subject, protocols FROM session_ends"
    assert await api.sql(ends) == [{"subject": f"key:{key_id}", "protocols": ["smtp"]}]
    await api.sql("DELETE FROM session_ends")
    await dovecot.policy.record(report)  # reported late
    assert await api.sql(ends) == [{"subject": f"key:{key_id}", "protocols": ["smtp"]}]
