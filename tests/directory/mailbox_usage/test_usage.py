"""`UsageRecorder`: Dovecot's reports are stored, later if the database is unavailable, and marked if uncertain."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from structlog.testing import capture_logs

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import DatabasePool
from mailkeep.features.directory.login_history import service as login_history
from mailkeep.features.directory.mailbox_usage.service import UsageRecorder
from mailkeep.mail.dovecot.auth import LoginReport
from mailkeep.mail.dovecot.dict import DictWrite
from tests.support.client import EXAMPLE, START, Api

ALICE = f"alice@{EXAMPLE}"


class Dovecot:
    """Sends reports to a recorder."""

    def __init__(self, api: Api) -> None:
        self.recorder = UsageRecorder(api.app)

    def report(self, mailbox_id: UUID | str, size: object, messages: object) -> None:
        """Report the usage of a mailbox, as a session does."""
        values = {"priv/quota/storage": f"{size}", "priv/quota/messages": f"{messages}"}
        self.recorder.record_usage(DictWrite(str(mailbox_id), values))

    def login(
        self,
        mailbox_id: UUID | str,
        protocol: str = "imap",
        remote: str = "192.0.2.1",
        *,
        ok: bool = True,
        access: str = "17",
    ):
        """Report a login, as the authentication service does."""
        home = f"{self.recorder.app.data_dir / 'mail'}/{mailbox_id}" if mailbox_id else ""
        self.recorder.record_login(LoginReport(ok, home, remote, protocol, access=access))


@pytest.fixture
def dovecot(api: Api) -> Dovecot:
    return Dovecot(api)


async def usage(api: Api) -> tuple[int, int]:
    """Bytes and messages of the only mailbox, by the API."""
    (mailbox,) = (await api.sue.get("/mailboxes")).data
    return mailbox["used_bytes"], mailbox["message_count"]


async def last_login(api: Api) -> tuple[str | None, str | None, str | None]:
    """The last login to the only mailbox."""
    (mailbox,) = (await api.sue.get("/mailboxes")).data
    login = mailbox["last_login"]
    return login["at"], login["protocol"], login["ip"]


@asynccontextmanager
async def unavailable(self: DatabasePool) -> AsyncIterator[Any]:
    raise Unavailable
    yield


async def test_the_last_report_of_a_mailbox_is_stored(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    dovecot.report(alice, 500, 1)
    dovecot.report(alice, 900, 2)
    await dovecot.recorder.write()
    assert await usage(api) == (900, 2)


@pytest.mark.parametrize(
    "size, messages", [("", 1), (-1, 1), ("1.5", 1), ("٣", 1), (10**20, 1), (2**53, 1), (1, "one")]
)
async def test_invalid_reports_are_ignored(api: Api, dovecot: Dovecot, size: object, messages: object) -> None:
    alice = await api.mailbox(ALICE)
    dovecot.report(alice, size, messages)
    dovecot.report("../" + str(alice), 1, 1)
    dovecot.recorder.record_usage(DictWrite(str(alice), {"priv/quota/storage": "7"}))
    await dovecot.recorder.write()
    assert await usage(api) == (0, 0)


async def test_without_the_database_no_report_is_lost(
    api: Api, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = await api.mailbox(ALICE)
    with monkeypatch.context() as patch:
        patch.setattr(DatabasePool, "tx", unavailable)
        dovecot.report(alice, 500, 1)
        dovecot.login(alice)
        with pytest.raises(Unavailable):
            await dovecot.recorder.write()
        dovecot.report(alice, 900, 2)
        with pytest.raises(Unavailable):
            await dovecot.recorder.write()
    await dovecot.recorder.write()
    assert await usage(api) == (900, 2)
    assert (await last_login(api))[1] == "imap"


async def test_a_locked_row_is_written_later(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    dovecot.report(alice, 500, 1)
    dovecot.login(alice)
    async with api.app.db.tx() as other:
        await other.execute("SELECT id FROM mailboxes FOR UPDATE")
        await dovecot.recorder.write()
    assert await usage(api) == (0, 0)
    await dovecot.recorder.write()
    assert await usage(api) == (500, 1)
    assert (await last_login(api))[1] == "imap"


async def test_successful_logins_are_stored_once_a_minute_for_each_protocol(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)

    async def seen() -> str | None:
        await dovecot.recorder.write()
        return (await last_login(api))[0]

    dovecot.login(alice, ok=False)
    dovecot.login("")
    dovecot.login("not-an-id")
    dovecot.login(alice, "doveadm")
    assert await seen() is None
    dovecot.login(alice)
    assert await seen() == "2026-03-01T12:00:00.000Z"
    api.clock.advance(seconds=30)
    dovecot.login(alice)
    assert await seen() == "2026-03-01T12:00:00.000Z"
    dovecot.login(alice, "smtp", "2001:db8::1")
    assert await seen() == "2026-03-01T12:00:30.000Z"
    assert (await last_login(api))[1:] == ("smtp", "2001:db8::1")
    api.clock.advance(seconds=31)
    dovecot.login(alice)
    assert await seen() == "2026-03-01T12:01:01.000Z"


async def test_the_history_has_each_address_and_program_of_a_day(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    owner = await api.owner(alice)
    for name in ("Phone", "Phone", "Laptop"):  # the history shows names, not which of two passwords
        await api.app_password(alice, name=name)
    rows = await api.sql("SELECT number FROM app_passwords ORDER BY number")
    for access in ("17", *(f"17/{row['number']}" for row in rows)):
        dovecot.login(alice, access=access)
    dovecot.login(alice, "smtp", "2001:db8::1")
    await dovecot.recorder.write()
    api.clock.advance(hours=2)
    dovecot.login(alice)
    dovecot.login(str(uuid4()))  # deleted meanwhile
    await dovecot.recorder.write()
    found = [
        (each["protocol"], each["ip"], each["program"], each["first_at"][11:16], each["last_at"][11:16])
        for each in (await owner.get("/me/logins")).data
    ]
    assert sorted(found) == [
        ("imap", "192.0.2.1", "", "12:00", "14:00"),
        ("imap", "192.0.2.1", "Laptop", "12:00", "12:00"),
        ("imap", "192.0.2.1", "Phone", "12:00", "12:00"),
        ("smtp", "2001:db8::1", "", "12:00", "12:00"),
    ]
    api.clock.advance(days=30)
    async with api.app.db.autocommit() as conn:
        await login_history.prune(api.app, conn)
    assert len(await api.sql("SELECT FROM mailbox_logins")) == 4
    api.clock.advance(days=1)
    async with api.app.db.autocommit() as conn:
        await login_history.prune(api.app, conn)
    assert await api.sql("SELECT FROM mailbox_logins") == []


async def test_the_last_use_of_each_app_password_is_stored_once_a_minute(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE)
    for number in (41, 42):
        await api.app_password(alice, number=number)

    async def uses() -> list[tuple[timedelta, str | None]]:
        await dovecot.recorder.write()
        rows = await api.sql("SELECT number, last_used_at, last_used_ip FROM app_passwords ORDER BY number")
        return [((row["last_used_at"] or START - timedelta(seconds=1)) - START, row["last_used_ip"]) for row in rows]

    dovecot.login(alice)
    dovecot.login(alice, access="17/42", ok=False)
    dovecot.login(alice, access="17/x")
    never = (timedelta(seconds=-1), None)
    assert await uses() == [never, never]
    for _ in range(200):
        dovecot.login(alice, access="17/42")
    api.clock.advance(seconds=30)
    dovecot.login(alice, access="17/42")
    dovecot.login(alice, access="17/999")
    assert await uses() == [never, (timedelta(0), "192.0.2.1")]
    dovecot.login(alice, remote="2001:db8::1", access="17/41")
    api.clock.advance(seconds=30)
    dovecot.login(alice, access="17/42")
    async with api.app.db.tx() as other:
        await other.execute("SELECT id FROM app_passwords WHERE number = 42 FOR UPDATE")
        assert await uses() == [(timedelta(seconds=30), "2001:db8::1"), (timedelta(0), "192.0.2.1")]
    assert (await uses())[1] == (timedelta(seconds=60), "192.0.2.1")


async def test_failures_are_logged_if_the_mailbox_accepts_only_app_passwords(api: Api, dovecot: Dovecot) -> None:
    await api.mailbox(ALICE, require_app_passwords=True)
    await api.mailbox(f"bob@{EXAMPLE}")

    async def fail(*logins: str) -> list[tuple[str, str, str]]:
        for login in logins:
            dovecot.recorder.record_login(LoginReport(False, remote="192.0.2.1", protocol="imap", login=login))
        with capture_logs() as logs:
            await dovecot.recorder.write()
        return [(line["login"], line["protocol"], line["ip"]) for line in logs]

    logged = [(ALICE, "imap", "192.0.2.1")]
    assert await fail(f"Alice@{EXAMPLE}", ALICE, f"bob@{EXAMPLE}", f"nobody@{EXAMPLE}", "no address", "") == logged
    assert await fail(ALICE) == []
    api.clock.advance(seconds=61)
    assert await fail(ALICE) == logged


@pytest.mark.parametrize(
    "seconds, written_between, may_be_stale", [(4, False, True), (4, True, True), (5, True, False), (60, False, False)]
)
async def test_reports_in_quick_succession_may_be_stale(
    api: Api, dovecot: Dovecot, seconds: int, *, written_between: bool, may_be_stale: bool
) -> None:
    alice = await api.mailbox(ALICE, usage_counted_at=api.clock())
    dovecot.report(alice, 900, 2)
    if written_between:
        await dovecot.recorder.write()
    api.clock.advance(seconds=seconds)
    dovecot.report(alice, 500, 1)
    await dovecot.recorder.write()
    assert await usage(api) == (500, 1)
    (row,) = await api.sql("SELECT usage_count_due_at AS due_at FROM mailboxes")
    assert row["due_at"] == (api.clock() if may_be_stale else None)


async def test_a_possibly_stale_report_stays_so_until_it_is_written(api: Api, dovecot: Dovecot) -> None:
    alice = await api.mailbox(ALICE, usage_counted_at=api.clock())
    for seconds in (0, 1, 10):
        api.clock.advance(seconds=seconds)
        dovecot.report(alice, 900, 2)
    await dovecot.recorder.write()
    assert await api.sql("SELECT usage_count_due_at AS at FROM mailboxes") == [{"at": api.clock()}]
