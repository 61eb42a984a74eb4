"""Thresholds and lists with the built-in listener: no score but GTUBE's, and no proof of a sender."""

from __future__ import annotations

from typing import Any

from mailkeep.features.mailflow.receiving.rules import GTUBE
from tests.mailflow.local_delivery.test_copies import add_entry, set_scores
from tests.plugins.post import LETTER, Post
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER

ALICE, BOB = f"alice@{EXAMPLE}", f"bob@{EXAMPLE}"
LOCALHOST = "127.0.0.1/32"
DENIAL = (550, "5.7.1 Refused by the recipient's filter")
SPAM = LETTER + GTUBE + b"\r\n"


def spam_of(rows: list[dict[str, Any]]) -> dict[str, tuple[str, str | None, str | None]]:
    """Status, action and rule of the row of each recipient."""
    found = {row["recipients"][0]["address"]: row for row in rows}
    return {
        address: (row["status"], row["spam"]["action"], (row["spam"]["decided_by"] or {}).get("rule"))
        for address, row in found.items()
    }


async def test_a_denied_sender_or_network_is_refused_at_rcpt(post: Post) -> None:
    alice, bob = await post.api.mailbox(ALICE), await post.api.mailbox(BOB)
    entry = await add_entry(post.api, "deny", "address", "someone@elsewhere.test", mailbox_id=alice)
    result = await post.deliver(ALICE, BOB)
    assert (result.code, result.refused) == (250, {ALICE: DENIAL})
    assert len(post.mail_of(bob)) == 1
    await post.inbound.hits.flush()
    assert (await post.api.sql("SELECT hits FROM filter_entries")) == [{"hits": 1}]
    network = await add_entry(post.api, "deny", "network", LOCALHOST, domain_id=DOMAIN_IDS[EXAMPLE])
    assert (await post.deliver(BOB, sender="other@elsewhere.test")).refused == {BOB: DENIAL}
    # Envelope and author are not proved here; a network needs no proof.
    await add_entry(post.api, "allow", "address", "other@elsewhere.test", mailbox_id=bob)
    assert (await post.deliver(BOB, sender="other@elsewhere.test")).code == 554
    await add_entry(post.api, "allow", "network", LOCALHOST, mailbox_id=bob)
    assert (await post.deliver(BOB, sender="third@elsewhere.test")).code == 250
    assert entry != network


async def test_postmaster_is_never_refused_by_a_list(post: Post) -> None:
    alice = await post.api.mailbox(ALICE)
    await post.api.alias(f"postmaster@{EXAMPLE}", [ALICE])
    await add_entry(post.api, "deny", "domain", "elsewhere.test")
    assert (await post.deliver(f"postmaster@{EXAMPLE}")).code == 250
    assert post.mail_of(alice) == []
    assert spam_of(await post.messages()) == {f"postmaster@{EXAMPLE}": ("received", "add header", "deny_entry")}


async def test_a_denied_author_is_junk_unless_every_copy_is_refused(post: Post) -> None:
    alice, bob = await post.api.mailbox(ALICE), await post.api.mailbox(BOB)
    await add_entry(post.api, "deny", "address", "someone@elsewhere.test", mailbox_id=alice)
    result = await post.deliver(ALICE, BOB, sender="bounces@elsewhere.test")
    assert (result.code, result.refused) == (250, {})
    assert (post.mail_of(alice), len(post.mail_of(bob))) == ([], 1)
    assert spam_of(await post.messages(direction="inbound")) == {
        ALICE: ("received", "add header", "deny_entry"), BOB: ("received", None, None),
    }  # fmt: skip
    (copy,) = (post.api.app.data_dir / f"mail/{alice}/Maildir/.Junk/new").iterdir()
    assert b"X-Spam: Yes\r\nX-Mailkeep-Verdict: junk; rule=deny_entry; scope=mailbox\r\n" in copy.read_bytes()
    result = await post.deliver(ALICE, sender="bounces@elsewhere.test")
    assert (result.code, result.text) == (554, "5.7.1 Refused by the recipient's filter")
    (refused,) = await post.messages(direction="inbound", status="rejected")
    assert refused["spam"]["action"] == "reject"
    spam = [data["spam_action"] for kind, data in await post.events() if kind == "mail.spam"]
    assert spam == ["add header", "reject"]
    # With two authors it is not certain who it is, and a deny entry matches each.
    two = LETTER.replace(b"<someone@elsewhere.test>", b"<someone@elsewhere.test>, x@elsewhere.test")
    assert (await post.deliver(ALICE, sender="bounces@elsewhere.test", content=two)).code == 554
    assert post.mail_of(alice) == []


async def test_thresholds_of_mailboxes_hold_for_the_test_string(post: Post) -> None:
    alice, bob = await post.api.mailbox(ALICE), await post.api.mailbox(BOB)
    await set_scores(post.api, 0, 0, mailbox_id=alice)
    await set_scores(post.api, 6, 15, mailbox_id=bob)
    assert (await post.deliver(ALICE, BOB, content=SPAM)).code == 250
    assert len(post.mail_of(alice)) == 1
    assert spam_of(await post.messages(direction="inbound"))[BOB] == ("received", "add header", "reject_score")
    assert (await post.deliver(BOB, content=SPAM)).code == 554
    await set_scores(post.api, 6, 0, mailbox_id=bob)
    assert (await post.deliver(BOB, content=SPAM)).code == 250


async def test_external_copies_follow_the_domain_that_forwards(post: Post) -> None:
    await post.api.mailbox(ALICE)
    await post.api.alias(f"sales@{EXAMPLE}", ["friend@far.test"])
    await post.api.alias(f"team@{OTHER}", ["colleague@far.test"])
    await set_scores(post.api, 0, 0, domain_id=DOMAIN_IDS[OTHER])
    assert (await post.deliver(f"sales@{EXAMPLE}", f"team@{OTHER}", content=SPAM)).code == 250
    assert await post.api.sql("SELECT recipient FROM forwards") == [{"recipient": "colleague@far.test"}]
    assert spam_of(await post.messages(direction="inbound")) == {
        f"sales@{EXAMPLE}": ("rejected", "reject", "junk_score"),
    }  # fmt: skip
    # Nobody else takes it: it is refused.
    assert (await post.deliver(f"sales@{EXAMPLE}", content=SPAM)).code == 554


async def test_fields_of_others_do_not_reach_mailboxes(post: Post) -> None:
    alice = await post.api.mailbox(ALICE)
    fields = (
        b"X-Spam: Yes\r\nX-Spam-Score: 99\r\nX-Rspamd-Action: reject\r\nX-Mailkeep-Verdict: junk\r\n"
        b"X-Spamd-Result: x\r\nAuthentication-Results: localhost;\r\n spf=pass\r\n"
    )
    await post.deliver(ALICE, content=fields + LETTER)
    (mail,) = post.mail_of(alice)
    names = {name.lower() for name in mail}
    assert {name for name in names if name.startswith(("x-", "auth"))} == {"x-mailkeep-verdict"}
    assert mail["X-Mailkeep-Verdict"] == "inbox"
