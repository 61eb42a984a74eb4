"""mail.received.full and mail.spam: whole, to the letter, once."""

from __future__ import annotations

from base64 import b64decode
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any

import msgspec
import pytest

from mailkeep.features.mailflow.receiving import jobs, service
from mailkeep.features.mailflow.receiving.rules import GTUBE, has_test_string
from mailkeep.settings import Settings
from mailkeep.settings.tree import EventsSettings, LimitsSettings, SmtpSettings
from tests.plugins.post import LETTER, Post
from tests.support.client import EXAMPLE

pytestmark = pytest.mark.usefixtures("unhurried")

ALICE, BOB = f"alice@{EXAMPLE}", f"bob@{EXAMPLE}"


@pytest.fixture
def api_settings() -> Settings:
    return Settings(
        limits=LimitsSettings(login_per_second=0, requests_per_second=0),
        smtp=SmtpSettings(listen="127.0.0.1:0"),
        events=EventsSettings(received_full=True),
    )


def whole_letter() -> bytes:
    mail = EmailMessage(policy=SMTP)
    mail["From"] = "Jürgen <j@elsewhere.test>"
    mail["To"] = f"Alice <{ALICE}>, team@{EXAMPLE}"
    mail["Cc"] = "c@elsewhere.test"
    mail["Reply-To"] = "Answers <r@elsewhere.test>"
    mail["Subject"] = "Grüße"
    mail["Message-ID"] = "<1@elsewhere.test>"
    mail["X-A"] = "1"
    mail["X-B"] = "2"
    mail.set_content("text\n")
    mail.add_alternative("<p>html</p>\n", subtype="html")
    mail.add_attachment(b"\x00\x01", maintype="application", subtype="pdf", filename="a.pdf")
    return mail.as_bytes().replace(b"X-B: 2", b"X-A: 2")


async def full_of(post: Post, data: dict[str, Any]) -> dict[str, Any]:
    """The data as it is delivered."""
    async with post.api.app.db.autocommit() as conn:
        return msgspec.json.decode(msgspec.json.encode(await service.load_full_data(conn, data)))


async def fulls(post: Post) -> list[dict[str, Any]]:
    return [data for kind, data in await post.events() if kind == "mail.received.full"]


async def test_a_parsed_message_has_its_exact_content(post: Post):
    await post.api.mailbox()
    await post.api.alias(f"team@{EXAMPLE}", [ALICE])
    content = whole_letter()
    await post.deliver(f"team@{EXAMPLE}", content=content, sender="bounces@elsewhere.test")
    (shown,) = await fulls(post)
    (row,) = await post.messages()
    about = {"filename": "a.pdf", "content_type": "application/pdf", "size": 2}
    common = {
        "message_id": "<1@elsewhere.test>",
        "from": {"name": "Jürgen", "email": "j@elsewhere.test"},
        "to": [{"name": "Alice", "email": ALICE}, {"name": "", "email": f"team@{EXAMPLE}"}],
        "cc": [{"name": "", "email": "c@elsewhere.test"}],
        "reply_to": {"name": "Answers", "email": "r@elsewhere.test"},
        "subject": "Grüße",
        "envelope": {"mail_from": "bounces@elsewhere.test", "rcpt_to": [f"team@{EXAMPLE}"]},
        "domain": EXAMPLE,
        "size": len(content),
        "spam_score": 0,
        "spam_action": "no action",
        "queue_id": row["queue_id"],
        "truncated": False,
    }
    nothing = {"body_text": None, "body_html": None, "headers": None}
    assert shown == common | nothing | {"attachments": [about | {"content_base64": None}]}
    published = await full_of(post, shown)
    headers = published.pop("headers")
    assert (headers["X-A"], headers["Subject"], headers["To"]) == (
        ["1", "2"],
        "Grüße",
        f"Alice <{ALICE}>, team@{EXAMPLE}",
    )
    assert (published.pop("body_text").strip(), published.pop("body_html").strip()) == ("text", "<p>html</p>")
    (attachment,) = published.pop("attachments")
    assert b64decode(attachment.pop("content_base64")) == b"\x00\x01"
    assert (published, attachment) == (common, about)


async def test_each_mailbox_has_its_event_and_the_content_lies_there_once(post: Post):
    await post.api.mailbox()
    await post.api.mailbox(BOB)
    await post.deliver(ALICE, BOB)
    published = await fulls(post)
    assert sorted(data["envelope"]["rcpt_to"] for data in published) == [[ALICE], [BOB]]
    assert len(await post.api.sql("SELECT queue_id FROM event_payloads")) == 1
    assert {(await full_of(post, data))["body_text"] for data in published} == {"Hi.\r\n"}


async def test_content_is_kept_for_three_days_and_the_event_stays(post: Post):
    await post.api.mailbox()
    await post.deliver(ALICE)
    post.api.clock.advance(days=2.9)
    await jobs.prune(post.api.app)
    (data,) = await fulls(post)
    assert (await full_of(post, data))["body_text"] == "Hi.\r\n"
    post.api.clock.advance(days=0.2)
    for _ in range(2):  # two checks, a day apart
        await jobs.prune(post.api.app)
        post.api.clock.advance(days=1)
    await jobs.prune(post.api.app)
    assert await full_of(post, data) == data


async def test_the_feed_shows_no_content(post: Post):
    await post.api.mailbox()
    await post.deliver(ALICE, content=whole_letter())
    answer = await post.api.sue.get("/events", kind="mail.received.full")
    assert b'"body_text":null' in answer.body
    assert b"<p>html</p>" not in answer.body


async def test_content_over_25_mb_is_published_without_attachments(post: Post):
    await post.api.mailbox()
    line = b"A" * 76 + b"\r\n"
    head = b"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nsee\r\n--b\r\n"
    head += b"Content-Type: image/png; name=a.png\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    await post.deliver(ALICE, content=head + line * 400_000 + b"--b--\r\n")
    (data,) = await fulls(post)
    published = await full_of(post, data)
    assert (published["truncated"], published["body_text"].strip()) == (True, "see")
    assert published["attachments"] == [
        {"filename": "a.png", "content_type": "image/png", "size": 57 * 400_000, "content_base64": None}
    ]


async def test_a_nul_in_a_content_type_is_no_fault_of_ours(post: Post):
    await post.api.mailbox()
    head = b"From: a@b.test\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nsee\r\n"
    await post.deliver(ALICE, content=head + b"--b\r\nContent-Type: image/p\0ng; name=a.png\r\n\r\nx\r\n--b--\r\n")
    (data,) = await fulls(post)
    assert [each["content_type"] for each in data["attachments"]] == ["image/p ng"]


async def test_an_unparsable_message_is_published_with_its_header(post: Post):
    await post.api.mailbox()
    head = b"From: a@b.test\r\nSubject: Parts\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    await post.deliver(ALICE, content=head + b"--b\r\n\r\nx\r\n" * 1001)
    assert [kind for kind, _ in await post.events()] == ["mail.received", "mail.received.full"]
    (data,) = await fulls(post)
    assert data["parse_error"] == "The message has more than 1000 parts"
    published = await full_of(post, data)
    assert (published["subject"], published["body_text"], published["attachments"]) == ("Parts", None, [])
    assert published["headers"]["From"] == "a@b.test"


async def test_gtube_goes_to_junk_with_an_event(post: Post):
    alice = await post.api.mailbox()
    await post.deliver(ALICE, content=LETTER + GTUBE + b"\r\n")
    assert post.mail_of(alice) == []
    junk = post.api.app.data_dir / f"mail/{alice}/Maildir/.Junk"
    (copy,) = (junk / "new").iterdir()
    assert (
        b"\r\nX-Spam: Yes\r\nX-Mailkeep-Verdict: junk; score=1000.00; rule=junk_score; scope=server\r\n"
        in copy.read_bytes()
    )
    assert (junk / "maildirfolder").exists()
    (row,) = await post.messages()
    assert row["status"] == "received"
    decided_by = {"scope": "server", "rule": "junk_score", "entry_id": None}
    assert row["spam"] == {"score": 1000, "action": "add header", "symbols": ["GTUBE"], "decided_by": decided_by}
    published = dict(await post.events())
    assert list(published) == ["mail.received", "mail.spam", "mail.received.full"]
    assert published["mail.spam"] == {
        "message_id": "<1@elsewhere.test>",
        "from": "someone@elsewhere.test",
        "domain": EXAMPLE,
        "spam_score": 1000,
        "spam_action": "add header",
        "decided_by": decided_by,
    }
    assert (published["mail.received.full"]["spam_score"], published["mail.received.full"]["spam_action"]) == (
        1000,
        "add header",
    )


async def test_the_words_of_others_filters_count_for_nothing(post: Post):
    alice = await post.api.mailbox()
    await post.deliver(ALICE, content=b"X-Spam-Flag: YES\r\nX-Spam-Status: Yes, score=99\r\nX-Spam: Yes\r\n" + LETTER)
    assert len(post.mail_of(alice)) == 1
    assert [kind for kind, _ in await post.events()] == ["mail.received", "mail.received.full"]
    assert (await post.messages())[0]["spam"] == {"score": None, "action": None, "symbols": [], "decided_by": None}


@pytest.mark.parametrize("cut", range(0, len(GTUBE) + 1, 7))
def test_gtube_is_found_wherever_the_pieces_end(cut: int):
    content = b"x" * 100 + GTUBE + b"y" * 100
    assert has_test_string([content[: 100 + cut], content[100 + cut :]])
    assert has_test_string(bytes([byte]) for byte in content)
    assert not has_test_string([GTUBE[:-1], b"", b"z"])


async def test_sent_mail_has_an_event_of_its_arrival(post: Post):
    await post.api.mailbox()
    await post.send(to=[{"email": ALICE}])
    await post.run_queue()
    (data,) = await fulls(post)
    assert (data["from"], data["envelope"]["rcpt_to"]) == ({"name": "The Shop", "email": f"shop@{EXAMPLE}"}, [ALICE])
    assert (await full_of(post, data))["body_text"].strip() == "It is on its way."
