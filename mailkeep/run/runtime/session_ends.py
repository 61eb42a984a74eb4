"""Ends open sessions that have lost their access: of mailboxes by IMAP, POP3 and ManageSieve, and of API keys by
submission. Runs in the process `node`, as root.

Each change (`directory/mailbox_sessions`), also the expiry of an app password or API key, gets two passes: one at once,
and one a second later. The second ends sessions that were just opening at the first, and kills processes that have not
followed SIGTERM. Then the change is forgotten; an agent that is killed before that finds it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.features.access.key_sessions import service as key_sessions
from mailkeep.features.access.key_sessions.model import KeySession
from mailkeep.features.directory.app_passwords import service as app_passwords
from mailkeep.features.directory.mailbox_sessions import rules, service as mailbox_sessions
from mailkeep.features.directory.mailbox_sessions.model import SessionEnd
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot import sessions as dovecot_sessions
from mailkeep.mail.dovecot.sessions import DovecotSession
from mailkeep.mail.postfix.submission_login import parse_key_login
from mailkeep.mail.postfix.submission_sessions import close_connection, is_smtpd, list_smtpd

log = structlog.get_logger("mailkeep.session_ends")

_SECOND_PASS_SECONDS = 1.0
_RETRY_SECONDS = 1.0
_MAX_PAUSE_SECONDS = 60.0  # in case the clock is set
# A session that begins later than this after the change was first seen was opened with the new access rights.
_OPENING = timedelta(seconds=0.5)

ListSessions = Callable[[Path, datetime], Awaitable[Sequence[DovecotSession]]]
"""Lists the open sessions: `dovecot_sessions.open_sessions`."""


@dataclass(frozen=True, slots=True)
class _PassTimes:
    """When a change was first seen, and when (on the event loop's clock) its second pass is due."""

    first_seen_at: datetime
    second_pass: float


@dataclass(slots=True)
class SessionEnder:
    """Ends sessions whenever it is woken."""

    app: App
    paths: InstancePaths
    list_sessions: ListSessions = dovecot_sessions.list_open_sessions
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _passes: dict[int, _PassTimes] = field(default_factory=dict[int, _PassTimes])
    _signalled: set[DovecotSession] = field(default_factory=set[DovecotSession])
    _failing: bool = False

    def wake(self) -> None:
        """Check now whether there are sessions to end."""
        self._woken.set()

    async def run(self) -> None:
        """End sessions until cancelled."""
        pause: float | None = None
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._woken.wait()
            self._woken.clear()
            try:
                pause = await self.run_passes()
                self._failing = False
            except (Failure, Unavailable) as error:
                pause = _RETRY_SECONDS
                if not self._failing:
                    log.warning("sessions that lost their access can't be ended; retrying every second", why=str(error))
                self._failing = True
            except Exception:
                pause = _RETRY_SECONDS
                log.exception("ending sessions failed; retrying every second")

    async def run_passes(self) -> float | None:
        """Do the passes that are due; returns the seconds until the next one or the next expiry, None without one."""
        loop, at = asyncio.get_running_loop(), self.app.clock()
        async with self.app.db.autocommit() as conn:
            expiries = [await app_passwords.end_expired(conn, at), await key_sessions.end_expired(conn, at)]
            pending = await mailbox_sessions.list_pending_ends(conn)
        first = [end for end in pending if end.id not in self._passes]
        second = [end for end in pending if end.id in self._passes and self._passes[end.id].second_pass <= loop.time()]
        if first or second:
            self._passes |= {end.id: _PassTimes(at, loop.time() + _SECOND_PASS_SECONDS) for end in first}
            await self._end_key_sessions(first + second)
            is_of_mailbox = any(parse_key_login(end.subject) is None for end in first + second)
            sessions = await self.list_sessions(self.paths.dovecot_conf / "dovecot.conf", at) if is_of_mailbox else ()
            self._end(sessions, first + second)
            async with self.app.db.autocommit() as conn:
                await mailbox_sessions.finish_ends(conn, second)
            self._signalled &= set(sessions)
        waiting = {end.id for end in pending} - {end.id for end in second}
        self._passes = {end_id: times for end_id, times in self._passes.items() if end_id in waiting}
        pauses = [times.second_pass - loop.time() for times in self._passes.values()]
        pauses += [min(_MAX_PAUSE_SECONDS, (each - self.app.clock()).total_seconds()) for each in expiries if each]
        return max(0.0, min(pauses)) if pauses else None

    def _end(self, sessions: Sequence[DovecotSession], changes: Sequence[SessionEnd]) -> None:
        by_subject: dict[str, list[SessionEnd]] = {}
        for change in changes:
            by_subject.setdefault(change.subject, []).append(change)
        for session in sessions:
            candidates = [each for name in rules.subjects(session.login) for each in by_subject.get(name, [])]
            if any(self._ends(change, session) for change in candidates):
                log.info("ending a session", login=session.login, protocol=session.protocol, pid=session.pid)
                dovecot_sessions.end_session(session, force=session in self._signalled)
                self._signalled.add(session)

    async def _end_key_sessions(self, changes: Sequence[SessionEnd]) -> None:
        """Close the connections of submission sessions whose API keys have ended."""
        for change in changes:
            key_id, before = parse_key_login(change.subject), self._passes[change.id].first_seen_at + _OPENING
            if key_id is None:
                continue
            async with self.app.db.autocommit() as conn:
                for session in await key_sessions.list_of_key(conn, key_id, before):
                    self._close(session)
                await key_sessions.forget_of_key(conn, key_id, before)

    def _close(self, session: KeySession) -> None:
        queue, is_known = self.paths.postfix_queue, session.pid > 0
        for pid in [session.pid] if is_known else list_smtpd(queue):
            try:
                is_closed = close_connection(pid, session.client, queue, None if is_known else self.paths.auth_socket)
            except OSError as error:
                text = "the connection of a session whose API key has ended can't be closed; it can send nothing"
                log.warning(text, login=f"key:{session.key_id}", why=str(error))
                return
            if is_closed:
                log.info("ending a session", login=f"key:{session.key_id}", protocol="smtp", pid=pid)

    async def prune_key_sessions(self) -> None:
        """Forget the submission sessions whose processes have ended."""
        async with self.app.db.autocommit() as conn:
            await key_sessions.prune(conn, self.app.clock(), lambda pid: is_smtpd(pid, self.paths.postfix_queue))

    def _ends(self, change: SessionEnd, session: DovecotSession) -> bool:
        is_old = session.began_at <= self._passes[change.id].first_seen_at + _OPENING
        return is_old and rules.ends_session(change, session.login, session.protocol, session.began_at)
