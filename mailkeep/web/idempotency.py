"""Idempotency keys: a call that is made again with the same key has its effect once, also over crashes.

A key (1 to 255 visible ASCII characters) is held per caller and route for 24 hours, together with the SHA-256 of the
body as it came, and written before the effect. What was answered 2xx is kept and answered again, marked
`Idempotent-Replayed: true`, secrets as null; refusals and definite failures give the key free. While the first call is
under way, and where nobody knows yet what became of it, the answer is IDEMPOTENCY_IN_PROGRESS. What a process that
died has left is settled by the effect's own records (`Endpoint.settle`): it is answered as done, or done anew. Whether
another process on the same database has died its session tells (`db.presence`).
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

import msgspec
import structlog

from mailkeep.core.clock import Clock
from mailkeep.core.errors import (
    IdempotencyInProgress,
    IdempotencyMismatch,
    InternalError,
    Refusal,
    Unavailable,
    invalid_field,
)
from mailkeep.db.liveness import LivenessLock
from mailkeep.db.pool import DatabasePool
from mailkeep.web.endpoint import Call, HttpResponse
from mailkeep.web.string_views import JsonText

log = structlog.get_logger("mailkeep.web")

HEADER = "idempotency-key"
REPLAYED = "idempotent-replayed"
_IN_THREAD = 1 << 20  # bytes
_NOBODY = UUID(int=0)
RETENTION = timedelta(hours=24)
_KEY = re.compile(r"[!-~]{1,255}")


class IdempotencyContext(Protocol):
    """What keys need of the application's toolbox."""

    @property
    def clock(self) -> Clock:
        """Now."""
        ...

    @property
    def db(self) -> DatabasePool:
        """Where the keys are held."""
        ...


@dataclass(frozen=True, slots=True)
class _Claim:
    """A key as it stands in the table; `status` None while no answer is kept."""

    request_id: UUID
    body_hash: bytes
    process: UUID
    status: int | None
    answer: bytes | None


class IdempotencyKeys:
    """The keys of one process: those under way here are known by their request ids."""

    def __init__(self, app: IdempotencyContext) -> None:
        self._app = app
        self._presence = LivenessLock(app.db)
        self._under_way: set[UUID] = set()

    async def run(self, call: Call, handler: Callable[[], Awaitable[HttpResponse]]) -> HttpResponse:
        """What `handler` answers, or what it answered before to the same call."""
        key = call.headers.get(HEADER)
        if key is None or call.endpoint.recover is None:
            return await handler()
        if not _KEY.fullmatch(key):
            raise invalid_field("Idempotency-Key", "must be 1 to 255 visible ASCII characters")
        named = self._key_columns(call, key, await _digest(call.raw_body), await self._presence.hold())
        self._under_way.add(call.request_id)
        try:
            return await self._once(call, named, handler)
        finally:
            self._under_way.discard(call.request_id)

    async def close(self) -> None:
        """Answer no more: what is under way is for other processes to settle."""
        await self._presence.release()

    def _key_columns(self, call: Call, key: str, digest: bytes, process: UUID) -> dict[str, Any]:
        who = call.caller()
        return {
            "caller_id": who.key_id or who.admin_id,
            "route": f"{call.endpoint.method} {call.endpoint.path}",
            "key": key,
            "body_hash": digest,
            "request_id": call.request_id,
            "process": process,
        }

    async def _once(
        self, call: Call, named: dict[str, Any], handler: Callable[[], Awaitable[HttpResponse]]
    ) -> HttpResponse:
        held = await self._claim(named)
        if held is not None:
            if held.body_hash != named["body_hash"]:
                raise IdempotencyMismatch
            if held.status is not None:
                return _replay(held.status, held.answer or b"null")
            settled = await self._settle(call, named, held)
            if settled is not None:
                return settled
        try:
            reply = await handler()
        except Refusal as wrong:
            await (self._release(named) if _had_no_effect(wrong) else self._abandon(named))
            raise
        except Exception:
            await self._abandon(named)
            raise
        await self._keep(call, named, reply)
        return reply

    async def _settle(self, call: Call, named: dict[str, Any], held: _Claim) -> HttpResponse | None:
        """The answer to a call that was cut off, where its effect is on record; None where it had none."""
        assert call.endpoint.recover is not None
        if held.request_id in self._under_way or not await self._take_up(named, held):
            raise IdempotencyInProgress
        self._under_way.add(held.request_id)
        try:
            found = await call.endpoint.recover(self._app, call, held.request_id)
        except Exception:
            await self._abandon(named | {"request_id": held.request_id})
            raise
        finally:
            self._under_way.discard(held.request_id)
        if found is not None:
            await self._keep(call, named | {"request_id": held.request_id}, found)
            data = _without_secrets(call, found.data)
            return HttpResponse(data, status=call.endpoint.status, headers={REPLAYED: "true"})
        if not await self._take_over(named, held.request_id):
            raise IdempotencyInProgress
        return None

    async def _claim(self, named: dict[str, Any]) -> _Claim | None:
        """Take the key; None when it is ours, else what is held under it."""
        at = self._app.clock()
        async with self._app.db.autocommit() as conn:
            cursor = await conn.execute(
                """
                INSERT INTO idempotency_keys (caller_id, route, key, body_hash, request_id, process, claimed_at)
                VALUES (%(caller_id)s, %(route)s, %(key)s, %(body_hash)s, %(request_id)s, %(process)s, %(at)s)
                ON CONFLICT (caller_id, route, key) DO UPDATE
                SET body_hash = excluded.body_hash, request_id = excluded.request_id, process = excluded.process,
                    claimed_at = excluded.claimed_at, status = NULL, answer = NULL
                WHERE idempotency_keys.claimed_at <= %(expired)s
                """,
                named | {"at": at, "expired": at - RETENTION},
            )
            if cursor.rowcount == 1:
                return None
            cursor = await conn.execute(
                """
                SELECT request_id, body_hash, process, status, answer FROM idempotency_keys
                WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s
                """,
                named,
            )
            row = await cursor.fetchone()
        if row is None:  # released in this instant: whoever asks again finds it free
            raise IdempotencyInProgress
        return _Claim(**row)

    async def _take_up(self, named: dict[str, Any], held: _Claim) -> bool:
        """Make it this process's to settle a claim; False where another one is at it, or lives and may be."""
        async with self._app.db.autocommit() as conn:
            if held.process != named["process"] and not await self._presence.is_process_gone(conn, held.process):
                return False
            cursor = await conn.execute(
                """
                UPDATE idempotency_keys SET process = %(process)s
                WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s AND process = %(holder)s
                  AND request_id = %(held)s AND status IS NULL
                """,
                named | {"holder": held.process, "held": held.request_id},
            )
            return cursor.rowcount == 1

    async def _take_over(self, named: dict[str, Any], before: UUID) -> bool:
        """Make a claim ours that had no effect; False where somebody else did so first."""
        async with self._app.db.autocommit() as conn:
            cursor = await conn.execute(
                """
                UPDATE idempotency_keys
                SET request_id = %(request_id)s, process = %(process)s, claimed_at = %(at)s
                WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s AND request_id = %(before)s
                  AND status IS NULL
                """,
                named | {"before": before, "at": self._app.clock()},
            )
            return cursor.rowcount == 1

    async def _release(self, named: dict[str, Any]) -> None:
        async with self._app.db.autocommit() as conn:
            await conn.execute(
                """
                DELETE FROM idempotency_keys
                WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s
                  AND request_id = %(request_id)s AND status IS NULL
                """,
                named,
            )

    async def _abandon(self, named: dict[str, Any]) -> None:
        """Let any process settle it. With the database away it stays this one's, for as long as its session lives."""
        with suppress(Unavailable):
            async with self._app.db.autocommit() as conn:
                await conn.execute(
                    """
                    UPDATE idempotency_keys SET process = %(nobody)s
                    WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s
                      AND request_id = %(request_id)s AND status IS NULL
                    """,
                    named | {"nobody": _NOBODY},
                )

    async def _keep(self, call: Call, named: dict[str, Any], reply: HttpResponse) -> None:
        """Keep the answer. Where the database is away just now, the effect's own records will tell."""
        answer = msgspec.json.encode(_without_secrets(call, reply.data))
        try:
            async with self._app.db.autocommit() as conn:
                await conn.execute(
                    """
                    UPDATE idempotency_keys SET status = %(status)s, answer = %(answer)s
                    WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s
                      AND request_id = %(request_id)s AND status IS NULL
                    """,
                    named | {"status": reply.status or call.endpoint.status, "answer": answer},
                )
        except Unavailable:
            log.warning("an answer was not kept: the database is away", request_id=str(call.request_id))


async def _digest(body: JsonText) -> bytes:
    """Of a large body in a thread, so that others are answered meanwhile."""
    if len(body) <= _IN_THREAD:
        return hashlib.sha256(body).digest()
    return (await asyncio.to_thread(hashlib.sha256, body)).digest()


async def delete_expired_keys(db: DatabasePool, clock: Clock) -> int:
    """Remove keys older than 24 hours; how many."""
    async with db.autocommit() as conn:
        cursor = await conn.execute(
            "DELETE FROM idempotency_keys WHERE claimed_at <= %(expired)s", {"expired": clock() - RETENTION}
        )
        return cursor.rowcount


def _had_no_effect(wrong: Refusal) -> bool:
    """Whether a refusal says that nothing happened. A bug, or a database lost on the way, says nothing."""
    if isinstance(wrong, InternalError | Unavailable):
        return False
    return (wrong.details or {}).get("submitted", "no") == "no"


def _without_secrets(call: Call, data: Any) -> Any:
    if not call.endpoint.secrets:
        return data
    return {**msgspec.to_builtins(data), **dict.fromkeys(call.endpoint.secrets)}


def _replay(status: int, answer: bytes) -> HttpResponse:
    return HttpResponse(msgspec.Raw(answer), status=status, headers={REPLAYED: "true"})
