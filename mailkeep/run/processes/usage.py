"""The process `usage`: receives Dovecot's reports of mailbox usage and logins (`features/directory/mailbox_usage`), and
decides whether a login may be tried (`features/directory/mail_logins`).

Usage comes by a Unix socket (dict `quota_clone`), logins come by HTTP on loopback.
"""

from __future__ import annotations

import asyncio
import grp

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.features.directory.mail_logins.service import LoginPolicy
from mailkeep.features.directory.mailbox_usage.service import UsageRecorder
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.dovecot.auth import LoginReport, serve_auth_policy
from mailkeep.mail.dovecot.dict import serve_dict
from mailkeep.run.cli import install
from mailkeep.run.runtime import configuration
from mailkeep.run.runtime.process import Process


async def serve(app: App, process: Process) -> None:
    """Receive and write reports until asked to stop."""
    recorder = UsageRecorder(app)
    try:
        group = grp.getgrnam(install.MAIL_ACCOUNT).gr_gid
        usage = await serve_dict(process.paths.usage_socket, recorder.record_usage, mode=0o660, group=group)
    except (OSError, KeyError) as error:
        raise Failure(f"The process usage can't listen: {error}", permanent=True) from error
    policy = LoginPolicy(app)

    async def record(report: LoginReport) -> None:
        recorder.record_login(report)
        await policy.record(report)

    token = configuration.make_logins_token(app.vault)
    logins = await serve_auth_policy(process.sockets["logins"], token, policy.decide, record)
    writing = asyncio.create_task(recorder.keep_writing())
    process.report_ready()
    await process.stop_requested.wait()
    usage.close()
    logins.close()
    await cancel_all(writing)
