"""The process `milter`: Postfix passes it the messages that clients submit (`mail/milter`). It decides about those that
were submitted with an API key (`features/mailflow/key_submission`).
"""

from __future__ import annotations

from functools import partial

from mailkeep.app import App
from mailkeep.features.mailflow.key_submission import service as key_submission
from mailkeep.mail.milter.server import MilterServer
from mailkeep.mail.postfix.submission_login import parse_key_login
from mailkeep.run.runtime.process import Process

_GRACE_SECONDS = 4.0


async def serve(app: App, process: Process) -> None:
    """Serve until asked to stop. The supervisor holds the socket: connections wait for the next process."""
    server = MilterServer(
        partial(key_submission.decide, app),
        lambda login: parse_key_login(login) is not None,
        app.data_dir / "tmp",
        app.settings.limits.largest_queued_message_bytes,
    )
    await server.serve(process.sockets["milter"])
    process.report_ready()
    await process.stop_requested.wait()
    await server.close(_GRACE_SECONDS)
