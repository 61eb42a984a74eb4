"""Mail received by SMTP: its mailboxes, the replies, and the history."""

from __future__ import annotations

from tests.plugins.post import LETTER, Post
from tests.support.client import DOMAIN_IDS, EXAMPLE


async def test_a_mailbox_gets_its_mail_and_the_history_a_row(post: Post):
    alice = await post.api.mailbox()
    result = await post.deliver(f"alice@{EXAMPLE}")
    assert result.code == 250, result
    (mail,) = post.mail_of(alice)
    assert mail["Return-Path"] == "<someone@elsewhere.test>"
    assert mail["Delivered-To"] == f"alice@{EXAMPLE}"
    assert "from elsewhere.test ([127.0.0.1])" in mail["Received"]
    assert mail.get_payload() == "Hi.\r\n"
    (row,) = await post.messages()
    assert row["direction"] == "inbound"
    assert row["status"] == "received"
    assert row["mailbox_id"] == str(alice)
    assert (row["from"], row["subject"], row["message_id"]) == ("someone@elsewhere.test", "Hello", "<1@elsewhere.test>")
    assert [each["address"] for each in row["recipients"]] == [f"alice@{EXAMPLE}"]
    assert result.text.endswith(row["queue_id"])
    assert await post.events() == [
        (
            "mail.received",
            {
                "message_id": "<1@elsewhere.test>",
                "from": "someone@elsewhere.test",
                "domain": EXAMPLE,
                "subject": "Hello",
                "size": len(LETTER),
                "queue_id": row["queue_id"],
            },
        )
    ]


async def test_alias_plus_address_and_catch_all(post: Post):
    alice, bob = await post.api.mailbox(), await post.api.mailbox(f"bob@{EXAMPLE}")
    await post.api.alias(f"team@{EXAMPLE}", [f"alice@{EXAMPLE}", f"bob@{EXAMPLE}"])
    assert (await post.deliver(f"team+x@{EXAMPLE}")).code == 250
    assert (len(post.mail_of(alice)), len(post.mail_of(bob))) == (1, 1)
    result = await post.deliver(f"nobody@{EXAMPLE}")
    assert result.refused == {f"nobody@{EXAMPLE}": (550, "5.1.1 User unknown")}
    await post.api.alias(f"@{EXAMPLE}", [f"bob@{EXAMPLE}"])
    assert (await post.deliver(f"nobody@{EXAMPLE}")).code == 250
    assert (len(post.mail_of(alice)), len(post.mail_of(bob))) == (1, 2)


async def test_one_mailbox_gets_one_copy_however_it_is_reached(post: Post):
    alice = await post.api.mailbox()
    await post.api.alias(f"team@{EXAMPLE}", [f"alice@{EXAMPLE}"])
    assert (await post.deliver(f"alice@{EXAMPLE}", f"team@{EXAMPLE}", f"nobody@{EXAMPLE}")).code == 250
    assert len(post.mail_of(alice)) == 1
    (row,) = await post.messages(status="received")
    assert [each["address"] for each in row["recipients"]] == [f"alice@{EXAMPLE}", f"team@{EXAMPLE}"]


async def test_the_replies_to_a_sender(post: Post):
    await post.api.mailbox(f"off@{EXAMPLE}", active=False)
    await post.api.domain("closed.test", receiving_enabled=False)
    await post.api.domain("asleep.test", active=False)
    result = await post.deliver(f"off@{EXAMPLE}", "a@closed.test", "a@asleep.test", "a@foreign.test")
    assert result.refused == {
        f"off@{EXAMPLE}": (550, "5.2.1 Mailbox disabled"),
        "a@closed.test": (550, "5.7.1 The domain does not accept mail"),
        "a@asleep.test": (450, "4.2.1 The domain is inactive; try again later"),
        "a@foreign.test": (554, "5.7.1 Relay access denied"),
    }
    rejected = await post.messages(status="rejected")
    assert {row["recipients"][0]["address"] for row in rejected} == set(result.refused)
    assert {row["recipients"][0]["smtp_code"] for row in rejected} == {550, 450, 554}


async def test_rejections_of_one_source_are_bounded(post: Post):
    for _ in range(4):
        await post.deliver(*(f"nobody{n}@{EXAMPLE}" for n in range(19)))
    assert len(await post.messages(status="rejected", limit=200)) == 60
    post.api.clock.advance(seconds=61)
    await post.deliver(f"nobody@{EXAMPLE}")
    assert len(await post.messages(status="rejected", limit=200)) == 61


async def test_a_copy_for_the_outside_goes_on_by_the_mta(post: Post):
    await post.api.alias(f"away@{EXAMPLE}", ["friend@outside.test"])
    assert (await post.deliver(f"away@{EXAMPLE}")).code == 250
    assert await post.caught() == []
    await post.run_forwards()
    (caught,) = await post.caught()
    assert caught["rcpt_to"] == ["friend@outside.test"]
    assert caught["mail_from"] == "someone@elsewhere.test"
    assert list((post.api.app.data_dir / "forwards").rglob("*.eml")) == []


async def test_a_forward_waits_while_the_mta_is_away(post: Post):
    await post.api.alias(f"away@{EXAMPLE}", ["friend@outside.test"])
    pool, post.api.app.mta = post.api.app.mta, None
    await post.deliver(f"away@{EXAMPLE}")
    await post.run_forwards()
    post.api.app.mta = pool
    await post.run_forwards()
    assert await post.caught() == []
    post.api.clock.advance(seconds=5)
    await post.run_forwards()
    assert len(await post.caught()) == 1


async def test_with_the_database_away_the_answer_is_temporary(post: Post):
    alice = await post.api.mailbox()
    await post.api.app.db.close()
    result = await post.deliver(f"alice@{EXAMPLE}")
    assert result.refused[f"alice@{EXAMPLE}"][0] == 451
    assert post.mail_of(alice) == []


async def test_names_and_subjects_in_any_script(post: Post):
    await post.api.mailbox("jörg@example.test")
    head = b"From: =?utf-8?q?J=C3=BCrgen?= <j@elsewhere.test>\r\nSubject: =?utf-8?b?R3LDvMOfZQ==?=\r\n\r\n"
    result = await post.deliver("JÖRG@example.test", content=head + b"x\r\n", utf8=True)
    assert result.code == 250, result
    (row,) = await post.messages()
    assert (row["from"], row["subject"]) == ("j@elsewhere.test", "Grüße")


async def test_a_domain_admin_sees_its_own_mail_only(post: Post):
    await post.api.mailbox()
    await post.deliver(f"alice@{EXAMPLE}")
    await post.deliver("a@foreign.test")
    (row,) = (await post.api.dora.get("/messages")).data
    assert row["domain_id"] == str(DOMAIN_IDS[EXAMPLE])
    assert (await post.api.otto.get("/messages")).data == []
    assert (await post.api.otto.get(f"/messages/{row['id']}")).code == "FORBIDDEN"
    (foreign,) = await post.messages(status="rejected")
    assert (await post.api.dora.get(f"/messages/{foreign['id']}")).code == "FORBIDDEN"
    assert (await post.api.sue.get(f"/messages/{foreign['id']}")).status == 200
