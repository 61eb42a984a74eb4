from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.db import instance


def test_a_second_process_is_refused_with_the_pid_of_the_first(open_dir, fork):
    def hold(say):
        instance.acquire_lock(open_dir)
        say("held")
        signal.pause()

    child = fork(hold)
    assert child.read_line() == "held"
    assert instance.lock_holder(open_dir) == child.pid
    with pytest.raises(Failure, match=rf"already runs on .* \(process {child.pid}\)") as refused:
        instance.acquire_lock(open_dir)
    assert refused.value.permanent


def test_the_kernel_frees_the_lock_of_a_killed_process(open_dir, fork):
    child = fork(lambda say: (instance.acquire_lock(open_dir), say("held"), signal.pause()))
    assert child.read_line() == "held"
    child.kill()
    assert instance.lock_holder(open_dir) is None
    instance.acquire_lock(open_dir).release()


def test_nobody_holds_a_directory_that_was_never_locked(open_dir):
    assert instance.lock_holder(open_dir) is None


def test_a_lock_file_that_is_a_link_is_not_followed(open_dir):
    (open_dir / "lock").symlink_to(open_dir / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        instance.acquire_lock(open_dir)
    assert not (open_dir / "elsewhere").exists()


def test_the_id_stays_and_differs_between_directories(open_dir, closed_dir):
    first = instance.instance_id(open_dir)
    assert instance.instance_id(open_dir) == first
    assert instance.instance_id(closed_dir) != first


@pytest.mark.parametrize("text", ["", "../../etc", "abcdef01234", "ABCDEF012345", "abcdef0123456", "ａbcdef012345"])
def test_an_id_that_is_not_12_hex_digits_is_refused(open_dir, text):
    (open_dir / "instance-id").write_text(text, "utf-8")
    with pytest.raises((Failure, UnicodeDecodeError)):
        instance.instance_id(open_dir)


def test_the_run_folder_is_short_and_not_writable_for_others(open_dir):
    run = instance.run_folder(open_dir)
    assert len(str(run / "pg" / ".s.PGSQL.5432.lock")) <= 107
    assert run.stat().st_mode & 0o022 == 0
    assert run.stat().st_uid == os.geteuid()
    run.rmdir()


def test_a_folder_that_is_a_link_or_a_file_is_refused(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").touch()
    for name in ("link", "file"):
        with pytest.raises(Failure, match="not a folder of this account"):
            instance.ensure_own_folder(tmp_path / name, 0o700)


def test_a_folder_of_another_account_is_refused(open_dir, fork):
    theirs = Path("/usr")  # root's, for whoever else runs this
    if os.geteuid() == 0:
        theirs = open_dir / "theirs"
        open_dir.chmod(0o777)
        child = fork(lambda say: (theirs.mkdir(), say("made")), account="nobody")
        assert child.read_line() == "made"
    with pytest.raises(Failure, match="not a folder of this account"):
        instance.ensure_own_folder(theirs, 0o700)


def test_an_own_folder_that_is_too_open_is_closed(tmp_path: Path):
    (tmp_path / "wide").mkdir()
    (tmp_path / "wide").chmod(0o777)
    instance.ensure_own_folder(tmp_path / "wide", 0o700)
    assert stat.S_IMODE((tmp_path / "wide").stat().st_mode) == 0o700


def test_a_file_is_replaced_whole_and_a_link_in_its_place_is_not_followed(tmp_path: Path):
    (tmp_path / "target").write_text("untouched")
    (tmp_path / "conf").symlink_to(tmp_path / "target")
    instance.write_atomically(tmp_path / "conf", "new", 0o600)
    assert (tmp_path / "target").read_text() == "untouched"
    assert (tmp_path / "conf").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "conf").lstat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conf", "target"]
