"""Mail from Sieve: redirected messages with the null sender are counted before they are submitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from mailkeep.mail.dovecot import sieve_spool
from mailkeep.mail.smtp.client import OutgoingEnvelope
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.run.processes.reinjection import Submitter
from tests.support.client import EXAMPLE, Api

ALICE = f"alice@{EXAMPLE}"
REDIRECTED = f"X-Sieve: Pigeonhole Sieve 0.5.19\nX-Sieve-Redirected-From: {ALICE}\nSubject: x\n\nHello.\n"
REPLY = f"X-Sieve: Pigeonhole Sieve 0.5.19\nSubject: Auto\nX-Sieve-Redirected-From: {ALICE}\n\nAway.\n"


@dataclass
class Result:
    rejected: Mapping[str, SmtpReply]


@dataclass
class Pool:
    """Postfix: it accepts everything except mail for `refused`."""

    submitted: list[OutgoingEnvelope] = field(default_factory=list[OutgoingEnvelope])

    async def submit(self, submission: OutgoingEnvelope, _content: Iterable[bytes]) -> Result:
        self.submitted.append(submission)
        return Result({to: SmtpReply(550, "5.1.1", "No") for to in submission.rcpt_to if to.startswith("refused@")})


@pytest.fixture
def pool() -> Pool:
    return Pool()


@pytest.fixture
def submitter(api: Api, pool: Pool, tmp_path: Path) -> Submitter:
    for name in sieve_spool.FOLDERS:
        (tmp_path / name).mkdir()
    return Submitter(api.app, tmp_path, cast("SmtpPool", pool), "mx.example.test")


def put(submitter: Submitter, content: str, *to: str, sender: str = "") -> None:
    at = submitter.app.clock()
    sieve_spool.write(submitter.spool, at, "01a20906-061d-7000-9231-282cd6d03ca8", sender, to, content.encode())


async def forwards(api: Api) -> int:
    rows: list[dict[str, Any]] = await api.sql(
        "SELECT recipients FROM send_counts WHERE subject = %(key)s", key=f"forwards {EXAMPLE}"
    )
    return sum(row["recipients"] for row in rows)


@pytest.mark.parametrize(
    "content, sender, to, expected",
    [
        (REDIRECTED, "", ["a@far.test", "b@far.test"], 2),
        (REDIRECTED, "", ["a@far.test", ALICE], 1),
        (REDIRECTED, "", ["refused@far.test"], 0),
        (REDIRECTED, ALICE, ["a@far.test"], 0),  # Postfix asks the policy agent
        (REPLY, "", ["a@far.test"], 0),
    ],
)
async def test_copies_of_messages_without_a_sender_are_counted(
    api: Api, submitter: Submitter, pool: Pool, content: str, sender: str, to: list[str], expected: int
) -> None:
    """Ten redirects of a message with the null sender made ten external copies that nobody counted."""
    await api.mailbox(ALICE)
    put(submitter, content, *to, sender=sender)
    await submitter.submit_waiting()
    assert [tuple(each.rcpt_to) for each in pool.submitted] == [tuple(to)]
    assert await forwards(api) == expected


async def test_messages_beyond_the_limit_wait(api: Api, submitter: Submitter, pool: Pool) -> None:
    abuse = replace(api.app.settings.abuse, forward_per_hour=1)
    api.app.settings = replace(api.app.settings, abuse=abuse)
    for _ in range(2):
        put(submitter, REDIRECTED, "a@far.test")
    await submitter.submit_waiting()
    assert len(pool.submitted) == 1
    assert len(sieve_spool.list_messages(submitter.spool)) == 1
    assert await forwards(api) == 1
