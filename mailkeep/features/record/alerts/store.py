"""The SQL of alerts."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.record.alerts.model import Alert, AlertFilter, AlertRecipient, Area

_SELECT = """
    SELECT a.id, a.area, a.kind, a.subject, a.domain_id, a.severity, a.reason, a.observed, a.baseline, a.state,
           a.created_at, a.seen_at, a.reported_at, a.in_order_since, a.resolved_at, a.note, a.changed_at, a.unmailed,
           a.mailed_at
    FROM alerts a
"""


async def lock(conn: Conn, area: Area) -> None:
    """Others that report in this area wait until the transaction ends."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('alerts ' || %(area)s, 0))", {"area": area})


async def list_unresolved(
    conn: Conn, area: Area, kinds: Collection[str], subjects: Collection[str] | None
) -> list[Alert]:
    """The alerts of these kinds that have not ended; of these subjects, or of all if None."""
    cursor = await conn.execute(
        _SELECT
        + """
        WHERE a.area = %(area)s AND a.kind = ANY(%(kinds)s) AND a.state <> 'resolved'
          AND (%(subjects)s::text[] IS NULL OR a.subject = ANY(%(subjects)s))
        """,
        {"area": area, "kinds": list(kinds), "subjects": None if subjects is None else list(subjects)},
    )
    return [Alert(**row) for row in await cursor.fetchall()]


async def find(conn: Conn, area: Area, alert_id: UUID) -> Alert | None:
    """The alert of this area with this ID."""
    cursor = await conn.execute(_SELECT + " WHERE a.area = %(area)s AND a.id = %(id)s", {"area": area, "id": alert_id})
    row = await cursor.fetchone()
    return Alert(**row) if row else None


async def page(conn: Conn, filters: AlertFilter, page_request: PageRequest) -> Page[Alert]:
    """A page of the alerts."""
    state = filters.state
    result = await fetch_page(
        conn,
        _SELECT,
        [
            ("a.area = %(area)s", "area", filters.area),
            ("a.domain_id = ANY(%(domains)s)", "domains", filters.domains),
            ("a.domain_id = %(domain_id)s", "domain_id", filters.domain_id),
            ("a.kind = %(kind)s", "kind", filters.kind),
            ("a.state <> %(ended)s", "ended", "resolved" if state == "unresolved" else None),
            ("a.state = %(state)s", "state", None if state == "unresolved" else state),
        ],
        page_request,
        {"created_at": "a.id", "id": "a.id"},
    )
    return Page([Alert(**row) for row in result.rows], result.next_key)


async def find_domain(conn: Conn, domain_id: UUID) -> str | None:
    """The name of a domain; None if there is none."""
    cursor = await conn.execute("SELECT d.name FROM domains d WHERE d.id = %(id)s", {"id": domain_id})
    row = await cursor.fetchone()
    return row["name"] if row else None


async def has_unmailed(conn: Conn) -> bool:
    """Whether a change of an alert is not mailed yet."""
    cursor = await conn.execute("SELECT EXISTS (SELECT FROM alerts a WHERE a.unmailed IS NOT NULL) AS found")
    row = await cursor.fetchone()
    return bool(row and row["found"])


async def list_unmailed(conn: Conn) -> list[Alert]:
    """The alerts with a change that is not mailed yet, the oldest first."""
    cursor = await conn.execute(_SELECT + " WHERE a.unmailed IS NOT NULL ORDER BY a.id")
    return [Alert(**row) for row in await cursor.fetchall()]


async def save_mailed(conn: Conn, at: datetime, settled: Collection[UUID], mailed: Collection[UUID]) -> None:
    """Record that the changes of the alerts `settled` are not to be mailed any more, and those of `mailed` are."""
    await conn.execute(
        """
        UPDATE alerts AS a
        SET unmailed = NULL, mailed_at = CASE WHEN a.id = ANY(%(mailed)s) THEN %(at)s ELSE a.mailed_at END
        WHERE a.id = ANY(%(settled)s)
        """,
        {"at": at, "settled": list(settled), "mailed": list(mailed)},
    )


async def list_recipients(conn: Conn) -> list[AlertRecipient]:
    """All active super_admins, and domain_admins with their domains."""
    cursor = await conn.execute(
        """
        SELECT a.email, a.role = 'super_admin' AS all_domains,
               ARRAY(SELECT d.domain_id FROM admin_domains d WHERE d.admin_id = a.id) AS domains
        FROM admins a WHERE a.role IN ('super_admin', 'domain_admin') AND a.active
        """
    )
    return [
        AlertRecipient(row["email"], None if row["all_domains"] else frozenset(row["domains"]))
        for row in await cursor.fetchall()
    ]


async def delete_resolved(conn: Conn, before: datetime) -> None:
    """Delete the alerts that were resolved before `before`."""
    await conn.execute("DELETE FROM alerts WHERE state = 'resolved' AND resolved_at < %(before)s", {"before": before})


async def save(conn: Conn, alert: Alert) -> None:
    """Insert an alert, or update what may change; nothing if its domain was deleted."""
    await conn.execute(
        """
        INSERT INTO alerts AS a (id, area, kind, subject, domain_id, severity, reason, observed, baseline, state,
                                 created_at, seen_at, reported_at, in_order_since, resolved_at, note, changed_at,
                                 unmailed, mailed_at)
        SELECT %(id)s, %(area)s, %(kind)s, %(subject)s, %(domain_id)s, %(severity)s, %(reason)s,
               %(observed)s::double precision, %(baseline)s::double precision, %(state)s, %(created_at)s, %(seen_at)s,
               %(reported_at)s, %(in_order_since)s::timestamptz, %(resolved_at)s::timestamptz, %(note)s::text,
               %(changed_at)s, %(unmailed)s::text, %(mailed_at)s::timestamptz
        WHERE %(domain_id)s::uuid IS NULL OR EXISTS (SELECT FROM domains d WHERE d.id = %(domain_id)s)
        ON CONFLICT (id) DO UPDATE
        SET severity = excluded.severity, reason = excluded.reason, observed = excluded.observed,
            baseline = excluded.baseline, state = excluded.state, seen_at = excluded.seen_at,
            reported_at = excluded.reported_at, in_order_since = excluded.in_order_since,
            resolved_at = excluded.resolved_at, note = excluded.note, changed_at = excluded.changed_at,
            unmailed = excluded.unmailed, mailed_at = excluded.mailed_at
        """,
        {name: getattr(alert, name) for name in Alert.__slots__},
    )
