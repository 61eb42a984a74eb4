"""An S3 server that is slow, that stops answering, and that answers again."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator

import pytest

from mailkeep.features.operations.backups import engine, store
from mailkeep.features.operations.backups.jobs import BackupWorker
from mailkeep.features.operations.backups.model import BackupOperation
from tests.operations.backups.conftest import Scene
from tests.support.backups import request, wait
from tests.support.repository_servers import Proxy, serving_s3


@pytest.fixture
async def proxy(scene: Scene) -> AsyncIterator[Proxy]:
    with serving_s3() as server:
        proxy = Proxy(server)
        async with proxy.listening() as port:
            location = f"s3:http://127.0.0.1:{port}/bucket"
            scene.configure(repository=location, s3_access_key="key", s3_secret_key="secret", s3_region="eu")
            yield proxy


async def begin_and_hold(scene: Scene, proxy: Proxy) -> tuple[BackupOperation, asyncio.Task[bool]]:
    """A backup whose server stops answering during the upload."""
    (scene.maildir / "cur" / f"{time.monotonic_ns()}.large:2,S").write_bytes(os.urandom(24 << 20))
    operation_id = await request(scene.app)
    performing = asyncio.create_task(BackupWorker(scene.app).perform_waiting())
    async with asyncio.timeout(60):
        while True:
            async with scene.app.db.autocommit() as conn:
                operation = await store.find_operation(conn, operation_id)
            assert operation
            assert operation.state in ("waiting", "running"), operation.error
            if operation.phase == "upload":
                proxy.hold()
                return operation, performing
            await asyncio.sleep(0.02)


async def test_a_slow_repository(scene: Scene, proxy: Proxy, monkeypatch: pytest.MonkeyPatch):
    proxy.delay = 0.03
    await scene.back_up()
    assert proxy.pieces > 50, "all of it went through the proxy"
    proxy.delay = 0.0

    operation, performing = await begin_and_hold(scene, proxy)
    async with scene.app.db.autocommit() as conn:
        assert operation.backup_id
        await store.request_cancel(conn, operation.backup_id, scene.app.clock())
    began = time.monotonic()
    await asyncio.wait_for(performing, 30)
    assert time.monotonic() - began < 10, "restic gets four seconds to remove its lock"
    assert (await wait(scene.app, operation.id, 1)).state == "cancelled"
    proxy.go_on()

    monkeypatch.setattr(engine, "_STALLED_SECONDS", 3.0)
    operation, performing = await begin_and_hold(scene, proxy)
    await asyncio.wait_for(performing, 60)
    ended = await wait(scene.app, operation.id, 1)
    assert (ended.state, "not taken anything" in (ended.error or "")) == ("failed", True), ended.error
    assert not (scene.app.data_dir / "backup" / "stage").exists()
    proxy.go_on()
    monkeypatch.undo()

    await scene.back_up()
    pruned = await scene.perform(kind="prune")
    assert pruned.state == "succeeded", "locks of the killed restic do not prevent it"
