"""The process `reinjection`: submits Sieve's redirects, replies and rejections to Postfix (`mail/dovecot/sieve_spool`),
and the mail that Mailkeep itself writes (`mailflow/system_mail_delivery`).

Postfix accepts them on a Unix socket that only root and the group postdrop can reach. A file is removed from the spool
after Postfix has accepted the message. If the process is killed in between, it submits the message again: two copies
are better than none.

A temporary failure is retried after a second, then with growing pauses, for as long as Postfix would
(`outbound.give_up_hours`). A message that is refused permanently, or not accepted in that time, is returned to its
sender, the mailbox; with the null sender it is dropped and logged. Vacation replies and rejections to a sender that
passed neither SPF nor DMARC, and may be forged, are dropped as well. The others are checked and signed, and redirected
messages of a mailbox that may not send wait (`mailflow/sieve_mail`). Redirects are sealed (`mailflow/arc`).

Redirected copies and replies count for the hourly limit of the domain that sends them on. The process `policy` counts
copies by the domain of the envelope sender; mail with the null sender is counted here, before it is submitted.
"""

from __future__ import annotations

import asyncio
import os
from asyncio import to_thread
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain
from pathlib import Path

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure, Refusal, Unavailable
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.arc import service as arc
from mailkeep.features.mailflow.arc.service import Sealing
from mailkeep.features.mailflow.sieve_mail import service as sieve_mail
from mailkeep.features.mailflow.sieve_mail.service import MailRefused, SignedReply
from mailkeep.features.mailflow.system_mail_delivery.jobs import SystemMailWorker
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.jobs.repeat import repeat
from mailkeep.mail.dovecot import sieve_spool
from mailkeep.mail.dovecot.sieve_spool import SpooledMessage, UnreadableSpoolFile
from mailkeep.mail.message import delivery_notice
from mailkeep.mail.smtp.client import OutgoingEnvelope
from mailkeep.mail.smtp.connection import ConnectionLost, Relay, SmtpRefusal
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.run.processes import worker
from mailkeep.run.runtime.process import Process

log = structlog.get_logger("mailkeep.reinjection")

_CONNECTIONS = 4
_AT_ONCE = 10  # messages of a mailbox
_CHECK_SECONDS = 5.0  # in case a program was killed before it wrote to the FIFO
_FIRST_RETRY, _LAST_RETRY = 1.0, 300.0
_UNREACHABLE_RETRY = 1.0  # Postfix is not running
_CLEAN_SECONDS = 3600.0
_STALE = timedelta(days=1)


@dataclass(slots=True)
class _Retry:
    """When a message is tried next, on the event loop's clock, and after which pause."""

    at: float
    pause: float


@dataclass(slots=True)
class Submitter:
    """Submits the messages of a spool."""

    app: App
    spool: Path
    pool: SmtpPool
    hostname: str
    _sealing: Sealing = field(init=False)
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _retries: dict[str, _Retry] = field(default_factory=dict[str, _Retry])
    _is_unreachable: bool = False

    def __post_init__(self) -> None:
        self._sealing = Sealing(self.app)

    def wake(self) -> None:
        """Check the spool now."""
        self._woken.set()

    async def keep_submitting(self) -> None:
        """Submit messages until cancelled."""
        while True:
            self._woken.clear()
            try:
                pause = await self.submit_waiting()
            except Exception:
                log.exception("the spool could not be read")
                pause = _CHECK_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._woken.wait()

    async def submit_waiting(self) -> float:
        """Submit messages that are due, a few of each mailbox: the messages of one mailbox that are refused, such as
        those beyond an hourly limit, hold up no others. Returns the seconds until the next check.
        """
        loop = asyncio.get_running_loop()
        paths = await to_thread(sieve_spool.list_messages, self.spool)
        names = {path.name for path in paths}
        self._retries = {name: retry for name, retry in self._retries.items() if name in names}
        waiting = {name for name, retry in self._retries.items() if retry.at > loop.time()}
        due = [path for path in paths if path.name not in waiting]
        chosen = sieve_spool.take_turns(due, _AT_ONCE)
        turns = iter(chosen)
        # No task is cancelled: a message that Postfix has just accepted would be submitted again.
        errors = await asyncio.gather(*(self._submit_all(turns) for _ in range(_CONNECTIONS)))
        if any(errors):
            if not self._is_unreachable:
                log.warning("Postfix can't be reached; retrying every second", why=next(filter(None, errors)))
            self._is_unreachable = True
            return _UNREACHABLE_RETRY
        self._is_unreachable = False
        if len(chosen) < len(due):
            return 0.0
        times = [retry.at for retry in self._retries.values()]
        return max(0.0, min([loop.time() + _CHECK_SECONDS, *times]) - loop.time())

    async def _submit_all(self, due: Iterator[Path]) -> str:
        """Submit messages until Postfix can't be reached; returns why, else an empty text."""
        for path in due:
            try:
                spooled = await to_thread(sieve_spool.read, path)
            except FileNotFoundError:
                continue
            except (UnreadableSpoolFile, OSError) as error:
                log.error("a file in the spool is not a message; it is moved away", why=str(error))
                await to_thread(sieve_spool.move_unreadable, self.spool, path)
                continue
            if await to_thread(sieve_spool.is_backscatter, spooled):
                log.info("a reply to a sender that may be forged is dropped", mailbox_id=spooled.mailbox_id)
                await to_thread(spooled.path.unlink, missing_ok=True)
                continue
            try:
                await self._submit(spooled)
            except ConnectionLost as error:
                return str(error)
        return ""

    async def _submit(self, spooled: SpooledMessage) -> None:
        utf8 = not all(address.isascii() for address in (spooled.sender, *spooled.recipients))
        submission = OutgoingEnvelope(
            spooled.sender, spooled.recipients, eight_bit=spooled.eight_bit or utf8, smtputf8=utf8
        )
        refused: Mapping[str, SmtpReply]
        try:
            signed = await self._sign(spooled)
            if refusal := await self._count(spooled, signed.copies):
                await self._postpone(spooled, SmtpReply(450, "4.7.1", refusal.message))
                return
        except MailRefused as error:
            log.info("a message is dropped", mailbox_id=spooled.mailbox_id, to=spooled.recipients, why=str(error))
            await to_thread(spooled.path.unlink, missing_ok=True)
            return
        except Unavailable as error:
            await self._postpone(spooled, SmtpReply(451, "4.3.0", error.message))
            return
        try:
            content = chain((signed.signature,), spooled.content())
            refused = (await self.pool.submit(submission, content)).rejected
        except ConnectionLost as error:
            if error.stage in ("connect", "greeting", "ehlo"):
                raise
            await self._postpone(spooled, SmtpReply(451, "4.4.2", error.why))
            return
        except SmtpRefusal as error:
            if not error.permanent:
                await self._postpone(spooled, error.reply)
                return
            refused = dict.fromkeys(spooled.recipients, error.reply) | error.rejected
        except ValueError as error:  # an address that SMTP does not allow
            refused = dict.fromkeys(spooled.recipients, SmtpReply(501, "5.1.3", str(error)))
        await self._finish(spooled, refused)

    async def _sign(self, spooled: SpooledMessage) -> SignedReply:
        """The signature of a reply or the seal of a redirect, and the copies of a message with the null sender. Raises
        MailRefused; UNAVAILABLE: try again later.
        """
        if spooled.redirected_from:
            async with self.app.db.autocommit() as conn:
                copies = await sieve_mail.check_redirect(conn, spooled)
            sealed = await arc.seal_redirect(self.app, self._sealing, spooled, next(iter(copies))) if copies else b""
            return SignedReply(sealed, {} if spooled.sender else copies)
        return SignedReply(b"") if spooled.sender else await sieve_mail.sign_reply(self.app, spooled)

    async def _count(self, spooled: SpooledMessage, copies: Mapping[str, int]) -> Refusal | None:
        """Count copies; returns a limit's refusal. Idempotent."""
        if not copies:
            return None
        return await abuse.charge_forwards(self.app, self.app.clock(), _charge_id(spooled), copies)

    async def _postpone(self, spooled: SpooledMessage, reply: SmtpReply) -> None:
        age = self.app.clock().timestamp() - spooled.arrived
        if age > self.app.settings.outbound.give_up_hours * 3600:
            await self._finish(spooled, dict.fromkeys(spooled.recipients, reply))
            return
        last_retry = self._retries.get(spooled.path.name)
        pause = min(_LAST_RETRY, last_retry.pause * 2) if last_retry else _FIRST_RETRY
        self._retries[spooled.path.name] = _Retry(asyncio.get_running_loop().time() + pause, pause)
        log.warning("retrying a message later", mailbox_id=spooled.mailbox_id, to=spooled.recipients, why=str(reply))

    async def _finish(self, spooled: SpooledMessage, refused: Mapping[str, SmtpReply]) -> None:
        """Remove a message from the spool. If recipients were refused, return it to its sender for these."""
        if refused:
            reasons = {to: str(reply) for to, reply in refused.items()}
            log.warning("a message is refused", mailbox_id=spooled.mailbox_id, reasons=reasons)
            if len(refused) == len(spooled.recipients):
                await self._uncount_copies(spooled)
        if refused and spooled.sender:
            at = self.app.clock()
            notice = await to_thread(delivery_notice.compose, spooled, refused, self.hostname, at)
            await to_thread(sieve_spool.write, self.spool, at, spooled.mailbox_id, "", [spooled.sender], notice)
            self.wake()
        await to_thread(spooled.path.unlink, missing_ok=True)

    async def _uncount_copies(self, spooled: SpooledMessage) -> None:
        with suppress(Unavailable):
            async with self.app.db.autocommit() as conn:
                await abuse.uncount_forwards(conn, [_charge_id(spooled)])


def _charge_id(spooled: SpooledMessage) -> str:
    return f"sieve {spooled.path.name}"


@contextmanager
def _watch_fifo(spool: Path, wake: Callable[[], None]) -> Generator[None]:
    """Call `wake` whenever a program writes to the FIFO."""
    # Opened for writing too: without a writer a FIFO is always readable.
    fifo = os.open(sieve_spool.wakeup_fifo(spool), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def read_and_wake() -> None:
        os.read(fifo, 65536)
        wake()

    loop = asyncio.get_running_loop()
    loop.add_reader(fifo, read_and_wake)
    try:
        yield
    finally:
        loop.remove_reader(fifo)
        os.close(fifo)


async def serve(app: App, process: Process) -> None:
    """Submit until asked to stop."""
    spool, hostname = process.paths.sieve_spool, app.settings.server.name
    pool = SmtpPool(Relay(str(process.paths.reinjection_smtp), 0, helo=hostname), size=_CONNECTIONS)
    submitter = Submitter(app, spool, pool, hostname)
    system_pool = SmtpPool(Relay(str(process.paths.system_smtp), 0, helo=hostname), size=_CONNECTIONS)

    async def clean() -> None:
        await to_thread(sieve_spool.remove_stale, spool, (app.clock() - _STALE).timestamp())

    try:
        with _watch_fifo(spool, submitter.wake):
            running = [
                asyncio.create_task(submitter.keep_submitting()),
                asyncio.create_task(repeat(_CLEAN_SECONDS, "stale files of the spool", clean)),
            ]
            async with worker.running(SystemMailWorker(app, system_pool)):
                process.report_ready()
                await process.stop_requested.wait()
            await cancel_all(*running)
    except OSError as error:
        raise Failure(f"The process reinjection can't use the spool {spool}: {error}") from error
    await pool.close()
    await system_pool.close()
