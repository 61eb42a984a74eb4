"""Delivery into a Maildir: atomic, private, and once for each delivery ID."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailkeep.mail.mailbox.maildir import deliver, remove_stale


def files(maildir: Path) -> list[str]:
    return sorted(f"{path.parent.name}/{path.name}" for path in maildir.glob("*/*"))


def test_a_message_is_complete_and_private_in_new(tmp_path: Path) -> None:
    maildir = tmp_path / "mail" / "box"
    delivery = deliver(maildir, iter([b"Subject: x\r\n", b"", b"\r\nbody\r\n"]), delivery_id="d1", host="mx.test")
    assert files(maildir) == ["new/d1.mx.test,S=20"]
    assert delivery.is_new
    assert delivery.path.read_bytes() == b"Subject: x\r\n\r\nbody\r\n"
    assert delivery.size == 20
    assert stat.S_IMODE(delivery.path.stat().st_mode) == 0o600
    for folder in (maildir.parent, maildir, maildir / "new", maildir / "cur", maildir / "tmp"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_repeated_delivery_makes_no_second_copy(tmp_path: Path) -> None:
    first = deliver(tmp_path, [b"one"], delivery_id="d1", first_try=True)
    again = deliver(tmp_path, [b"one"], delivery_id="d1")
    assert (again.path, again.size, again.is_new) == (first.path, 3, False)
    assert files(tmp_path) == ["new/d1.localhost,S=3"]


def test_nor_if_a_client_has_read_the_first_copy(tmp_path: Path) -> None:
    first = deliver(tmp_path, [b"one"], delivery_id="d1")
    seen = tmp_path / "cur" / f"{first.path.name}:2,RS"
    first.path.rename(seen)
    assert deliver(tmp_path, [b"one"], delivery_id="d1").path == seen
    assert files(tmp_path) == ["cur/d1.localhost,S=3:2,RS"]


def test_an_id_with_the_same_prefix_is_another_delivery(tmp_path: Path) -> None:
    deliver(tmp_path, [b"one"], delivery_id="d1")
    assert deliver(tmp_path, [b"two"], delivery_id="d").is_new
    assert len(files(tmp_path)) == 2


def test_an_interrupted_delivery_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        deliver(tmp_path, broken(), delivery_id="d1")
    assert files(tmp_path) == []


def test_old_files_of_a_crash_are_removed(tmp_path: Path) -> None:
    deliver(tmp_path, [b"one"], delivery_id="d1")
    for name, at in (("old", 1000), ("young", 2000)):
        left = tmp_path / "tmp" / name
        left.write_bytes(b"half")
        os.utime(left, (at, at))
    assert remove_stale(tmp_path, 1500) == 1
    assert files(tmp_path) == ["new/d1.localhost,S=3", "tmp/young"]
    assert remove_stale(tmp_path / "absent", 1500) == 0


def test_a_long_host_name_is_cut(tmp_path: Path) -> None:
    deliver(tmp_path, [b"one"], delivery_id="d1", host="mx." + "a" * 100 + ".test")
    assert files(tmp_path) == [f"new/d1.mx.{'a' * 61},S=3"]


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a.b", ".a", "a:2,S", "a\n", "x" * 129])
def test_ids_that_are_invalid_in_a_file_name_are_rejected(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError):
        deliver(tmp_path, [b"one"], delivery_id=name)
    assert list(tmp_path.iterdir()) == []
