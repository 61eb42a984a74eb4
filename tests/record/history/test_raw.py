"""GET /messages/{id}/raw: permissions, retention, and audit entries."""

from __future__ import annotations

from dataclasses import replace
from email import message_from_bytes

from mailkeep.features.record.messages import jobs
from mailkeep.features.record.messages.content import content_folder
from mailkeep.settings.tree import MtaSettings
from tests.plugins.post import LETTER, Post
from tests.support.client import EXAMPLE, reason


async def test_the_content_of_a_sent_message_is_the_signed_one(post: Post):
    sent = (await post.send(bcc=[{"email": "secret@elsewhere.test"}])).data["id"]
    answer = await post.api.dora.get(f"/messages/{sent}/raw")
    assert answer.status == 200
    assert answer.headers["content-type"] == "message/rfc822"
    assert answer.headers["content-disposition"] == f'attachment; filename="{sent}.eml"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert message_from_bytes(answer.body)["DKIM-Signature"]
    assert b"secret@" not in answer.body
    assert await post.api.audit_entries("message.read_raw") == []
    assert (await post.api.otto.get(f"/messages/{sent}/raw")).code == "FORBIDDEN"


async def test_with_a_smarthost_the_content_is_the_submitted_one(post: Post):
    post.api.app.settings = replace(post.api.app.settings, mta=MtaSettings(mode="smtp", host="localhost"))
    big = "ä" * 400_000
    sent = (await post.send(text_body=big)).data["id"]
    mail = message_from_bytes((await post.api.sue.get(f"/messages/{sent}/raw")).body)
    payload = mail.get_payload(decode=True)
    assert isinstance(payload, bytes)
    assert payload.decode().rstrip() == big


async def test_only_admins_read_received_mail_and_that_is_recorded(post: Post):
    await post.api.mailbox()
    await post.deliver(f"alice@{EXAMPLE}")
    (row,) = await post.messages()
    path = f"/messages/{row['id']}/raw"
    assert (await post.api.dora.get(path)).code == "FORBIDDEN"
    assert (await post.api.scoped.get(path)).status == 200
    answer = await post.api.adam.get(path)
    assert answer.body.endswith(LETTER)
    assert answer.body.startswith(b"Return-Path: <someone@elsewhere.test>\r\n")
    entries = await post.api.audit_entries("message.read_raw")
    assert [entry["actor_type"] for entry in entries] == ["api_key", "session"]
    assert {entry["resource_id"] for entry in entries} == {row["id"]}


async def test_content_that_expired_or_was_never_stored(post: Post):
    sent = (await post.send()).data["id"]
    await post.deliver(f"nobody@{EXAMPLE}")
    (rejected,) = await post.messages(status="rejected")
    missing = await post.api.sue.get(f"/messages/{rejected['id']}/raw")
    assert (missing.code, reason(missing)) == ("NOT_FOUND", "not_kept")
    assert missing.json["error"]["message"].startswith("The content was never stored")
    # A folder is deleted when its day is over, after two checks a day apart.
    for days, status in ((7, 200), (1, 200), (1, 404)):
        post.api.clock.advance(days=days)
        await jobs.prune(post.api.app)
        answer = await post.api.sue.get(f"/messages/{sent}/raw")
        assert answer.status == status
    assert reason(answer) == "expired"
    assert "retention.content_days" in answer.json["error"]["message"]
    assert list(content_folder(post.api.app.data_dir).iterdir()) == []
    assert (await post.api.sue.get("/messages/01890000-0000-7000-8000-000000000000/raw")).code == "NOT_FOUND"
