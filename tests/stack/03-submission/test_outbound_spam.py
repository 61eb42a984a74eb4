"""Outbound spam is refused during the session, never accepted and discarded."""

from __future__ import annotations

from mailkeep.features.mailflow.receiving.rules import GTUBE
from tests.stack.harness import Stack, letter


def test_outbound_spam_is_refused_and_never_accepted_and_discarded(stack: Stack) -> None:
    domain = stack.make_domain("outbound-spam.test")
    alice = "alice@outbound-spam.test"
    stack.make_mailbox(domain, "alice")
    with stack.login(alice) as client:
        client.mail(alice)
        client.rcpt("spam+submission@remote.test")
        code, words = client.data(letter("x", body=GTUBE.decode(), sender=alice))
    assert (code, words[:5]) == (554, b"5.7.1")
    answer = stack.send(alice, "spam+api@remote.test", text_body=GTUBE.decode())
    assert (answer.status, answer.body["error"]["code"]) == (500, "SEND_FAILED")
    details = answer.body["error"]["details"]
    assert (details["submitted"], details["smtp_code"], details["enhanced_code"]) == ("no", 554, "5.7.1")
