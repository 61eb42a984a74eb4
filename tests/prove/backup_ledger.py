"""`make prove-backup-ledger`: backups of a full instance while mail is sent, arrives, is moved and deleted, and aliases
and settings change; as root. Each backup is restored and compared with the ledger. The last one becomes an instance
again; after the release of its queue each message is in the mailbox once.

ARGS="--backups 5 --every 60": how many, and the seconds from one to the next.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from mailkeep.backup.layout import read_manifest
from tests.prove.checks import Checks
from tests.prove.circumstances import circumstances
from tests.stack import harness
from tests.stack.harness import Stack, eventually
from tests.support import backups
from tests.support.backup_ledger import BackupLedger, EndedBackup
from tests.support.restoring import restore
from tests.support.scratch import new_directory

# What is deferred stays in the queue.
SETTINGS = {
    "OUTBOUND__GIVE_UP_HOURS": "24",
    "OUTBOUND__FIRST_RETRY_SECONDS": "900",
    "OUTBOUND__LONGEST_RETRY_SECONDS": "900",
    "EDGE__ENABLED": "false",
    "BACKUP__VERIFY_EVERY": "off",
    "LIMITS__REQUESTS_PER_SECOND": "0",
    "ABUSE__SENDER_PER_HOUR": "1000000000",
    "ABUSE__DOMAIN_PER_HOUR": "1000000000",
}


def make_backups(ledger: BackupLedger, count: int, every: float) -> list[EndedBackup]:
    """Backups at regular times under load."""
    ended: list[EndedBackup] = []
    with ledger.running():
        time.sleep(5)
        for number in range(count):
            began = time.monotonic()
            ended.append(ledger.back_up())
            seconds = time.monotonic() - began
            print(f"backup {number + 1}: {seconds:.1f} s", flush=True)
            if number + 1 < count:
                time.sleep(max(0.0, every - seconds))
    return ended


def continue_elsewhere(folder: Path, old: Path, ledger: BackupLedger, last: EndedBackup, checks: Checks) -> None:
    """Restore the last backup as an instance, release its queue, and compare its mailbox with the ledger."""
    began_at = read_manifest(backups.restore(old / "data", last.backup.snapshot, folder / "look")).began_at
    data_dir = folder / "new" / "data"
    data_dir.parent.mkdir(mode=0o755)
    code, _, errors = restore(old / "data" / "backup" / "repository", data_dir, old / "data" / "backup" / "password")
    if not checks.check("the last backup is restored", code == 0, errors if code else ""):
        return
    try:
        harness.start(data_dir.parent, (), None, **SETTINGS)
        stack = Stack(data_dir.parent)
        waiting = len(stack.do("GET", f"/queue?recipient={ledger.receiver}"))
        stack.do("POST", "/queue/actions", {"action": "release", "filter": {}})
        eventually(lambda: not stack.do("GET", f"/queue?recipient={ledger.receiver}"), 120, "the released mail")
        mail = ledger.read_mail(data_dir / "mail" / ledger.mailbox_id / "Maildir")
        lost = ledger.arrived.before(began_at) - mail.keys() - ledger.deleted.asked_before(last.at)
        twice = [token for token, count in mail.items() if count > 1]
        words = f"{mail.total()} messages, {waiting} of them came from the restored queue"
        wrong = f"; lost {lost}, twice {twice}" if lost or twice else ""
        checks.check("it runs, and its mailbox has each message once", not wrong, words + wrong)
    finally:
        harness.stop(data_dir.parent)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--backups", type=int, default=5)
    parser.add_argument("--every", type=float, default=60)
    arguments = parser.parse_args()
    harness.require_full_profile()
    checks = Checks()
    folder = new_directory("mailkeep-prove-ledger-", 0o755, programs=True)
    old = folder / "old"
    old.mkdir(mode=0o755)
    try:
        print(circumstances(f"{arguments.backups} backups under load, each {arguments.every:g} s"), flush=True)
        harness.start(old, (), None, **SETTINGS)
        stack = Stack(old)
        ledger = BackupLedger(stack, "ledger.test")
        ended = make_backups(ledger, arguments.backups, arguments.every)
        for number, each in enumerate(ended, 1):
            try:
                compared = ledger.check(each, folder)
            except AssertionError as wrong:
                checks.check(f"copy {number}", good=False, details=str(wrong))
                continue
            checks.check(f"copy {number}", good=True, details=", ".join(f"{n} {what}" for what, n in compared.items()))
        print(f"{ledger.moves} moves between folders meanwhile", flush=True)
        result = backups.perform_now(stack.data_dir, "verify", ended[-1].backup.id).result or {}
        checks.check("Mailkeep's own verification of the last one", bool(result.get("ok")), str(result.get("detail")))
        harness.stop(old)
        continue_elsewhere(folder, old, ledger, ended[-1], checks)
    finally:
        harness.stop(old)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{checks.passed} checks passed, {len(checks.failed)} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
