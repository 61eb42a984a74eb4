"""Figures of mail that was never sent."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from mailkeep.features.record.analytics import rules, store
from mailkeep.features.record.analytics.model import ALL_DOMAINS, MailEvent
from mailkeep.mail.smtp.bounce_class import provider_of
from mailkeep.run.runtime.context import attach


def mail_event(
    kind: str, domain_id: UUID, at: datetime, host: str | None = None, bounce_class: str | None = None, **more: Any
) -> MailEvent:
    """An event as the counters read it, about one recipient. `host`: the server with the outcome; `bounce_class`: of
    what is not delivered.
    """
    fields: dict[str, Any] = {
        "message_id": None, "api_key_id": None, "accepted_at": at, "tags": (), "attempts": 1, "is_temporary": False,
        "is_refused": False, "reply": f"450 4.0.0 This is {bounce_class}" if bounce_class else None,
    }  # fmt: skip
    return MailEvent(
        tx="1", id=ALL_DOMAINS, kind=kind, domain_id=domain_id, at=at, recipients=1, is_forwarded=False,
        bounce_class=bounce_class, provider=provider_of(host) if bounce_class else None, remote_host=host,
        **fields | more,
    )  # fmt: skip


async def insert_figures(data_dir: Path, domain_ids: Sequence[UUID]) -> None:
    """Mail of the two weeks before today, of which there are only figures."""
    chance, sums = random.Random(1), rules.Sums({})
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    hosts = ("mx1.l.google.com", "mx1.l.google.com", "far.mail.protection.outlook.com", "mx.elsewhere.test")
    for number in range(60 * 14):
        domain, host = chance.choice(domain_ids), chance.choice(hosts)
        sent = today - timedelta(days=14 * chance.random())
        at = sent + timedelta(seconds=chance.lognormvariate(1.4, 1.1))
        of = {"accepted_at": sent, "tags": chance.choice([(), ("orders",), ("news",)])}
        outcome = chance.choices(["mail.delivered", "later", "mail.bounced", "mail.failed"], [90, 5, 4, 1])[0]
        sums.add(mail_event("mail.sent", domain, sent, **of))
        if outcome == "later":
            sums.add(mail_event("mail.bounced", domain, at, host, "greylisted", is_temporary=True, **of))
            outcome, at, of = "mail.delivered", at + timedelta(minutes=7), of | {"attempts": 2}
        bounce_class = {"mail.bounced": "invalid_recipient", "mail.failed": "expired"}.get(outcome)
        sums.add(mail_event(outcome, domain, at, host, bounce_class, **of))
        if number % 2:
            sums.add(mail_event("mail.received", domain, at))
        if number % 7 == 0:
            sums.add(mail_event("mail.spam", domain, at, is_refused=number % 2 == 0))
    counters, bounces = rules.with_hours_and_days(sums.counters, sums.bounces)
    async with attach(data_dir, "tests") as app, app.db.tx() as conn:
        await store.add(conn, counters)
        await store.add_bounces(conn, bounces)
