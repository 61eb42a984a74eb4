"""The states of services, written by the supervisor and read by the API."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from mailkeep.run.runtime import service_status


async def until(look: object, run: Path) -> None:
    deadline = time.monotonic() + 60
    while service_status.read_running(run) != look:
        assert time.monotonic() < deadline, service_status.read_running(run)
        await asyncio.sleep(0.01)


async def test_a_change_is_published_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service_status, "_CHECK_SECONDS", 0.01)
    state = {"postfix": True, "lmtp": True}
    publishing = asyncio.create_task(service_status.keep_publishing(tmp_path, lambda: dict(state)))
    await until({"postfix": True, "lmtp": True, "supervisor": True}, tmp_path)
    state["lmtp"] = False
    await until({"postfix": True, "lmtp": False, "supervisor": True}, tmp_path)
    publishing.cancel()


async def test_a_supervisor_that_stops_publishing_is_not_running(tmp_path: Path):
    publishing = asyncio.create_task(service_status.keep_publishing(tmp_path, lambda: {"postfix": True}))
    await until({"postfix": True, "supervisor": True}, tmp_path)
    publishing.cancel()
    old = time.time() - 60
    os.utime(tmp_path / "services.json", (old, old))
    assert service_status.read_running(tmp_path) == {"postfix": True, "supervisor": False}
    (tmp_path / "services.json").write_text("{")
    assert service_status.read_running(tmp_path) == {"supervisor": False}
    service_status.remove(tmp_path)
    assert service_status.read_running(tmp_path) == {"supervisor": False}
