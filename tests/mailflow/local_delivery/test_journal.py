"""What is known of deliveries over an agent's end, a machine's, and a full disk's."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Unavailable
from mailkeep.features.mailflow.local_delivery.journal import Journal

BOOT, OTHER_BOOT = str(uuid4()), str(uuid4())
ALICE, BOB = uuid4(), uuid4()
ID = "4jW9T1xz0bz1"
SETTLING = 60.0  # nobody waits for it here


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "handed-over"


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=1)


def opened(path: Path, boot: str = BOOT) -> Journal:
    return Journal(path, utc_now, settling=SETTLING, boot=boot)


def doubtful(path: Path, *mailbox_ids: UUID, queue_id: str = ID) -> list[bool]:
    """Whether each is in doubt for who opens the journal now."""
    journal = opened(path)
    found = [journal.begin(queue_id, [each], soon()) is not None for each in mailbox_ids]
    journal.end(queue_id, mailbox_ids)
    journal.close()
    return found


def test_a_first_try_is_in_no_doubt_and_a_second_is(path: Path) -> None:
    journal = opened(path)
    began = time.time()
    assert journal.begin(ID, [ALICE], soon()) is None
    journal.abandon(ID, [ALICE])
    found = journal.begin(ID, [ALICE, BOB], soon())
    assert found
    assert began - 1 <= found.since <= time.time()
    assert 0 < found.not_before - time.monotonic() <= SETTLING
    journal.end(ID, [ALICE, BOB])
    assert journal.begin(ID, [ALICE, BOB], soon()) is None


def test_what_was_not_ended_is_in_doubt_after_a_crash_and_nothing_else(path: Path) -> None:
    journal = opened(path)
    journal.begin(ID, [ALICE, BOB], soon())
    journal.end(ID, [BOB])
    journal.begin("4jW9T1xz0bz2", [ALICE], soon())
    journal.end("4jW9T1xz0bz2", [ALICE])
    assert doubtful(path, ALICE, BOB) == [True, False]
    assert doubtful(path, ALICE, queue_id="4jW9T1xz0bz2") == [False]


def test_a_doubt_outlives_many_crashes_with_its_time(path: Path) -> None:
    journal = opened(path)
    journal.begin(ID, [ALICE], soon())
    began = time.time()
    for _ in range(3):
        journal = opened(path)
        found = journal.begin(ID, [ALICE], soon())
        assert found
        assert found.since <= began
        assert found.not_before > time.monotonic()


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_line_that_was_cut_off_spoils_no_other(path: Path, cut: int) -> None:
    journal = opened(path)
    journal.begin(ID, [ALICE], soon())
    journal.close()
    os.truncate(path, path.stat().st_size - cut)
    with path.open("ab") as file:  # as the same agent, once there is room again
        file.write(f"\n+ {int(time.time())} 4jW9T1xz0bz2 {BOB}.\n".encode())
    assert doubtful(path, BOB, queue_id="4jW9T1xz0bz2") == [True]
    assert doubtful(path, ALICE) == [cut == 1]  # the last byte is the line's end, and nothing of what it says


def test_mail_that_is_older_than_the_file_or_the_boot_is_in_doubt(path: Path) -> None:
    journal = opened(path)
    now = datetime.now(UTC)
    found = journal.begin(ID, [ALICE], now - timedelta(hours=3))
    assert found
    assert abs(found.since - (now - timedelta(hours=3)).timestamp()) < 1
    assert found.not_before > time.monotonic()
    assert journal.begin("4jW9T1xz0bz2", [ALICE], None) is not None
    journal.close()
    time.sleep(1.1)  # times in fields are of whole seconds
    arrived = datetime.now(UTC)
    assert opened(path).begin("4jW9T1xz0bz3", [ALICE], arrived) is None
    assert opened(path, OTHER_BOOT).begin("4jW9T1xz0bz4", [ALICE], arrived) is not None
    assert opened(path, OTHER_BOOT).begin("4jW9T1xz0bz5", [ALICE], soon()) is None
    assert opened(path, OTHER_BOOT).begin(ID, [ALICE], soon()) is not None


def test_what_cant_be_written_down_has_not_begun(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = opened(path)
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, data: write(file, data[:20]))
        with pytest.raises(Unavailable):
            journal.begin(ID, [ALICE], soon())
    assert journal.begin(ID, [BOB], soon()) is None
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, data: write(file, data[:20]))
        journal.end(ID, [BOB])  # an error in the log only
    assert journal.begin(ID, [BOB], soon()) is None
    journal.close()
    assert doubtful(path, ALICE, BOB) == [False, True]


def test_the_file_is_rewritten_with_open_deliveries_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailkeep.features.mailflow.local_delivery.journal._MAX_SIZE", 2_000)
    journal = opened(path)
    journal.begin(ID, [ALICE], soon())
    for number in range(200):
        journal.begin(f"4jW9T1xz{number:04d}", [BOB], soon())
        journal.end(f"4jW9T1xz{number:04d}", [BOB])
        assert path.stat().st_size < 2_200
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        for number in range(30):
            journal.begin(f"4jW9T1xz{number:04d}", [BOB], soon())
            journal.end(f"4jW9T1xz{number:04d}", [BOB])
    journal.begin("4jW9T1xz0bz2", [ALICE], soon())
    journal.close()
    assert doubtful(path, ALICE, BOB) == [True, False]
    assert doubtful(path, ALICE, queue_id="4jW9T1xz0bz2") == [True]


def refuse(self: Path, target: Path) -> None:
    raise OSError("no room")


def test_a_doubt_that_nobody_asks_for_is_forgotten_after_two_months(path: Path) -> None:
    old = int(time.time()) - 61 * 86_400
    path.write_text(f"\n+ {old} {ID} {ALICE}.\n\n+ {old + 2 * 86_400} {ID} {BOB}.\n")
    assert doubtful(path, ALICE, BOB) == [False, True]
