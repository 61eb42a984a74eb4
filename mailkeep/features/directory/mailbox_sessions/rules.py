"""Which sessions a change of access ends."""

from __future__ import annotations

from datetime import datetime, timedelta

from mailkeep.features.directory.mailbox_sessions.model import SessionEnd

# A change has the time at which its transaction began. Until the commit, and while Dovecot's processes start, sessions
# may still begin with the old access.
OPENING_TIME = timedelta(seconds=10)


def subjects(login: str) -> tuple[str, str]:
    """The subjects that include a session of this login: the address and its domain."""
    return login, login[login.rfind("@") :]


def ends_session(change: SessionEnd, login: str, protocol: str, began_at: datetime) -> bool:
    """Whether this change ends the session of `login` that began at `began_at`."""
    is_meant = change.subject in subjects(login) and protocol in change.protocols
    return is_meant and began_at <= change.changed_at + OPENING_TIME
