"""The process `usage`: receives Dovecot's reports of mailbox usage and logins (`features/directory/mailbox_usage`).

Usage comes by a Unix socket (dict `quota_clone`), logins come by HTTP on loopback.
"""

from __future__ import annotations

import asyncio
import grp

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.features.directory.mailbox_usage.service import UsageRecorder
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.dovecot.auth import serve_reports
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
    logins = await serve_reports(
        process.sockets["logins"], configuration.make_logins_token(app.vault), recorder.record_login
    )
    writing = asyncio.create_task(recorder.keep_writing())
    process.report_ready()
    await process.stop_requested.wait()
    usage.close()
    logins.close()
    await cancel_all(writing)
