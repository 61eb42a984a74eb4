"""Counting mailboxes: the output of doveadm, and when a folder last changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.mail.dovecot.count import CountedMailbox, count_mailboxes, find_last_change, parse_counts


def test_output_of_doveadm() -> None:
    output = b"Username\tmessages\tvsize\nalice@example.test\t3\t2238\nbob@example.test\t0\t0\n"
    assert parse_counts(output) == {
        "alice@example.test": CountedMailbox(3, 2238),
        "bob@example.test": CountedMailbox(0, 0),
    }
    assert parse_counts(b"Username\tmessages\tvsize\n") == {}


@pytest.mark.parametrize(
    "output",
    [
        b"",
        b"Usage: doveadm",
        b"Username\tmailbox\tmessages\nalice\tINBOX\t3\n",
        b"Username\tmessages\tvsize\nalice\t3\n",
        b"Username\tmessages\tvsize\nalice\t3\tmany\n",
        b"Username\tmessages\tvsize\nalice\t-3\t1\n",
    ],
)
def test_unexpected_output_is_a_failure(output: bytes) -> None:
    with pytest.raises(Failure):
        parse_counts(output)


async def test_mailboxes_that_cannot_be_counted_are_omitted() -> None:
    """With or without doveadm: this configuration does not exist."""
    assert await count_mailboxes(Path("/nowhere/dovecot.conf"), ["alice@example.test", "bob@example.test"]) == {}


def test_a_folder_has_changed_when_any_of_its_directories_has(tmp_path: Path) -> None:
    box = tmp_path / "box"
    assert find_last_change(box) is None
    for folder in (box, box / ".Junk", box / ".Deep.er"):
        for part in ("cur", "new", "tmp"):
            (folder / part).mkdir(parents=True)
    for path in (*box.rglob("*"), box):
        os.utime(path, (1000, 1000))
    assert find_last_change(box) == 1000
    for late, part in enumerate((box / "new", box / "cur", box / ".Junk" / "cur", box / ".Deep.er" / "new", box), 2000):
        os.utime(part, (late, late))
        assert find_last_change(box) == late
    os.utime(box / "tmp", (9000, 9000))
    (box / ".Gone").write_text("no folder")
    os.utime(box, (2004, 2004))
    assert find_last_change(box) == 2004
