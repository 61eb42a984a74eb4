"""Moving mail from a mailbox's home into a Maildir, also after an interruption. The home's own files stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailkeep.core import failpoint
from mailkeep.mail.mailbox.homes import separate_homes

MAIL = ("cur/1:2,S", "new/2", ".Junk/cur/3:2,", ".sieve/cur/4:2,", ".dovecot/new/5", "subscriptions", "dovecot-uidlist")
HOME = ("sieve/a.sieve", "sieve.active.log", ".dovecot.lda-dupes", ".dovecot.lda-dupes.locks/lock")


def make_old_mailbox(root: Path) -> Path:
    home = root / "01a208b3-a88a-7029-a8fe-0d96fa48dfbb"
    for name in (*MAIL, *HOME):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (home / "sieve.active").symlink_to("sieve/a.sieve")
    return home


def contents(home: Path) -> dict[str, str]:
    files = [path for path in home.rglob("*") if path.is_file()]
    return {str(path.relative_to(home)): path.read_text() for path in files}


MOVED = {f"Maildir/{name}": name for name in MAIL}
EXPECTED = MOVED | {name: name for name in HOME} | {"sieve.active": "sieve/a.sieve"}


def test_mail_moves_into_a_maildir_and_other_files_stay(tmp_path: Path) -> None:
    home = make_old_mailbox(tmp_path)
    assert separate_homes(tmp_path) == 1
    assert contents(home) == EXPECTED
    assert separate_homes(tmp_path) == 0
    assert [path.name for path in tmp_path.iterdir()] == [home.name]


@pytest.mark.parametrize("where", ["homes.renamed", "homes.created", "homes.part_moved"])
def test_an_interrupted_move_is_finished_by_the_next_start(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_old_mailbox(tmp_path)

    class Killed(BaseException):
        pass

    def reach(name: str) -> None:
        if name == where:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(failpoint, "reach", reach)
        with pytest.raises(Killed):
            separate_homes(tmp_path)
    assert separate_homes(tmp_path) == 1
    assert contents(home) == EXPECTED


def test_a_home_without_mail_and_no_mailboxes_at_all(tmp_path: Path) -> None:
    assert separate_homes(tmp_path / "absent") == 0
    (tmp_path / "one" / "sieve").mkdir(parents=True)
    assert separate_homes(tmp_path) == 0


def test_a_restored_home_gets_the_link_to_its_script_again(tmp_path: Path):
    for name, text in (("good", "sieve/main.sieve"), ("missing", "sieve/other.sieve"), ("outside", "../good/x.sieve")):
        home = tmp_path / name
        (home / "Maildir").mkdir(parents=True)
        (home / "sieve").mkdir()
        (home / "sieve" / "main.sieve").write_text("keep;")
        (home / "sieve.active").write_text(text)
    (tmp_path / "good" / "x.sieve").write_text("discard;")
    assert separate_homes(tmp_path) == 0
    assert not (tmp_path / "good" / "sieve.active").is_symlink(), "other starts do not look"
    for _ in range(2):
        assert separate_homes(tmp_path, is_restored=True) == 0
        assert str((tmp_path / "good" / "sieve.active").readlink()) == "sieve/main.sieve"
        assert not (tmp_path / "missing" / "sieve.active").exists()
        assert not (tmp_path / "outside" / "sieve.active").is_symlink()
