"""What the sandbox caught, taken apart for people."""

from __future__ import annotations

from uuid import UUID

import pytest

from mailkeep.features.sandbox.model import content_path
from tests.plugins.post import Post
from tests.web.caller import Answer

HOSTILE = '<script src="https://evil.test/x.js"></script><img src="https://evil.test/pixel.gif"><p>Hello</p>'


async def read(post: Post, rest: str = "") -> Answer:
    [caught, *_] = await post.caught()
    return await post.api.sue.get(f"/sandbox/messages/{caught['id']}{rest}")


async def test_a_caught_message_is_listed_by_its_subject_and_read_in_parts(post: Post):
    attachment = {"filename": "list.txt", "content_type": "text/plain", "content": "b25lIHNvZmE="}
    await post.send(subject="Żółw — 注文", html_body="<b>Bold</b>", attachments=[attachment])
    assert (await post.caught())[0]["subject"] == "Żółw — 注文"
    told = (await read(post)).data
    assert (told["body_text"].strip(), told["body_html"].strip()) == ("It is on its way.", "<b>Bold</b>")
    assert told["attachments"] == [{"filename": "list.txt", "content_type": "text/plain", "size": 8}]
    assert told["parse_error"] is None
    assert not told["truncated"]
    fields = {field["name"]: field["value"] for field in told["header"]}
    assert fields["Subject"] == "Żółw — 注文"
    assert "DKIM-Signature" in fields


async def test_its_html_is_shown_as_written_where_it_can_do_nothing(post: Post):
    await post.send(html_body=HOSTILE)
    shown = await read(post, "/html")
    assert HOSTILE in shown.body.decode()
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    policy = shown.headers["content-security-policy"].split("; ")
    assert {"sandbox", "default-src 'none'", "frame-ancestors 'self'"} <= set(policy)
    assert not [each for each in policy if "script-src" in each or "http" in each]
    assert shown.headers["x-frame-options"] == "SAMEORIGIN"


async def test_a_message_without_html_has_none_to_see(post: Post):
    await post.send()
    assert (await read(post, "/html")).code == "NOT_FOUND"
    assert (await read(post)).data["body_html"] is None


async def test_what_cannot_be_taken_apart_is_told_by_its_header(post: Post):
    await post.send()
    [caught, *_] = await post.caught()
    path = content_path(post.api.app.data_dir, UUID(caught["id"]))
    path.write_bytes(b"Subject: Broken\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!")
    told = (await read(post)).data
    assert "Base64" in told["parse_error"]
    assert (told["subject"], told["body_text"], told["attachments"]) == ("Broken", None, [])
    assert (await read(post, "/html")).code == "NOT_FOUND"


@pytest.mark.parametrize("rest", ["", "/html", "/raw"])
async def test_what_was_cleared_meanwhile_is_not_found(post: Post, rest: str):
    await post.send()
    [caught] = await post.caught()
    content_path(post.api.app.data_dir, UUID(caught["id"])).unlink()
    assert (await post.caught())[0]["subject"] == ""
    assert (await post.api.sue.get(f"/sandbox/messages/{caught['id']}{rest}")).code == "NOT_FOUND"
