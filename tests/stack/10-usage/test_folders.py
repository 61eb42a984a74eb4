"""Folders, recalculation and quota warnings with a real Dovecot."""

from __future__ import annotations

import asyncio
from typing import Any

from mailkeep.run.runtime.context import open_app
from tests.stack.harness import Stack, eventually, letter

BODY = ("0123456789" * 7 + "\r\n") * 5_000  # 360,000 bytes


def folders(stack: Stack, mailbox: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Messages and unseen ones by folder, of those that are not empty."""
    rows = stack.do("GET", f"/mailboxes/{mailbox['id']}/folders")
    assert rows[0]["name"] == "INBOX"
    return {row["name"]: (row["messages"], row["unseen"]) for row in rows if row["messages"]}


def spoil_usage(stack: Stack, mailbox_id: str) -> None:
    """Write a wrong usage that no report or count would correct soon."""

    async def write() -> None:
        async with open_app(stack.data_dir) as app, app.db.tx() as conn:
            await conn.execute(
                "UPDATE mailboxes SET used_bytes = 5, message_count = 77, usage_count_due_at = NULL WHERE id = %(id)s",
                {"id": mailbox_id},
            )

    asyncio.run(write())


def test_folders_have_their_messages_and_sizes(stack: Stack):
    domain = stack.make_domain("folders.test")
    alice = stack.make_mailbox(domain, "alice")
    stack.deliver(alice["address"], "One")
    eventually(lambda: folders(stack, alice) == {"INBOX": (1, 1)}, what="the message in INBOX")
    with stack.imap(alice["address"]) as client:
        client.create('"Archive/Gr&APwA3w-e"')  # modified UTF-7: Grüße
        client.append('"Archive/Gr&APwA3w-e"', r"\Seen", "", letter(alice["address"], "Old", body=BODY).encode())
        client.append('"Archive/Gr&APwA3w-e"', "", "", letter(alice["address"], "New").encode())
    assert folders(stack, alice) == {"INBOX": (1, 1), "Archive/Grüße": (2, 1)}
    rows = {row["name"]: row["bytes"] for row in stack.do("GET", f"/mailboxes/{alice['id']}/folders")}
    assert rows["Archive/Grüße"] > len(BODY) > rows["INBOX"] > 0
    # The usage is wrong, and is counted again.
    spoil_usage(stack, alice["id"])
    usage = stack.do("POST", f"/mailboxes/{alice['id']}/recalculate")
    assert usage == {"used_bytes": sum(rows.values()), "message_count": 3}
    shown = stack.do("GET", f"/mailboxes/{alice['id']}")
    assert (shown["used_bytes"], shown["message_count"]) == (usage["used_bytes"], 3)
    stack.do("PATCH", f"/mailboxes/{alice['id']}", {"active": False})
    for method, path in (("GET", "folders"), ("POST", "recalculate")):
        answer = stack.ask(method, f"/mailboxes/{alice['id']}/{path}")
        assert (answer.status, answer.body["error"]["details"]) == (409, {"reason": "inactive"})


def test_the_owner_is_warned_at_80_and_95_percent(stack: Stack):
    domain = stack.make_domain("quota-warnings.test")
    bob = stack.make_mailbox(domain, "bob", quota_bytes=1_000_000)

    def levels() -> list[int]:
        events = stack.do("GET", "/events?kind=mailbox.quota&limit=200")
        return [each["data"]["level"] for each in events if each["data"]["address"] == bob["address"]]

    def warnings() -> list[bytes]:
        return [mail for mail in stack.mail_of(bob["address"]) if b"Subject: Your mailbox is almost full" in mail]

    stack.deliver(bob["address"], "One", body=BODY)  # 36 percent
    stack.deliver(bob["address"], "Two", body=BODY)
    eventually(lambda: len(stack.mail_of(bob["address"])) == 2, what="both messages")
    assert levels() == []
    stack.deliver(bob["address"], "Three", body=BODY[:150_000])  # 87 percent
    eventually(lambda: levels() == [80], 90, "the event at 80 percent")
    [mail] = eventually(warnings, 90, "the mail at 80 percent")
    assert b"of 976.6 kB are used, more than 80 percent" in mail
    assert b"Auto-Submitted: auto-generated" in mail
    with stack.imap(bob["address"]) as client:  # a mail client makes it 97 percent
        client.append("Drafts", "", "", letter(bob["address"], "Draft", body=BODY[:90_000]).encode())
    eventually(lambda: levels() == [80, 95], 90, "the event at 95 percent")
    eventually(lambda: len(warnings()) == 2, 90, "the mail at 95 percent")
