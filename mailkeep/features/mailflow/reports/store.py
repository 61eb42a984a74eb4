"""SQL of reports."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.reports.model import (
    DayCounts,
    OtherSender,
    Reporter,
    ReportMail,
    SourceRow,
    StoredReport,
    TlsFailureCount,
)

DmarcRowValues = tuple[str, int, str, bool, bool, bool, bool, str]
"""source_ip, messages, disposition, dkim, spf, own_key, forwarded, other_domain."""


async def insert_mail(conn: Conn, mail: ReportMail, max_unread: int) -> bool:
    """Store mail for the worker, once per queue ID. False if `max_unread` messages wait already."""
    cursor = await conn.execute(
        """
        INSERT INTO report_mail (id, queue_id, content, sender_domain, claimed_until, received_at)
        SELECT %(id)s, %(queue_id)s, %(content)b, %(sender_domain)s, %(received_at)s, %(received_at)s
        WHERE (SELECT count(*) FROM (SELECT FROM report_mail LIMIT %(max)s) t) < %(max)s
        ON CONFLICT (queue_id) DO NOTHING
        RETURNING id
        """,
        {
            "id": mail.id,
            "queue_id": mail.queue_id,
            "content": mail.content,
            "sender_domain": mail.sender_domain,
            "received_at": mail.received_at,
            "max": max_unread,
        },
    )
    if await cursor.fetchone():
        return True
    cursor = await conn.execute("SELECT FROM report_mail WHERE queue_id = %(queue_id)s", {"queue_id": mail.queue_id})
    return await cursor.fetchone() is not None


async def claim_mail(conn: Conn, at: datetime, until: datetime) -> ReportMail | None:
    """Claim the oldest message that no worker has."""
    cursor = await conn.execute(
        """
        UPDATE report_mail m SET claimed_until = %(until)s, attempts = m.attempts + 1
        WHERE m.id = (SELECT r.id FROM report_mail r WHERE r.claimed_until <= %(at)s
                      ORDER BY r.claimed_until LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING m.id, m.queue_id, m.content, m.sender_domain, m.attempts, m.received_at
        """,
        {"at": at, "until": until},
        binary=True,
    )
    row = await cursor.fetchone()
    return ReportMail(**row) if row else None


async def delete_mail(conn: Conn, mail_id: UUID) -> bool:
    """Delete a message that was read; False if another worker did."""
    cursor = await conn.execute("DELETE FROM report_mail WHERE id = %(id)s RETURNING id", {"id": mail_id})
    return await cursor.fetchone() is not None


async def lock_domain(conn: Conn, domain_id: UUID) -> bool:
    """Lock a domain's reports until the transaction ends, and prevent its deletion; False if it is gone."""
    cursor = await conn.execute("SELECT FROM domains WHERE id = %(id)s FOR KEY SHARE", {"id": domain_id})
    if await cursor.fetchone() is None:
        return False
    await conn.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('reports ' || %(id)s::text, 0))", {"id": domain_id}
    )
    return True


async def find_same(conn: Conn, report: StoredReport) -> UUID | None:
    """The stored report with the same domain, kind, organisation and ID. That of an upload is the same as a mailed
    one, whoever mailed it, if it is also about the same time and number of messages.
    """
    cursor = await conn.execute(
        """
        SELECT r.id FROM reports r
        WHERE r.domain_id = %(domain_id)s AND r.kind = %(kind)s AND r.report_id = %(report_id)s
          AND r.organisation = %(organisation)s AND r.proved = %(proved)s
          AND (NOT r.proved OR (r.source = %(source)s AND r.sender_domain = %(sender_domain)s)
               OR (r.source <> %(source)s AND r.messages = %(messages)s AND r.begin_at = %(begin_at)s
                   AND r.end_at = %(end_at)s))
        LIMIT 1
        """,
        _values(report),
    )
    row = await cursor.fetchone()
    return row["id"] if row else None


async def count_recent(conn: Conn, domain_id: UUID, since: datetime) -> tuple[int, int, int]:
    """A domain's proved and unproved reports since `since`, and their records."""
    cursor = await conn.execute(
        """
        SELECT count(*) FILTER (WHERE r.proved) AS proved, count(*) FILTER (WHERE NOT r.proved) AS unproved,
               coalesce(sum(r.rows), 0)::bigint AS rows
        FROM reports r WHERE r.domain_id = %(id)s AND r.received_at >= %(since)s
        """,
        {"id": domain_id, "since": since},
    )
    row = await cursor.fetchone()
    assert row is not None
    return row["proved"], row["unproved"], row["rows"]


async def insert(conn: Conn, report: StoredReport, day: date, rows: Sequence[DmarcRowValues]) -> None:
    """Insert a report with its records."""
    await conn.execute(
        """
        INSERT INTO reports (id, domain_id, kind, source, proved, sender_domain, organisation, report_id, contact,
                             begin_at, end_at, messages, rows, content, received_at)
        VALUES (%(id)s, %(domain_id)s, %(kind)s, %(source)s, %(proved)s, %(sender_domain)s, %(organisation)s,
                %(report_id)s, %(contact)s, %(begin_at)s, %(end_at)s, %(messages)s, %(rows)s, %(content)s,
                %(received_at)s)
        """,
        _values(report),
    )
    if not rows:
        return
    columns = list(zip(*rows, strict=True))
    await conn.execute(
        """
        INSERT INTO dmarc_rows (report, domain_id, day, end_at, source_ip, messages, disposition, dkim, spf, own_key,
                                forwarded, other_domain)
        SELECT %(report)s, %(domain_id)s, %(day)s, %(end_at)s, r.*
        FROM unnest(%(ips)s::inet[], %(messages)s::bigint[], %(dispositions)s::text[], %(dkim)s::boolean[],
                    %(spf)s::boolean[], %(own_keys)s::boolean[], %(forwarded)s::boolean[], %(others)s::text[]) r
        """,
        {
            "report": report.id,
            "domain_id": report.domain_id,
            "day": day,
            "end_at": report.end_at,
            "ips": list(columns[0]),
            "messages": list(columns[1]),
            "dispositions": list(columns[2]),
            "dkim": list(columns[3]),
            "spf": list(columns[4]),
            "own_keys": list(columns[5]),
            "forwarded": list(columns[6]),
            "others": list(columns[7]),
        },
    )


async def request_names(conn: Conn, addresses: Collection[str], at: datetime) -> None:
    """Let the worker look up the reverse names of these addresses."""
    await conn.execute(
        """
        INSERT INTO source_names (ip, created_at) SELECT i, %(at)s FROM unnest(%(ips)s::inet[]) i ORDER BY i
        ON CONFLICT DO NOTHING
        """,
        {"ips": list(addresses), "at": at},
    )


async def list_unnamed(conn: Conn, limit: int) -> list[str]:
    """Addresses whose reverse names were never looked up."""
    cursor = await conn.execute(
        "SELECT host(ip) AS ip FROM source_names WHERE looked_up_at IS NULL ORDER BY created_at LIMIT %(limit)s",
        {"limit": limit},
    )
    return [row["ip"] for row in await cursor.fetchall()]


async def set_names(conn: Conn, names: Sequence[tuple[str, str]], at: datetime) -> None:
    """Store reverse names (empty: none)."""
    await conn.execute(
        """
        UPDATE source_names s SET name = n.name, looked_up_at = %(at)s
        FROM unnest(%(ips)s::inet[], %(names)s::text[]) n (ip, name) WHERE s.ip = n.ip
        """,
        {"ips": [ip for ip, _ in names], "names": [name for _, name in names], "at": at},
    )


async def prune(conn: Conn, before: datetime) -> None:
    """Delete reports received before `before`, and the names of addresses requested before."""
    await conn.execute("DELETE FROM reports WHERE received_at < %(before)s", {"before": before})
    await conn.execute("DELETE FROM source_names WHERE created_at < %(before)s", {"before": before})


async def list_sources(conn: Conn, scope: dict[str, Any], limit: int) -> tuple[list[SourceRow], int]:
    """The sources with the most messages, and the number of all. `scope`: domain_id, since, addresses, relays."""
    cursor = await conn.execute(
        """
        WITH by_kind AS (
            SELECT r.source_ip, k.kind, sum(r.messages)::bigint AS messages,
                   coalesce(sum(r.messages) FILTER (WHERE r.dkim), 0)::bigint AS dkim,
                   coalesce(sum(r.messages) FILTER (WHERE r.spf), 0)::bigint AS spf,
                   coalesce(sum(r.messages) FILTER (WHERE r.dkim OR r.spf), 0)::bigint AS aligned,
                   coalesce(sum(r.messages) FILTER (WHERE r.disposition = 'quarantine'), 0)::bigint AS quarantined,
                   coalesce(sum(r.messages) FILTER (WHERE r.disposition = 'reject'), 0)::bigint AS rejected,
                   max(r.other_domain) AS other_domain, max(r.day) AS last_seen
            FROM dmarc_rows r CROSS JOIN LATERAL dmarc_source_kind(r, %(addresses)s::inet[], %(relays)s) k (kind)
            WHERE r.domain_id = %(domain_id)s AND r.end_at >= %(since)s
            GROUP BY r.source_ip, k.kind)
        SELECT host(b.source_ip) AS source_ip, coalesce(max(n.name), '') AS name,
               (array_agg(b.kind ORDER BY b.messages DESC, b.kind))[1] AS kind, sum(b.messages)::bigint AS messages,
               sum(b.dkim)::bigint AS dkim, sum(b.spf)::bigint AS spf, sum(b.aligned)::bigint AS aligned,
               sum(b.quarantined)::bigint AS quarantined, sum(b.rejected)::bigint AS rejected,
               max(b.other_domain) AS other_domain, max(b.last_seen) AS last_seen, count(*) OVER () AS total
        FROM by_kind b LEFT JOIN source_names n ON n.ip = b.source_ip
        GROUP BY b.source_ip ORDER BY sum(b.messages) DESC, b.source_ip LIMIT %(limit)s
        """,
        scope | {"limit": limit},
    )
    rows = await cursor.fetchall()
    sources = [SourceRow(**{name: row[name] for name in SourceRow.__slots__}) for row in rows]
    return sources, rows[0]["total"] if rows else 0


async def list_days(conn: Conn, scope: dict[str, Any], counted_senders: Collection[str] | None) -> list[DayCounts]:
    """The counts of each day with reports, oldest first. `counted_senders`: the domains whose mail counts as
    `failing_other` (None: all).
    """
    cursor = await conn.execute(
        """
        SELECT r.day, sum(r.messages)::bigint AS messages,
               coalesce(sum(r.messages) FILTER (WHERE r.dkim OR r.spf), 0)::bigint AS aligned,
               coalesce(sum(r.messages) FILTER (WHERE NOT (r.dkim OR r.spf) AND k.kind = 'ours'), 0)::bigint
                   AS failing_ours,
               coalesce(sum(r.messages) FILTER (WHERE NOT (r.dkim OR r.spf) AND k.kind = 'forwarder'), 0)::bigint
                   AS failing_forwarded,
               coalesce(sum(r.messages) FILTER (
                   WHERE k.kind = 'other'
                     AND (%(senders)s::text[] IS NULL OR r.other_domain = ANY (%(senders)s::text[]))),
                   0)::bigint AS failing_other,
               coalesce(sum(r.messages) FILTER (WHERE k.kind = 'unknown'), 0)::bigint AS unknown,
               coalesce(sum(r.messages) FILTER (WHERE r.disposition = 'quarantine'), 0)::bigint AS quarantined,
               coalesce(sum(r.messages) FILTER (WHERE r.disposition = 'reject'), 0)::bigint AS rejected
        FROM dmarc_rows r CROSS JOIN LATERAL dmarc_source_kind(r, %(addresses)s::inet[], %(relays)s) k (kind)
        WHERE r.domain_id = %(domain_id)s AND r.end_at >= %(since)s
        GROUP BY r.day ORDER BY r.day
        """,
        scope | {"senders": None if counted_senders is None else list(counted_senders)},
    )
    return [DayCounts(**row) for row in await cursor.fetchall()]


async def list_other_senders(conn: Conn, scope: dict[str, Any], limit: int) -> list[OtherSender]:
    """Domains for which mail was authenticated instead, by messages."""
    cursor = await conn.execute(
        """
        SELECT r.other_domain AS domain, sum(r.messages)::bigint AS messages, count(DISTINCT r.day) AS days
        FROM dmarc_rows r CROSS JOIN LATERAL dmarc_source_kind(r, %(addresses)s::inet[], %(relays)s) k (kind)
        WHERE r.domain_id = %(domain_id)s AND r.end_at >= %(since)s AND k.kind = 'other'
        GROUP BY r.other_domain ORDER BY sum(r.messages) DESC, r.other_domain LIMIT %(limit)s
        """,
        scope | {"limit": limit},
    )
    return [OtherSender(**row) for row in await cursor.fetchall()]


async def list_reporters(conn: Conn, domain_id: UUID, kind: str, since: datetime) -> list[Reporter]:
    """The organisations with counted reports, by messages; at most 100."""
    cursor = await conn.execute(
        """
        SELECT r.organisation, r.sender_domain, count(*) AS reports, sum(r.messages)::bigint AS messages,
               max(r.end_at) AS last_report_at
        FROM reports r
        WHERE r.domain_id = %(domain_id)s AND r.kind = %(kind)s AND r.proved AND r.end_at >= %(since)s
        GROUP BY r.organisation, r.sender_domain
        ORDER BY sum(r.messages) DESC, r.organisation, r.sender_domain LIMIT 100
        """,
        {"domain_id": domain_id, "kind": kind, "since": since},
    )
    return [Reporter(**row) for row in await cursor.fetchall()]


async def count_unproved(conn: Conn, domain_id: UUID, kind: str, since: datetime) -> int:
    """The reports that do not count."""
    cursor = await conn.execute(
        """
        SELECT count(*) AS reports FROM reports r
        WHERE r.domain_id = %(domain_id)s AND r.kind = %(kind)s AND NOT r.proved AND r.end_at >= %(since)s
        """,
        {"domain_id": domain_id, "kind": kind, "since": since},
    )
    row = await cursor.fetchone()
    return row["reports"] if row else 0


async def find_policy(conn: Conn, domain_id: UUID) -> str | None:
    """The policy `p` that the newest counted DMARC report found in DNS."""
    cursor = await conn.execute(
        """
        SELECT r.content->>'p' AS p FROM reports r
        WHERE r.domain_id = %(domain_id)s AND r.kind = 'dmarc' AND r.proved ORDER BY r.end_at DESC LIMIT 1
        """,
        {"domain_id": domain_id},
    )
    row = await cursor.fetchone()
    return row["p"] if row else None


async def count_sessions(conn: Conn, domain_id: UUID, since: datetime, limit: int) -> list[tuple[date, str, int, int]]:
    """The successful and failed sessions in the newest counted TLS reports by UTC day and type of policy."""
    cursor = await conn.execute(
        """
        WITH newest AS (
            SELECT r.begin_at, r.end_at, r.content FROM reports r
            WHERE r.domain_id = %(domain_id)s AND r.kind = 'tls' AND r.proved AND r.end_at >= %(since)s
            ORDER BY r.end_at DESC LIMIT %(limit)s)
        SELECT ((n.begin_at + (n.end_at - n.begin_at) / 2) AT TIME ZONE 'UTC')::date AS day, p->>'type' AS type,
               sum((p->>'successful')::bigint)::bigint AS successful, sum((p->>'failed')::bigint)::bigint AS failed
        FROM newest n CROSS JOIN LATERAL jsonb_array_elements(n.content->'policies') p
        GROUP BY 1, 2
        """,
        {"domain_id": domain_id, "since": since, "limit": limit},
    )
    return [(row["day"], row["type"], row["successful"], row["failed"]) for row in await cursor.fetchall()]


async def list_failures(conn: Conn, domain_id: UUID, since: datetime, limit: int, most: int) -> list[TlsFailureCount]:
    """The failures in the newest counted TLS reports, those with the most sessions first."""
    cursor = await conn.execute(
        """
        WITH newest AS (
            SELECT r.begin_at, r.end_at, r.content FROM reports r
            WHERE r.domain_id = %(domain_id)s AND r.kind = 'tls' AND r.proved AND r.end_at >= %(since)s
            ORDER BY r.end_at DESC LIMIT %(limit)s)
        SELECT f->>'result_type' AS result_type, f->>'receiving_host' AS receiving_host,
               sum((f->>'sessions')::bigint)::bigint AS sessions
        FROM newest n CROSS JOIN LATERAL jsonb_array_elements(n.content->'failures') f
        GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT %(most)s
        """,
        {"domain_id": domain_id, "since": since, "limit": limit, "most": most},
    )
    return [TlsFailureCount(**row) for row in await cursor.fetchall()]


async def page(
    conn: Conn, domain_id: UUID, kind: str | None, proved: bool | None, request: PageRequest
) -> Page[StoredReport]:
    """A page of a domain's reports, newest first."""
    found = await fetch_page(
        conn,
        """
        SELECT r.id, r.domain_id, r.kind, r.source, r.proved, r.sender_domain, r.organisation, r.report_id, r.contact,
               r.begin_at, r.end_at, r.messages, r.rows, r.content, r.received_at
        FROM reports r
        """,
        [
            ("r.domain_id = %(domain_id)s", "domain_id", domain_id),
            ("r.kind = %(kind)s", "kind", kind),
            ("r.proved = %(proved)s", "proved", proved),
        ],
        request,
        {"created_at": "r.id", "id": "r.id"},
    )
    return Page([StoredReport(**row) for row in found.rows], found.next_key)


def _values(report: StoredReport) -> dict[str, Any]:
    return {name: getattr(report, name) for name in StoredReport.__slots__} | {"content": Jsonb(report.content)}
