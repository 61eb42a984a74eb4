"""Decide about logins by mail protocols, and record their results."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from mailkeep.app import App
from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import Unavailable
from mailkeep.core.ids import uuid7_time
from mailkeep.core.minute_limit import MinuteLimit
from mailkeep.core.network import source_of
from mailkeep.db.pool import Conn
from mailkeep.features.access.api_keys import service as api_keys
from mailkeep.features.access.key_sessions import service as key_sessions
from mailkeep.features.access.key_sessions.model import KeySession
from mailkeep.features.access.sign_in_protection import service as sign_ins
from mailkeep.features.access.sign_in_protection.model import Attempt
from mailkeep.features.directory.app_passwords import service as app_passwords
from mailkeep.features.directory.app_passwords.model import PROTOCOLS
from mailkeep.features.directory.mail_logins import store
from mailkeep.features.directory.mailboxes.model import parse_mail_folder
from mailkeep.mail.daemons.probe_mailbox import is_probe
from mailkeep.mail.dovecot.auth import PROCEED, REFUSE, LoginQuestion, LoginReport
from mailkeep.mail.postfix.submission_login import KEY_USER, parse_key_login

log = structlog.get_logger("mailkeep.sign_ins")

_DECISION_SECONDS = 1.0


@dataclass(slots=True)
class LoginPolicy:
    """Answers the questions of Dovecot's authentication. Its methods do not raise."""

    app: App
    _warnings: MinuteLimit[None] = field(default_factory=lambda: MinuteLimit[None](1))

    async def decide(self, question: LoginQuestion) -> int:
        """PROCEED, REFUSE, or the seconds by which the answer is delayed."""
        if not question.remote or is_probe(question.login):
            return PROCEED
        try:
            async with asyncio.timeout(_DECISION_SECONDS):
                return await self._decide(question)
        except (Unavailable, TimeoutError) as error:
            self._warn("logins are not limited: the database does not answer", error)
        except Exception:
            log.exception("logins are not limited after an error")
        return PROCEED

    async def _decide(self, question: LoginQuestion) -> int:
        app = self.app
        if _is_with_key(question):
            return await self._decide_key(question)
        async with app.db.tx() as conn:
            decision = await sign_ins.begin(conn, self._attempt(question), app.clock())
        try:
            address = parse_address(question.login)
        except AddressError:
            # Dovecot's queries are less strict: they fold a local part that is too long into that of a mailbox, whose
            # failures this attempt has not counted.
            return REFUSE
        answer = REFUSE if decision.refused_until is not None else decision.delay
        if answer != PROCEED and question.digest and await self._has_app_password(address, question):
            return PROCEED
        return answer

    async def _decide_key(self, question: LoginQuestion) -> int:
        """A valid key is not counted, delayed or refused. Others fail later, all in the same way."""
        async with self.app.db.autocommit() as conn:
            at = self.app.clock()
            if question.key and await api_keys.opens_submission(conn, question.key, question.remote, at):
                return PROCEED
        async with self.app.db.tx() as conn:
            attempt = sign_ins.new_key_attempt(self.app.vault, question.remote, question.pwhash)
            decision = await sign_ins.begin(conn, attempt, self.app.clock())
        return REFUSE if decision.refused_until is not None else decision.delay

    async def _has_app_password(self, address: Address, question: LoginQuestion) -> bool:
        async with self.app.db.autocommit() as conn:
            return await app_passwords.opens_session(conn, address.key, question.protocol, question.digest)

    async def record(self, report: LoginReport) -> None:
        """Uncount a login that succeeded, and remember its source; of an API key, its session."""
        if not report.remote or is_probe(report.login):
            return
        self._count(report)
        if not report.success:
            return
        key_id = parse_key_login(report.access)
        if key_id is not None:
            await self._record_session(KeySession(key_id, report.remote, self.app.clock()))
            return
        mailbox_id = parse_mail_folder(self.app.data_dir, report.home)
        try:
            async with asyncio.timeout(_DECISION_SECONDS), self.app.db.tx() as conn:
                await sign_ins.succeed(conn, self._attempt(report))
                if mailbox_id is not None:
                    await sign_ins.record_mailbox_source(conn, mailbox_id, source_of(report.remote), self.app.clock())
        except (Unavailable, TimeoutError) as error:
            self._warn("the result of a login was not recorded: the database does not answer", error)
        except Exception:
            log.exception("the result of a login was not recorded after an error")

    def _count(self, report: LoginReport) -> None:
        protocol = report.protocol if report.protocol in PROTOCOLS else "other"
        result = "success" if report.success else "refused" if report.policy_reject else "failed"
        self.app.counters.add("logins", protocol, result)

    async def _record_session(self, session: KeySession) -> None:
        try:
            async with asyncio.timeout(_DECISION_SECONDS), self.app.db.autocommit() as conn:
                await key_sessions.record(conn, session)
        except (Unavailable, TimeoutError) as error:
            self._warn("a submission session was not recorded: the database does not answer", error)
        except Exception:
            log.exception("a submission session was not recorded after an error")

    def _attempt(self, login: LoginQuestion | LoginReport) -> Attempt:
        return sign_ins.new_attempt(self.app.vault, "mailbox", login.login, login.remote, login.pwhash)

    def _warn(self, text: str, error: BaseException) -> None:
        """Log at most once a minute."""
        at = self.app.clock()
        self._warnings.pop_exceeded(at)
        if self._warnings.allow(text, text, None, at):
            log.warning(text, error=type(error).__name__)


async def find_former_logins(conn: Conn, logins: Mapping[str, datetime]) -> list[str]:
    """Of names that have signed in, with the time of their first sign-in, those that were another mailbox's then. It
    has been deleted, and maybe there is a new one with its address.
    """
    keys: dict[str, str] = {}
    for login in logins:
        with contextlib.suppress(AddressError):
            keys[login] = parse_address(login).key
    mailboxes = await store.list_mailboxes(conn, list(keys.values()))
    owners = {login: mailboxes.get(keys.get(login, "")) for login in logins}
    return [login for login, owner in owners.items() if owner is None or uuid7_time(owner) > logins[login]]


def _is_with_key(login: LoginQuestion | LoginReport) -> bool:
    """Whether a client presents an API key. Dovecot folds user names too."""
    return login.protocol == "smtp" and login.login.lower() == KEY_USER
