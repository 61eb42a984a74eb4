"""POST /send: what is taken, what is refused in which order, and what is on record afterwards."""

from __future__ import annotations

import base64
from email import message_from_bytes, policy
from typing import Any

import dkim
import pytest

from tests.plugins.post import Post, letter
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, email_of, faults, reason

KEY_RECORD = "SELECT selector, public_key FROM dkim_keys WHERE domain_id = %(id)s"


async def test_a_message_is_taken_signed_and_on_record(post: Post):
    answer = await post.send(cc=[{"email": "copy@elsewhere.test"}], bcc=[{"email": "secret@elsewhere.test"}])
    assert answer.status == 200, answer.body
    assert answer.data["message_id"] == f"<{answer.data['id']}@{EXAMPLE}>"
    assert answer.data["status"] == "queued"
    assert [each["address"] for each in answer.data["recipients"]] == [
        "customer@elsewhere.test",
        "copy@elsewhere.test",
        "secret@elsewhere.test",
    ]
    (caught,) = await post.caught()
    assert caught["rcpt_to"] == ["customer@elsewhere.test", "copy@elsewhere.test", "secret@elsewhere.test"]
    raw = (await post.api.sue.get(f"/sandbox/messages/{caught['id']}/raw")).body
    assert b"secret@" not in raw
    mail = message_from_bytes(raw, policy=policy.default)
    assert mail["From"] == f"The Shop <shop@{EXAMPLE}>"
    assert mail["Message-ID"] == answer.data["message_id"]
    assert mail.get_content() == "It is on its way.\r\n"

    (row,) = await post.messages(direction="outbound")
    assert (row["id"], row["status"], row["queue_id"]) == (answer.data["id"], "queued", caught["queue_id"])
    assert await post.events() == [
        (
            "mail.sent",
            {
                "message_id": answer.data["message_id"],
                "from": f"shop@{EXAMPLE}",
                "to": ["customer@elsewhere.test"],
                "subject": "Your order",
                "domain": EXAMPLE,
            },
        )
    ]
    (entry,) = await post.api.audit_entries("message.send")
    assert entry["details"]["message_ids"] == [answer.data["message_id"]]
    assert entry["details"]["recipient_domains"] == ["elsewhere.test"]
    assert entry["domain_id"] == DOMAIN_IDS[EXAMPLE]


async def test_the_signature_verifies_with_dkimpy(post: Post):
    await post.send(html_body="<p>Grüße</p>", text_body="Grüße")
    (caught,) = await post.caught()
    raw = (await post.api.sue.get(f"/sandbox/messages/{caught['id']}/raw")).body
    (key,) = await post.api.sql(KEY_RECORD, id=DOMAIN_IDS[EXAMPLE])
    record = b"v=DKIM1; k=ed25519; p=" + base64.b64encode(key["public_key"])
    assert dkim.verify(raw, dnsfunc=lambda name, timeout=5: record)
    assert not dkim.verify(raw.replace(b"Your order", b"Your 0rder"), dnsfunc=lambda name, timeout=5: record)


async def test_without_a_key_nothing_leaves_unsigned(post: Post):
    await post.api.sql("DELETE FROM dkim_keys")
    answer = await post.send()
    assert (answer.status, answer.code) == (500, "SEND_FAILED")
    assert answer.json["error"]["details"]["smtp_code"] == 451
    (row,) = await post.messages()
    assert row["status"] == "failed"
    assert await post.events() == []


ADDRESS = {"email": "a@elsewhere.test"}
TOGETHER = "must have, together with {}, at most 1000 items (got {})"


@pytest.mark.parametrize(
    "changes,status,code",
    [
        ({"from": None}, 400, "MISSING_FIELDS"),
        ({"from": {}}, 400, "MISSING_FIELDS"),
        ({"to": []}, 400, "MISSING_FIELDS"),
        ({"subject": ""}, 400, "MISSING_FIELDS"),
        ({"text_body": None}, 400, "MISSING_FIELDS"),
        ({"text_body": "", "html_body": ""}, 400, "MISSING_FIELDS"),
        ({"subject": 5}, 400, "INVALID_FIELD"),
        ({"to": ADDRESS}, 400, "INVALID_FIELD"),
        ({"subject": "a\x00b"}, 400, "INVALID_FIELD"),
        ({"text_body": "a\x01b"}, 400, "INVALID_FIELD"),
        ({"colour": "red"}, 400, "INVALID_FIELD"),
        ({"from": {"email": "nobody"}}, 400, "INVALID_SENDER"),
        ({"from": {"email": f"a@{EXAMPLE}\r\nBcc: b@x.test"}}, 400, "INVALID_SENDER"),
        ({"from": {"email": f"a@{EXAMPLE})x@evil.test"}}, 400, "INVALID_SENDER"),
        ({"from": {"email": "a@unmanaged.test"}}, 403, "DOMAIN_NOT_FOUND"),
        ({"to": [ADDRESS, {"email": "no address"}]}, 400, "INVALID_RECIPIENT"),
        ({"reply_to": {"email": "@"}}, 400, "INVALID_RECIPIENT"),
        ({"headers": {"Subject": "x"}}, 400, "INVALID_HEADER"),
        ({"headers": {"X-A\r\nBcc": "x"}}, 400, "INVALID_HEADER"),
        ({"headers": {"X-A": "a\r\nBcc: b@x.test"}}, 400, "INVALID_HEADER"),
        ({"headers": {"X-A": 5}}, 400, "INVALID_HEADER"),
        ({"headers": {"X-A": "1", "x-a": "2"}}, 400, "INVALID_HEADER"),
        ({"headers": {"X-Spam-Status": "No"}}, 400, "INVALID_HEADER"),
        ({"headers": ["X-A"]}, 400, "INVALID_FIELD"),
        ({"attachments": [{"filename": "a", "content_type": "text/plain", "content": "%%%%"}]}, 400, "INVALID_FIELD"),
        ({"attachments": [{"filename": "a", "content_type": "message/rfc822", "content": ""}]}, 400, "INVALID_FIELD"),
        ({"to": [{"email": f"a{n}@elsewhere.test"} for n in range(1001)]}, 400, "INVALID_FIELD"),
        # The order: the first failed check is reported.
        ({"from": {"email": "nobody"}, "to": [{"email": "x"}]}, 400, "INVALID_SENDER"),
        ({"from": {"email": "a@unmanaged.test"}, "to": [{"email": "x"}]}, 403, "DOMAIN_NOT_FOUND"),
        ({"to": [{"email": "x"}], "headers": {"Subject": "x"}}, 400, "INVALID_RECIPIENT"),
    ],
)
async def test_what_is_refused(post: Post, changes: dict[str, Any], status: int, code: str):
    answer = await post.send(**changes)
    assert (answer.status, answer.code) == (status, code), answer.body
    assert await post.messages() == []
    assert await post.events() == []


@pytest.mark.parametrize(
    "changes, code, details",
    [
        (
            {"to": [{"email": "a@bücher.test"}] * 200_000},
            "INVALID_FIELD",
            {"fields": [{"field": "to", "reason": TOGETHER.format("cc and bcc", 200_000)}]},
        ),
        (
            {"cc": [ADDRESS] * 400, "bcc": [5] * 600},
            "INVALID_FIELD",
            {"fields": [{"field": "bcc", "reason": TOGETHER.format("to and cc", 1001)}]},
        ),
        ({"headers": {f"X-{n}": "" for n in range(400_000)}}, "INVALID_HEADER", {"limit": 200}),
        ({"headers": {f"X-{n}": "ä" * 170 for n in range(195)}}, "INVALID_HEADER", {"limit_octets": 65_536}),
        ({"headers": {"X-A": "a" * 500_000}}, "INVALID_HEADER", {"limit_octets": 65_536}),
    ],
)
async def test_lists_over_their_limit_are_refused_as_a_whole(
    post: Post, changes: dict[str, Any], code: str, details: dict[str, Any]
):
    answer = await post.send(**changes)
    assert (answer.status, answer.code) == (400, code)
    assert answer.json["error"]["details"] == details


async def test_headers_and_recipients_up_to_their_limits_are_taken(post: Post):
    fields = {f"X-{n:03}": "a" * 300 for n in range(200)}
    answer = await post.send(headers=fields, bcc=[{"email": f"a{n}@elsewhere.test"} for n in range(998)])
    assert answer.status == 200


@pytest.mark.parametrize("name", ["X-Mailkeep-Tags", "x-mailkeep-", "X-Svc-A", "X-Rspamd-Server", "X-Spamd-Bar"])
async def test_reserved_headers_are_refused(post: Post, name: str):
    answer = await post.send(headers={name: "1"})
    assert (answer.status, answer.code) == (400, "INVALID_HEADER")


async def test_an_invalid_recipient_is_named(post: Post):
    answer = await post.send(cc=[ADDRESS, {"email": "no"}])
    assert answer.json["error"]["details"] == {"field": "cc", "index": 1}
    assert answer.json["error"]["message"] == "cc[1].email: the address has no @."


async def test_missing_fields_are_named(post: Post):
    # A missing group is named by its first member.
    assert faults(await post.api.sue.post("/send", {})) == ["from", "subject", "text_body", "to"]
    assert faults(await post.send(text_body=None, subject="")) == ["subject", "text_body"]
    assert faults(await post.send(text_body="")) == ["text_body"]
    # An unknown field may be a misspelt one that is missing.
    answer = await post.send(text_body=None, text="Hello")
    assert (answer.code, faults(answer)) == ("MISSING_FIELDS", ["text", "text_body"])


async def test_who_may_send(post: Post):
    api = post.api
    elsewhere = letter(**{"from": {"email": f"a@{OTHER}"}})
    assert (await api.dora.post("/send", letter())).status == 200
    assert (await api.dora.post("/send", elsewhere)).code == "FORBIDDEN"
    assert (await api.scoped.post("/send", letter())).status == 200
    assert (await api.scoped.post("/send", elsewhere)).code == "API_KEY_DOMAIN_SCOPE"
    (entry,) = [row for row in await api.audit_entries("message.send") if row["outcome"] == "denied" and row["key_id"]]
    assert entry["error_code"] == "API_KEY_DOMAIN_SCOPE"


async def test_inactive_and_disabled_domains(post: Post):
    await post.api.adam.patch(f"/domains/{DOMAIN_IDS[EXAMPLE]}", {"sending_enabled": False})
    answer = await post.send()
    assert (answer.code, reason(answer)) == ("DOMAIN_INACTIVE", "sending_disabled")
    await post.api.adam.patch(f"/domains/{DOMAIN_IDS[EXAMPLE]}", {"active": False})
    assert (await post.send()).code == "DOMAIN_INACTIVE"


async def test_a_suspended_sender(post: Post):
    mailbox = await post.api.mailbox(f"shop@{EXAMPLE}")
    assert (await post.api.adam.post(f"/mailboxes/{mailbox}/suspend", {"reason": "odd"})).status == 200
    answer = await post.send()
    assert (answer.status, answer.code) == (403, "MAILBOX_SUSPENDED")
    await post.api.adam.post(f"/mailboxes/{mailbox}/unsuspend")
    assert (await post.send()).status == 200


async def test_sending_that_is_not_configured(post: Post):
    pool, post.api.app.mta = post.api.app.mta, None
    answer = await post.send()
    assert (answer.status, answer.code) == (503, "SEND_UNAVAILABLE")
    assert "retry-after" in answer.headers
    assert (await post.api.sue.post("/send/batch", {"messages": [letter()]})).code == "SEND_UNAVAILABLE"
    post.api.app.mta = pool


async def test_a_recipient_stands_once_however_often_it_is_named(post: Post):
    answer = await post.send(to=[ADDRESS, {"email": "A@elsewhere.test"}], cc=[ADDRESS])
    assert [each["address"] for each in answer.data["recipients"]] == ["a@elsewhere.test"]


async def test_a_batch_judges_each_message_on_its_own(post: Post):
    items = [
        letter(),
        letter(subject=None),
        letter(**{"from": {"email": "a@unmanaged.test"}}),
        "not an object",
        letter(to=[{"email": "no"}]),
        letter(subject="Last"),
    ]
    answer = await post.api.sue.post("/send/batch", {"messages": items})
    assert answer.status == 200
    assert (answer.data["total"], answer.data["succeeded"], answer.data["failed"]) == (6, 2, 4)
    assert [each["index"] for each in answer.data["results"]] == list(range(6))
    assert [each.get("code") for each in answer.data["results"]] == [
        None,
        "MISSING_FIELDS",
        "DOMAIN_NOT_FOUND",
        "INVALID_FIELD",
        "INVALID_RECIPIENT",
        None,
    ]
    assert {row["subject"] for row in await post.messages()} == {"Your order", "Last"}
    assert [kind for kind, _ in await post.events()] == ["mail.sent", "mail.sent"]
    assert len(await post.api.audit_entries("message.send")) == 1


@pytest.mark.parametrize(
    "body,code",
    [
        ({}, "MISSING_FIELDS"),
        ({"messages": []}, "EMPTY_BATCH"),
        ({"messages": {}}, "INVALID_FIELD"),
        ({"messages": [letter()] * 101}, "BATCH_TOO_LARGE"),
    ],
)
async def test_what_is_wrong_with_a_batch_as_a_whole(post: Post, body: Any, code: str):
    answer = await post.api.sue.post("/send/batch", body)
    assert (answer.status, answer.code) == (400, code)


async def test_attachments_of_any_size_arrive_whole(post: Post):
    data = bytes(range(256)) * 1000
    for content in (base64.b64encode(data).decode(), base64.encodebytes(data).decode().replace("\n", "\r\n")):
        attachment = {"filename": "C:\\tmp\\größe.bin", "content_type": "application/x-data", "content": content}
        assert (await post.send(attachments=[attachment])).status == 200
        caught = (await post.caught())[0]
        raw = (await post.api.sue.get(f"/sandbox/messages/{caught['id']}/raw")).body
        (part,) = message_from_bytes(raw, policy=policy.default).iter_attachments()
        assert part.get_content() == data
        assert part.get_filename() == "größe.bin"


async def test_a_message_over_the_limit_is_refused_to_the_byte(post: Post):
    limit = post.api.app.settings.limits.message_size_bytes
    assert (await post.send(text_body="x" * (limit + 1))).status == 413
    assert await post.caught() == []


async def test_delivery_outcomes_in_the_sandbox(post: Post):
    names = ("delivered", "bounce", "defer+x", "fail", f"nobody@{EXAMPLE}")
    to = [{"email": name if "@" in name else f"{name}@elsewhere.test"} for name in names]
    sent = await post.send(to=to)
    await post.run_queue()
    path = f"/messages/{sent.data['id']}"

    async def statuses() -> list[str]:
        return [each["status"] for each in (await post.api.sue.get(path)).data["recipients"]]

    assert await statuses() == ["delivered", "bounced", "deferred", "deferred", "bounced"]
    await post.run_queue(seconds=2)
    assert await statuses() == ["delivered", "bounced", "delivered", "failed", "bounced"]
    found = (await post.api.sue.get(path)).data
    assert found["status"] == "partial"
    assert found["recipients"][1]["smtp_code"] == 550
    published = [(kind, data["to"], data.get("bounce_type")) for kind, data in (await post.events())[1:]]
    assert sorted(published, key=str) == sorted(
        [
            ("mail.delivered", "delivered@elsewhere.test", None),
            ("mail.bounced", "bounce@elsewhere.test", "permanent"),
            ("mail.bounced", "defer+x@elsewhere.test", "temporary"),
            ("mail.bounced", "fail@elsewhere.test", "temporary"),
            ("mail.bounced", f"nobody@{EXAMPLE}", "permanent"),
            ("mail.delivered", "defer+x@elsewhere.test", None),
            ("mail.failed", "fail@elsewhere.test", None),
        ],
        key=str,
    )


async def test_mail_to_ourselves_reaches_the_mailbox(post: Post):
    alice = await post.api.mailbox()
    sent = await post.send(to=[{"email": f"alice+x@{EXAMPLE}"}])
    await post.run_queue()
    (mail,) = post.mail_of(alice)
    assert mail["Subject"] == "Your order"
    assert mail["DKIM-Signature"]
    assert (await post.api.sue.get(f"/messages/{sent.data['id']}")).data["status"] == "delivered"
    (inbound,) = await post.messages(direction="inbound")
    assert inbound["mailbox_id"] == str(alice)


async def test_the_sandbox_can_be_emptied(post: Post):
    await post.send()
    assert (await post.api.sue.delete("/sandbox/messages")).data["removed"] == 0  # still to be seen to
    await post.run_queue()
    assert (await post.api.sue.delete("/sandbox/messages")).data["removed"] == 1
    assert await post.caught() == []
    assert list((post.api.app.data_dir / "sandbox").rglob("*.eml")) == []
    assert (await post.api.adam.get("/sandbox/messages")).code == "FORBIDDEN"


async def test_email_of_the_cast_is_no_sender_of_its_own(post: Post):
    """Any address of a managed domain may stand in From, with or without a mailbox."""
    assert (await post.send(**{"from": {"email": email_of("adam")}})).status == 200
