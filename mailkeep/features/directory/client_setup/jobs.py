"""The task of the process `node` that signs profiles, with the key that only root can read."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.features.directory.client_setup import rules
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.mail.client_setup import apple

SIGN = "client_setup.sign"


def task_handlers(app: App, certificate: Path) -> Mapping[str, TaskHandler]:
    """The task, which composes the profile itself: whoever requests it names only a mailbox. `certificate`: the file
    with the served certificate, its chain and its key, read for each profile.
    """

    async def sign(argument: Mapping[str, Any]) -> Mapping[str, Any]:
        async with app.db.autocommit() as conn:
            mailbox = await mailboxes.find(conn, UUID(argument["mailbox_id"]))
        if mailbox is None:
            raise Failure("The mailbox was deleted.", permanent=True)
        settings = app.settings
        profile = rules.require_profile(rules.client_setup(mailbox, settings.server.name, asdict(settings.ports)))
        return {"profile": b64encode(await sign_with(certificate, profile)).decode("ascii")}

    return {SIGN: sign}


async def sign_with(certificate: Path, profile: apple.AppleProfile) -> bytes:
    """The profile, signed with the certificate and key of this file. Failure."""
    try:
        pem = await asyncio.to_thread(certificate.read_bytes)
    except OSError as error:
        raise Failure(f"The server's certificate can't be read: {error.strerror}.") from error
    return apple.sign(profile, pem)
