"""Generations of the daemons' configuration, checked by the daemons' own tools."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog.testing

from mailkeep.core.errors import Failure
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import configuration, generations
from tests.support.configuration import create_folders, install

pytestmark = pytest.mark.root


@pytest.fixture
def paths() -> Iterator[InstancePaths]:
    with create_folders() as paths:
        yield paths


DNS = '["192.0.2.55:53"]'
"""A value of a setting that changes a file of the filter."""


def current(paths: InstancePaths) -> generations.GenerationManifest:
    manifest = generations.find_current(paths)
    assert manifest
    return manifest


def test_a_start_with_the_same_settings_keeps_the_generation(paths: InstancePaths) -> None:
    install(paths)
    first = current(paths)
    assert generations.find_drift(paths, first) == []
    install(paths)
    assert current(paths) == first
    install(paths, FILTER__DNS_SERVERS=DNS)
    assert current(paths).n == first.n + 1
    assert generations.list_generations(paths) == [1, 2]
    options = paths.rspamd_conf / "local.d" / "options.inc"
    assert "192.0.2.55:53" in options.read_text()
    assert options.resolve().is_relative_to(paths.generations / "000002")


def test_a_damaged_or_removed_manifest_does_not_hide_the_others(paths: InstancePaths) -> None:
    for number in (1, 2, 3):
        install(paths, FILTER__DNS_SERVERS=f'["192.0.2.{number}:53"]')
    (paths.generations / "000001" / "manifest.json").write_text("{")
    (paths.generations / "000002" / "manifest.json").unlink()
    assert [each.n for each in generations.list_manifests(paths)] == [3]


def test_an_edit_by_hand_is_kept(paths: InstancePaths) -> None:
    install(paths)
    main = paths.postfix_conf / "main.cf"
    edited = main.read_text() + "smtpd_banner = edited\n"
    main.write_text(edited)
    (paths.rspamd_conf / "local.d" / "own.conf").write_text("# own\n")
    (paths.postfix_conf / "spam_headers").write_bytes(b"\xff")  # not text: can't be carried over
    changes = [(each.service, each.path, each.kind) for each in generations.find_drift(paths, current(paths))]
    assert changes == [
        ("rspamd", "local.d/own.conf", "added"),
        ("postfix", "main.cf", "changed"),
        ("postfix", "spam_headers", "changed"),
    ]
    install(paths)
    assert (current(paths).n, main.read_text()) == (1, edited)
    install(paths, FILTER__DNS_SERVERS=DNS)  # another file changes
    assert (current(paths).n, main.read_text()) == (2, edited)
    changes = [(each.service, each.path, each.kind) for each in generations.find_drift(paths, current(paths))]
    assert changes == [("rspamd", "local.d/own.conf", "added"), ("postfix", "main.cf", "changed")]


def test_symbolic_links_are_shown_and_not_followed(paths: InstancePaths) -> None:
    install(paths)
    secret = paths.data / "secret"
    outside = paths.data / "outside"
    outside.mkdir()
    for file in (secret, outside / "actions.conf"):
        file.write_text("master secret\n")
    (paths.postfix_conf / "main.cf").unlink()
    (paths.postfix_conf / "main.cf").symlink_to(secret)
    (paths.rspamd_conf / "local.d").rename(paths.rspamd_conf / "old.d")
    (paths.rspamd_conf / "local.d").symlink_to(outside)
    drift = generations.find_drift(paths, current(paths))
    found = {(each.service, each.path): each.kind for each in drift}
    assert found["postfix", "main.cf"] == "changed"
    assert (found["rspamd", "local.d"], found["rspamd", "local.d/actions.conf"]) == ("added", "deleted")
    assert generations.show_file(paths, "postfix", "main.cf") == f"symbolic link to {secret}\n"
    assert generations.show_file(paths, "rspamd", "local.d") == f"symbolic link to {outside}\n"
    assert generations.show_file(paths, "rspamd", "local.d/actions.conf") == ""
    assert "master secret" not in repr(generations.read_files(paths, drift))
    install(paths, FILTER__DNS_SERVERS=DNS)
    assert current(paths).n == 2
    for name in (paths.postfix_conf / "main.cf", paths.rspamd_conf / "local.d" / "actions.conf"):
        assert not name.is_symlink()
        assert "master secret" not in name.read_text()
    # The whole folder of a service.
    paths.postfix_conf.resolve().rename(paths.data / "moved")
    (paths.generations / "000002" / "postfix").symlink_to(outside)
    drift = generations.find_drift(paths, current(paths))
    assert {each.kind for each in drift if each.service == "postfix"} == {"deleted"}
    assert generations.show_file(paths, "postfix", "actions.conf") == ""


@pytest.mark.parametrize("name", ["main.cf", "master.cf"])
def test_an_edit_that_the_check_rejects_is_not_used(paths: InstancePaths, name: str) -> None:
    install(paths)
    file = paths.postfix_conf / name
    rendered = file.read_text()
    file.write_text("smtp inet n\n" if name == "master.cf" else f"{rendered}virtual_mailbox_domains\n")
    install(paths)
    assert (current(paths).n, file.read_text()) == (2, rendered)
    assert (paths.generations / "000001" / "postfix" / name).read_text() != rendered  # nothing is lost


def test_only_the_daemon_whose_check_fails_loses_its_edits(paths: InstancePaths) -> None:
    install(paths)
    for n in (2, 3):  # generations that are not in use, as after an apply that was rolled back
        shutil.copytree(paths.generations / "000001", paths.generations / f"{n:06}")
    main, dovecot = paths.postfix_conf / "main.cf", paths.dovecot_conf / "dovecot.conf"
    accepted, rejected = main.read_text() + "smtpd_banner = edited\n", dovecot.read_text() + "no_such_setting = 1\n"
    main.write_text(accepted)
    dovecot.write_text(rejected)
    with structlog.testing.capture_logs() as logged:
        install(paths, FILTER__DNS_SERVERS=DNS)
    assert (current(paths).n, main.read_text()) == (4, accepted)
    assert "no_such_setting" not in dovecot.read_text()
    drift = generations.find_drift(paths, current(paths))
    assert [(each.service, each.path) for each in drift] == [("postfix", "main.cf")]
    (entry,) = [each for each in logged if each["event"].startswith("edits by hand")]
    assert entry["files"] == ["dovecot/dovecot.conf"]
    assert "no_such_setting" in entry["output"]
    assert (Path(entry["kept_in"]) / "dovecot.conf").read_text() == rejected


def test_a_deleted_file_is_restored(paths: InstancePaths) -> None:
    install(paths)
    (paths.postfix_conf / "master.cf").unlink()
    install(paths)
    assert (paths.postfix_conf / "master.cf").exists()


def test_a_failed_check_changes_nothing(paths: InstancePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    install(paths)
    monkeypatch.setattr(
        configuration.render, "render_dovecot", lambda settings, config: {"dovecot.conf": "no_such_setting = 1\n"}
    )
    with pytest.raises(Failure, match="generated dovecot configuration failed"):
        install(paths)
    assert current(paths).n == 1
    assert generations.list_generations(paths) == [1]


def test_old_generations_are_removed(paths: InstancePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "KEPT", 2)
    for number in (1, 2, 3):
        install(paths, FILTER__DNS_SERVERS=f'["192.0.2.{number}:53"]')
    assert generations.list_generations(paths) == [2, 3]
    assert not list(paths.generations.glob("*.new"))


def test_a_folder_without_generations_is_replaced(paths: InstancePaths) -> None:
    Path(paths.postfix_conf).mkdir(parents=True)
    (paths.postfix_conf / "main.cf").write_text("old\n")
    install(paths)
    assert paths.postfix_conf.is_symlink()
