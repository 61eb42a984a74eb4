"""Dovecot's sendmail program and the spool: complete messages only, limits, reading."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from mailkeep.mail.daemons.render import TEMPLATES
from mailkeep.mail.dovecot import sieve_spool
from mailkeep.mail.dovecot.sieve_spool import SpooledMessage, UnreadableSpoolFile
from tests.support.client import START

ARGUMENTS = ("the-id", "-i", "-f", "alice@ex.test", "--", "friend@far.test")
CONTENT = b"Subject: x\nFrom: a@b.test\n\nOne\r\nTwo\n.\nend"


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    for name in sieve_spool.FOLDERS:
        (tmp_path / "spool" / name).mkdir(parents=True)
    os.mkfifo(sieve_spool.wakeup_fifo(tmp_path / "spool"))
    return tmp_path / "spool"


def sendmail(spool: Path, arguments: Sequence[str] = ARGUMENTS, content: bytes = CONTENT, most: int = 10) -> int:
    """The program's exit code."""
    text = (TEMPLATES / "dovecot/bin/sendmail").read_text()
    values = {"sieve_spool": str(spool), "sieve_spool_messages": str(most), "sieve_spool_bytes": "1000"}
    for name, value in values.items():
        text = text.replace(f"@@{name}@@", value)
    program = spool.parent / "sendmail"
    program.write_text(text)
    command = [sys.executable, "-IS", str(program), *arguments]
    return subprocess.run(command, input=content, timeout=60, check=False, capture_output=True).returncode


def only(spool: Path) -> SpooledMessage:
    (path,) = sieve_spool.list_messages(spool)
    return sieve_spool.read(path)


def test_a_message_is_stored_in_the_spool(spool: Path) -> None:
    fifo = os.open(sieve_spool.wakeup_fifo(spool), os.O_RDONLY | os.O_NONBLOCK)
    assert sendmail(spool) == 0
    assert os.read(fifo, 10) == b"\n"
    os.close(fifo)
    found = only(spool)
    assert (found.mailbox_id, found.sender, found.recipients, found.eight_bit) == (
        "the-id", "alice@ex.test", ("friend@far.test",), False,
    )  # fmt: skip
    assert b"".join(found.content()) == b"Subject: x\r\nFrom: a@b.test\r\n\r\nOne\r\nTwo\r\n.\r\nend"
    assert list((spool / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    "sender, field, unauthenticated, expected",
    [
        ("<>", "Auto-Submitted: auto-replied (vacation)", True, True),
        ("<>", "AUTO-SUBMITTED:  Auto-Replied", True, True),
        ("<>", "Auto-Submitted: auto-replied (rejected)", False, False),
        ("<>", "Auto-Submitted: auto-notified", True, False),
        ("<>", "Subject: none", True, False),
        ("alice@ex.test", "Auto-Submitted: auto-replied", True, False),
    ],
)
def test_a_reply_to_an_unauthenticated_sender_is_backscatter(
    spool: Path, sender: str, field: str, unauthenticated: bool, expected: bool
) -> None:
    arguments = ("the-id", "-i", "-f", sender, "--", "someone@far.test")
    assert sendmail(spool, arguments, f"{field}\nFrom: a@b.test\n\nText\n".encode()) == 0
    # Not started by Dovecot's service for authenticated senders.
    assert only(spool).sender_unauthenticated
    if not unauthenticated:
        path = only(spool).path
        path.write_bytes(path.read_bytes().replace(b"unauthenticated yes\n", b"", 1))
    assert sieve_spool.is_backscatter(only(spool)) == expected


def test_the_null_sender_many_recipients_and_other_scripts(spool: Path) -> None:
    arguments = ("the-id", "-i", "-f", "<>", "--", "a@far.test", "ż@far.test")
    assert sendmail(spool, arguments, "Subject: ż\n\n\r".encode()) == 0
    found = only(spool)
    assert (found.sender, found.recipients, found.eight_bit) == ("", ("a@far.test", "ż@far.test"), True)
    assert b"".join(found.content()).endswith(b"\r\n\r\n ")


@pytest.mark.parametrize("size", [65536, 131072, 131073, 400_000])
def test_line_ends_across_chunks(spool: Path, size: int) -> None:
    content = (b"x" * 62 + b"\r\n") * (size // 64 + 1)
    assert sendmail(spool, content=content) == 0
    assert b"".join(only(spool).content()) == content


@pytest.mark.parametrize(
    "arguments",
    [(), ("-i", "-f", "a@b", "--", "c@d"), ("id", "-i", "-f", "a@b"), ("id", "-f", "a@b\nrecipient x@y", "--", "c@d")],
)
def test_other_arguments_are_rejected(spool: Path, arguments: Sequence[str]) -> None:
    assert sendmail(spool, arguments) == 64
    assert sieve_spool.list_messages(spool) == []


def test_a_full_spool_and_a_failing_disk_defer_the_delivery(spool: Path) -> None:
    others = [(f"id-{number}", *ARGUMENTS[1:]) for number in range(3)]
    assert [sendmail(spool, each, b"x", most=2) for each in others] == [0, 0, 75]
    for path in sieve_spool.list_messages(spool):
        path.unlink()
    assert [sendmail(spool, content=b"x" * 1000), sendmail(spool, others[0])] == [0, 75]
    assert len(sieve_spool.list_messages(spool)) == 1
    (spool / "tmp").rmdir()
    sieve_spool.list_messages(spool)[0].unlink()
    assert sendmail(spool) == 75
    assert sieve_spool.list_messages(spool) == []


def test_a_mailbox_gets_a_tenth_of_the_spool(spool: Path) -> None:
    """The messages of one mailbox, such as redirects beyond the hourly limit, could fill it for all."""
    other = ("other-id", *ARGUMENTS[1:])
    assert [sendmail(spool, content=b"x", most=20) for _ in range(3)] == [0, 0, 75]
    assert sendmail(spool, other, b"x" * 100, most=20) == 0
    assert sendmail(spool, other, b"x", most=20) == 75  # 100 of 1000 bytes
    assert {sieve_spool.read(path).mailbox_id for path in sieve_spool.list_messages(spool)} == {"the-id", "other-id"}


def test_our_own_spool_files_are_readable_and_stale_ones_removed(spool: Path) -> None:
    sieve_spool.write(spool, START, "the-id", "", ["alice@ex.test"], b"Subject: x\n\nHello\n")
    assert only(spool).recipients == ("alice@ex.test",)
    assert b"".join(only(spool).content()) == b"Subject: x\r\n\r\nHello\r\n"
    (spool / "tmp" / "1.2").write_bytes(b"half")
    sieve_spool.remove_stale(spool, 0.0)
    assert len(list((spool / "tmp").iterdir())) == 1
    sieve_spool.remove_stale(spool, 1e12)
    assert list((spool / "tmp").iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"sender a\nrecipient b\n\n", b"mailbox 1\nsender a\n\nx", b"Subject: x\n\n"])
def test_an_invalid_file_is_moved_to_unreadable(spool: Path, content: bytes) -> None:
    path = spool / "new" / "1.2"
    path.write_bytes(content)
    with pytest.raises(UnreadableSpoolFile):
        sieve_spool.read(path)
    sieve_spool.move_unreadable(spool, path)
    assert (spool / "unreadable" / "1.2").read_bytes() == content
