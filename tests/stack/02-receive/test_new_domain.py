"""A domain that was looked up before its creation; changes of domains do not affect mail in transit."""

from __future__ import annotations

import re

from tests.stack.harness import Stack, eventually

REFUSED, TAKEN = 554, 250


def test_a_domain_looked_up_before_its_creation_soon_accepts_mail(stack: Stack):
    def asked() -> int:
        """In a new session, by any process."""
        with stack.smtp() as client:
            client.mail("someone@remote.test")
            return client.rcpt("alice@soon.test")[0]

    log = stack.data_dir / "log" / "mail.log"
    before = log.stat().st_size
    assert [asked() for _ in range(3)] == [REFUSED] * 3
    domain = stack.make_domain("soon.test")
    alice = stack.make_mailbox(domain, "alice")
    eventually(lambda: [asked() for _ in range(3)] == [TAKEN] * 3, 40, "the domain")
    stack.do("DELETE", f"/mailboxes/{alice['id']}")
    stack.do("DELETE", f"/domains/{domain}")
    eventually(lambda: [asked() for _ in range(3)] == [REFUSED] * 3, 40, "the end of the domain")

    def log_text() -> str:
        with log.open() as lines:
            lines.seek(before)
            return lines.read()

    eventually(
        lambda: re.search(r"generation\(.*\) has changed -- restarting", log_text()), what="the restart in the log"
    )
    assert "reload -- version" not in log_text()
