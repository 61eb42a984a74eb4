"""The audit log for tests: thousands of entries, and access as the owner of the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from mailkeep.core.ids import uuid7
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.postgres import Urls
from mailkeep.features.record.audit import jobs, service
from mailkeep.features.record.audit.model import AuditAction, AuditTarget, AuditVerification
from tests.support.client import Api

CLERK = Principal(None, "clerk", Role.SUPER_ADMIN, ActorType.SYSTEM)


@dataclass
class Book:
    """The audit log of an application, with a connection that has all permissions in its database."""

    api: Api
    owner: psycopg.AsyncConnection[Any]

    async def write(self, count: int, action: str = "thing.change", at: datetime | None = None) -> list[UUID]:
        """Write entries, a few in one transaction each, many in one statement; returns their IDs, oldest first."""
        at = at or self.api.clock()
        if count > 100:
            ids = [uuid7(at) for _ in range(count)]
            await self.api.sql(
                """
                INSERT INTO audit_entries (id, created_at, actor_type, actor_label, action, resource_type, outcome,
                                           details)
                SELECT i, %(at)s, 'system', 'clerk', %(action)s, 'thing', 'success', '{"after": {"n": 1.50}}'
                FROM unnest(%(ids)s::uuid[]) i
                """,
                ids=ids,
                at=at,
                action=action,
            )
            return ids
        made: list[UUID] = []
        for _ in range(count):
            async with self.api.app.db.tx() as conn:
                await service.record(
                    conn, CLERK, at, AuditAction(action, AuditTarget("thing", None), after={"n": 1.5, "é": "\u2028"})
                )
                cursor = await conn.execute("SELECT id FROM audit_entries ORDER BY tx DESC, id DESC LIMIT 1")
                row = await cursor.fetchone()
                assert row
                made.append(row["id"])
        return made

    async def seal(self) -> None:
        """Seal everything now; retries, since other tests on the server may have open transactions."""
        async with asyncio.timeout(60):
            while await self.api.sql(
                "SELECT 1 AS open FROM audit_entries WHERE tx >= pg_snapshot_xmin(pg_current_snapshot()) LIMIT 1"
            ):
                await asyncio.sleep(0.02)
        await jobs.seal(self.api.app)
        assert (await self.verify()).unsealed == 0

    async def verify(self) -> AuditVerification:
        return await service.verify(self.api.app)

    async def by_hand(self, statement: LiteralString, **named: Any) -> None:
        """Change exactly one row, as the owner."""
        cursor = await self.owner.execute(statement, named)
        assert cursor.rowcount == 1, cursor.rowcount


@pytest.fixture
async def book(api: Api, database_server: Urls) -> AsyncIterator[Book]:
    [row] = await api.sql("SELECT current_database() AS name, ensure_partitions(%(at)s)", at=api.clock())
    url = make_conninfo(database_server.owner, dbname=row["name"])
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as owner:
        yield Book(api, owner)


def named(verdict: AuditVerification) -> dict[UUID | int | None, str]:
    """The problems by entry ID, or by the number of the seal."""
    return {fault.id if fault.seal is None else fault.seal: fault.problem for fault in verdict.faults}
