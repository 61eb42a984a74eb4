"""Parsed messages of the sandbox."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote
from uuid import UUID

import pytest

from mailkeep.features.mailflow.sandbox.model import content_path
from tests.plugins.post import Post
from tests.support.caller import Answer

pytestmark = pytest.mark.usefixtures("unhurried")

PIXEL = "R0lGODlhAQABAAAAACwAAAAAAQABAAA="
HOSTILE = '<script src="https://evil.test/x.js"></script><img src="https://evil.test/pixel.gif"><p>Hello</p>'


async def read(post: Post, rest: str = "") -> Answer:
    [caught, *_] = await post.caught()
    return await post.api.sue.get(f"/sandbox/messages/{caught['id']}{rest}")


async def test_a_message_is_listed_with_its_subject_and_parsed(post: Post):
    attachment = {"filename": "list.txt", "content_type": "text/plain", "content": "b25lIHNvZmE="}
    await post.send(subject="Żółw — 注文", html_body="<b>Bold</b>", attachments=[attachment])
    assert (await post.caught())[0]["subject"] == "Żółw — 注文"
    content = (await read(post)).data
    assert (content["body_text"].strip(), content["body_html"].strip()) == ("It is on its way.", "<b>Bold</b>")
    described = {"number": 1, "filename": "list.txt", "content_type": "text/plain", "size": 8, "content_id": None}
    assert content["attachments"] == [described]
    assert content["parse_error"] is None
    assert not content["truncated"]
    fields = {field["name"]: field["value"] for field in content["header"]}
    assert fields["Subject"] == "Żółw — 注文"
    assert "DKIM-Signature" in fields


async def test_html_is_unchanged_under_a_policy_that_blocks_scripts(post: Post):
    await post.send(html_body=HOSTILE)
    shown = await read(post, "/html")
    assert HOSTILE in shown.body.decode()
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    policy = shown.headers["content-security-policy"].split("; ")
    assert {"sandbox", "default-src 'none'", "frame-ancestors 'self'"} <= set(policy)
    assert not [each for each in policy if "script-src" in each or "http" in each]
    assert shown.headers["x-frame-options"] == "SAMEORIGIN"


async def test_html_of_a_message_without_html_is_not_found(post: Post):
    await post.send()
    assert (await read(post, "/html")).code == "NOT_FOUND"
    assert (await read(post)).data["body_html"] is None


async def test_a_message_that_can_not_be_parsed_is_shown_with_its_header(post: Post):
    await post.send()
    [caught, *_] = await post.caught()
    path = content_path(post.api.app.data_dir, UUID(caught["id"]))
    path.write_bytes(b"Subject: Broken\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!")
    content = (await read(post)).data
    assert "base64" in content["parse_error"]
    assert (content["subject"], content["body_text"], content["attachments"]) == ("Broken", None, [])
    assert (await read(post, "/html")).code == "NOT_FOUND"


@pytest.mark.parametrize(
    "name, shown",
    [
        ("list.txt", "list.txt"),
        ("Übersicht 5 %.pdf", "%C3%9Cbersicht%205%20%25.pdf"),
        ('"><img src=x onerror=alert(1)>;.html', "%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E%3B.html"),
        ("../../etc/passwd", "passwd"),
    ],
)
async def test_an_attachment_is_a_download_with_its_name(post: Post, name: str, shown: str):
    content = bytes(range(256)) * 4096
    other = {"filename": "other.txt", "content_type": "text/plain", "content": "b3RoZXI="}
    attachment = {"filename": name, "content_type": "text/html", "content": b64encode(content).decode()}
    await post.send(attachments=[other, attachment])
    saved = await read(post, "/attachments/2")
    assert (saved.status, saved.body) == (200, content)
    assert saved.headers["content-disposition"] == f"attachment; filename*=UTF-8''{shown}"
    assert saved.headers["content-type"] == "application/octet-stream"
    assert saved.headers["content-length"] == str(len(content))
    assert saved.headers["x-content-type-options"] == "nosniff"
    assert (await read(post, "/attachments/1")).body == b"other"


@pytest.mark.parametrize("number", ["0", "2", "-1", "01", "1000000", "1.0", "\u0661", "last"])
async def test_a_missing_attachment_is_not_found(post: Post, number: str):
    await post.send(attachments=[{"filename": "a.txt", "content_type": "text/plain", "content": "YQ=="}])
    assert (await read(post, f"/attachments/{quote(number)}")).code == "NOT_FOUND"


async def test_images_in_the_message_are_inserted_in_its_html(post: Post):
    html = '<img src="cid:logo@shop"><img src="cid:drawing"><img src="cid:gone"><a href="https://shop.test">cid:</a>'
    logo = {"filename": "logo.png", "content_type": "image/png", "content": PIXEL, "content_id": "logo@shop"}
    drawing = logo | {"content_type": "image/svg+xml", "content_id": "drawing"}
    await post.send(html_body=html, attachments=[each | {"disposition": "inline"} for each in (logo, drawing)])
    content = (await read(post)).data
    assert [each["content_id"] for each in content["attachments"]] == ["logo@shop", "drawing"]
    assert content["body_html"].strip() == html
    shown = (await read(post, "/html")).body.decode()
    assert shown.strip() == html.replace("cid:logo@shop", f"data:image/png;base64,{PIXEL}")


@pytest.mark.parametrize("rest", ["", "/html", "/raw", "/attachments/1"])
async def test_a_cleared_message_is_not_found(post: Post, rest: str):
    await post.send()
    [caught] = await post.caught()
    content_path(post.api.app.data_dir, UUID(caught["id"])).unlink()
    assert (await post.caught())[0]["subject"] == ""
    assert (await post.api.sue.get(f"/sandbox/messages/{caught['id']}{rest}")).code == "NOT_FOUND"
