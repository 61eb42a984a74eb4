"""SQL of other domains' policies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.tls_policy import rules
from mailkeep.features.mailflow.tls_policy.model import StoredPolicy
from mailkeep.net.mta_sts import MtaStsPolicy


async def find(conn: Conn, domain: str, at: datetime) -> StoredPolicy | None:
    """The policy of a domain that has not expired."""
    cursor = await conn.execute(
        """
        SELECT domain, policy_id, mode, mx, max_age, fetched_at, used_at FROM mta_sts_policies
        WHERE domain = %(domain)s AND expires_at > %(at)s
        """,
        {"domain": domain, "at": at},
    )
    row = await cursor.fetchone()
    return _to_policy(row) if row else None


async def save(conn: Conn, stored: StoredPolicy) -> None:
    """Store a policy, instead of the domain's earlier one."""
    policy = stored.policy
    await conn.execute(
        """
        INSERT INTO mta_sts_policies (domain, policy_id, mode, mx, max_age, fetched_at, expires_at, tried_at, used_at)
        VALUES (%(domain)s, %(policy_id)s, %(mode)s, %(mx)s, %(max_age)s, %(fetched_at)s, %(expires_at)s,
                %(fetched_at)s, %(used_at)s)
        ON CONFLICT (domain) DO UPDATE
        SET policy_id = excluded.policy_id, mode = excluded.mode, mx = excluded.mx, max_age = excluded.max_age,
            fetched_at = excluded.fetched_at, expires_at = excluded.expires_at, tried_at = excluded.tried_at,
            used_at = greatest(mta_sts_policies.used_at, excluded.used_at)
        """,
        {
            "domain": stored.domain,
            "policy_id": stored.policy_id,
            "mode": policy.mode,
            "mx": list(policy.mx),
            "max_age": policy.max_age,
            "fetched_at": stored.fetched_at,
            "expires_at": rules.expires_at(policy, stored.fetched_at),
            "used_at": stored.used_at,
        },
    )


async def mark_used(conn: Conn, domain: str, at: datetime) -> None:
    """Store that a delivery needed the policy."""
    await conn.execute(
        "UPDATE mta_sts_policies SET used_at = %(at)s WHERE domain = %(domain)s", {"domain": domain, "at": at}
    )


async def claim_old(conn: Conn, at: datetime, limit: int) -> Sequence[StoredPolicy]:
    """Policies that are due for another fetch, the oldest first; each is due again an hour later."""
    cursor = await conn.execute(
        """
        UPDATE mta_sts_policies p SET tried_at = %(next)s
        WHERE p.domain IN (
            SELECT domain FROM mta_sts_policies
            WHERE tried_at <= %(old)s AND used_at > %(unused)s AND expires_at > %(at)s
            ORDER BY tried_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
        RETURNING p.domain, p.policy_id, p.mode, p.mx, p.max_age, p.fetched_at, p.used_at
        """,
        {
            "next": at - rules.REFRESH + rules.RETRY,
            "old": at - rules.REFRESH,
            "unused": at - rules.UNUSED,
            "at": at,
            "limit": limit,
        },
    )
    return [_to_policy(row) for row in await cursor.fetchall()]


async def delete_expired(conn: Conn, at: datetime) -> None:
    """Delete policies that have expired."""
    await conn.execute("DELETE FROM mta_sts_policies WHERE expires_at <= %(at)s", {"at": at})


def _to_policy(row: dict[str, Any]) -> StoredPolicy:
    policy = MtaStsPolicy(row["mode"], tuple(row["mx"]), row["max_age"])
    return StoredPolicy(row["domain"], row["policy_id"], policy, row["fetched_at"], row["used_at"])
