"""`…/filtering/test`: what the filter would do with a message, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mailkeep.core.ids import uuid7
from mailkeep.features.mailflow.filter_test.rules import prove_author
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import Message, Recipient
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, faults

DOMAIN = f"/domains/{DOMAIN_IDS[EXAMPLE]}/filtering/test"
ENFORCED = "Enforced deny entry of the server: network 203.0.113.0/24"
UNPROVED = (
    "Allow entry of the mailbox: address ann@good.test - It matches the author (From), but does not apply: nothing "
    "proves the author (from=fail)."
)
ANN, PASS = "ann@good.test", {"spf": "pass", "dkim": "pass", "dmarc": "pass"}


@pytest.fixture
def full(api: Api) -> Api:
    """The full profile, whose filter gives scores and proofs."""
    settings = api.app.settings
    api.app.settings = replace(settings, mta=replace(settings.mta, mode="postfix"))
    return api


def outcome(answer: Answer) -> list[Any]:
    decided_by = answer.data["decided_by"]
    return [answer.data["action"], answer.data["at"], decided_by and (decided_by["scope"], decided_by["rule"])]


def steps(answer: Answer) -> list[str]:
    """Each step as text; the one that decides has a star."""
    return [
        f"{each['at']}: {each['step']} - {each['result']}" + (" *" if each["is_deciding"] else "")
        for each in answer.data["steps"]
    ]


async def test_the_steps_show_why_in_plain_words(full: Api):
    api, mailbox_id = full, await full.mailbox()
    path = f"/mailboxes/{mailbox_id}/filtering"
    allowed = await api.filter_entry(ANN, "allow", mailbox_id=mailbox_id)
    await api.filter_entry("good.test", "deny", "domain", domain_id=DOMAIN_IDS[EXAMPLE])
    message = {"mail_from": ANN, "from": ANN, "client_address": "203.0.113.10", "score": 30, "auth": PASS}
    accepted = await api.dora.post(f"{path}/test", message)
    assert outcome(accepted) == ["inbox", "delivery", ("mailbox", "allow_entry")]
    assert accepted.data["decided_by"]["entry_id"] == str(allowed)
    later = (
        f"rcpt: Allow entry of the mailbox: address {ANN} - It matches the envelope sender: whether it applies is "
        "decided when the message has arrived."
    )
    assert steps(accepted) == [
        later,
        f"delivery: Allow entry of the mailbox: address {ANN} - It matches the author (From): it goes to the inbox. *",
    ]
    forged = await api.dora.post(f"{path}/test", message | {"auth": {"spf": "fail", "dmarc": "fail"}})
    assert outcome(forged) == ["refuse", "data", ("domain", "deny_entry")]
    assert steps(forged) == [
        later,
        f"data: {UNPROVED}",
        "data: Deny entry of the domain: domain good.test - It matches the author (From): it is refused. *",
    ]
    owner = await api.owner(mailbox_id)
    assert (await owner.post("/me/filtering/test", message)).data == accepted.data
    assert await api.sql("SELECT FROM filter_entries WHERE hits > 0") == []


async def test_where_a_message_is_refused_or_delivered(full: Api):
    api = full
    await api.dora.patch(f"/domains/{DOMAIN_IDS[EXAMPLE]}/filtering", {"reject_score": 15})
    await api.filter_entry("203.0.113.0/24", kind="network", enforced=True)
    by_network = await api.sue.post("/filtering/test", {"client_address": "203.0.113.9", "mail_from": ""})
    assert outcome(by_network) == ["refuse", "rcpt", ("server", "deny_entry")]
    [refused] = steps(by_network)
    assert refused == f"rcpt: {ENFORCED} - It matches the client's address: it is refused. *"
    for score, expected in (
        (15, ["refuse", "data", ("domain", "reject_score")]),
        (14.9, ["junk", "delivery", ("server", "junk_score")]),
        (None, ["inbox", "delivery", None]),
    ):
        answer = await api.dora.post(DOMAIN, {"mail_from": ANN, "score": score})
        assert outcome(answer) == expected
        assert [each["is_deciding"] for each in answer.data["steps"]][-1] is True
    assert steps(answer) == [
        "rcpt: List entries for sender and client - No entry matches: the message may be sent.",
        "delivery: Reject score of the domain: 15 - The message has no score.",
        "delivery: Junk score of the server: 6 - The message has no score.",
        "delivery: No rule decides - No entry applies, and no score is reached: it goes to the inbox. *",
    ]
    await api.filter_entry("broken.test", "allow", "domain")
    unknown = {"mail_from": "k@broken.test", "score": 30, "auth": {"spf": "temperror"}, "from": "k@broken.test"}
    assert outcome(await api.dora.post(DOMAIN, unknown)) == ["defer", "data", ("domain", "reject_score")]


async def test_in_the_embedded_profile_only_networks_are_allowed(api: Api):
    await api.filter_entry(ANN, "allow")
    await api.filter_entry("192.0.2.0/24", "allow", "network")
    await api.filter_entry("bad.test", "deny", "domain")
    message = {"mail_from": ANN, "from": ANN, "score": 30, "auth": PASS}
    given = await api.dora.post(DOMAIN, message)
    assert outcome(given) == ["inbox", "delivery", None]
    ignored = "rcpt: Embedded profile - It has no spam filter: "
    assert steps(given)[0].startswith(ignored)
    assert not any(each.startswith(ignored) for each in steps(await api.dora.post(DOMAIN, {"from": ANN})))
    by_network = message | {"client_address": "192.0.2.1", "from": "x@bad.test", "mail_from": "x@bad.test"}
    assert outcome(await api.dora.post(DOMAIN, by_network)) == ["refuse", "rcpt", ("server", "deny_entry")]
    by_network |= {"from": ANN, "mail_from": ANN}
    assert outcome(await api.dora.post(DOMAIN, by_network)) == ["inbox", "delivery", ("server", "allow_entry")]
    # The test string GTUBE is the only thing that gives a score.
    gtube = {"message_id": await insert_message(api, await api.mailbox(), spam_score=1000.0, auth={})}
    assert outcome(await api.dora.post(DOMAIN, gtube)) == ["junk", "delivery", ("server", "junk_score")]


@pytest.mark.parametrize(
    "author, sender, auth, proof",
    [
        (ANN, ANN, {"dmarc": "pass"}, "pass"),
        (ANN, ANN, {"spf": "pass"}, "pass"),
        ("ann@mail.good.co.uk", "b@news.good.co.uk", {"spf": "pass"}, "pass"),
        ("ann@good.co.uk", "b@bad.co.uk", {"spf": "pass"}, "fail"),
        ("ann@good.github.io", "b@bad.github.io", {"spf": "pass"}, "fail"),
        ("ann@co.uk", "b@co.uk", {"spf": "pass"}, "fail"),
        (ANN, "b@bad.test", {"dkim": "pass"}, "pass"),
        (ANN, ANN, {"spf": "pass", "dkim": "pass", "dmarc": "fail"}, "fail"),
        (ANN, ANN, {"spf": "fail", "dkim": "temperror"}, "temperror"),
        (ANN, ANN, {"dmarc": "pass", "from": "fail"}, "fail"),
        ("", ANN, {"spf": "pass"}, None),
    ],
)
def test_when_the_author_is_proved(author: str, sender: str, auth: dict[str, str], proof: str | None):
    assert prove_author(auth, author, sender).get("from") == proof


async def insert_message(api: Api, mailbox_id: Any, **fields: Any) -> str:
    """An incoming message of the history."""
    at, address = api.clock(), f"alice@{EXAMPLE}"
    message = Message(
        id=uuid7(at), direction="inbound", message_id="<1@x.test>", domain_id=DOMAIN_IDS[EXAMPLE], domain_name=EXAMPLE,
        mailbox_id=mailbox_id, source="smtp", mail_from=ANN, from_address=ANN, to_addresses=[address],
        cc_addresses=[], subject="Hi", size=1, status="received", created_at=at, spam_score=7.5, auth=PASS,
        recipients=[Recipient(address, "delivered")],
    )  # fmt: skip
    async with api.app.db.tx() as conn:
        await messages.insert_messages(conn, [replace(message, **fields)])
    return str(message.id)


async def test_a_message_of_the_history(full: Api):
    api, mailbox_id = full, await full.mailbox()
    owner, other = await api.owner(mailbox_id), await api.owner(await api.mailbox(f"bob@{EXAMPLE}"))
    received = {"message_id": await insert_message(api, mailbox_id)}
    for client, path in ((api.dora, DOMAIN), (owner, "/me/filtering/test"), (api.sue, "/filtering/test")):
        assert outcome(await client.post(path, received)) == ["junk", "delivery", ("server", "junk_score")]
    await api.filter_entry(ANN, "allow", mailbox_id=mailbox_id)
    assert outcome(await owner.post("/me/filtering/test", received))[0] == "inbox"
    came_from = {"message_id": await insert_message(api, mailbox_id, client_address="192.0.2.7")}
    await api.filter_entry("192.0.2.0/24", kind="network", domain_id=DOMAIN_IDS[EXAMPLE], enforced=True)
    assert outcome(await owner.post("/me/filtering/test", came_from))[:2] == ["refuse", "rcpt"]
    # Only what the caller may see.
    assert (await other.post("/me/filtering/test", received)).code == "NOT_FOUND"
    assert (await api.otto.post(f"/domains/{DOMAIN_IDS[OTHER]}/filtering/test", received)).code == "FORBIDDEN"
    refused = {"message_id": await insert_message(api, None, status="rejected")}
    assert (await owner.post("/me/filtering/test", refused)).status == 200
    assert (await other.post("/me/filtering/test", refused)).code == "NOT_FOUND"
    before = {"message_id": await insert_message(api, None, status="rejected", created_at=api.clock())}
    await api.sql("UPDATE mailboxes SET address_since = %(at)s", at=api.clock().replace(year=2027))
    assert (await owner.post("/me/filtering/test", before)).code == "NOT_FOUND"
    sent = {
        "message_id": await insert_message(api, None, direction="outbound", status="sent", mail_from=f"a@{EXAMPLE}")
    }
    assert faults(await api.dora.post(DOMAIN, sent)) == ["message_id"]


async def test_what_the_virus_scanner_decided(full: Api):
    mailbox_id = await full.mailbox()
    by_scanner = [{"scope": "server", "rule": rule, "entry_id": None} for rule in ("virus", "encrypted")]
    virus = await insert_message(full, None, status="rejected", spam_decided_by=by_scanner[0], spam_score=0.0)
    found = await full.dora.post(DOMAIN, {"message_id": virus})
    assert outcome(found) == ["refuse", "data", ("server", "virus")]
    assert steps(found)[-1] == "data: Virus scanner - The message contains a virus: it is refused. *"
    encrypted = await insert_message(full, mailbox_id, spam_decided_by=by_scanner[1], spam_score=0.0)
    assert outcome(await full.dora.post(DOMAIN, {"message_id": encrypted})) == [
        "junk",
        "delivery",
        ("server", "encrypted"),
    ]
    await full.filter_entry(ANN, "deny", enforced=True)
    assert outcome(await full.dora.post(DOMAIN, {"message_id": virus})) == ["refuse", "rcpt", ("server", "deny_entry")]


@pytest.mark.parametrize(
    "body, code, fields",
    [
        ({}, "MISSING_FIELDS", ["mail_from"]),
        ({"message_id": "01890000-0000-7000-8000-000000000000"}, "NOT_FOUND", None),
        ({"message_id": "01890000-0000-7000-8000-000000000000", "score": 1}, "INVALID_FIELD", ["score"]),
        ({"from": "nobody"}, "INVALID_FIELD", ["from"]),
        ({"mail_from": "a@b@c"}, "INVALID_FIELD", ["mail_from"]),
        ({"client_address": "localhost"}, "INVALID_FIELD", ["client_address"]),
        ({"score": "high"}, "INVALID_FIELD", ["score"]),
        ({"score": 1, "auth": {"arc": "pass"}}, "INVALID_FIELD", ["auth.arc"]),
    ],
)
async def test_malformed_tests(api: Api, body: dict[str, Any], code: str, fields: list[str] | None):
    refused = await api.dora.post(DOMAIN, body)
    assert refused.code == code
    assert fields is None or faults(refused) == fields
