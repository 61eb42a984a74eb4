"""Which sessions a change of access ends."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from mailkeep.features.directory.mailbox_sessions.model import SessionEnd

# `changed_at` is the time at which the transaction began. Sessions may begin with the old access until the commit, and
# while Dovecot's processes start.
OPENING_TIME = timedelta(seconds=10)


_APP_PASSWORD = re.compile(r"(.+@[^@/]+)/[0-9]+", re.ASCII)


def subjects(login: str) -> tuple[str, ...]:
    """The subjects that include a session of this login: the address and its domain, and the app password with which
    it was opened (`alice@example.org/23`).
    """
    match = _APP_PASSWORD.fullmatch(login)
    address = match[1] if match else login
    return (*((login,) if match else ()), address, address[address.rfind("@") :])


def ends_session(change: SessionEnd, login: str, protocol: str, began_at: datetime) -> bool:
    """Whether this change ends the session of `login` that began at `began_at`."""
    if change.subject not in subjects(login) or protocol not in change.protocols:
        return False
    if change.password_only and _APP_PASSWORD.fullmatch(login):
        return False
    return began_at <= change.changed_at + OPENING_TIME
