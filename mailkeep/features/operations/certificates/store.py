"""SQL of certificates, ACME accounts and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.operations.certificates.model import (
    AcmeAccount,
    CertificateEnd,
    Leaf,
    NameCheck,
    OrderOutcome,
    Source,
    TlsCertificate,
)

_FIELDS: LiteralString = """
    c.id, c.name, c.domain_id, c.source, c.checks, c.chain, c.names, c.issuer, c.serial,
    c.fingerprint, c.not_before, c.not_after, c.issued_at, c.renew_at, c.problem, c.failures, c.alerted, c.forced,
    c.revoke_reason, c.revoking, c.attempted_at, c.next_attempt_at, c.claims, c.created_at"""
_SELECT: LiteralString = "SELECT " + _FIELDS + " FROM certificates c"  # noqa: S608 - literals


def _read(row: dict[str, Any]) -> TlsCertificate:
    values = dict[str, Any](row)
    values["names"] = tuple(row["names"])
    values["checks"] = tuple(msgspec.convert(each, NameCheck) for each in row["checks"])
    return TlsCertificate(**values)


async def page(conn: Conn, page_request: PageRequest) -> Page[TlsCertificate]:
    """A page of all certificates."""
    columns: dict[str, LiteralString] = {"name": "c.name", "created_at": "c.id", "id": "c.id"}
    result = await fetch_page(conn, _SELECT, [], page_request, columns)
    return Page([_read(row) for row in result.rows], result.next_key)


async def find(conn: Conn, certificate_id: UUID, *, locked: bool = False) -> TlsCertificate | None:
    """A certificate; `locked` until the transaction ends."""
    statement: LiteralString = _SELECT + " WHERE c.id = %(id)s"
    cursor = await conn.execute(statement + " FOR UPDATE" if locked else statement, {"id": certificate_id})
    row = await cursor.fetchone()
    return _read(row) if row else None


async def find_by_name(conn: Conn, name: str) -> TlsCertificate | None:
    """The certificate of the server or of a domain."""
    cursor = await conn.execute(_SELECT + " WHERE c.name = %(name)s", {"name": name})
    row = await cursor.fetchone()
    return _read(row) if row else None


async def add_missing(conn: Conn, server: tuple[UUID, str], at: datetime, *, with_domains: bool) -> None:
    """Add the rows of the server (its new ID and name), and of domains that have none."""
    await conn.execute(
        """
        INSERT INTO certificates (id, name, next_attempt_at, created_at) VALUES (%(id)s, %(name)s, %(at)s, %(at)s)
        ON CONFLICT (name) DO NOTHING
        """,
        {"id": server[0], "name": server[1], "at": at},
    )
    if with_domains:
        await conn.execute(
            """
            INSERT INTO certificates (id, name, domain_id, next_attempt_at, created_at)
            SELECT d.id, d.name, d.id, %(at)s, %(at)s FROM domains d
            WHERE NOT EXISTS (SELECT FROM certificates c WHERE c.domain_id = d.id)
            ON CONFLICT DO NOTHING
            """,
            {"at": at},
        )


async def request_all(conn: Conn, at: datetime) -> None:
    """Make all due, except those that a worker has claimed."""
    await conn.execute(
        """
        UPDATE certificates SET next_attempt_at = %(at)s
        WHERE next_attempt_at > %(at)s AND attempted_at IS NOT NULL
        """,
        {"at": at},
    )


async def request(conn: Conn, certificate: TlsCertificate, at: datetime) -> None:
    """Store what was requested (`forced`, `revoke_reason`, `revoking`), and make the certificate due."""
    await conn.execute(
        """
        UPDATE certificates SET forced = %(forced)s, revoke_reason = %(reason)s, revoking = %(revoking)s,
               next_attempt_at = %(at)s
        WHERE id = %(id)s
        """,
        {
            "id": certificate.id,
            "forced": certificate.forced,
            "reason": certificate.revoke_reason,
            "revoking": certificate.revoking,
            "at": at,
        },
    )
    await conn.execute("SELECT wake_workers('certificates')")


async def claim(conn: Conn, at: datetime, until: datetime, limit: int) -> list[TlsCertificate]:
    """Claim due certificates until `until`, the longest due first; also those attempted after `at`: the clock was set
    back since. Those of inactive domains are left alone.
    """
    statement: LiteralString = """
        UPDATE certificates c SET claims = c.claims + 1, next_attempt_at = %(until)s, attempted_at = %(at)s
        FROM (SELECT d.id FROM certificates d
              WHERE (d.next_attempt_at <= %(at)s OR d.attempted_at > %(at)s)
                AND (d.domain_id IS NULL OR EXISTS (SELECT FROM domains o WHERE o.id = d.domain_id AND o.active))
              ORDER BY d.next_attempt_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED) due
        WHERE c.id = due.id
        RETURNING """
    cursor = await conn.execute(statement + _FIELDS, {"at": at, "until": until, "limit": limit})
    return [_read(row) for row in await cursor.fetchall()]


async def finish(conn: Conn, job: TlsCertificate, outcome: OrderOutcome) -> bool:
    """Store the outcome of an attempt without a new certificate. If it became due again during the attempt, it stays
    so. False if another worker has claimed it meanwhile.
    """
    cursor = await conn.execute(
        """
        UPDATE certificates c
        SET checks = %(checks)s, problem = %(problem)s, failures = %(failures)s, alerted = %(alerted)s,
            renew_at = %(renew_at)s,
            next_attempt_at = CASE WHEN c.next_attempt_at = %(lease)s THEN %(next)s ELSE c.next_attempt_at END
        WHERE c.id = %(id)s AND c.claims = %(claims)s
        """,
        {
            "id": job.id,
            "claims": job.claims,
            "lease": job.next_attempt_at,
            "checks": Jsonb(msgspec.to_builtins(outcome.checks)),
            "problem": outcome.problem,
            "failures": outcome.failures,
            "alerted": outcome.alerted,
            "renew_at": outcome.renew_at,
            "next": outcome.next_at,
        },
    )
    return cursor.rowcount == 1


async def release(conn: Conn, job: TlsCertificate, at: datetime) -> None:
    """Make an interrupted job due again, unless another worker has claimed it meanwhile."""
    await conn.execute(
        "UPDATE certificates SET next_attempt_at = %(at)s WHERE id = %(id)s AND claims = %(claims)s",
        {"id": job.id, "claims": job.claims, "at": at},
    )


async def save_issued(
    conn: Conn, job: TlsCertificate, pair: tuple[str, bytes], leaf: Leaf, checks: Sequence[NameCheck], at: datetime
) -> bool:
    """Store a new certificate: its chain and sealed key. The previous one is to be revoked if that was requested, also
    during the order. It is due at once, for what follows. False if another worker has claimed it meanwhile.
    """
    cursor = await conn.execute(
        """
        UPDATE certificates c
        SET source = 'acme', chain = %(chain)s, key_sealed = %(key)s, names = %(names)s, issuer = %(issuer)s,
            serial = %(serial)s, fingerprint = %(fingerprint)s, not_before = %(not_before)s,
            not_after = %(not_after)s, issued_at = %(at)s, renew_at = NULL, checks = %(checks)s, problem = '',
            failures = 0, alerted = false, forced = c.forced AND NOT %(was_forced)s,
            revoking = CASE WHEN c.revoke_reason IS NOT NULL THEN coalesce(c.revoking, c.chain) END,
            next_attempt_at = %(at)s
        WHERE c.id = %(id)s AND c.claims = %(claims)s
        """,
        {
            "id": job.id,
            "claims": job.claims,
            "chain": pair[0],
            "key": pair[1],
            "names": list(leaf.names),
            "issuer": leaf.issuer,
            "serial": leaf.serial,
            "fingerprint": leaf.fingerprint,
            "not_before": leaf.not_before,
            "not_after": leaf.not_after,
            "checks": Jsonb(msgspec.to_builtins(tuple(checks))),
            "was_forced": job.forced,
            "at": at,
        },
    )
    return cursor.rowcount == 1


async def end_revocation(conn: Conn, job: TlsCertificate) -> None:
    """A certificate is revoked. If it is the one in use, it is still to be replaced."""
    await conn.execute(
        """
        UPDATE certificates c SET revoking = NULL, revoke_reason = NULL, forced = c.forced OR c.chain = %(revoked)s
        WHERE c.id = %(id)s AND c.revoking = %(revoked)s
        """,
        {"id": job.id, "revoked": job.revoking},
    )


async def save_served(conn: Conn, name: str, source: Source, leaf: Leaf, at: datetime) -> None:
    """Store the properties of a certificate that is a file; it is due if it is another one than before. A self-signed
    one never replaces one that was ordered meanwhile.
    """
    await conn.execute(
        """
        UPDATE certificates c
        SET source = %(source)s, chain = NULL, key_sealed = NULL, names = %(names)s, issuer = %(issuer)s,
            serial = %(serial)s, fingerprint = %(fingerprint)s, not_before = %(not_before)s,
            not_after = %(not_after)s, issued_at = NULL, renew_at = NULL, problem = '', failures = 0,
            next_attempt_at = %(at)s
        WHERE c.name = %(name)s AND (c.source <> %(source)s OR c.fingerprint <> %(fingerprint)s)
          AND (%(source)s = 'file' OR c.source <> 'acme')
        """,
        {
            "name": name,
            "source": source,
            "names": list(leaf.names),
            "issuer": leaf.issuer,
            "serial": leaf.serial,
            "fingerprint": leaf.fingerprint,
            "not_before": leaf.not_before,
            "not_after": leaf.not_after,
            "at": at,
        },
    )


async def list_pairs(conn: Conn) -> list[tuple[UUID, str, tuple[str, ...], str, bytes]]:
    """ID, name, host names, chain and sealed key of each certificate that was ordered."""
    cursor = await conn.execute(
        "SELECT c.id, c.name, c.names, c.chain, c.key_sealed FROM certificates c WHERE c.chain IS NOT NULL ORDER BY 2"
    )
    return [
        (row["id"], row["name"], tuple(row["names"]), row["chain"], bytes(row["key_sealed"]))
        for row in await cursor.fetchall()
    ]


async def list_alerted(conn: Conn) -> list[str]:
    """The names of certificates about which an alert was sent."""
    cursor = await conn.execute("SELECT c.name FROM certificates c WHERE c.alerted ORDER BY c.name")
    return [row["name"] for row in await cursor.fetchall()]


async def list_ends(conn: Conn, limit: int) -> list[CertificateEnd]:
    """The certificates that are in use and end first; not those of inactive domains."""
    cursor = await conn.execute(
        """
        SELECT c.name, c.not_before, c.not_after
        FROM certificates c LEFT JOIN domains d ON d.id = c.domain_id
        WHERE c.not_after IS NOT NULL AND c.not_before IS NOT NULL AND coalesce(d.active, true)
        ORDER BY c.not_after LIMIT %(limit)s
        """,
        {"limit": limit},
    )
    return [CertificateEnd(**row) for row in await cursor.fetchall()]


async def find_account(conn: Conn, directory: str, new_key: bytes, at: datetime) -> AcmeAccount:
    """The account at an authority; if there is none, one with this sealed key, which is not registered yet."""
    await conn.execute(
        """
        INSERT INTO acme_accounts (directory, key_sealed, created_at) VALUES (%(directory)s, %(key)s, %(at)s)
        ON CONFLICT (directory) DO NOTHING
        """,
        {"directory": directory, "key": new_key, "at": at},
    )
    cursor = await conn.execute(
        """
        SELECT a.directory, a.url, a.key_sealed, a.next_key_sealed FROM acme_accounts a
        WHERE a.directory = %(directory)s FOR UPDATE
        """,
        {"directory": directory},
    )
    row = await cursor.fetchone()
    assert row is not None
    return AcmeAccount(**row)


async def save_account(conn: Conn, account: AcmeAccount) -> None:
    """Store the URL and the keys of an account."""
    await conn.execute(
        """
        UPDATE acme_accounts SET url = %(url)s, key_sealed = %(key)s, next_key_sealed = %(next_key)s
        WHERE directory = %(directory)s
        """,
        {
            "directory": account.directory,
            "url": account.url,
            "key": account.key_sealed,
            "next_key": account.next_key_sealed,
        },
    )


async def add_token(conn: Conn, token: str, content: str, at: datetime, until: datetime) -> None:
    """Store what is answered for a token until then; deletes those that have expired."""
    await conn.execute("DELETE FROM acme_tokens WHERE expires_at < %(at)s", {"at": at})
    await conn.execute(
        """
        INSERT INTO acme_tokens (token, content, expires_at) VALUES (%(token)s, %(content)s, %(until)s)
        ON CONFLICT (token) DO UPDATE SET content = excluded.content, expires_at = excluded.expires_at
        """,
        {"token": token, "content": content, "until": until},
    )


async def delete_token(conn: Conn, token: str) -> None:
    """Delete a token."""
    await conn.execute("DELETE FROM acme_tokens WHERE token = %(token)s", {"token": token})


async def find_token(conn: Conn, token: str) -> str | None:
    """What is answered for a token."""
    cursor = await conn.execute("SELECT t.content FROM acme_tokens t WHERE t.token = %(token)s", {"token": token})
    row = await cursor.fetchone()
    return row["content"] if row else None
