"""Who may read Postfix's log, which Postfix makes anew for root alone."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from mailkeep.run.runtime import postlog

pytestmark = pytest.mark.root
_GROUP = 12345


async def test_each_file_of_the_log_is_let_read_also_one_that_was_rotated_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postlog, "_LOOK_SECONDS", 0.02)
    log = tmp_path / "mail.log"
    keeping = asyncio.create_task(postlog.keep_readable(log, _GROUP))
    try:
        for number in range(5):
            log.unlink(missing_ok=True)
            log.write_text("a line\n")
            log.rename(tmp_path / f"mail.log.{number}")
        async with asyncio.timeout(60):
            while len([path for path in tmp_path.iterdir() if path.stat().st_gid == _GROUP]) < 6:
                await asyncio.sleep(0.01)
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}
        assert {path.stat().st_uid for path in tmp_path.iterdir()} == {os.getuid()}
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])
