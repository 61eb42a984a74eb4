"""The process `learner`: teaches the filter what owners move to Junk and out of it (`mailflow/filter_training`).

Its socket is its own, not the supervisor's: without the process a move fails to connect, and continues at once.
"""

from __future__ import annotations

import asyncio
import pwd

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.features.mailflow.filter_training.jobs import Learner
from mailkeep.features.mailflow.filter_training.model import LARGEST_LESSON_BYTES
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.dovecot.script_server import serve_scripts
from mailkeep.run.cli import install
from mailkeep.run.runtime.process import Process

_GRACE_SECONDS = 3.0


async def serve(app: App, process: Process) -> None:
    """Take and teach lessons until asked to stop; then teach what waits, for three seconds."""
    learner = Learner(app)
    try:
        account = pwd.getpwnam(install.MAIL_ACCOUNT)
        server = await serve_scripts(
            process.paths.learn_socket,
            learner.take,
            accounts={0, account.pw_uid},  # root: the supervisor checks that it answers
            max_bytes=LARGEST_LESSON_BYTES,
            group=account.pw_gid,
        )
    except (OSError, KeyError) as error:
        raise Failure(f"The process learner can't listen: {error}", permanent=True) from error
    teaching = asyncio.create_task(learner.run())
    process.report_ready()
    await process.stop_requested.wait()
    server.close()
    await learner.finish(_GRACE_SECONDS)
    await cancel_all(teaching)
