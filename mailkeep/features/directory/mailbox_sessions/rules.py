"""Which sessions a change of access ends."""

from __future__ import annotations

from datetime import datetime, timedelta

from mailkeep.features.directory.mailbox_sessions.model import SessionEnd

# `changed_at` is the time at which the transaction began. Sessions may begin with the old access until the commit, and
# while Dovecot's processes start.
OPENING_TIME = timedelta(seconds=10)


def subjects(login: str) -> tuple[str, str]:
    """The subjects that include a session of this login: the address and its domain."""
    return login, login[login.rfind("@") :]


def ends_session(change: SessionEnd, login: str, protocol: str, began_at: datetime) -> bool:
    """Whether this change ends the session of `login` that began at `began_at`."""
    applies = change.subject in subjects(login) and protocol in change.protocols
    return applies and began_at <= change.changed_at + OPENING_TIME
