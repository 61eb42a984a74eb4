"""Submits messages to the MTA, again and again while it restarts."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic

from mailkeep.app import App
from mailkeep.features.directory.relays import service as relays
from mailkeep.features.mailflow.sending import rules
from mailkeep.features.mailflow.sending.model import SubmissionResult
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, OutgoingEnvelope, SmtpRefusal
from mailkeep.mail.smtp.pool import SmtpPool

_RESTART_SECONDS, _RETRY_SECONDS = 10.0, 0.2


@dataclass(slots=True)
class RestartWait:
    """Bounds how long a request waits for a restart of Postfix: ten seconds from the first failure on."""

    ends_at: float = math.inf

    async def wait(self) -> bool:
        """Wait a moment; False if the time is over."""
        now = monotonic()
        self.ends_at = min(self.ends_at, now + _RESTART_SECONDS)
        if now >= self.ends_at:
            return False
        await asyncio.sleep(_RETRY_SECONDS)
        return True


async def submit(app: App, domain: str | None, submission: OutgoingEnvelope, body: Iterable[bytes]) -> SubmissionResult:
    """Submit a message that another feature has checked and recorded; `domain` is the sender's, if it is managed."""
    if app.mta is None:
        return ConnectionLost("sending is not configured (setting mta.mode)", "connect")
    return await submit_with_retries(app, app.mta, domain, submission, (body, False), RestartWait())


async def submit_with_retries(
    app: App,
    mta: SmtpPool,
    domain: str | None,
    submission: OutgoingEnvelope,
    content: tuple[Iterable[bytes], bool],
    restart_wait: RestartWait,
) -> SubmissionResult:
    """Submit, again and again while Postfix restarts; not after content was sent. `content` is as for `_submit_to`."""
    while True:
        result = await _submit_to(app, mta, domain, submission, content)
        if isinstance(result, AcceptedSubmission) or not rules.may_pass_with_a_restart(result):
            return result
        if app.mta_restarts is None or not app.mta_restarts() or not await restart_wait.wait():
            return result


async def _submit_to(
    app: App, mta: SmtpPool, domain: str | None, submission: OutgoingEnvelope, content: tuple[Iterable[bytes], bool]
) -> SubmissionResult:
    """Submit by the domain's relay in mode `smtp` (in the full profile Postfix chooses it). `content`: the chunks, and
    whether they are dot-stuffed.
    """
    body, stuffed = content
    try:
        if app.settings.mta.mode == "smtp" and domain and (relay := await relays.find_domain_relay(app, domain)):
            return await relays.submit(app, relay, submission, body, stuffed=stuffed)
        return await mta.submit(submission, body, stuffed=stuffed)
    except relays.NoRelay as error:
        return ConnectionLost(str(error), "connect")
    except (SmtpRefusal, ConnectionLost) as failure:
        return failure
