"""`scripts`: the API in the full profile, with a process `node` that manages scripts with the real doveadm."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest

from mailkeep.core.confinement import NOBODY
from mailkeep.core.isolation import find_obstacle
from mailkeep.features.directory.mailboxes.model import mail_folder
from mailkeep.features.directory.sieve.jobs import ScriptTasks
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.sieve.config import default_settings
from tests.support.caller import Answer
from tests.support.client import Api, Client
from tests.support.scratch import new_directory

PIGEONHOLE = pytest.mark.skipif(
    shutil.which("sieve-test") is None or find_obstacle() is not None, reason="needs dovecot-sieve and Landlock"
)


@dataclass
class Scripts:
    """The scripts of a mailbox, as Adam (admin) sees them."""

    api: Api
    mailbox_id: str
    client: Client

    async def __call__(self, method: str, name: str = "", body: Any = None, **more: Any) -> Answer:
        path = f"/mailboxes/{self.mailbox_id}/sieve" + (f"/{quote(name, safe='')}" if name else "")
        return await self.client(method, path, body, **more)

    async def put(self, name: str, script: str, **more: Any) -> Answer:
        return await self("PUT", name, {"script": script}, **more)

    async def activate(self, name: str) -> Answer:
        return await self.client("POST", f"/mailboxes/{self.mailbox_id}/sieve/{quote(name, safe='')}/activate")

    async def deactivate(self) -> Answer:
        return await self.client("POST", f"/mailboxes/{self.mailbox_id}/sieve/deactivate")

    def create_files(self, files: Mapping[str, bytes]) -> None:
        """Create files in the mailbox's home, as other programs do."""
        home = mail_folder(self.api.app.data_dir, UUID(self.mailbox_id))
        owner = home.parent.stat()
        for path, content in files.items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(content)
        for path in (home, *home.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid)

    async def names(self) -> dict[str, bool]:
        return {each["name"]: each["active"] for each in (await self("GET")).data}


@pytest.fixture
async def scripts(api: Api, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scripts]:
    if shutil.which("doveadm") is None or find_obstacle() is not None:
        pytest.skip("needs dovecot-sieve and Landlock")
    app = api.app
    app.settings = replace(app.settings, mta=replace(app.settings.mta, mode="postfix"))
    app.data_dir = new_directory("mailkeep-scripts-", 0o711)
    account = (NOBODY, NOBODY) if os.geteuid() == 0 else (os.getuid(), os.getgid())  # Dovecot refuses root
    (app.data_dir / "mail").mkdir(mode=0o700)
    os.chown(app.data_dir / "mail", *account)
    handlers = ScriptTasks(app, account, default_settings).handlers()
    monkeypatch.setattr(node_tasks.wait_for_result, "__defaults__", (50.0,))

    async def work() -> None:
        while True:
            if not await node_tasks.run_next(app, handlers):
                await asyncio.sleep(0.01)

    working = asyncio.create_task(work())
    yield Scripts(api, str(await api.mailbox()), api.adam)
    await cancel_all(working)
    shutil.rmtree(app.data_dir)
