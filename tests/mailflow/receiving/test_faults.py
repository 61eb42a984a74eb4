"""Faults at every step of a delivery: accepted mail is stored and published exactly once."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import Conn, DatabasePool
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.mailflow.receiving import jobs, service
from mailkeep.features.mailflow.sandbox import store as sandbox_store
from mailkeep.mail.mailbox import maildir
from mailkeep.mail.message import content_file
from mailkeep.settings import Settings
from mailkeep.settings.tree import EventsSettings, LimitsSettings, SmtpSettings
from tests.mailflow.receiving.smtp_dialogue import codes, dialogue
from tests.plugins.post import LETTER, Post
from tests.support.client import EXAMPLE

ALICE, BOB = f"alice@{EXAMPLE}", f"bob@{EXAMPLE}"


@pytest.fixture
def api_settings() -> Settings:
    return Settings(
        limits=LimitsSettings(login_per_second=0, requests_per_second=0),
        smtp=SmtpSettings(listen="127.0.0.1:0"),
        events=EventsSettings(received_full=True),
    )


def fail_once(
    monkeypatch: pytest.MonkeyPatch, where: Any, name: str, *, at: int = 1, fault: Exception | None = None
) -> Callable[[], int]:
    """Let the call number `at` of a function fail before it does anything; answers how often it was called."""
    real, count = getattr(where, name), 0

    def failing(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        if count == at:
            raise fault or RuntimeError("a fault, on purpose")
        return real(*args, **kwargs)

    monkeypatch.setattr(where, name, failing)
    return lambda: count


async def event_kinds(post: Post) -> list[str]:
    return [kind for kind, _ in await post.events() if kind.startswith("mail.received")]


async def test_sent_mail_after_a_crash_between_mailbox_and_history_comes_once(
    post: Post, monkeypatch: pytest.MonkeyPatch
):
    alice = await post.api.mailbox()
    await post.send(to=[{"email": ALICE}])
    calls = fail_once(monkeypatch, mailboxes, "add_mail")
    with pytest.raises(RuntimeError):
        await post.run_queue()
    assert len(post.mail_of(alice)) == 1
    assert await event_kinds(post) == []
    await post.run_queue(2)
    assert calls() == 2
    assert len(post.mail_of(alice)) == 1
    assert await event_kinds(post) == ["mail.received", "mail.received.full"]


async def test_sent_mail_after_a_crash_between_history_and_queue_comes_once(
    post: Post, monkeypatch: pytest.MonkeyPatch
):
    alice = await post.api.mailbox()
    await post.send(to=[{"email": ALICE}])
    fail_once(monkeypatch, sandbox_store, "remove_recipient")
    with pytest.raises(RuntimeError):
        await post.run_queue()
    used = (await post.api.sql("SELECT used_bytes, message_count FROM mailboxes"))[0]
    # Read in the meantime: the copy is looked for there too.
    (copy,) = (post.api.app.data_dir / f"mail/{alice}/Maildir/new").iterdir()
    copy.rename(copy.parent.parent / "cur" / f"{copy.name}:2,S")
    await post.run_queue(2)
    assert post.mail_of(alice) == []
    assert (await post.api.sql("SELECT used_bytes, message_count FROM mailboxes"))[0] == used
    assert await event_kinds(post) == ["mail.received", "mail.received.full"]
    assert [row["status"] for row in await post.messages(direction="outbound")] == ["delivered"]


async def test_a_message_whose_filing_was_not_confirmed_is_taken_once(post: Post, monkeypatch: pytest.MonkeyPatch):
    alice = await post.api.mailbox()
    real, commits = DatabasePool.tx, 0

    @asynccontextmanager
    async def unconfirmed(self: DatabasePool) -> AsyncGenerator[Conn]:
        nonlocal commits
        async with real(self) as conn:
            yield conn
        commits += 1
        if commits == 1:
            raise Unavailable

    monkeypatch.setattr(DatabasePool, "tx", unconfirmed)
    assert (await post.deliver(ALICE)).code == 250
    assert (commits, len(post.mail_of(alice))) == (2, 1)
    assert await event_kinds(post) == ["mail.received", "mail.received.full"]
    assert (await post.api.sql("SELECT message_count FROM mailboxes"))[0]["message_count"] == 1


@pytest.mark.parametrize(
    "where, name, at",
    [
        (maildir, "deliver", 1),
        (maildir, "deliver", 2),
        (content_file, "write", 1),
        (service.messages, "record_inbound", 1),
        (service.store, "insert_payload", 1),
        (service.store, "queue_forwards", 1),
        (mailboxes, "add_mail", 2),
    ],
)
async def test_a_fault_at_any_step_is_temporary_and_leaves_nothing(
    post: Post, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, at: int
):
    alice, bob = await post.api.mailbox(), await post.api.mailbox(BOB)
    await post.api.alias(f"team@{EXAMPLE}", [ALICE, BOB, "friend@outside.test"])
    fail_once(monkeypatch, where, name, at=at)
    result = await post.deliver(f"team@{EXAMPLE}")
    assert result.code == 451, result
    assert post.mail_of(alice) + post.mail_of(bob) == []
    assert list((post.api.app.data_dir / "forwards").glob("*")) == []
    assert list((post.api.app.data_dir / "content").rglob("*.eml")) == []
    assert await post.events() == []
    assert await post.messages(status="received") == []
    assert (await post.deliver(f"team@{EXAMPLE}")).code == 250
    assert (len(post.mail_of(alice)), len(post.mail_of(bob))) == (1, 1)
    assert sorted(await event_kinds(post)) == ["mail.received"] * 2 + ["mail.received.full"] * 2
    assert len(await post.api.sql("SELECT recipient FROM forwards")) == 1


async def test_a_full_disk_is_temporary(post: Post, monkeypatch: pytest.MonkeyPatch):
    await post.api.mailbox()
    fail_once(monkeypatch, maildir, "deliver", fault=OSError(28, "No space left on device"))
    result = await post.deliver(ALICE)
    assert (result.code, result.text[:5]) == (452, "4.3.1")


async def test_the_database_lost_between_rcpt_and_the_end_of_data(post: Post, monkeypatch: pytest.MonkeyPatch):
    alice = await post.api.mailbox()
    real = service.check_sender

    async def judge_and_lose(*args: Any) -> Any:
        answer = await real(*args)
        await post.api.app.db.close()
        return answer

    monkeypatch.setattr(service, "check_sender", judge_and_lose)
    result = await dialogue(post, "MAIL FROM:<a@b.test>", f"RCPT TO:<{ALICE}>", LETTER)
    assert codes(result) == [250, 250, 451]
    assert post.mail_of(alice) == []


async def test_the_database_lost_while_a_message_is_delivered(post: Post, monkeypatch: pytest.MonkeyPatch):
    alice = await post.api.mailbox()
    real = service.store.find_mailboxes

    async def look_and_lose(*args: Any, **kwargs: Any) -> Any:
        found = await real(*args, **kwargs)
        if kwargs["always_full"]:
            # As if the server had been killed: our connections are cut at once.
            await post.api.app.db.close()
        return found

    monkeypatch.setattr(service.store, "find_mailboxes", look_and_lose)
    result = await dialogue(post, "MAIL FROM:<a@b.test>", f"RCPT TO:<{ALICE}>", LETTER)
    assert codes(result) == [250, 250, 451]
    assert post.mail_of(alice) == []


async def test_a_mailbox_that_goes_while_its_mail_is_read(post: Post, monkeypatch: pytest.MonkeyPatch):
    await post.api.mailbox()
    real = service.check_recipient

    async def judge_and_remove(*args: Any) -> Any:
        answer = await real(*args)
        await post.api.sql("UPDATE mailboxes SET deleted_at = created_at RETURNING id")
        return answer

    monkeypatch.setattr(service, "check_recipient", judge_and_remove)
    result = await dialogue(post, "MAIL FROM:<a@b.test>", f"RCPT TO:<{ALICE}>", LETTER)
    assert result[-1] == (550, "5.1.1 User unknown")


async def test_what_broken_off_deliveries_leave_is_removed_later(post: Post):
    alice = await post.api.mailbox()
    await post.api.alias(f"away@{EXAMPLE}", ["friend@outside.test"])
    await post.deliver(ALICE, f"away@{EXAMPLE}")
    data_dir = post.api.app.data_dir
    left = [data_dir / f"mail/{alice}/Maildir/tmp/x", data_dir / "forwards/0123.eml"]
    young = data_dir / f"mail/{alice}/Maildir/tmp/y"
    for path in (*left, young, *(data_dir / "forwards").glob("*.eml")):
        path.write_bytes(path.read_bytes() if path.exists() else b"")
        old = post.api.clock().timestamp() - (0 if path == young else 40 * 3600)
        os.utime(path, (old, old))
    await jobs.prune(post.api.app)
    assert not any(path.exists() for path in left)
    assert young.exists()
    assert len(list((data_dir / "forwards").glob("*.eml"))) == 1
