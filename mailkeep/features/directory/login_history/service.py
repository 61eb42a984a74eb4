"""Record, list and delete sign-ins to mailboxes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.pool import Conn
from mailkeep.features.directory.login_history import store
from mailkeep.features.directory.login_history.model import MailboxSignIn, SignInDay


async def record(conn: Conn, sign_ins: Sequence[MailboxSignIn]) -> set[UUID]:
    """Record sign-ins; returns the mailboxes that are locked, whose sign-ins could not be recorded now."""
    return await store.upsert(conn, sign_ins)


async def page(app: App, conn: Conn, mailbox_id: UUID, page_request: PageRequest) -> Page[SignInDay]:
    """A page of the sign-ins to a mailbox that are not older than `retention.login_days`."""
    return await store.page(conn, mailbox_id, _kept_since(app), page_request)


async def prune(app: App, conn: Conn) -> None:
    """Delete sign-ins that are older than `retention.login_days`."""
    await store.delete_before(conn, _kept_since(app).astimezone(UTC).date())


def _kept_since(app: App) -> datetime:
    return app.clock() - timedelta(days=app.settings.retention.login_days)
