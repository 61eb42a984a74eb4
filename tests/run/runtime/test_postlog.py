"""Read access to Postfix's log, which Postfix creates for root only at each rotation."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from mailkeep.run.runtime import postlog

pytestmark = pytest.mark.root
_GROUP = 12345


async def test_every_file_of_the_log_becomes_readable_for_the_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postlog, "_CHECK_SECONDS", 0.02)
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
