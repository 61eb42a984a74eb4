"""`make prove-upgrade`: the full profile is upgraded under a stream of mail, with the packages of the index.

First with a failure and a kill at each step, then for good. What was accepted arrives once, and after each failure the
old version runs.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from mailkeep import __version__
from mailkeep.settings import parse_endpoint
from tests.support.ports import free_port
from tests.support.scratch import new_directory
from tests.upgrade import installation, site
from tests.upgrade.installation import MIGRATION, NEW, sha256
from tests.upgrade.site import Site

_CONFIG = """
[http]
listen = "127.0.0.1:{http}"
internal = "127.0.0.1:0"
[server]
hostname = "mx.upgrade.test"
addresses = ["127.0.0.1"]
[ports]
smtp = {smtp}
submission = 0
submissions = 0
imap = {imap}
imaps = 0
pop3 = 0
pop3s = 0
sieve = 0
[filter]
network_checks = false
[outbound]
relay = "127.0.0.1:9"
"""
_BEFORE = ("upgrade.backed_up", "upgrade.requested")
_AFTER = ("upgrade.started", "upgrade.checked")
_ARRIVE_SECONDS = 120


def main() -> int:
    """Run the proof; 0 if nothing was lost, and each version ran when it should."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    folder = new_directory("mailkeep-upgrade-", 0o755, programs=True)
    one = Site(folder, ("--profile", "full"))
    try:
        return _prove(one)
    finally:
        if one.process:
            one.stop(90)
        shutil.rmtree(folder)


def _prove(one: Site) -> int:
    folder = one.folder
    ports = {name: free_port("127.0.0.1") for name in ("http", "smtp", "imap")}
    one.data.mkdir(mode=0o711)
    (one.data / "mailkeep.toml").write_text(_CONFIG.format(**ports))
    installation.install(one.prefix)
    built = installation.build_wheel(folder)
    behaviour = folder / "behaviour"
    behaviour.write_text("")
    changes = {
        MIGRATION: "CREATE TABLE colours (name text); ALTER TABLE domains ADD COLUMN colour text",
        "mailkeep/__init__.py": site.BEHAVIOUR.format(path=str(behaviour)),
        "mailkeep/features/operations/health/service.py": site.UNHEALTHY,
    }
    new = installation.make_newer(built, folder / "new", None, changes=changes)
    instance = one.start()
    one.create_mailbox(instance.http)
    _print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, the full profile: {__version__} -> {NEW}")
    options = ("--yes", "--sha256", sha256(new))
    quick = (*options, "--without-backup")
    host, port = parse_endpoint(instance.smtp)
    with site.stream(host, port, pause=0.2) as mail:
        for name in ("upgrade.rehearsed", "upgrade.built", *_BEFORE):
            _fail(one, new, quick, ("kill", name), instance.pid)
        for name in _AFTER:
            _fail(one, new, quick, ("fail", name), instance.pid)
            _fail(one, new, quick, ("kill", name), instance.pid)
        for cause in ("crash", "unhealthy"):
            behaviour.write_text(cause)
            _fail(one, new, quick, ("none", cause), instance.pid)
        behaviour.write_text("")
        began = time.monotonic()
        upgraded = one.upgrade(new, *options, "--watch", "20")
        _print(upgraded.stderr.rstrip())
        assert upgraded.returncode == 0, upgraded
        one.assert_runs(NEW)
        _print(f"It works: {time.monotonic() - began:.0f} s, with a backup before and 20 s of watching.")
        time.sleep(5)
    deadline = time.monotonic() + _ARRIVE_SECONDS
    while mail.succeeded - set(one.read_tokens()) and time.monotonic() < deadline:
        time.sleep(1)
    result = mail.compare_with(one.read_tokens())
    _print(str(mail))
    _print(str(result))
    return 0 if result.empty else 1


def _fail(one: Site, wheel: Path, options: tuple[str, ...], trap: tuple[str, str], pid: int) -> None:
    """An upgrade that fails, after which the old version runs in the process in which it began."""
    began = time.monotonic()
    failed = one.upgrade(wheel, *options, trap=trap)
    assert failed.returncode == (-9 if trap[0] == "kill" else 1), failed
    if trap[0] == "kill" and trap[1] in _AFTER:
        one.end_unaccepted()
    one.assert_runs(__version__, pid)
    reason = failed.stderr.strip().splitlines()[-1] if trap[0] != "kill" else "killed"
    _print(f"{' '.join(trap):28} {time.monotonic() - began:3.0f} s until {__version__} runs: {reason}")


def _print(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
