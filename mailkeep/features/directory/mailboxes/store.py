"""SQL of mailboxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from mailkeep.core.address import Address, fold_local
from mailkeep.core.errors import Conflict
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.directory.domains.model import InheritedFlag
from mailkeep.features.directory.mailboxes.model import (
    LastLogin,
    Mailbox,
    MailboxFilter,
    MailboxForward,
    MailboxHolds,
    MailboxSuspension,
    Protocols,
)
from mailkeep.settings.tree import AbuseSettings

_SELECT = """
    SELECT m.id, m.domain_id, d.name AS domain_name, m.local_part, m.address_key AS address, m.name, m.active,
           m.quota_bytes, m.used_bytes, m.message_count, m.imap, m.pop3, m.smtp, m.sieve,
           m.forward_destinations, m.forward_keys, m.forward_keep_copy, m.last_login_at, m.last_login_protocol,
           m.last_login_ip, m.created_at, m.updated_at, m.deleted_at, m.time_zone, m.require_app_passwords,
           m.second_factor, m.address_since,
           coalesce(d.require_app_passwords, r.require_app_passwords) AS inherited_requirement,
           d.require_app_passwords IS NOT NULL AS inherits_from_domain,
           (SELECT coalesce(array_agg(e.local_part || '@' || o.name
                                      ORDER BY o.name COLLATE "C", e.local_key COLLATE "C"), '{}')
              FROM send_as e JOIN domains o ON o.id = e.domain_id WHERE e.mailbox_id = m.id) AS send_as,
           s.reason AS suspended_reason, s.by_label AS suspended_by,
           s.by_rank AS suspended_by_rank, s.created_at AS suspended_at
    FROM mailboxes m
    JOIN domains d ON d.id = m.domain_id
    CROSS JOIN routing_settings r
    LEFT JOIN suspensions s ON s.address_key = m.address_key
"""


async def insert(conn: Conn, mailbox: Mailbox, password_hash: str) -> None:
    """Insert a mailbox; CONFLICT `address_taken` if another mailbox has its address."""
    try:
        await conn.execute(
            """
            INSERT INTO mailboxes (id, domain_id, local_part, local_key, name, password_hash, active, quota_bytes,
                                   imap, pop3, smtp, sieve, forward_destinations, forward_keys,
                                   forward_keep_copy, time_zone, require_app_passwords, created_at, updated_at)
            VALUES (%(id)s, %(domain_id)s, %(local_part)s, %(local_key)s, %(name)s, %(password_hash)s,
                    %(active)s, %(quota_bytes)s, %(imap)s, %(pop3)s, %(smtp)s, %(sieve)s,
                    %(forward_destinations)s, %(forward_keys)s, %(forward_keep_copy)s, %(time_zone)s,
                    %(require_app_passwords)s,
                    %(created_at)s, %(updated_at)s)
            """,
            _columns(mailbox) | {"password_hash": password_hash},
        )
    except psycopg.IntegrityError as error:
        raise _translate_error(error, mailbox) from error


async def update(conn: Conn, mailbox: Mailbox) -> None:
    """Update the writable columns from `mailbox`; CONFLICT `address_taken` if another mailbox has its address."""
    try:
        await conn.execute(
            """
            UPDATE mailboxes
            SET domain_id = %(domain_id)s, local_part = %(local_part)s, local_key = %(local_key)s, name = %(name)s,
                active = %(active)s, quota_bytes = %(quota_bytes)s, imap = %(imap)s, pop3 = %(pop3)s,
                smtp = %(smtp)s, sieve = %(sieve)s, forward_destinations = %(forward_destinations)s,
                forward_keys = %(forward_keys)s, forward_keep_copy = %(forward_keep_copy)s,
                time_zone = %(time_zone)s, require_app_passwords = %(require_app_passwords)s,
                updated_at = %(updated_at)s, deleted_at = %(deleted_at)s
            WHERE id = %(id)s
            """,
            _columns(mailbox),
        )
    except psycopg.IntegrityError as error:
        raise _translate_error(error, mailbox) from error


async def set_password_hash(conn: Conn, mailbox_id: UUID, password_hash: str) -> None:
    """Set the password, in Dovecot's format."""
    await conn.execute(
        "UPDATE mailboxes SET password_hash = %(password_hash)s WHERE id = %(id)s",
        {"id": mailbox_id, "password_hash": password_hash},
    )


async def set_send_as(conn: Conn, mailbox_id: UUID, entries: Sequence[Address], rank: int) -> None:
    """Replace the addresses from which a mailbox may send. New entries get the rank of the caller; those that stay keep
    theirs. The domains are managed.
    """
    arguments = {
        "id": mailbox_id,
        "locals": [entry.local_part for entry in entries],
        "keys": [fold_local(entry.local_part) for entry in entries],
        "domains": [entry.domain for entry in entries],
        "rank": rank,
    }
    await conn.execute(
        """
        DELETE FROM send_as s USING domains d
        WHERE s.mailbox_id = %(id)s AND d.id = s.domain_id
          AND (d.name, s.local_key) NOT IN (SELECT * FROM unnest(%(domains)s::text[], %(keys)s::text[]))
        """,
        arguments,
    )
    await conn.execute(
        """
        INSERT INTO send_as (mailbox_id, domain_id, local_part, local_key, granted_rank)
        SELECT %(id)s, d.id, e.local_part, e.local_key, %(rank)s
        FROM unnest(%(domains)s::text[], %(locals)s::text[], %(keys)s::text[]) e (domain, local_part, local_key)
        JOIN domains d ON d.name = e.domain
        ON CONFLICT DO NOTHING
        """,
        arguments,
    )


async def add_mail(conn: Conn, mailbox_id: UUID, size: int, messages: int) -> None:
    """Add mail to the mailbox's usage; negative numbers remove it."""
    await conn.execute(
        """
        UPDATE mailboxes
        SET used_bytes = greatest(0, used_bytes + %(size)s), message_count = greatest(0, message_count + %(messages)s)
        WHERE id = %(id)s
        """,
        {"id": mailbox_id, "size": size, "messages": messages},
    )


async def delete(conn: Conn, mailbox_id: UUID) -> None:
    """Delete the row; a trigger records that its mail must be removed."""
    await conn.execute("DELETE FROM mailboxes WHERE id = %(id)s", {"id": mailbox_id})


async def delete_trash(conn: Conn, before: datetime, limit: int) -> list[Mailbox]:
    """Delete at most `limit` mailboxes that were put in the trash before `before`, oldest first, and return them."""
    cursor = await conn.execute(
        _SELECT
        + """
        WHERE m.deleted_at < %(before)s ORDER BY m.deleted_at LIMIT %(most)s FOR UPDATE OF m SKIP LOCKED
        """,
        {"before": before, "most": limit},
    )
    mailboxes = [_mailbox(row) for row in await cursor.fetchall()]
    ids = [mailbox.id for mailbox in mailboxes]
    await conn.execute("DELETE FROM mailboxes WHERE id = ANY(%(ids)s)", {"ids": ids})
    return mailboxes


async def find(conn: Conn, mailbox_id: UUID) -> Mailbox | None:
    """The mailbox with this id, also from the trash."""
    cursor = await conn.execute(_SELECT + " WHERE m.id = %(id)s", {"id": mailbox_id})
    row = await cursor.fetchone()
    return _mailbox(row) if row else None


async def find_for_update(conn: Conn, mailbox_id: UUID) -> Mailbox | None:
    """The mailbox with this id, also from the trash, locked until the transaction ends."""
    cursor = await conn.execute(_SELECT + " WHERE m.id = %(id)s FOR UPDATE OF m", {"id": mailbox_id})
    row = await cursor.fetchone()
    return _mailbox(row) if row else None


async def find_and_prevent_purge(conn: Conn, mailbox_id: UUID) -> Mailbox | None:
    """The mailbox with this id, also from the trash. Until the transaction ends it can be updated, but not deleted."""
    cursor = await conn.execute(_SELECT + " WHERE m.id = %(id)s FOR KEY SHARE OF m", {"id": mailbox_id})
    row = await cursor.fetchone()
    return _mailbox(row) if row else None


async def find_holds(conn: Conn, mailbox_id: UUID, settings: AbuseSettings) -> MailboxHolds:
    """What others hold on to a mailbox; `settings` has the thresholds of all."""
    cursor = await conn.execute(
        """
        SELECT (SELECT max(i.by_rank) FROM incidents i
                 WHERE i.subject_id = m.id AND i.subject_type = 'mailbox' AND i.undone_at IS NULL) AS incident_rank,
               EXISTS (SELECT FROM thresholds t LEFT JOIN thresholds d ON d.domain_id = m.domain_id AND d.name = t.name
                        WHERE t.mailbox_id = m.id
                          AND t.highest < coalesce(d.value, (%(thresholds)s::jsonb ->> t.name)::double precision)
                      ) AS has_stricter_limits
        FROM mailboxes m WHERE m.id = %(id)s
        """,
        {"id": mailbox_id, "thresholds": Jsonb(asdict(settings))},
    )
    row = await cursor.fetchone()
    assert row is not None
    return MailboxHolds(**row)


async def find_by_address(conn: Conn, key: str) -> Mailbox | None:
    """The mailbox with this address key, not from the trash."""
    cursor = await conn.execute(_SELECT + " WHERE m.address_key = %(key)s AND m.deleted_at IS NULL", {"key": key})
    row = await cursor.fetchone()
    return _mailbox(row) if row else None


async def page(conn: Conn, filters: MailboxFilter, page_request: PageRequest) -> Page[Mailbox]:
    """A page of mailboxes."""
    page = await fetch_page(
        conn,
        _SELECT,
        [
            ("m.deleted_at IS NOT NULL", "trashed", filters.trashed or None),
            ("m.deleted_at IS NULL", "live", not filters.trashed or None),
            ("m.domain_id = ANY(%(domains)s)", "domains", filters.domains),
            ("m.domain_id = %(domain_id)s", "domain_id", filters.domain_id),
            ("m.active = %(active)s", "active", filters.active),
            ("strpos(m.address_key, %(part)s) > 0", "part", filters.part),
        ],
        page_request,
        {"created_at": "m.id", "id": "m.id", "updated_at": "m.updated_at", "address": "m.address_key"},
    )
    return Page([_mailbox(row) for row in page.rows], page.next_key)


async def count_in_domain(conn: Conn, domain_id: UUID) -> int:
    """Number of mailboxes of a domain, without the trash."""
    cursor = await conn.execute(
        "SELECT count(*) AS mailboxes FROM mailboxes WHERE domain_id = %(id)s AND deleted_at IS NULL",
        {"id": domain_id},
    )
    row = await cursor.fetchone()
    assert row is not None
    return row["mailboxes"]


async def lock_routes(conn: Conn) -> None:
    """Take the lock of all writers of aliases and forwards until the transaction ends."""
    await conn.execute("SELECT lock_routes()")


async def find_loop(conn: Conn, mailbox_id: UUID) -> list[str]:
    """The forwards of a mailbox that lead back to it; call it after the write, under `lock_routes`."""
    cursor = await conn.execute("SELECT c.key FROM route_loop(%(id)s) c", {"id": mailbox_id})
    return [row["key"] for row in await cursor.fetchall()]


async def list_removals(conn: Conn, limit: int, after: UUID | None) -> list[UUID]:
    """Deleted mailboxes whose mail must still be removed, at most `limit`, after the id `after`."""
    cursor = await conn.execute(
        """
        SELECT mailbox_id FROM mail_removals
        WHERE (%(after)s::uuid IS NULL OR mailbox_id > %(after)s) ORDER BY mailbox_id LIMIT %(most)s
        """,
        {"most": limit, "after": after},
    )
    return [row["mailbox_id"] for row in await cursor.fetchall()]


async def insert_removals(conn: Conn, mailbox_ids: Sequence[UUID]) -> None:
    """Record that the mail of those of these mailboxes that do not exist must be removed."""
    await conn.execute(
        """
        INSERT INTO mail_removals (mailbox_id)
        SELECT n.id FROM unnest(%(ids)s::uuid[]) AS n (id) WHERE NOT EXISTS (SELECT FROM mailboxes m WHERE m.id = n.id)
        ON CONFLICT DO NOTHING
        """,
        {"ids": list(mailbox_ids)},
    )


async def lock_removal(conn: Conn, mailbox_id: UUID) -> bool:
    """Lock the row of a mailbox whose mail is to be removed, until the transaction ends; False if there is none."""
    cursor = await conn.execute("SELECT 1 FROM mail_removals WHERE mailbox_id = %(id)s FOR UPDATE", {"id": mailbox_id})
    return await cursor.fetchone() is not None


async def finish_removal(conn: Conn, mailbox_id: UUID) -> None:
    """Record that the mail of this mailbox is removed."""
    await conn.execute("DELETE FROM mail_removals WHERE mailbox_id = %(id)s", {"id": mailbox_id})


def _translate_error(error: psycopg.Error, mailbox: Mailbox) -> Exception:
    if constraint_of(error) == "mailboxes_address_unique":
        message = f"{mailbox.address} already has a mailbox. Choose another address, or delete that mailbox first."
        return Conflict(message, reason="address_taken", address=str(mailbox.address))
    return error


def _columns(mailbox: Mailbox) -> dict[str, Any]:
    protocols, forward = mailbox.protocols, mailbox.forward
    names = ("id", "domain_id", "local_part", "name", "active", "quota_bytes", "created_at", "updated_at", "deleted_at")
    return {
        **{name: getattr(mailbox, name) for name in names},
        "local_key": fold_local(mailbox.local_part),
        "imap": protocols.imap,
        "pop3": protocols.pop3,
        "smtp": protocols.smtp,
        "sieve": protocols.sieve,
        "forward_destinations": list(forward.destinations),
        "forward_keys": list(forward.keys),
        "forward_keep_copy": forward.keep_copy,
        "time_zone": mailbox.time_zone,
        "require_app_passwords": mailbox.require_app_passwords,
    }


def _mailbox(row: dict[str, Any]) -> Mailbox:
    suspension = None
    if row["suspended_at"] is not None:
        suspension = MailboxSuspension(
            row["suspended_reason"], row["suspended_by"], row["suspended_by_rank"], row["suspended_at"]
        )
    destinations, keys = row["forward_destinations"], row["forward_keys"]
    return Mailbox(
        id=row["id"],
        domain_id=row["domain_id"],
        domain_name=row["domain_name"],
        local_part=row["local_part"],
        name=row["name"],
        active=row["active"],
        quota_bytes=row["quota_bytes"],
        used_bytes=row["used_bytes"],
        message_count=row["message_count"],
        protocols=Protocols(row["imap"], row["pop3"], row["smtp"], row["sieve"]),
        forward=MailboxForward(tuple(destinations), tuple(keys), row["forward_keep_copy"]),
        send_as=tuple(Address(*text.rsplit("@", 1)) for text in row["send_as"]),
        time_zone=row["time_zone"],
        require_app_passwords=row["require_app_passwords"],
        inherited_requirement=InheritedFlag(
            row["inherited_requirement"], "domain" if row["inherits_from_domain"] else "server"
        ),
        second_factor=row["second_factor"],
        address_since=row["address_since"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        last_login=LastLogin(row["last_login_at"], row["last_login_protocol"], row["last_login_ip"]),
        suspension=suspension,
        deleted_at=row["deleted_at"],
    )
