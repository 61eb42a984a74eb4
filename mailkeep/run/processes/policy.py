"""The process `policy`: serves Postfix's policy requests and sender tables (`features/mailflow/policy`)."""

from __future__ import annotations

import asyncio
import grp

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.features.mailflow.policy.service import PolicyServer, sender_tables
from mailkeep.mail.postfix.policy import serve_policy
from mailkeep.mail.postfix.socketmap import serve_tables
from mailkeep.run.runtime.process import Process


async def serve(app: App, process: Process) -> None:
    """Answer until asked to stop."""
    try:
        group, paths = grp.getgrnam("postfix").gr_gid, process.paths
        servers = (
            await serve_policy(paths.policy_socket, PolicyServer(app).answer, mode=0o660, group=group),
            await serve_tables(paths.senders_socket, sender_tables(app), mode=0o660, group=group),
        )
    except (OSError, KeyError) as error:
        raise Failure(f"The process policy can't listen: {error}", permanent=True) from error
    process.report_ready()
    await process.stop_requested.wait()
    for server in servers:
        server.close()
    await asyncio.sleep(0.2)  # time for answers in progress
