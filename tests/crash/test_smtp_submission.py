"""SMTP submission with an Idempotency-Key through kill -9 at each step: never a 250 for mail that was not taken, and
the retry sends it once and counts it once.
"""

from __future__ import annotations

import asyncio
import signal
import smtplib
import ssl
import time

import pytest

from tests.crash.rounds import Rounds, rounds

PLACES = (
    "smtp_submission.claimed",
    "smtp_submission.attempt_written",
    "submit.dot_sent",
    "sandbox.queued",
    "smtp_submission.submitted",
    "smtp_submission.recorded",
)
SENDER = "shop@example.test"
SECONDS = 90.0


def submit(address: str, key: str, token: str) -> int:
    """The code of the reply to the message; 0 if the connection ended before it."""
    host, _, port = address.rpartition(":")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    content = f"From: {SENDER}\r\nSubject: {token}\r\nIdempotency-Key: {token}\r\n\r\nHello.\r\n".encode()
    try:
        with smtplib.SMTP(host, int(port), "program.test", timeout=30) as client:
            client.starttls(context=context)
            client.login("apikey", key)
            client.mail(SENDER)
            client.rcpt(f"{token}@elsewhere.test")
            return client.data(content)[0]
    except (smtplib.SMTPServerDisconnected, OSError):
        return 0


async def submit_until_accepted(found: Rounds, token: str) -> list[int]:
    """Submit again and again; the codes, of which the last is 250."""
    codes: list[int] = []
    deadline = time.monotonic() + SECONDS
    while not codes or codes[-1] != 250:
        assert time.monotonic() < deadline, codes
        codes.append(await asyncio.to_thread(submit, found.place.smtp, found.place.key, token))
        assert codes[-1] in (250, 451, 0), codes
        await asyncio.sleep(0.05)
    return codes


@pytest.mark.timeout(600)
async def test_a_submission_survives_a_kill_at_every_step():
    async with rounds() as found:
        tokens = [await submit_through_a_kill(found, name) for name in PLACES]
        caught = (await found.place("GET", "/sandbox/messages?limit=100")).body["data"]
        sent = sorted(to.partition("@")[0] for each in caught for to in each["rcpt_to"])
        assert sent == sorted(set(sent))
        assert set(tokens) <= set(sent)
        shown = (await found.place("GET", "/messages?limit=100&direction=outbound")).body["data"]
        accepted = [each for each in shown if each["status"] not in ("lost", "submitting", "failed")]
        assert sorted(each["subject"] for each in accepted) == sent
        with found.books._connect() as conn:
            (counted,) = conn.execute(
                "SELECT sum(recipients) FROM send_counts WHERE subject = 'example.test'"
            ).fetchone() or (0,)
        assert counted == len(sent)


async def submit_through_a_kill(found: Rounds, name: str) -> str:
    """Submit a message during which the instance is killed at a failpoint, and again until it is accepted."""
    found._arm(name, 1)
    deadline = time.monotonic() + SECONDS
    number = 0
    token = ""
    while found.running.process.poll() is None:  # the failpoint may be armed a moment later
        assert time.monotonic() < deadline, name
        token = f"{name.replace('.', '-').replace('_', '-')}-{number}"
        number += 1
        code = await asyncio.to_thread(submit, found.place.smtp, found.place.key, token)
        if code != 250:
            await asyncio.to_thread(found.running.process.wait, 60)
    assert found.running.process.wait(60) == -signal.SIGKILL, found.running.log
    await found._start()
    await submit_until_accepted(found, token)
    assert await submit_until_accepted(found, token) == [250]
    return token
