"""Putting mail back into a live home in which another account has put links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mailkeep.core.landlock import MIN_VERSION, find_version
from mailkeep.mail.mailbox.restored_mail import RestoredHome, add_missing, confine, put_back

if find_version() < MIN_VERSION:
    pytest.skip("the kernel has no Landlock", allow_module_level=True)

SECRET = "the master secret\n"
INTO = "Restored 2026-11-26"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text(SECRET)
    return folder


@pytest.fixture
def restored(tmp_path: Path) -> RestoredHome:
    copy, root = tmp_path / "scratch" / "copy", tmp_path / "mail"
    home = root / "home"
    for maildir in (copy / "Maildir", home / "Maildir"):
        for part in ("cur", "new", "tmp"):
            (maildir / part).mkdir(parents=True)
    (copy / "Maildir" / "cur" / "1.x:2,Sa").write_text("Subject: one\n\n")
    (copy / "Maildir" / "dovecot-keywords").write_text("0 important\n")
    (copy / "sieve").mkdir()
    (copy / "sieve" / "main.sieve").write_text("keep;")
    (copy / "sieve.active").write_text("sieve/main.sieve")
    return RestoredHome(copy, home, (os.getuid(), os.getgid()), lambda: None)


@pytest.mark.parametrize(
    "name, target, into",
    [
        (f"Maildir/.{INTO}", "", INTO),
        ("Maildir/cur", "", ""),
        ("Maildir/dovecot-keywords", "secret", ""),
        ("Maildir/subscriptions", "secret", INTO),
        ("Maildir", "", INTO),
    ],
)
def test_links_in_a_live_home_lead_nowhere(name: str, target: str, into: str, restored: RestoredHome, outside: Path):
    link = restored.home / name
    if link.is_dir():
        link.rename(link.with_name("aside"))
    link.symlink_to(outside / target)
    with pytest.raises(PermissionError):
        confine(restored, lambda: add_missing(restored, into, dry_run=False))
    assert [each.name for each in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == SECRET
    own = [each for each in restored.home.rglob("*") if each.is_file() and not each.is_symlink()]
    assert not [each for each in own if SECRET in each.read_text()]


def test_mail_is_put_back_in_confinement(restored: RestoredHome):
    live = restored.home.rename(restored.home.with_name("other"))
    counts = confine(restored, lambda: put_back(restored, dry_run=False))
    assert (counts.messages, (restored.home / "sieve.active").readlink()) == (1, Path("sieve/main.sieve"))
    again = RestoredHome(restored.home, live, restored.account, restored.check)
    assert confine(again, lambda: add_missing(again, "", dry_run=False)).messages == 1
    with (live.parent.parent / "written").open("w") as file:  # only that thread is confined
        file.write("x")
