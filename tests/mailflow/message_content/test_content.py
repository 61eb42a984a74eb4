"""/messages/{id}/content, /html and /attachments: what is shown of sent, scheduled and received mail, and to whom.

`tests/test_policy.py` has the matrix of callers and domains.
"""

from __future__ import annotations

from base64 import b64encode
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any
from uuid import UUID

import pytest

from mailkeep.features.mailflow.scheduling.jobs import ScheduledWorker
from mailkeep.features.record.messages.content import content_path
from tests.plugins.post import Post
from tests.support.caller import Answer
from tests.support.client import EXAMPLE, reason

pytestmark = pytest.mark.usefixtures("unhurried")

PIXEL = "R0lGODlhAQABAAAAACwAAAAAAQABAAA="
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = '<p>Hello</p><img src="cid:logo"><img src="https://evil.test/pixel.gif"><script>alert(1)</script>'
RICH: dict[str, Any] = {
    "html_body": HTML,
    "attachments": [
        {"filename": "logo.gif", "content_type": "image/gif", "content": PIXEL, "content_id": "logo"},
        {"filename": "drawing.svg", "content_type": "image/svg+xml", "content": b64encode(SVG).decode()},
        {"filename": "page.html", "content_type": "text/html", "content": b64encode(HTML.encode()).decode()},
    ],
}  # fmt: skip


async def read(post: Post, message_id: str, part: str) -> Answer:
    return await post.api.sue.get(f"/messages/{message_id}/{part}")


async def assert_readable(post: Post, message_id: str) -> None:
    """Check all parts of a message with RICH."""
    content = (await read(post, message_id, "content")).data
    assert (content["id"], content["subject"], content["parse_error"]) == (message_id, "Your order", None)
    assert content["body_text"].strip() == "It is on its way."
    assert content["body_html"].strip() == HTML
    assert [(each["number"], each["filename"], each["size"]) for each in content["attachments"]] == [
        (1, "logo.gif", 23),
        (2, "drawing.svg", len(SVG)),
        (3, "page.html", len(HTML)),
    ]
    html = await read(post, message_id, "html")
    assert html.body.decode().strip() == HTML.replace("cid:logo", f"data:image/gif;base64,{PIXEL}")
    policy = html.headers["content-security-policy"].split("; ")
    assert {"sandbox", "default-src 'none'", "frame-ancestors 'self'"} <= set(policy)
    for number, content_of in ((2, SVG), (3, HTML.encode())):
        saved = await read(post, message_id, f"attachments/{number}")
        assert (saved.status, saved.body) == (200, content_of)
        assert saved.headers["content-type"] == "application/octet-stream"
        assert saved.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
        assert saved.headers["x-content-type-options"] == "nosniff"
    missing = await read(post, message_id, "attachments/4")
    assert (missing.status, missing.code) == (404, "NOT_FOUND")


async def test_a_message_is_the_same_while_it_is_scheduled_and_after_it_was_sent(post: Post):
    sent = (await post.send(**RICH, scheduled_at="2026-03-03T12:00:00Z")).data["id"]
    await assert_readable(post, sent)
    header = (await read(post, sent, "content")).data["header"]
    assert {"name": "Date", "value": "Tue, 03 Mar 2026 12:00:00 +0000"} in header
    # It is still stored sealed only, and no temporary file is left.
    path = content_path(post.api.app.data_dir, UUID(sent))
    assert not path.exists()
    assert not [each for each in (post.api.app.data_dir / "tmp").iterdir() if each.is_file()]
    post.api.clock.advance(days=60)
    await ScheduledWorker(post.api.app).drain()
    assert len(await post.caught()) == 1
    await assert_readable(post, sent)
    names = {field["name"] for field in (await read(post, sent, "content")).data["header"]}
    assert "DKIM-Signature" in names


async def test_the_content_of_a_cancelled_message_is_gone(post: Post):
    scheduled = (await post.send(scheduled_at="2026-03-03T12:00:00Z")).data["id"]
    assert (await post.api.sue.post(f"/messages/{scheduled}/cancel")).status == 200
    for part in ("content", "html", "attachments/1"):
        answer = await read(post, scheduled, part)
        assert (answer.status, reason(answer)) == (404, "not_kept")


async def test_reading_received_mail_is_recorded_with_the_part(post: Post):
    await post.api.mailbox()
    letter = EmailMessage(policy=SMTP)
    letter["Subject"], letter["From"] = "Grüße", "someone@elsewhere.test"
    letter.set_content("Hi.")
    letter.add_alternative("<b>Hi.</b>", subtype="html")
    letter.add_attachment(SVG, maintype="image", subtype="svg+xml", filename="drawing.svg")
    await post.deliver(f"alice@{EXAMPLE}", content=letter.as_bytes())
    [row] = await post.messages()
    path = f"/messages/{row['id']}"
    reader, _ = await post.api.key(post.api.sue, name="reader", permissions="read")
    for part in ("content", "html", "attachments/1"):
        assert (await post.api.dora.get(f"{path}/{part}")).code == "FORBIDDEN"
        assert (await reader.get(f"{path}/{part}")).code == "FORBIDDEN"
    assert await post.api.audit_entries("message.read_content") == []
    content = (await post.api.adam.get(f"{path}/content")).data
    assert (content["subject"], content["body_text"].strip()) == ("Grüße", "Hi.")
    assert (await post.api.adam.get(f"{path}/html")).body.strip() == b"<b>Hi.</b>"
    assert (await post.api.scoped.get(f"{path}/attachments/1")).body == SVG
    entries = await post.api.audit_entries("message.read_content")
    assert [(entry["actor_type"], entry["details"]["part"]) for entry in entries] == [
        ("session", "content"),
        ("session", "html"),
        ("api_key", "attachment 1"),
    ]
    assert {entry["resource_id"] for entry in entries} == {row["id"]}


async def test_sent_mail_is_read_by_a_domain_admin_and_a_key_that_only_reads_without_an_entry(post: Post):
    sent = (await post.send(**RICH)).data["id"]
    reader, _ = await post.api.key(post.api.sue, name="reader", permissions="read")
    sender, _ = await post.api.key(post.api.sue, name="sender", permissions="sending")
    for caller, code in ((post.api.dora, None), (reader, None), (sender, "FORBIDDEN"), (post.api.otto, "FORBIDDEN")):
        for part in ("content", "html", "attachments/2"):
            answer = await caller.get(f"/messages/{sent}/{part}")
            assert (answer.status == 200, answer.code if code else None) == (code is None, code)
    assert await post.api.audit_entries("message.read_content") == []


async def test_a_message_without_html_and_one_that_was_never_stored(post: Post):
    sent = (await post.send()).data["id"]
    assert reason(await read(post, sent, "html")) == "no_html"
    await post.deliver(f"nobody@{EXAMPLE}")
    [rejected] = await post.messages(status="rejected")
    assert reason(await read(post, rejected["id"], "content")) == "not_kept"


def nested(levels: int) -> bytes:
    lines = [b"Subject: Deep\r\nMIME-Version: 1.0\r\n"]
    lines += [b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (n, n) for n in range(levels)]
    return b"".join(lines) + b"Content-Type: text/html\r\n\r\n<p>Hi</p>\r\n"


@pytest.mark.parametrize(
    "mail, error",
    [
        (nested(500), "nesting exceeds"),
        (
            b"Subject: Wide\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 5000,
            "1000 parts",
        ),
        (b"Subject: Broken\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!", "base64"),
        (b"Subject: Names\r\nContent-Type: text/plain" + b"; n*1=x" * 10_000 + b"\r\n\r\nx", "parameters"),
    ],
)
async def test_hostile_mime_is_shown_with_its_header_and_the_reason(post: Post, mail: bytes, error: str):
    sent = (await post.send(**RICH)).data["id"]
    content_path(post.api.app.data_dir, UUID(sent)).unlink()
    content_path(post.api.app.data_dir, UUID(sent)).write_bytes(mail)
    content = (await read(post, sent, "content")).data
    assert error in content["parse_error"]
    assert content["subject"] in ("Deep", "Wide", "Broken", "Names")
    assert (content["body_html"], content["attachments"]) == (None, [])
    assert (await read(post, sent, "html")).code == "NOT_FOUND"
    assert reason(await read(post, sent, "attachments/1")) == "not_parsed"


async def test_a_message_too_large_to_be_shown_whole_has_its_attachment(post: Post):
    big = bytes(range(256)) * (20 << 12)  # 20 MiB
    attachment = {"filename": "big.bin", "content_type": "application/octet-stream", "content": b64encode(big).decode()}
    sent = (await post.send(html_body="<p>Hi</p>", attachments=[attachment])).data["id"]
    content = (await read(post, sent, "content")).data
    assert (content["truncated"], content["attachments"][0]["size"]) == (True, len(big))
    assert (await read(post, sent, "html")).body.strip() == b"<p>Hi</p>"
    assert (await read(post, sent, "attachments/1")).body == big
