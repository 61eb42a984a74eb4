"""Backups while mail, mailboxes and settings change: each restored copy has what was acknowledged before it began.

Seconds of what `make prove-backup-ledger` does for minutes.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack.harness import Stack
from tests.support.backup_ledger import BackupLedger
from tests.support.scratch import new_directory


@pytest.fixture
def place() -> Iterator[Path]:
    folder = new_directory("mailkeep-ledger-", 0o755, programs=True)
    yield folder
    shutil.rmtree(folder)


def test_a_restored_copy_has_what_was_acknowledged_before_the_backup_began(stack: Stack, place: Path) -> None:
    ledger = BackupLedger(stack, "ledger.test")
    with ledger.running():
        time.sleep(3)
        ledger.back_up()
        second = ledger.back_up()
    compared = ledger.check(second, place)
    assert min(compared.values()) > 0, compared
