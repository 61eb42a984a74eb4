"""Complaints at the addresses for reports: one that has the message with our own signature finds it (T55)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

import pytest

from mailkeep.core.ids import uuid7
from mailkeep.features.mailflow.reports import jobs, store
from mailkeep.features.mailflow.reports.model import ReportMail
from tests.plugins.post import Post
from tests.support.bounces import CUSTOMER
from tests.support.reports import abuse_report

SECOND = "second@far.test"


async def sent(post: Post, *recipients: str) -> tuple[str, bytes]:
    """A delivered message: its ID, and as its recipients have it."""
    answer = await post.send(to=[{"email": each} for each in recipients or (CUSTOMER,)])
    await post.run_queue()
    caught = (await post.caught())[0]
    raw = (await post.api.sue.get(f"/sandbox/messages/{caught['id']}/raw")).body
    assert raw.count(b"DKIM-Signature:") >= 1
    return answer.data["id"], raw


def complaint(original: bytes, *named: str, kind: str = "abuse") -> bytes:
    report = abuse_report(original).replace(b"Feedback-Type: abuse", f"Feedback-Type: {kind}".encode())
    fields = "".join(f"Original-Rcpt-To: <{each}>\r\n" for each in named)
    return report.replace(b"Original-Rcpt-To: <user@isp.test>\r\n", fields.encode())


async def arrive(post: Post, content: bytes, sender_domain: str = "") -> None:
    """Mail to a report address, which the worker reads."""
    at = post.api.clock()
    async with post.api.app.db.tx() as conn:
        await store.insert_mail(conn, ReportMail(uuid7(at), str(uuid7(at)), content, sender_domain, 0, at), 100)
    assert await jobs.read_due(post.api.app) == 1


async def outcome(post: Post) -> tuple[int, list[tuple[str, str]]]:
    """The number of `mail.complained` events, and the suppressions."""
    kinds = [kind for kind, _ in await post.events()]
    rows = (await post.api.sue.get("/suppressions")).data
    return kinds.count("mail.complained"), [(row["address"], row["reason"]) for row in rows]


async def test_a_complaint_with_our_signature_counts_once(post: Post) -> None:
    message_id, raw = await sent(post)
    await arrive(post, complaint(raw))
    assert await outcome(post) == (1, [(CUSTOMER, "complaint")])
    (row,) = (await post.api.sue.get("/suppressions")).data
    assert row["source_message_id"] == message_id
    await post.api.sue.delete(f"/suppressions/{row['id']}")
    await arrive(post, complaint(raw, CUSTOMER))  # another report about the same message
    assert await outcome(post) == (1, [])


async def test_an_uploaded_complaint_counts_too(post: Post) -> None:
    _, raw = await sent(post)
    body = {"filename": "complaint.eml", "content": b64encode(complaint(raw)).decode()}
    assert (await post.api.adam.post("/reports", body)).status == 202
    assert await outcome(post) == (1, [(CUSTOMER, "complaint")])


@pytest.mark.parametrize("named", [(), (CUSTOMER,)])
async def test_what_is_not_signed_by_us_or_no_complaint_changes_nothing(post: Post, named: Sequence[str]) -> None:
    _, raw = await sent(post)
    _, other = await sent(post, "else@far.test")
    (first, second) = (next(line for line in each.split(b"\r\n") if line.lower().startswith(b"message-id:"))
                       for each in (raw, other))  # fmt: skip
    for content in (
        complaint(raw.replace(b"DKIM-Signature:", b"X-Signature:"), *named),
        complaint(other.replace(second, first), *named),
        complaint(first + b"\r\n" + other, *named),
        complaint(raw, *named, kind="not-spam"),
        complaint(raw, "stranger@elsewhere.test"),
    ):
        await arrive(post, content)
    assert await outcome(post) == (0, [])
    post.api.clock.advance(days=30, seconds=1)
    await arrive(post, complaint(raw, *named))
    assert await outcome(post) == (0, [])


async def test_a_message_that_no_server_has_taken_and_forwarded_mail(post: Post) -> None:
    _, raw = await sent(post)
    await post.api.sql("UPDATE message_recipients SET status = 'queued'")
    await arrive(post, complaint(raw))
    await post.api.sql("UPDATE message_recipients SET status = 'delivered'")
    await post.api.sql("UPDATE messages SET source = 'system'")
    await arrive(post, complaint(raw, CUSTOMER))
    assert await outcome(post) == (0, [])


async def test_of_several_recipients_only_their_own_servers_complain(post: Post) -> None:
    _, raw = await sent(post, CUSTOMER, SECOND)

    def by(author: str, *named: str) -> bytes:
        return complaint(raw, *named).replace(b"abusedesk@isp.test", author.encode())

    await arrive(post, by("abuse@elsewhere.test", CUSTOMER))  # not proved
    await arrive(post, by("eve@elsewhere.test", CUSTOMER), "elsewhere.test")
    await arrive(post, by("abuse@far.test", CUSTOMER, "x@far.test"), "far.test")
    await arrive(post, by("abuse@elsewhere.test"), "elsewhere.test")
    assert await outcome(post) == (0, [])
    await arrive(post, by("abuse@elsewhere.test", CUSTOMER, SECOND), "elsewhere.test")
    assert await outcome(post) == (1, [(CUSTOMER, "complaint")])
