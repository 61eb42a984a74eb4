"""Spam is delivered to Junk; the filter learns when users move messages."""

import subprocess
import time

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack.harness import Stack, eventually

# The filter adds points for the missing standard fields. It learns from at least eleven words.
HEADLESS = (
    "From: someone@remote.test\r\nX-Number: {}\r\n\r\n"
    "Golden watches, slimming pills and instant loans: limited offer for clever buyers only. Order tonight, receive "
    "double quantity, pay nothing before Christmas, cancel whenever winning becomes boring.\r\n"
)
MINUTES = (
    "Minutes of our choir: rehearsal moves to Thursday evening, the tenor section lacks two voices, Margaret brings "
    "sheet music of Brahms, and somebody please repair the piano stool before the spring concert."
)


def learned(stack: Stack) -> list[int]:
    """The number of messages learnt as spam and as ham (the filter's own statistics are delayed)."""
    redis = InstancePaths(stack.data_dir, run_folder(stack.data_dir)).redis_socket
    argv = ["redis-cli", "-s", str(redis), "HMGET", "RS", "learns_spam", "learns_ham"]
    output = subprocess.run(argv, capture_output=True, text=True, check=True)
    return [int(line or 0) for line in output.stdout.split("\n")[:2]]


def test_spam_is_in_junk_and_the_filter_learns_from_moves(stack: Stack):
    domain = stack.make_domain("learn.test")
    stack.make_mailbox(domain, "alice")
    with stack.smtp() as client:
        client.sendmail("someone@remote.test", ["alice@learn.test"], HEADLESS.format(time.time_ns()))
    (spam,) = eventually(lambda: stack.mail_of("alice@learn.test", "Junk"))
    assert b"X-Spam: Yes" in spam
    assert stack.mail_of("alice@learn.test") == []
    stack.deliver("alice@learn.test", "Something that I do want", body=MINUTES)
    eventually(lambda: stack.mail_of("alice@learn.test"))
    spam_before, ham_before = learned(stack)
    with stack.imap("alice@learn.test") as client:
        client.select("INBOX")
        client.copy("1", "Junk")
        client.select("Junk")
        client.copy("1", "INBOX")
    assert eventually(lambda: learned(stack) == [spam_before + 1, ham_before + 1], what="what the filter learnt")
