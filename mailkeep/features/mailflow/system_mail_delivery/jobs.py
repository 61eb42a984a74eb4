"""The worker that sends the mail of Mailkeep itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import chain
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.features.access.invitations import service as invitations
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.mailflow.sending import rules as sending_rules, service as sending
from mailkeep.features.mailflow.sending.model import SubmissionResult
from mailkeep.features.mailflow.system_mail_delivery import rules
from mailkeep.features.record.events import service as events
from mailkeep.features.record.messages import content as content_files, rules as message_rules, service as messages
from mailkeep.features.record.messages.model import Message
from mailkeep.features.record.system_mail import service as system_mail, texts
from mailkeep.features.record.system_mail.model import SystemMail
from mailkeep.jobs.run import ClaimLimits, JobQueue, QueueWorker
from mailkeep.mail.message.compose import ComposedMessage, compose
from mailkeep.mail.message.dkim import SigningKey, sign
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, OutgoingEnvelope, SmtpRefusal
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.reply import SmtpReply

log = structlog.get_logger("mailkeep.system_mail")

_LEASE = timedelta(minutes=10)  # longer than a submission takes with all its timeouts
_CONCURRENCY = 4


class SystemMailWorker(QueueWorker[SystemMail]):
    """The mail that is due. `pool`: where it is submitted instead of to `app.mta`."""

    def __init__(self, app: App, pool: SmtpPool | None = None) -> None:
        self._app = app
        self._pool = pool
        queue = JobQueue("system_mail", self._claim, _key, self._work, self._release)
        super().__init__(app.db, queue, slots=_CONCURRENCY)

    async def _claim(self, limits: ClaimLimits) -> Sequence[SystemMail]:
        at = self._app.clock()
        async with self._app.db.autocommit() as conn:
            return await system_mail.claim(conn, at, at + _LEASE, limits.total)

    async def _work(self, mail: SystemMail) -> bool:
        """Attempt to send a mail; whether the mail server accepted it, or nothing more is to be done."""
        if self._app.settings.mta.mode != "sandbox" and rules.is_unreachable(mail.recipient):
            log.warning("an administrator has no mail address: mail of the server is not sent", to=mail.recipient)
            await self._finish(mail)
            return True
        at, host = self._app.clock(), self._app.settings.server.mail_domain
        link = await self._find_link(mail)
        if link is None:
            await self._finish(mail)
            return True
        outgoing = rules.outgoing(mail, host, at, link)
        composed = compose(outgoing)
        signature = await self._sign(host, composed)
        row = rules.history_row(mail, outgoing, len(signature) + composed.size, at)
        if not await self._begin(row):
            await self._finish(mail)
            return True
        recipients = [each.address for each in row.recipients]
        envelope = OutgoingEnvelope("", recipients, row.size, composed.is_8bit, composed.needs_smtputf8)
        result = await self._submit(envelope, chain((signature,), composed.chunks()))
        failpoint.reach("system_mail.submitted")
        if isinstance(result, AcceptedSubmission):
            await self._record_acceptance(mail, row, result, chain((signature,), composed.chunks()))
            return True
        return await self._record_failure(mail, result)

    async def _release(self, mail: SystemMail) -> None:
        async with self._app.db.autocommit() as conn:
            await system_mail.postpone(conn, mail, self._app.clock())

    async def _find_link(self, mail: SystemMail) -> str | None:
        """The link in the mail, or empty; None if an invitation has ended before its mail was sent."""
        if mail.kind == "junk_digest":
            return f"{self._app.settings.http.public_url.removesuffix('/')}/me"
        if mail.kind in texts.ALERT_KINDS:
            return self._app.settings.http.public_url.removesuffix("/") + texts.alert_screen(mail)
        if mail.kind != "invitation":
            return ""
        async with self._app.db.autocommit() as conn:
            invitation_id = UUID(mail.items[-1]["invitation_id"])
            return await invitations.find_link(self._app, conn, invitation_id, self._app.clock())

    async def _sign(self, host: str, composed: ComposedMessage) -> bytes:
        async with self._app.db.autocommit() as conn:
            is_managed = await domains.find_by_name(conn, host) is not None
            keys = await dkim.list_signing_keys(conn, self._app.vault, host) if is_managed else list[SigningKey]()
        if is_managed and self._app.settings.mta.mode == "sandbox":
            return b""  # the sandbox signs
        if not keys:
            if "." not in host or host.startswith("localhost."):
                return b""
            keys = [dkim.decrypt(self._app.vault, key) for key in await dkim.ensure_host_keys(self._app, host)]
        return await asyncio.to_thread(sign, composed.chunks(), host, keys, self._app.clock())

    async def _begin(self, row: Message) -> bool:
        """Write the row of the history, if it is not there yet. False if the mail server has the mail already,
        according to its log.
        """
        async with self._app.db.tx() as conn:
            earlier = await messages.find(conn, row.id)
            if earlier is None:
                await messages.insert_messages(conn, [row])
        return earlier is None or earlier.accepted_at is None

    async def _submit(self, envelope: OutgoingEnvelope, body: Iterable[bytes]) -> SubmissionResult:
        try:
            if self._pool is None:
                return await sending.submit(self._app, None, envelope, body)
            return await self._pool.submit(envelope, body)
        except (SmtpRefusal, ConnectionLost) as failure:
            return failure
        except ValueError as error:  # an address that SMTP does not allow
            return SmtpRefusal(SmtpReply(501, "5.1.3", str(error)), "envelope")

    async def _record_acceptance(
        self, mail: SystemMail, row: Message, result: AcceptedSubmission, content: Iterable[bytes]
    ) -> None:
        mode = self._app.settings.mta.mode
        if mail.kind == "invitation":  # its link is nobody else's
            await asyncio.to_thread(content_files.delete_content, self._app.data_dir, row.id)
        elif mode != "sandbox":  # which stores the content itself
            await asyncio.to_thread(content_files.save_contents, self._app.data_dir, [(row.id, content)])
        async with self._app.db.tx() as conn:
            at, status = self._app.clock(), sending_rules.first_status(mode)
            await messages.accept(conn, at, [(row, result.queue_id or "")], status=status)
            await system_mail.finish(conn, mail)

    async def _record_failure(self, mail: SystemMail, failure: SmtpRefusal | ConnectionLost) -> bool:
        at = self._app.clock()
        is_permanent = isinstance(failure, SmtpRefusal) and failure.permanent
        lifetime = timedelta(hours=self._app.settings.outbound.give_up_hours)
        if is_permanent or at - mail.created_at > lifetime:
            log.error("mail of the server is given up", to=mail.recipient, kind=mail.kind, why=str(failure))
            async with self._app.db.tx() as conn:
                ended = await messages.end_submissions(conn, at, [(mail.id, "failed", str(failure))])
                if ended and (row := await messages.find(conn, mail.id)):
                    alert = message_rules.undelivered_alert(row, mail.recipient, str(failure))
                    await events.emit(conn, at, alert)
                await system_mail.finish(conn, mail)
            return is_permanent
        log.warning("mail of the server is sent again later", to=mail.recipient, kind=mail.kind, why=str(failure))
        async with self._app.db.autocommit() as conn:
            await system_mail.postpone(conn, mail, at + rules.pause_after(mail.claims))
        return False

    async def _finish(self, mail: SystemMail) -> None:
        async with self._app.db.autocommit() as conn:
            await system_mail.finish(conn, mail)


def _key(mail: SystemMail) -> UUID:
    return mail.id
