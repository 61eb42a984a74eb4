"""Every field of /send, over HTTP: what becomes of it in message, history and events; what it does not take."""

from __future__ import annotations

import base64
from dataclasses import replace
from email import message_from_string, policy
from email.message import EmailMessage
from typing import Any

import pytest

from tests.plugins.post import Post, letter
from tests.support.client import EXAMPLE, faults

ADDRESS = {"email": "a@elsewhere.test"}
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n pixel").decode()


async def sent(post: Post, **fields: Any) -> EmailMessage:
    """The message as it left."""
    answer = await post.send(**fields)
    assert answer.status == 200, answer.body
    caught = (await post.caught())[0]
    raw = (await post.api.sue.get(f"/sandbox/messages/{caught['id']}/raw")).body
    mail = message_from_string(raw.decode(), policy=policy.default)
    assert isinstance(mail, EmailMessage)
    return mail


async def test_names_and_addresses_in_any_script(post: Post):
    mail = await sent(
        post,
        **{"from": {"email": f"shop@{EXAMPLE}", "name": 'Müller, "Max"'}},
        to=[{"email": "a@elsewhere.test", "name": "猫 Neko"}, {"email": "b@faß.de", "name": "B. Person"}],
        cc=[{"email": "jörg@faß.de"}],
        reply_to={"email": "answers@elsewhere.test", "name": "Answers"},
        subject="Grüße 😀 " * 20,
    )
    assert [(each.display_name, each.addr_spec) for each in mail["From"].addresses] == [
        ('Müller, "Max"', f"shop@{EXAMPLE}")
    ]
    assert [each.addr_spec for each in mail["To"].addresses] == ["a@elsewhere.test", "b@xn--fa-hia.de"]
    assert mail["To"].addresses[0].display_name == "猫 Neko"
    assert [each.addr_spec for each in mail["Cc"].addresses] == ["jörg@faß.de"]
    assert [each.addr_spec for each in mail["Reply-To"].addresses] == ["answers@elsewhere.test"]
    assert mail["Subject"] == "Grüße 😀 " * 20
    (row,) = await post.messages()
    assert [each["address"] for each in row["recipients"]] == ["a@elsewhere.test", "b@xn--fa-hia.de", "jörg@faß.de"]
    assert row["subject"] == "Grüße 😀 " * 20


async def test_threads_and_custom_headers(post: Post):
    mail = await sent(
        post,
        in_reply_to="<question@elsewhere.test>",
        references=["<first@elsewhere.test>", "<question@elsewhere.test>"],
        headers={"X-Campaign": "spring", "x-note": "schöne Grüße"},
    )
    assert mail["In-Reply-To"] == "<question@elsewhere.test>"
    assert mail["References"].split() == ["<first@elsewhere.test>", "<question@elsewhere.test>"]
    assert mail["X-Campaign"] == "spring"
    assert mail["x-note"] == "schöne Grüße"


@pytest.mark.parametrize(
    "asked,header,one_click",
    [
        ({"url": "https://example.test/u?id=1"}, "<https://example.test/u?id=1>", False),
        ({"mailto": "leave@example.test"}, "<mailto:leave@example.test>", False),
        (
            {"url": "https://example.test/u", "mailto": "mailto:leave@example.test?subject=out", "one_click": True},
            "<mailto:leave@example.test?subject=out>, <https://example.test/u>",
            True,
        ),
    ],
)
async def test_unsubscribing(post: Post, asked: dict[str, Any], header: str, one_click: bool):
    mail = await sent(post, list_unsubscribe=asked)
    assert " ".join(mail["List-Unsubscribe"].split()) == header
    assert (mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click") is one_click


async def test_images_in_the_html_and_files_beside_it(post: Post):
    image = {
        "filename": "logo.png",
        "content_type": "image/png",
        "content": PIXEL,
        "content_id": "logo",
        "disposition": "inline",
    }
    file = {"filename": "../../etc/größe.csv", "content_type": "text/csv", "content": base64.b64encode(b"1,2").decode()}
    empty = {"filename": "empty", "content_type": "application/x-empty", "content": ""}
    mail = await sent(post, html_body='<img src="cid:logo">', attachments=[image, file, empty])
    assert mail.get_content_type() == "multipart/mixed"
    alternative, csv, nothing = mail.iter_parts()
    plain, related = alternative.iter_parts()
    html, shown = related.iter_parts()
    assert (plain.get_content(), html.get_content()) == ("It is on its way.", '<img src="cid:logo">')
    assert (shown["Content-ID"], shown.get_content_disposition()) == ("<logo>", "inline")
    assert base64.b64encode(shown.get_content()).decode() == PIXEL
    assert (csv.get_filename(), csv.get_content_disposition()) == ("größe.csv", "attachment")
    assert csv.get_payload(decode=True) == b"1,2"
    assert (nothing.get_filename(), nothing.get_content()) == ("empty", b"")


async def test_tags_and_metadata_in_history_and_events(post: Post):
    tags, metadata = ["welcome", "größe"], {"order": "4711", "note": ""}
    answer = await post.send(tags=tags, metadata=metadata, to=[{"email": "bounce@elsewhere.test"}])
    await post.run_queue()
    found = (await post.api.sue.get(f"/messages/{answer.data['id']}")).data
    assert (found["tags"], found["metadata"]) == (tags, metadata)
    assert [row["id"] for row in await post.messages(tag="welcome")] == [answer.data["id"]]
    assert await post.messages(tag="other") == []
    for _, data in await post.events():
        assert (data["tags"], data["metadata"]) == (tags, metadata)


async def test_bcc_recipients_are_not_shown_to_others(post: Post):
    answer = await post.send(bcc=[{"email": "secret@elsewhere.test"}], cc=[ADDRESS])
    await post.run_queue()
    assert [each["address"] for each in answer.data["recipients"]][-1] == "secret@elsewhere.test"
    for _, data in await post.events():
        assert data["to"] == "secret@elsewhere.test" or "secret" not in str(data)
    caught = (await post.caught())[0]
    assert b"secret" not in (await post.api.sue.get(f"/sandbox/messages/{caught['id']}/raw")).body


FILE = {"filename": "a.txt", "content_type": "text/plain", "content": ""}


@pytest.mark.parametrize(
    "fields,fault",
    [
        ({"tags": ["t"] * 11}, "tags"),
        ({"tags": [""]}, "tags[0]"),
        ({"tags": ["x" * 101]}, "tags[0]"),
        ({"tags": [5]}, "tags[0]"),
        ({"metadata": {str(number): "" for number in range(21)}}, "metadata"),
        ({"metadata": {"a": 1}}, "metadata.a"),
        ({"metadata": {"a": None}}, "metadata.a"),
        ({"in_reply_to": "no brackets"}, "in_reply_to"),
        ({"in_reply_to": "<a@b>\r\nBcc: x@y.test"}, "in_reply_to"),
        ({"references": ["<a@b>", "<c d>"]}, "references[1]"),
        ({"references": ["<a@b>"] * 101}, "references"),
        ({"list_unsubscribe": {}}, "list_unsubscribe"),
        ({"list_unsubscribe": {"url": "javascript:alert(1)"}}, "list_unsubscribe.url"),
        ({"list_unsubscribe": {"mailto": "nobody"}}, "list_unsubscribe.mailto"),
        ({"list_unsubscribe": {"url": "http://a.test/", "one_click": True}}, "list_unsubscribe.one_click"),
        ({"list_unsubscribe": {"url": "https://a.test/", "one_click": "yes"}}, "list_unsubscribe.one_click"),
        ({"attachments": [FILE | {"filename": "/"}]}, "attachments[0].filename"),
        ({"attachments": [FILE | {"filename": "ü" * 128}]}, "attachments[0].filename"),
        ({"attachments": [FILE | {"content_type": "text"}]}, "attachments[0].content_type"),
        ({"attachments": [FILE | {"content_type": "text/plain; charset=x"}]}, "attachments[0].content_type"),
        ({"attachments": [FILE | {"content_type": "multipart/mixed"}]}, "attachments[0].content_type"),
        ({"attachments": [FILE | {"content": "AAA"}]}, "attachments[0].content"),
        ({"attachments": [FILE | {"content": "AB=="}]}, "attachments[0].content"),
        ({"attachments": [FILE | {"content": 5}]}, "attachments[0].content"),
        ({"attachments": [FILE, FILE | {"disposition": "hidden"}]}, "attachments[1].disposition"),
        ({"attachments": [FILE | {"content_id": "<logo>"}]}, "attachments[0].content_id"),
        ({"attachments": [FILE] * 501}, "attachments"),
        ({"subject": "x" * 2001}, "subject"),
        ({"from": {"email": f"a@{EXAMPLE}", "name": "a\nb"}}, "from.name"),
        ({"to": [{"email": "a@elsewhere.test", "nick": "a"}]}, "to[0].nick"),
        ({"to": ["a@elsewhere.test"]}, "to[0]"),
        ({"reply_to": []}, "reply_to"),
    ],
)
async def test_what_a_field_does_not_take(post: Post, fields: dict[str, Any], fault: str):
    answer = await post.send(**fields)
    assert (answer.status, answer.code) == (400, "INVALID_FIELD"), answer.body
    assert faults(answer) == [fault]
    assert await post.messages() == []


async def test_all_errors_of_a_message_are_reported_together(post: Post):
    answer = await post.send(subject=5, tags={}, colour="red", attachments=[{}])
    assert answer.code == "MISSING_FIELDS"
    missing = [f"attachments[0].{name}" for name in ("content", "content_type", "filename")]
    # An unknown field may be a misspelt one that is missing.
    assert faults(answer) == sorted([*missing, "colour", "subject", "tags"])
    assert faults(await post.send(subject=5, tags={}, colour="red")) == ["colour", "subject", "tags"]


GOOD = [letter(subject=f"Good {number}") for number in range(76)]
FAULTY: list[tuple[Any, str]] = [
    ("text", "INVALID_FIELD"),
    (None, "INVALID_FIELD"),
    ([], "INVALID_FIELD"),
    ({}, "MISSING_FIELDS"),
    (letter(to=None), "MISSING_FIELDS"),
    (letter(to=[]), "MISSING_FIELDS"),
    (letter(subject=None), "MISSING_FIELDS"),
    (letter(text_body=None), "MISSING_FIELDS"),
    (letter(colour="red"), "INVALID_FIELD"),
    (letter(subject="a\x00"), "INVALID_FIELD"),
    (letter(tags=["t"] * 11), "INVALID_FIELD"),
    (letter(**{"from": {"email": "nobody"}}), "INVALID_SENDER"),
    (letter(**{"from": {"email": "a@unmanaged.test"}}), "DOMAIN_NOT_FOUND"),
    (letter(**{"from": {"email": "a@asleep.test"}}), "DOMAIN_INACTIVE"),
    (letter(**{"from": {"email": "a@mute.test"}}), "DOMAIN_INACTIVE"),
    (letter(**{"from": {"email": "a@other.test"}}), "API_KEY_DOMAIN_SCOPE"),
    (letter(**{"from": {"email": f"bad@{EXAMPLE}"}}), "MAILBOX_SUSPENDED"),
    (letter(to=[ADDRESS, {"email": "@"}]), "INVALID_RECIPIENT"),
    (letter(reply_to={"email": "@"}), "INVALID_RECIPIENT"),
    (letter(headers={"Subject": "x"}), "INVALID_HEADER"),
    (letter(headers={"X-A": "a\nb"}), "INVALID_HEADER"),
    (letter(attachments=[FILE | {"content": "%"}]), "INVALID_FIELD"),
    (letter(text_body="x" * (2 << 20)), "PAYLOAD_TOO_LARGE"),
    (letter(**{"from": {"email": "a@unsigned.test"}}), "SEND_FAILED"),
]


async def test_a_batch_of_a_hundred_with_every_kind_of_faulty_message(post: Post):
    """Judged one by one, in input order; exactly the good ones are sent."""
    api = post.api
    await api.domain("asleep.test", active=False)
    await api.domain("mute.test", sending_enabled=False)
    unsigned = await api.domain("unsigned.test")
    suspended = await api.mailbox(f"bad@{EXAMPLE}")
    assert (await api.adam.post(f"/mailboxes/{suspended}/suspend", {"reason": "odd"})).status == 200
    await api.sql(
        "INSERT INTO api_key_domains (key_id, domain_id) SELECT id, %(domain)s FROM api_keys WHERE is_scoped",
        domain=unsigned,
    )
    await api.sql(
        """
        INSERT INTO api_key_domains (key_id, domain_id)
        SELECT k.id, d.id FROM api_keys k, domains d
        WHERE k.is_scoped AND d.name IN ('asleep.test', 'mute.test')
        """
    )
    api.app.settings = replace(api.app.settings, limits=replace(api.app.settings.limits, message_size_mb=2))
    items: list[Any] = list(GOOD)
    for index, (item, _) in enumerate(FAULTY):
        items.insert(index * 4, item)
    assert len(items) == 100
    codes = [next((code for faulty, code in FAULTY if faulty is item), None) for item in items]
    answer = await api.scoped.post("/send/batch", {"messages": items})
    assert answer.status == 200, answer.body
    assert (answer.data["total"], answer.data["succeeded"], answer.data["failed"]) == (100, 76, 24)
    results = answer.data["results"]
    assert [each["index"] for each in results] == list(range(100))
    assert [each.get("code") for each in results] == codes
    for each in results:
        assert ("message_id" in each) is not ("error" in each)
    caught = {each["message_id"] for each in await all_caught(post)}
    assert caught == {each["message_id"] for each in results if "message_id" in each}
    published = [(kind, data) for kind, data in await post.events() if kind != "system.suspension"]
    assert [kind for kind, _ in published] == ["mail.sent"] * 76
    (entry,) = await api.audit_entries("message.send")
    assert (entry["details"]["messages"], entry["details"]["succeeded"]) == (77, 76)
    assert sorted(data["subject"] for _, data in published) == sorted(item["subject"] for item in GOOD)


async def all_caught(post: Post) -> list[dict[str, Any]]:
    return (await post.api.sue.get("/sandbox/messages", limit=200)).data
