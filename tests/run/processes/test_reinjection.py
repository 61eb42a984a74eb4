"""Mail from Sieve: copies and replies with the null sender are counted, and replies checked and signed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import dkim
import pytest

from mailkeep.features.directory.dkim import service as dkim_keys
from mailkeep.mail.dovecot import sieve_spool
from mailkeep.mail.smtp.client import OutgoingEnvelope
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.run.processes.reinjection import Submitter
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, VAULT, Api

ALICE, NOBODY = f"alice@{EXAMPLE}", "01a20906-061d-7000-9231-282cd6d03ca8"
REDIRECTED = f"X-Sieve: Pigeonhole Sieve 0.5.19\nX-Sieve-Redirected-From: {ALICE}\nSubject: x\n\nHello.\n"
REPLY = f"X-Sieve: Pigeonhole Sieve 0.5.19\nFrom: {{}}\nSubject: Auto\nX-Sieve-Redirected-From: {ALICE}\n\nAway.\n"


@dataclass
class Result:
    rejected: Mapping[str, SmtpReply]


@dataclass
class Pool:
    """Postfix: it accepts everything except mail for `refused`."""

    submitted: list[OutgoingEnvelope] = field(default_factory=list[OutgoingEnvelope])
    contents: list[bytes] = field(default_factory=list[bytes])

    async def submit(self, submission: OutgoingEnvelope, content: Iterable[bytes]) -> Result:
        self.submitted.append(submission)
        self.contents.append(b"".join(content))
        return Result({to: SmtpReply(550, "5.1.1", "No") for to in submission.rcpt_to if to.startswith("refused@")})


@pytest.fixture
def pool() -> Pool:
    return Pool()


@pytest.fixture
def submitter(api: Api, pool: Pool, tmp_path: Path) -> Submitter:
    for name in sieve_spool.FOLDERS:
        (tmp_path / name).mkdir()
    return Submitter(api.app, tmp_path, cast("SmtpPool", pool), "mx.example.test")


def put(submitter: Submitter, content: str, *to: str, sender: str = "", mailbox_id: UUID | str = NOBODY) -> None:
    at = submitter.app.clock()
    sieve_spool.write(submitter.spool, at, str(mailbox_id), sender, to, content.encode())


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
    ],
)
async def test_copies_of_messages_without_a_sender_are_counted(
    api: Api, submitter: Submitter, pool: Pool, content: str, sender: str, to: list[str], expected: int
) -> None:
    """Ten redirects of a message with the null sender made ten external copies that nobody counted."""
    put(submitter, content, *to, sender=sender, mailbox_id=await api.mailbox(ALICE))
    await submitter.submit_waiting()
    assert [tuple(each.rcpt_to) for each in pool.submitted] == [tuple(to)]
    assert await forwards(api) == expected


async def test_messages_beyond_the_limit_wait(api: Api, submitter: Submitter, pool: Pool) -> None:
    abuse = replace(api.app.settings.abuse, forward_per_hour=1)
    api.app.settings = replace(api.app.settings, abuse=abuse)
    mailbox_id = await api.mailbox(ALICE)
    for _ in range(2):
        put(submitter, REDIRECTED, "a@far.test", mailbox_id=mailbox_id)
    await submitter.submit_waiting()
    assert len(pool.submitted) == 1
    assert len(sieve_spool.list_messages(submitter.spool)) == 1
    assert await forwards(api) == 1


@pytest.mark.parametrize(
    "earlier, leaves",
    [
        ([f"bob@{EXAMPLE}"], True),
        ([f"bob@{EXAMPLE}", f"Alice+4jZk0N6HF3z1XNBp@{EXAMPLE}"], False),
        ([f"{name}@{EXAMPLE}" for name in "abc"], True),
        ([f"{name}@{EXAMPLE}" for name in "abcd"], False),
        ([f"{name}@far.test" for name in "abcdefgh"] + ["", "no address", ALICE.replace("@", "@far.")], True),
    ],
)
async def test_redirected_mail_does_not_loop(
    api: Api, submitter: Submitter, pool: Pool, earlier: list[str], leaves: bool
) -> None:
    """Two mailboxes that redirected mail to each other, to other tags each time, multiplied it without end."""
    mailbox_id = await api.mailbox(ALICE)
    own, rest = REDIRECTED.split("Subject", 1)
    content = own + "".join(f"X-Sieve-Redirected-From: {address}\n" for address in earlier) + "Subject" + rest
    put(submitter, content, f"bob@{EXAMPLE}", sender=ALICE, mailbox_id=mailbox_id)
    await submitter.submit_waiting()
    assert (len(pool.submitted), sieve_spool.list_messages(submitter.spool)) == (int(leaves), [])


async def test_messages_of_one_mailbox_that_wait_hold_up_no_others(api: Api, submitter: Submitter, pool: Pool) -> None:
    """Each refusal takes Postfix some time."""
    alice, bob = await api.mailbox(ALICE), await api.mailbox(f"bob@{EXAMPLE}")
    await api.suspension(ALICE)
    for _ in range(30):
        put(submitter, REDIRECTED, "a@far.test", sender=ALICE, mailbox_id=alice)
    put(submitter, REDIRECTED, "a@far.test", sender=f"bob@{EXAMPLE}", mailbox_id=bob)
    pause = await submitter.submit_waiting()
    assert (len(submitter._retries), [each.mail_from for each in pool.submitted]) == (10, [f"bob@{EXAMPLE}"])
    assert pause == 0
    for _ in range(2):
        await submitter.submit_waiting()
    assert len(submitter._retries) == 30


async def add_key(api: Api) -> dict[str, bytes]:
    """A DKIM key of the domain; its DNS record."""
    key = dkim_keys.generate_key(VAULT, DOMAIN_IDS[EXAMPLE], api.clock(), "ed25519")
    async with api.app.db.tx() as conn:
        await dkim_keys.insert(conn, key)
    found = await api.sue.get(f"/domains/{DOMAIN_IDS[EXAMPLE]}/dkim-keys")
    return {each["dns"]["name"]: each["dns"]["value"].encode() for each in found.data}


async def test_a_reply_is_signed_and_counted(api: Api, submitter: Submitter, pool: Pool) -> None:
    mailbox_id, records = await api.mailbox(ALICE), await add_key(api)
    put(submitter, REPLY.format(ALICE), "a@far.test", "bob@other.test", mailbox_id=mailbox_id)
    await submitter.submit_waiting()
    (content,) = pool.contents
    assert content.endswith(REPLY.format(ALICE).replace("\n", "\r\n").encode())
    assert dkim.DKIM(content).verify(0, lambda name, timeout=5: records[name.decode().rstrip(".")])
    assert await forwards(api) == 1


async def test_a_reply_without_a_key_waits_for_one(api: Api, submitter: Submitter, pool: Pool) -> None:
    mailbox_id = await api.mailbox(ALICE)
    await api.sql("UPDATE dkim_keys SET stage = 'retired' RETURNING id")
    put(submitter, REPLY.format(ALICE), "a@far.test", mailbox_id=mailbox_id)
    await submitter.submit_waiting()
    assert (pool.submitted, len(sieve_spool.list_messages(submitter.spool))) == ([], 1)
    await add_key(api)
    submitter._retries.clear()  # the pause is over
    await submitter.submit_waiting()
    assert (len(pool.submitted), sieve_spool.list_messages(submitter.spool)) == (1, [])


@pytest.mark.parametrize(
    "sender, to, expected",
    [
        (ALICE, "a@far.test", True),
        (f"Alice <{ALICE}>", "a@far.test", True),
        (f"alice+tag@{EXAMPLE}", "a@far.test", True),
        (f"sales@{EXAMPLE}", "a@far.test", True),  # an alias that leads to Alice alone
        (f"postmaster@{EXAMPLE}", "a@far.test", True),  # of a rejection
        (f"bob@{EXAMPLE}", "a@far.test", False),
        (f"anything@{EXAMPLE}", "a@far.test", False),  # by the catch-all
        (f"postmaster@{OTHER}", "a@far.test", False),
        ("alice@far.test", "a@far.test", False),
        (f"{ALICE}, bob@{EXAMPLE}", "a@far.test", False),
        (f"{ALICE}\nFrom: bob@{EXAMPLE}", "a@far.test", False),
        ("", "a@far.test", False),
    ],
)
async def test_a_reply_leaves_only_from_an_address_of_its_mailbox(
    api: Api, submitter: Submitter, pool: Pool, sender: str, to: str, expected: bool
) -> None:
    mailbox_id = await api.mailbox(ALICE)
    await api.mailbox(f"bob@{EXAMPLE}")
    await api.alias(f"sales@{EXAMPLE}", [ALICE])
    await api.alias(f"@{EXAMPLE}", [ALICE])
    await add_key(api)
    put(submitter, REPLY.format(sender), to, mailbox_id=mailbox_id)
    await submitter.submit_waiting()
    assert (len(pool.submitted), sieve_spool.list_messages(submitter.spool)) == (expected, [])


@pytest.mark.parametrize("obstacle", ["suspension", "suspension of From", "domain", "trash"])
async def test_a_mailbox_that_may_not_send_sends_no_reply_to_others(
    api: Api, submitter: Submitter, pool: Pool, obstacle: str
) -> None:
    mailbox_id, alias = await api.mailbox(ALICE), f"sales@{EXAMPLE}"
    await api.alias(alias, [ALICE])
    await add_key(api)
    match obstacle:
        case "suspension":
            await api.suspension(ALICE)
        case "suspension of From":
            await api.suspension(alias)
        case "domain":
            await api.sue.patch(f"/domains/{DOMAIN_IDS[EXAMPLE]}", {"sending_enabled": False})
        case _:
            await api.sue.delete(f"/mailboxes/{mailbox_id}")
    put(submitter, REPLY.format(alias), "a@far.test", mailbox_id=mailbox_id)
    put(submitter, REPLY.format(f"postmaster@{EXAMPLE}"), ALICE, mailbox_id=mailbox_id)  # a notification to the owner
    await submitter.submit_waiting()
    to_owner = [] if obstacle == "trash" else [ALICE]
    assert [each.rcpt_to[0] for each in pool.submitted] == to_owner
    assert sieve_spool.list_messages(submitter.spool) == []


@pytest.mark.parametrize("obstacle", ["suspension", "trash"])
@pytest.mark.parametrize("sender", ["", ALICE])
async def test_redirected_mail_of_a_suspended_mailbox_waits(
    api: Api, submitter: Submitter, pool: Pool, sender: str, obstacle: str
) -> None:
    mailbox_id = await api.mailbox(ALICE)
    if obstacle == "suspension":
        await api.suspension(ALICE)
    else:
        await api.sue.delete(f"/mailboxes/{mailbox_id}")
    put(submitter, REDIRECTED, "a@far.test", sender=sender, mailbox_id=mailbox_id)
    put(submitter, REDIRECTED, f"bob@{EXAMPLE}", sender=sender, mailbox_id=mailbox_id)
    await submitter.submit_waiting()
    assert [each.rcpt_to[0] for each in pool.submitted] == [f"bob@{EXAMPLE}"]
    end = "unsuspend" if obstacle == "suspension" else "restore"
    assert (await api.sue.post(f"/mailboxes/{mailbox_id}/{end}")).status == 200
    submitter._retries.clear()  # the pause is over
    await submitter.submit_waiting()
    assert [each.rcpt_to[0] for each in pool.submitted[1:]] == ["a@far.test"]
    assert sieve_spool.list_messages(submitter.spool) == []
