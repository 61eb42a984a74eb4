"""The files of an embedded instance get the owners of the full profile."""

import os
import pwd
from pathlib import Path

import pytest

from mailkeep.run.runtime.folders import change_owner_of_tree

pytestmark = pytest.mark.root


def test_hard_links_of_mail_and_content_become_two_files(tmp_path: Path):
    one, other = pwd.getpwnam("nobody"), pwd.getpwnam("daemon")
    mail, content = tmp_path / "mail/1/new", tmp_path / "content/2026-11-21"
    mail.mkdir(parents=True)
    content.mkdir(parents=True)
    (mail / "m").write_text("Hello.")
    os.link(mail / "m", content / "m.eml")
    (content / "link").symlink_to("/etc/passwd")
    change_owner_of_tree(tmp_path / "mail", one)
    change_owner_of_tree(tmp_path / "content", other)
    for path, owner in ((mail / "m", one), (content / "m.eml", other), (content, other), (mail.parent, one)):
        assert path.stat().st_uid == owner.pw_uid
    assert (mail / "m").read_text() == (content / "m.eml").read_text() == "Hello."
    assert Path("/etc/passwd").stat().st_uid == 0


def test_files_of_a_later_embedded_start_get_their_owner(tmp_path: Path):
    account = pwd.getpwnam("nobody")
    change_owner_of_tree(tmp_path, account)
    (tmp_path / "2026-11-22").mkdir()
    (tmp_path / "2026-11-22" / "m.eml").write_text("Hello.")
    change_owner_of_tree(tmp_path, account)
    assert (tmp_path / "2026-11-22" / "m.eml").stat().st_uid == account.pw_uid
