"""The probe: a message by SMTP to port 25, through filter and LMTP to a mailbox, and a login there by IMAP.

Applies are watched with it, and the process `node` runs it once a minute for health. The mailbox is a constant
(`mail/daemons/probe_mailbox`), and nothing of a probe is recorded. Each probe deletes its message from the mailbox or
the queue, and those that killed ones have left.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from email.utils import format_datetime
from time import monotonic

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.core.ids import uuid7
from mailkeep.mail.daemons import probe_mailbox
from mailkeep.mail.daemons.node_report import ProbeResult, ProbeStage
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot import imap
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.mail.smtp.client import OutgoingEnvelope, submit
from mailkeep.mail.smtp.connection import ConnectionLost, Relay, SmtpRefusal, Timeouts, connect
from mailkeep.run.runtime import control
from mailkeep.run.runtime.configuration import make_probe_helo, make_probe_password
from mailkeep.settings import Settings

log = structlog.get_logger("mailkeep.probe")

SECONDS = 10.0
"""How long the message may take from the connection to port 25 to the mailbox; as long may the login take."""
_EVERY_SECONDS, _FAILED_EVERY_SECONDS = 60.0, 15.0
_POLL_SECONDS, _PAUSE_SECONDS, _START_SECONDS = 0.1, 1.0, 0.5
_LEFTOVER_SECONDS = 60  # older mail was left by a killed probe; younger mail may be of a probe of another process
_SMTP_STAGES: Mapping[str, ProbeStage] = {"envelope": "envelope", "body": "content", "acceptance": "content"}


class _ProbeFailure(Failure):
    def __init__(self, stage: ProbeStage, problem: str) -> None:
        super().__init__(problem)
        self.stage: ProbeStage = stage


class Prober:
    """Probes once a minute, and more often while that fails. `last` is the newest result."""

    def __init__(self, app: App, paths: InstancePaths) -> None:
        self._app, self._paths = app, paths
        self.last: ProbeResult | None = None

    async def run(self) -> None:
        """Probe until cancelled."""
        await self._wait_for_postfix()
        await _remove_queued(self._paths)
        while True:
            try:
                self._note(await probe(self._app, self._paths, self._app.settings))
            except Exception:
                log.exception("the probe could not run")
            is_failed = self.last is not None and self.last.status == "failed"
            await asyncio.sleep(_FAILED_EVERY_SECONDS if is_failed else _EVERY_SECONDS)

    async def _wait_for_postfix(self) -> None:
        """Wait until Postfix, which starts after this process, was ready once."""
        while True:
            with suppress(Failure):
                states = await control.ask(self._paths.control_socket, "status")
                if any(each.name == "postfix" for each in states):
                    return
            await asyncio.sleep(_START_SECONDS)

    def _note(self, result: ProbeResult) -> None:
        before, self.last = self.last, result
        if result.status == "failed" and (before is None or before.status != "failed"):
            log.error("the probe message failed", stage=result.stage, why=result.problem)
        elif before and before.status == "failed" and result.status == "ok":
            log.info("the probe message works again")


async def probe(app: App, paths: InstancePaths, settings: Settings) -> ProbeResult:
    """Log in, send a message and wait for it; if that fails, once again. `settings` name the ports."""
    result = await _probe_once(app, paths, settings)
    if result.status != "failed":
        return result
    await asyncio.sleep(_PAUSE_SECONDS)
    return await _probe_once(app, paths, settings)


async def _probe_once(app: App, paths: InstancePaths, settings: Settings) -> ProbeResult:
    at, ports = app.clock(), settings.ports
    address = (settings.server.addresses or ("127.0.0.1",))[0]
    version = ipaddress.ip_address(address).version
    if not ports.imap and not ports.imaps:
        return ProbeResult(at, "not_checked", problem="The ports imap and imaps are off: the probe can't log in.")
    server = imap.ImapServer(address, ports.imaps or ports.imap, bool(ports.imaps), probe_mailbox.IMAP_CLIENTS[version])
    timeouts = Timeouts(SECONDS, SECONDS, SECONDS, SECONDS, SECONDS)
    source = probe_mailbox.SMTP_CLIENTS[version]
    relay = Relay(address, ports.smtp, helo=make_probe_helo(app.vault), timeouts=timeouts, source=source)
    try:
        async with AsyncExitStack() as stack:
            async with _limit("login", f"The login on port {server.port}"):
                began = monotonic()
                session = await stack.enter_async_context(await imap.connect(server))
                await session.log_in(probe_mailbox.ADDRESS, make_probe_password(app.vault))
                login = _milliseconds_since(began)
                await session.delete(await session.search(f"OLDER {_LEFTOVER_SECONDS}"))
            if not ports.smtp:
                return ProbeResult(at, "not_checked", problem="The port smtp is off: no message was sent.")
            began = monotonic()
            uids, accepted = await _send_and_find(relay, session, paths, uuid7(at).hex, at)
            latency = _milliseconds_since(began)
            async with _limit("delivery", "Deleting the message"):
                await session.delete(uids)
                await session.log_out()
    except _ProbeFailure as failure:
        return ProbeResult(at, "failed", failure.stage, str(failure))
    return ProbeResult(at, "ok", None, None, latency, accepted, login)


def _milliseconds_since(began: float) -> float:
    return round((monotonic() - began) * 1000, 1)


@asynccontextmanager
async def _limit(stage: ProbeStage, what: str) -> AsyncGenerator[None]:
    """Raises _ProbeFailure if the work fails, or takes longer than `SECONDS`."""
    try:
        async with asyncio.timeout(SECONDS):
            yield
    except TimeoutError as error:
        raise _ProbeFailure(stage, f"{what} did not end within {SECONDS:.0f} seconds.") from error
    except ConnectionError as error:
        raise _ProbeFailure(stage, f"{what} failed: {os.strerror(error.errno) if error.errno else error}.") from error
    except (imap.ImapRefusal, OSError) as error:
        raise _ProbeFailure(stage, f"{what} failed: {error}") from error


async def _send_and_find(
    relay: Relay, session: imap.ImapSession, paths: InstancePaths, token: str, at: datetime
) -> tuple[list[str], float]:
    """Send a message and wait until it is in the mailbox; returns its UID, and the milliseconds until it was
    accepted.
    """
    message_id = f"<{token}@{probe_mailbox.DOMAIN}>"
    began = monotonic()
    deadline = began + SECONDS
    try:
        queue_id = await _send(relay, _compose(message_id, at))
        accepted = _milliseconds_since(began)
        while True:
            async with _limit("delivery", "Looking for the message"):
                if uids := await session.search(f'HEADER Message-ID "{message_id}"'):
                    return uids, accepted
            if monotonic() > deadline:
                text = f"The message {queue_id} was accepted, but not delivered within {SECONDS:.0f} seconds."
                raise _ProbeFailure("delivery", text)
            await asyncio.sleep(_POLL_SECONDS)
    except _ProbeFailure:
        await _remove_queued(paths)
        raise


async def _send(relay: Relay, content: bytes) -> str:
    """Send the message; returns its queue ID."""
    name = f"port {relay.port} (smtp)"
    try:
        async with asyncio.timeout(SECONDS):
            connection = await connect(relay)
            # Without a sender, nothing is returned to anybody.
            envelope = OutgoingEnvelope("", [probe_mailbox.ADDRESS], len(content))
            try:
                accepted = await submit(connection, envelope, [content], stuffed=False, timeouts=relay.timeouts)
            finally:
                connection.quit()
    except TimeoutError as error:
        raise _ProbeFailure("content", f"The session with {name} did not end within {SECONDS:.0f} seconds.") from error
    except SmtpRefusal as refusal:
        stage = _SMTP_STAGES.get(refusal.stage, "connect")
        what = {"envelope": "the sender or recipient", "content": "the message"}.get(stage, "the session")
        raise _ProbeFailure(stage, f"{name.capitalize()} refused {what}: {refusal.reply}") from refusal
    except ConnectionLost as lost:
        stage = _SMTP_STAGES.get(lost.stage, "connect")
        raise _ProbeFailure(stage, f"The connection to {name} failed: {lost.why}.") from lost
    return accepted.queue_id or "unknown"


def _compose(message_id: str, at: datetime) -> bytes:
    fields = {
        "From": f"Mailkeep <{probe_mailbox.ADDRESS}>",
        "To": f"Mailkeep <{probe_mailbox.ADDRESS}>",
        "Subject": "Probe of the mail flow",
        "Date": format_datetime(at),
        "Message-ID": message_id,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=us-ascii",
        "Auto-Submitted": "auto-generated",
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{head}\r\nMailkeep checks with this message whether mail arrives, and deletes it.\r\n".encode("ascii")


async def _remove_queued(paths: InstancePaths) -> None:
    """Delete messages of probes from the queue."""
    try:
        queued = [each.queue_id for each in await postfix_queue.list_queue(paths.postfix_conf) if each.is_probe]
        await postfix_queue.apply_action(paths.postfix_conf, "delete", queued)
    except (Failure, OSError) as failure:
        log.warning("messages of the probe may be left in the queue", why=str(failure))
