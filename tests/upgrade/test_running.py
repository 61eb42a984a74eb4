"""A running instance (embedded profile) is upgraded under a stream of mail: to a version that is not healthy, with a
kill after the new one has started, then for good.

`make prove-upgrade` does the same with the full profile, the packages of the index, and a failure at each step.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator

import psycopg
import pytest

from mailkeep import __version__
from mailkeep.db.postgres import running_urls
from mailkeep.settings import parse_endpoint
from tests.support.scratch import new_directory
from tests.upgrade import installation, site
from tests.upgrade.installation import MIGRATION, NEW, sha256
from tests.upgrade.site import Site


@pytest.fixture
def running() -> Iterator[Site]:
    folder = new_directory("mailkeep-upgrade-", 0o755, programs=True)
    one = site.embedded(folder)
    installation.install(one.prefix)
    try:
        one.start()
        yield one
    finally:
        if one.process:
            one.process.terminate()
            one.process.wait(60)
        shutil.rmtree(folder)


def expect_outcomes(running: Site, http: str) -> None:
    """Each attempt is in the audit log, with its outcome."""
    entries = running.call(http, "/audit?limit=100")
    found = [(each["action"].removeprefix("server.upgrade"), each["details"]) for each in reversed(entries)
             if each["action"].startswith("server.upgrade")]  # fmt: skip
    reasons = [details["reason"] for name, details in found if name == "_rolled_back"]
    assert [name for name, _ in found] == ["", "_rolled_back"] * 2 + ["", "_done"], found
    for words, reason in zip(("is not healthy", "ended with"), reasons, strict=True):
        assert words in reason, reasons
    assert {details["to"] for _, details in found} == {NEW}


def restore_from_before(running: Site, backup_id: str) -> None:
    """A mailbox from a backup of the old version, whose schema is older."""
    urls = running_urls(running.data)
    assert urls
    with psycopg.connect(urls.app, autocommit=True) as conn:
        conn.execute(
            "INSERT INTO backup_operations (id, kind, state, backup_id, argument, author, created_at)"
            " SELECT gen_random_uuid(), 'restore', 'waiting', %s, jsonb_build_object('scope', 'mailbox', 'mailbox_id',"
            " id, 'dry_run', true), 'test', now() FROM mailboxes",
            [backup_id],
        )
        deadline, row = time.monotonic() + 60, None
        while time.monotonic() < deadline:
            row = conn.execute("SELECT state, error FROM backup_operations WHERE kind = 'restore'").fetchone()
            if row and row[0] not in ("waiting", "running"):
                break
            time.sleep(0.2)
        assert row == ("succeeded", None)


@pytest.mark.timeout(600)
def test_upgrades_that_fail_and_one_that_works(running: Site) -> None:
    folder = running.folder
    built, packages = installation.build_wheel(folder), installation.build_packages(folder / "packages")
    behaviour = folder / "behaviour"
    changes = {
        MIGRATION: "CREATE TABLE colours (name text); ALTER TABLE domains ADD COLUMN colour text",
        "mailkeep/__init__.py": site.BEHAVIOUR.format(path=str(behaviour)),
        "mailkeep/features/operations/health/service.py": site.UNHEALTHY,
    }
    new = installation.make_newer(built, folder / "new", packages, changes=changes)
    instance = running.assert_runs(__version__)
    running.create_mailbox(instance.http)
    options = ("--yes", "--sha256", sha256(new), "--find-links", str(packages.parent))
    quick = (*options, "--without-backup")

    for version in ("0.0.1", "0.0.2"):  # of upgrades before; another instance still runs one of them
        (running.prefix / "versions" / version / "bin").mkdir(parents=True)
    shutil.copy("/bin/sleep", running.prefix / "versions/0.0.2/bin/sleep")
    kept = ["0.0.2", __version__, NEW]

    with contextlib.ExitStack() as stack, site.stream(*parse_endpoint(instance.smtp), pause=0.4) as mail:
        other = stack.enter_context(subprocess.Popen([running.prefix / "versions/0.0.2/bin/sleep", "300"]))
        stack.callback(other.kill)
        # Nothing of the wheel has run, because this file does not exist yet.
        checked = running.upgrade(new, "--check")
        assert checked.returncode == 0, checked
        behaviour.write_text("")
        refused = running.upgrade(new, "--yes", "--sha256", "0" * 64)
        assert (refused.returncode, "has the SHA-256" in refused.stderr) == (1, True), refused
        behaviour.write_text("unhealthy")
        failed = running.upgrade(new, *quick, trap=("none", ""))
        assert (failed.returncode, "is not healthy" in failed.stderr) == (1, True), failed
        assert f"Mailkeep {__version__} runs again." in failed.stderr
        running.assert_runs(__version__, instance.pid)
        behaviour.write_text("")
        killed = running.upgrade(new, *quick, trap=("kill", "upgrade.started"))
        assert killed.returncode == -9, killed
        running.end_unaccepted()
        running.assert_runs(__version__, instance.pid)

        upgraded = running.upgrade(new, *options)
        assert upgraded.returncode == 0, upgraded
        instance = running.assert_runs(NEW)
        (backup,) = running.call(instance.http, "/backups")
        assert (backup["trigger"], backup["state"]) == ("upgrade", "succeeded")
        expect_outcomes(running, instance.http)
        assert sorted(path.name for path in (running.prefix / "versions").iterdir() if path.is_dir()) == kept
        restore_from_before(running, backup["id"])
    assert running.stop() == 0
    assert len(mail.succeeded) > 20
    result = mail.compare_with(running.read_tokens())
    assert result.empty, result
