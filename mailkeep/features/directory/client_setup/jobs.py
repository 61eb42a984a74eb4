"""The task of the process `node` that signs profiles, with the key that only root can read."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mailkeep.core.errors import Failure
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.mail.client_setup import apple

SIGN = "client_setup.sign"


def task_handlers(certificate: Path) -> Mapping[str, TaskHandler]:
    """The task. `certificate`: the file with the served certificate, its chain and its key, read for each profile."""

    async def sign(argument: Mapping[str, Any]) -> Mapping[str, Any]:
        profile = msgspec.convert(argument, apple.AppleProfile)
        return {"profile": b64encode(await sign_with(certificate, profile)).decode("ascii")}

    return {SIGN: sign}


async def sign_with(certificate: Path, profile: apple.AppleProfile) -> bytes:
    """The profile, signed with the certificate and key of this file. Failure."""
    try:
        pem = await asyncio.to_thread(certificate.read_bytes)
    except OSError as error:
        raise Failure(f"The server's certificate can't be read: {error.strerror}.") from error
    return apple.sign(profile, pem)
