"""The test of a decision."""

from __future__ import annotations

import asyncio
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import NotFound
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.mailflow.filter_test import rules, wire
from mailkeep.features.mailflow.filter_test.model import Trial
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.model import Facts, OwnerRef, Subject
from mailkeep.features.record.history import service as history
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import Message

FilterTest, read_test, to_test_result = wire.FilterTest, wire.read_test, wire.to_test_result
"""For commands."""
_NO_DOMAIN = UUID(int=0)


async def try_message(app: App, who: Principal, ref: OwnerRef, facts: Facts | UUID) -> Trial:
    """What would happen to a message with these facts, or to that of the history with this ID. Counts no hit.

    NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; INVALID_FIELD for a message that was not incoming.
    """
    async with app.db.autocommit() as conn:
        owner = await filtering.find_owner(conn, who, ref, "filter.write")
        message: Message | None = None
        if isinstance(facts, UUID):
            message = await _find_message(conn, who, facts)
            facts = rules.read_facts(message)
        subject = Subject(owner.domain_id or _NO_DOMAIN, owner.mailbox_id)
        policy = (await filtering.find_policies(conn, [subject], facts))[subject]
    # In a thread, because the first call loads the Public Suffix List.
    return await asyncio.to_thread(
        rules.try_out,
        policy,
        facts,
        is_full_profile=app.settings.is_full_profile,
        has_score=message is not None,
        scan=rules.find_scan_result(message) if message else None,
    )


async def _find_message(conn: Conn, who: Principal, message_id: UUID) -> Message:
    if who.mailbox is None:
        return await history.get(conn, who, message_id)
    mailbox = await mailboxes.get(conn, who, who.mailbox.id)
    message = await messages.find(conn, message_id)
    if message is None or not rules.is_for(message, mailbox):
        raise NotFound
    return message
