"""Which sessions a change of access ends."""

from __future__ import annotations

from datetime import datetime, timedelta

from mailkeep.features.directory.mailbox_sessions.model import SessionEnd

# A change is dated when its transaction begins. Sessions may still begin with the old access until it is committed, and
# while their processes start.
OPENING_TIME = timedelta(seconds=10)


def subjects(login: str) -> tuple[str, str]:
    """The subjects under which a session of this login is ended."""
    return login, login[login.rfind("@") :]


def ends_session(change: SessionEnd, login: str, protocol: str, began_at: datetime) -> bool:
    """Whether this change ends the session of `login` that began then."""
    is_meant = change.subject in subjects(login) and protocol in change.protocols
    return is_meant and began_at <= change.changed_at + OPENING_TIME
