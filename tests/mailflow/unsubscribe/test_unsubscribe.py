"""Unsubscribe groups, and links in messages as mail programs use them."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from email import message_from_bytes, policy
from typing import Any
from urllib.parse import urlsplit

import dkim
import pytest

from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.plugins.post import Post
from tests.support.caller import Answer, Caller
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, faults, reason
from tests.support.one_click import one_click_link

FORM = b"List-Unsubscribe=One-Click"
URL_ENCODED = "application/x-www-form-urlencoded"


@pytest.fixture
async def public(post: Post) -> Post:
    """The application at a public https address."""
    app = post.api.app
    app.settings = replace(app.settings, http=replace(app.settings.http, public_url="https://mail.example.test"))
    return post


async def visit(
    post: Post, method: str, path: str, body: bytes = b"", content_type: str = URL_ENCODED, by: Pipeline | None = None
) -> Answer:
    """A request without credentials, from another site."""
    pipeline = by or Pipeline(post.api.app, Router(ENDPOINTS), ACCESS_CONTROL)
    headers = {"origin": "null", "sec-fetch-site": "cross-site", "content-length": str(len(body))}
    if body:
        headers["content-type"] = content_type
    return await Caller(pipeline, "192.0.2.77")(method, path, headers, [body] if body else [])


async def receive(post: Post) -> tuple[bytes, Any]:
    """The last message as its recipient gets it."""
    caught = (await post.caught())[0]
    raw = (await post.api.sue.get(f"/sandbox/messages/{caught['id']}/raw")).body
    return raw, message_from_bytes(raw, policy=policy.default)


async def test_one_click_as_a_mail_program_does_it(public: Post, capsys: pytest.CaptureFixture[str]):
    post, group_id = public, str(await public.api.unsubscribe_group("Monthly <news>"))
    answer = await post.send(to=[{"email": "Reader@elsewhere.test"}], unsubscribe={"group_id": group_id})
    assert answer.status == 200, answer.body
    raw, _ = await receive(post)
    link = one_click_link(raw)
    assert re.fullmatch(r"https://mail\.example\.test/u/[\w-]+", link)
    (key,) = await post.api.sql("SELECT public_key FROM dkim_keys WHERE domain_id = %(id)s", id=DOMAIN_IDS[EXAMPLE])
    record = b"v=DKIM1; k=ed25519; p=" + base64.b64encode(key["public_key"])
    assert dkim.verify(raw, dnsfunc=lambda name, timeout=5: record)
    assert not dkim.verify(raw.replace(b"/u/", b"/v/"), dnsfunc=lambda name, timeout=5: record)

    path = urlsplit(link).path
    page = await visit(post, "GET", path)
    assert (page.status, page.headers["referrer-policy"]) == (200, "no-referrer")
    assert b"Monthly &lt;news&gt;" in page.body
    assert b"Reader@elsewhere.test" in page.body
    assert b"<script" not in page.body
    assert b"<style" not in page.body
    assert b"style=" not in page.body
    assert "style-src 'self'" in page.headers["content-security-policy"]
    assert (await post.api.sue.get("/suppressions")).data == []  # GET changes nothing
    multipart = b'--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n'
    for body, kind in ((FORM, URL_ENCODED), (multipart, "multipart/form-data; boundary=x"), (b"", "")):
        done = await visit(post, "POST", path, body, kind)
        assert (done.status, done.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert b"You are unsubscribed" in done.body
    (row,) = (await post.api.sue.get("/suppressions")).data
    assert (row["address"], row["reason"], row["group_id"]) == ("Reader@elsewhere.test", "unsubscribe", group_id)
    assert row["source_message_id"] == answer.data["id"]

    # For mail of the group only.
    refused = await post.send(to=[{"email": "reader@elsewhere.test"}], unsubscribe={"group_id": group_id})
    assert refused.code == "RECIPIENT_SUPPRESSED"
    assert (await post.send(to=[{"email": "reader@elsewhere.test"}])).status == 200
    assert (await visit(post, "POST", path, b"{}", "application/json")).status == 415
    token = path.removeprefix("/u/")
    assert token not in capsys.readouterr().out
    assert token not in str(await post.api.sql("SELECT * FROM audit_entries"))


async def test_forged_links_and_links_of_deleted_groups_are_not_found(public: Post):
    post, group_id = public, await public.api.unsubscribe_group("News")
    await post.send(unsubscribe={"group_id": str(group_id)})
    link = re.sub(r"\s|[<>]", "", (await receive(post))[1]["List-Unsubscribe"])
    path = urlsplit(link).path
    forged = [path[:-2] + ("AA" if path[-2:] != "AA" else "BB"), "/u/x", f"/u/{'A' * 900}", path.swapcase()]
    for each in forged:
        for method in ("GET", "POST"):
            answer = await visit(post, method, each, FORM if method == "POST" else b"")
            assert answer.status == 404, each
    assert (await post.api.sue.get("/suppressions")).data == []
    assert (await visit(post, "POST", path, FORM)).status == 200
    deleted = await post.api.dora.delete(f"/unsubscribe-groups/{group_id}")
    assert (deleted.status, deleted.data["suppressions"]) == (200, 1)
    assert (await visit(post, "POST", path, FORM)).status == 404
    assert (await post.api.sue.get("/suppressions")).data == []


async def test_the_links_have_their_own_limit_of_requests(post: Post):
    pipeline = Pipeline(post.api.app, Router(ENDPOINTS), ACCESS_CONTROL)
    statuses = [(await visit(post, "GET", "/u/guessed", by=pipeline)).status for _ in range(201)]
    assert statuses == [404] * 200 + [429]
    refused = await visit(post, "POST", "/u/guessed", FORM, by=pipeline)
    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    assert (await visit(post, "GET", "/unsubscribe.css", by=pipeline)).status == 200
    post.api.clock.advance(seconds=1)
    assert [(await visit(post, "GET", "/u/guessed", by=pipeline)).status for _ in range(21)] == [404] * 20 + [429]


async def test_what_a_message_with_a_group_needs(post: Post):
    group_id, foreign = str(await post.api.unsubscribe_group("News")), str(await post.api.unsubscribe_group("N", OTHER))
    two = [{"email": "a@elsewhere.test"}, {"email": "b@elsewhere.test"}]
    assert faults(await post.send(to=two, unsubscribe={"group_id": group_id})) == ["unsubscribe"]
    assert faults(await post.send(unsubscribe={"group_id": foreign})) == ["unsubscribe.group_id"]
    assert faults(await post.send(unsubscribe={"group_id": "x"})) == ["unsubscribe.group_id"]
    both = await post.send(unsubscribe={"group_id": group_id}, list_unsubscribe={"url": "https://x.test/"})
    assert faults(both) == ["list_unsubscribe"]
    # Without https in the public URL, the link opens the page: one click needs https.
    assert (await post.send(unsubscribe={"group_id": group_id})).status == 200
    _, mail = await receive(post)
    assert mail["List-Unsubscribe"]
    assert mail["List-Unsubscribe-Post"] is None


async def test_groups(post: Post):
    api, domain_id = post.api, str(DOMAIN_IDS[EXAMPLE])
    created = await api.dora.post("/unsubscribe-groups", {"domain_id": domain_id, "name": "  News  "})
    assert (created.status, created.data["name"]) == (201, "News")
    taken = await api.dora.post("/unsubscribe-groups", {"domain_id": domain_id, "name": "News"})
    assert (taken.status, reason(taken)) == (409, "name_taken")
    assert faults(await api.dora.post("/unsubscribe-groups", {"domain_id": domain_id, "name": " "})) == ["name"]
    renamed = await api.dora.patch(f"/unsubscribe-groups/{created.data['id']}", {"name": "Offers"})
    assert renamed.data["name"] == "Offers"
    other = await api.dora.post("/unsubscribe-groups", {"domain_id": domain_id, "name": "News"})
    clash = await api.dora.patch(f"/unsubscribe-groups/{other.data['id']}", {"name": "Offers"})
    assert reason(clash) == "name_taken"
    assert [each["name"] for each in (await api.dora.get("/unsubscribe-groups")).data] == ["News", "Offers"]
