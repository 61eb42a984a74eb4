"""Mail that programs submit with an API key on the full profile, from smtplib and swaks."""

from __future__ import annotations

import asyncio
import shutil
import signal
import smtplib
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.features.mailflow.delivery_status import service as delivery_status
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.message.bounce_address import message_of
from mailkeep.mail.postfix.queue import list_queue_ids
from mailkeep.run.runtime.context import attach
from tests.stack.harness import ADDRESS, Stack, eventually, letter
from tests.support.instance import ROOT

DOMAIN = "orders.test"
SHOP = f"shop@{DOMAIN}"


class Shop:
    """A program with a key for one domain."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.domain = stack.get_domain(DOMAIN)
        stack.get_domain("foreign.test")
        created = stack.do("POST", "/api-keys", {"name": "shop", "scoped_domain_ids": [self.domain]})
        self.key, self.key_id = created["key"], created["api_key"]["id"]

    def submit(self, to: str, headers: str = "", **more: Any) -> tuple[int, str]:
        """The reply at the end of a message from a session of its own."""
        with self.stack.login("apikey", self.key) as client:
            return submit(client, to, headers=headers, **more)

    def rows(self, to: str) -> list[dict[str, Any]]:
        """The history's messages to an address."""
        return self.stack.do("GET", f"/messages?to={quote(to)}")

    def row(self, to: str, status: str = "delivered") -> dict[str, Any]:
        """The only message to an address, once it has this status."""
        (found,) = eventually(lambda: [each for each in self.rows(to) if each["status"] == status], what=status)
        return self.stack.do("GET", f"/messages/{found['id']}")

    def sent(self) -> int:
        """The recipients that count for the domain in this hour."""
        limits = self.stack.do("GET", f"/abuse/thresholds?scope=domain&id={self.domain}")
        return limits["values"]["domain_per_hour"]["used"]


def submit(client: smtplib.SMTP, *to: str, headers: str = "", **more: Any) -> tuple[int, str]:
    """The reply at the end of a message."""
    client.mail(SHOP)
    for each in to:
        assert client.rcpt(each)[0] == 250
    code, text = client.data(letter(to[0], headers=headers, **({"sender": SHOP} | more)))
    return code, text.decode()


@pytest.fixture(scope="module")
def shop(stack_folder: Path) -> Shop:
    return Shop(Stack(stack_folder))


def test_a_message_is_in_the_history_as_one_of_the_api(shop: Shop) -> None:
    to = "buyer+1@remote.test"
    code, text = shop.submit(to, "X-Mailkeep-Tags: welcome, order\r\nX-Order: 17\r\nX-Mailkeep-Spam: no\r\n")
    assert code == 250, text
    (mail,) = shop.stack.arrived(to)
    assert b"X-Mailkeep" not in mail
    assert b"X-Order: 17" in mail
    assert f"d={DOMAIN}".encode() in mail
    found = shop.row(to)
    assert (found["source"], found["api_key_id"], found["tags"]) == ("smtp", shop.key_id, ["welcome", "order"])
    (sender,) = shop.stack.senders(to)
    assert str(message_of(sender)) == found["id"]
    assert sender.endswith(f"@{DOMAIN}")
    kept = shop.stack.content(f"/messages/{found['id']}/raw")
    assert b"X-Order: 17\r\n" in kept
    assert b"X-Mailkeep" not in kept


def test_a_repeated_message_is_sent_and_counted_once(shop: Shop) -> None:
    to, headers = "buyer+2@remote.test", "Idempotency-Key: order-2\r\n"
    before = shop.sent()
    # The Message-ID and Date of a message that is composed again differ.
    replies = [shop.submit(to, headers)]
    assert replies[0][0] == 250, replies
    shop.row(to)
    replies += [shop.submit(to, headers) for _ in range(2)]
    assert [code for code, _ in replies] == [250, 250, 250]
    assert len({text for _, text in replies}) == 3  # each has a queue ID
    code, text = shop.submit(to, headers, body="Another order.")
    assert (code, "Idempotency-Key was used for another message" in text) == (550, True), text
    assert shop.submit("other@remote.test", headers)[0] == 550
    time.sleep(2)
    assert len(shop.stack.caught(to)) == 1
    assert len(shop.rows(to)) == 1
    assert shop.sent() == before + 1
    assert b"Idempotency" not in shop.stack.caught(to)[0]


def test_suppressed_recipients_are_removed(shop: Shop) -> None:
    gone, to = "gone@remote.test", "buyer+3@remote.test"
    shop.stack.do("POST", "/suppressions", {"domain_id": shop.domain, "address": gone, "reason": "manual"})
    with shop.stack.login("apikey", shop.key) as client:
        assert submit(client, to, gone)[0] == 250
        code, text = submit(client, gone)
        assert (code, text[:5], "suppression" in text) == (550, "5.7.1", True), text

    def has_arrived() -> bool:
        recipients = shop.row(to, "partial")["recipients"]
        return {each["address"]: each["status"] for each in recipients} == {to: "delivered", gone: "suppressed"}

    eventually(has_arrived)
    assert not shop.stack.caught(gone)


def test_what_the_api_refuses_is_refused(shop: Shop) -> None:
    for headers, sender, expected in (
        ("", "shop@foreign.test", (553, "5.7.1")),
        ("", "shop@elsewhere.test", (553, "5.7.1")),
        ("", f"{SHOP}, {SHOP}", (550, "5.6.0")),
        (f"X-Mailkeep-Tags: {'x' * 101}\r\n", SHOP, (550, "5.6.0")),
        ("Idempotency-Key: a b\r\n", SHOP, (550, "5.6.0")),
        ("Idempotency-Key: a\r\nIdempotency-Key: a\r\n", SHOP, (550, "5.6.0")),
    ):
        code, text = shop.submit("friend@remote.test", headers, sender=sender)
        assert (code, text[:5]) == expected, (headers, sender, text)


def test_mail_of_a_mailbox_passes(shop: Shop) -> None:
    shop.stack.make_mailbox(shop.domain, "alice")
    to = "buyer+4@remote.test"
    with shop.stack.login(f"alice@{DOMAIN}") as client:
        headers = "X-Mailkeep-Tags: forged\r\nIdempotency-Key: mine\r\nx-mailkeep-tags: forged\r\n"
        client.sendmail(f"alice@{DOMAIN}", [to], letter(to, headers=headers, sender=f"alice@{DOMAIN}"))
    (mail,) = shop.stack.arrived(to)
    assert b"forged" not in mail
    assert b"\r\nIdempotency-Key: mine\r\n" in mail
    found = shop.row(to)
    assert (found["source"], found["api_key_id"], found["tags"]) == ("smtp", None, [])


@pytest.mark.skipif(shutil.which("swaks") is None, reason="needs swaks (`make daemons` installs it)")
def test_swaks_sends_with_a_key(shop: Shop) -> None:
    to = "buyer+5@remote.test"
    command = ["swaks", "--server", ADDRESS, "--port", str(shop.stack.ports["submission"]), "--tls", "--auth", "PLAIN"]
    command += ["--auth-user", "apikey", "--auth-password", shop.key, "--from", SHOP, "--to", to]
    command += ["--header", "Idempotency-Key: order-5", "--header", "X-Mailkeep-Tags: swaks", "--body", "Hello."]
    command += ["--header", "Subject: Order 5"]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert shop.row(to)["tags"] == ["swaks"]
    assert len(shop.stack.caught(to)) == 1


@contextmanager
def trapped(stack: Stack, name: str) -> Iterator[subprocess.Popen[str]]:
    """Another process serves the milter's socket, which kills at this failpoint (`tests/crash/trapped_milter`)."""
    paths = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
    own, kept = paths.milter_socket, paths.milter_socket.with_suffix(".kept")
    own.rename(kept)
    command = [sys.executable, "-m", "tests.crash.trapped_milter", str(stack.data_dir), name]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        kept.rename(own)
        process.kill()
        process.wait(60)
        if process.stdout:
            process.stdout.close()


def retry(shop: Shop, to: str, headers: str) -> list[int]:
    """The codes of the replies, until the message is accepted."""
    codes: list[int] = []

    def is_accepted() -> bool:
        codes.append(shop.submit(to, headers)[0])
        return codes[-1] == 250

    eventually(is_accepted, what="the acceptance")
    return codes


@pytest.mark.parametrize("point", ["submission.before_claim", "submission.claimed", "submission.content_saved"])
def test_a_crash_of_the_milter_loses_and_repeats_nothing(shop: Shop, point: str) -> None:
    to, headers = f"{point}@remote.test", f"Idempotency-Key: {point}\r\n"
    before = shop.sent()
    with trapped(shop.stack, point) as milter:
        code, text = shop.submit(to, headers)
        assert code == 451, text
        assert milter.wait(60) == -signal.SIGKILL
    assert set(retry(shop, to, headers)) <= {451, 250}
    shop.row(to)
    assert shop.submit(to, headers)[0] == 250
    assert shop.sent() == before + 1
    assert len(shop.stack.caught(to)) == 1


def test_a_crash_of_postfix_after_the_verdict_frees_the_key(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    to, headers = "buyer+6@remote.test", "Idempotency-Key: order-6\r\n"
    before = shop.sent()
    with trapped(shop.stack, "cleanup@submission.content_saved"):
        code, text = shop.submit(to, headers)
        assert code == 451, text
    # The log says nothing about the message: it could still be accepted.
    assert shop.submit(to, headers)[0] == 451
    assert shop.sent() == before + 1
    monkeypatch.setattr(delivery_status, "_LONGEST_ACCEPTANCE", timedelta(0))
    eventually(lambda: asyncio.run(free(shop)), what="the uncounted message")
    assert shop.sent() == before
    retry(shop, to, headers)
    shop.row(to)
    assert shop.sent() == before + 1
    assert len(shop.stack.caught(to)) == 1


async def free(shop: Shop) -> int:
    """Free what is not accepted, as the process `node` does every ten minutes."""
    paths = InstancePaths(shop.stack.data_dir, run_folder(shop.stack.data_dir))
    async with attach(shop.stack.data_dir, "tests") as app:
        listed_at = app.clock()
        queued = list_queue_ids(paths.postfix_queue)
        await asyncio.sleep(1)
        return await delivery_status.free_unaccepted(app, queued, listed_at)


def test_a_client_that_misses_the_reply_sends_once(shop: Shop) -> None:
    to, headers = "buyer+7@remote.test", "Idempotency-Key: order-7\r\n"
    before = shop.sent()
    client = shop.stack.login("apikey", shop.key)
    client.mail(SHOP)
    client.rcpt(to)
    client.putcmd("DATA")
    client.getreply()
    client.send(letter(to, headers=headers, sender=SHOP) + ".\r\n")
    client.close()  # without reading the reply
    retry(shop, to, headers)
    shop.row(to)
    assert shop.submit(to, headers)[0] == 250
    assert shop.sent() == before + 1
    assert len(shop.stack.caught(to)) == 1
