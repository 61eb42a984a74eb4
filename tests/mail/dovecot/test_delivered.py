"""`bin/delivered`, which searches for the first copy of a repeated delivery, also while files move."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from mailkeep.mail.daemons.render import TEMPLATES

PROGRAM = TEMPLATES / "dovecot/bin/delivered"
ID = "4kAgain00001"


def delivered(maildir: Path, delivery: str = ID, since: int | str = 1_000) -> int:
    """The program's exit code: 0: found, 1: not found, 2: invalid ID."""
    command = ["sh", str(PROGRAM), delivery, str(since)]
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "Maildir").symlink_to(maildir)
        environ = {"HOME": home, "PATH": os.environ["PATH"]}
        return subprocess.run(command, env=environ, timeout=60, check=False).returncode


def mail(folder: Path, name: str, content: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(content, newline="")
    return path


def letter(delivery: str = ID, ends: str = "\n") -> str:
    lines = ("Return-Path: <a@b>", "Received: from x", "\tby y", f"X-Mailkeep-Delivery: {delivery}", "Subject: z")
    return ends.join((*lines, "", f"X-Mailkeep-Delivery: {'in the body'}", ""))


@pytest.mark.parametrize("folder", ["new", "cur", ".Junk/cur", ".A b.C/new"])
@pytest.mark.parametrize("written", [ID, f"{ID} since 1795366232"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_copy_is_found_in_any_folder(tmp_path: Path, folder: str, written: str, ends: str) -> None:
    mail(tmp_path / "cur", "1.other:2,S", letter("4kAgain00002"))
    assert delivered(tmp_path) == 1
    mail(tmp_path / folder, "2.this:2,", letter(written, ends))
    assert delivered(tmp_path) == 0


def test_other_messages_are_not_copies(tmp_path: Path) -> None:
    tmp_path = tmp_path / "new" / "cur"  # these names in the path above the mailbox don't matter
    mail(tmp_path / "tmp", "1.half", letter())
    mail(tmp_path / "new", "2.body", f"Subject: a\n\nX-Mailkeep-Delivery: {ID}\n")
    mail(tmp_path / "new", "3.folded", f"Subject: a\n X-Mailkeep-Delivery: {ID}\n\n")
    mail(tmp_path / "new", "4.longer", letter(ID + "1"))
    mail(tmp_path / "new", "5.another-field", f"X-X-Mailkeep-Delivery: {ID}\n\n")
    mail(tmp_path / "new", "6.empty", "")
    assert delivered(tmp_path) == 1
    old = mail(tmp_path / "new", "7.old", letter())
    os.utime(old, (500, 500))
    assert delivered(tmp_path) == 1
    assert delivered(tmp_path, since=400) == 0


@pytest.mark.parametrize(
    "delivery, since", [("", "1"), ("a b", "1"), ("$(id)", "1"), (ID, ""), (ID, "-1;id"), (ID, "x")]
)
def test_an_invalid_id_is_not_searched(tmp_path: Path, delivery: str, since: str) -> None:
    mail(tmp_path / "new", "1.this", letter())
    assert delivered(tmp_path, delivery, since) == 2


def test_a_missing_mailbox_has_no_copy(tmp_path: Path) -> None:
    assert delivered(tmp_path / "nowhere") == 1


def test_a_copy_is_found_while_mail_moves_from_new_to_cur(tmp_path: Path) -> None:
    """Move it like Dovecot when a session opens the folder or counts it."""
    (tmp_path / "cur").mkdir()
    for round_ in range(5):
        for number in range(300):
            mail(tmp_path / "new", f"{round_}.{number}", letter(f"4kOther{number:05}"))
        mail(tmp_path / "new", f"{round_}.this", letter(f"4kRound0000{round_}"))

        def move(turn: int = round_) -> None:
            for path in sorted((tmp_path / "new").glob(f"{turn}.*")):
                path.rename(tmp_path / "cur" / f"{path.name}:2,")
                time.sleep(0.0003)

        mover = threading.Thread(target=move)
        mover.start()
        while mover.is_alive():
            assert delivered(tmp_path, f"4kRound0000{round_}") == 0
        mover.join()
