"""A message that is received: in memory while it is small, then in an unnamed file."""

from pathlib import Path

import pytest

from mailkeep.mail.smtp.spool import Spool


def fill(spool: Spool, parts: list[bytes]) -> None:
    for part in parts:
        spool.write(part)
        if spool.is_full:
            spool.spill()
    if spool.has_file:
        spool.spill()


def test_a_small_message_uses_no_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "absent", 100)
    fill(spool, [b"abc", b"def"])
    message = spool.finish()
    assert message.in_memory
    assert (message.size, list(message.chunks()), list(message.chunks(4))) == (
        6,
        [b"abcdef"],
        [b"abcd", b"ef"],
    )
    assert (message.head(2), message.head(100)) == (b"ab", b"abcdef")


def test_a_large_message_is_in_an_unnamed_file_and_outlives_its_spool(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 100)
    parts = [bytes([number]) * 60 for number in range(10)]
    fill(spool, parts)
    message = spool.finish()
    spool.discard()
    assert not message.in_memory
    assert list(tmp_path.iterdir()) == []
    assert (message.size, b"".join(message.chunks(70))) == (600, b"".join(parts))
    assert message.head(61) == parts[0] + parts[1][:1]
    assert message.head(1000) == b"".join(parts)


def test_a_missing_folder_is_an_os_error(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "absent", 1)
    spool.write(b"abc")
    with pytest.raises(OSError):
        spool.spill()
