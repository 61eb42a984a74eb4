"""Full mailboxes: refused at RCPT if that is known then, else at the end of the data."""

from __future__ import annotations

import pytest

from tests.mailflow.receiving.smtp_dialogue import codes, dialogue
from tests.plugins.post import LETTER, Post
from tests.support.client import EXAMPLE

ALICE, BOB = f"alice@{EXAMPLE}", f"bob@{EXAMPLE}"
FULL = (452, "4.2.2 Mailbox full")
TOO_LARGE = (552, "5.2.2 The message is larger than the mailbox's quota")


async def usage(post: Post, address: str) -> tuple[int, int]:
    (row,) = await post.api.sql(
        "SELECT used_bytes, message_count FROM mailboxes WHERE local_key = %(name)s", name=address.partition("@")[0]
    )
    return row["used_bytes"], row["message_count"]


async def test_what_came_in_is_counted_as_it_lies_there(post: Post):
    alice = await post.api.mailbox()
    for count in (1, 2):
        await post.deliver(ALICE)
        lying = sum(path.stat().st_size for path in (post.api.app.data_dir / f"mail/{alice}/Maildir/new").iterdir())
        assert await usage(post, ALICE) == (lying, count)


@pytest.mark.parametrize(
    "quota, used, declared, code",
    [
        (0, 10**9, 10**6, 250),
        (1000, 999, 0, 250),
        (1000, 1000, 0, 452),
        (1000, 500, 501, 452),
        (1000, 500, 500, 250),
        (1000, 0, 1001, 552),
    ],
)
async def test_a_full_mailbox_is_refused_at_rcpt(post: Post, quota: int, used: int, declared: int, code: int):
    await post.api.mailbox(quota_bytes=quota, used_bytes=used)
    result = await dialogue(post, f"MAIL FROM:<a@b.test> SIZE={declared}", f"RCPT TO:<{ALICE}>")
    assert codes(result) == [250, code]
    assert len(await post.messages(status="rejected")) == (code != 250)


async def test_the_others_get_theirs(post: Post):
    alice, bob = await post.api.mailbox(quota_bytes=10, used_bytes=10), await post.api.mailbox(BOB)
    result = await post.deliver(ALICE, BOB)
    assert (result.code, result.refused) == (250, {ALICE: FULL})
    assert (len(post.mail_of(alice)), len(post.mail_of(bob))) == (0, 1)


@pytest.mark.parametrize("quota, answer", [(len(LETTER) - 1, TOO_LARGE), (len(LETTER) + 1, FULL)])
async def test_a_message_that_turns_out_too_large_is_refused_at_its_end(
    post: Post, quota: int, answer: tuple[int, str]
):
    alice = await post.api.mailbox(quota_bytes=quota, used_bytes=5)
    result = await post.deliver(ALICE)
    assert (result.code, result.text) == answer
    assert post.mail_of(alice) == []
    (rejected,) = await post.messages()
    assert (rejected["status"], rejected["recipients"][0]["enhanced_code"]) == (
        "rejected",
        answer[1][:5],
    )
    assert await post.events() == []


async def test_a_full_mailbox_is_skipped_and_recorded(post: Post):
    alice, bob = await post.api.mailbox(quota_bytes=10, used_bytes=10), await post.api.mailbox(BOB)
    await post.api.alias(f"team@{EXAMPLE}", [ALICE, BOB])
    assert (await post.deliver(f"team@{EXAMPLE}")).code == 250
    assert (len(post.mail_of(alice)), len(post.mail_of(bob))) == (0, 1)
    (rejected,) = await post.messages(status="rejected")
    assert rejected["mailbox_id"] == str(alice)
    assert rejected["recipients"][0]["smtp_code"] == 552
    assert [kind for kind, _ in await post.events()] == ["mail.received"]
    await post.api.sql("UPDATE mailboxes SET quota_bytes = 1, used_bytes = 1 WHERE local_key = 'bob' RETURNING id")
    assert (await post.deliver(f"team@{EXAMPLE}")).refused == {f"team@{EXAMPLE}": FULL}


async def test_sent_mail_bounces_off_a_full_mailbox(post: Post):
    alice = await post.api.mailbox(quota_bytes=10, used_bytes=10)
    await post.send(to=[{"email": ALICE}])
    await post.run_queue()
    assert post.mail_of(alice) == []
    (sent,) = await post.messages(direction="outbound")
    (recipient,) = sent["recipients"]
    assert (recipient["status"], recipient["smtp_code"], recipient["enhanced_code"]) == ("bounced", 552, "5.2.2")
