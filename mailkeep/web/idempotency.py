"""Idempotency keys: repeated requests with the same key have their effect once, even after a crash.

A key (1 to 255 visible ASCII characters) is stored per caller and route for 24 hours with the SHA-256 of the body, and
of the parameters in path and query if there are any; it is stored before the effect. A 2xx response is stored and
replayed with `Idempotent-Replayed: true` and secrets as null. An error releases the key if the request had no effect.
While the first request is running, or its outcome is unknown, the response is IDEMPOTENCY_IN_PROGRESS. A request that
was interrupted by the end of its process is completed from the records of its effect (`Endpoint.recover`): replayed if
it had an effect, else executed again. Liveness locks (`db.liveness`) show whether another process has ended.
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
_HASH_INLINE = 1 << 20  # bytes
_NOBODY = UUID(int=0)  # as `process`: any process may recover the claim
RETENTION = timedelta(hours=24)
_KEY = re.compile(r"[!-~]{1,255}")


class IdempotencyContext(Protocol):
    """What idempotency keys use of the application context."""

    @property
    def clock(self) -> Clock:
        """The current time."""
        ...

    @property
    def db(self) -> DatabasePool:
        """The database with the keys."""
        ...


@dataclass(frozen=True, slots=True)
class _Claim:
    """A row of the table, without its key; `status` is None until a response is stored."""

    request_id: UUID
    body_hash: bytes
    process: UUID
    status: int | None
    answer: bytes | None


class IdempotencyKeys:
    """The keys of the requests that one process handles."""

    def __init__(self, app: IdempotencyContext) -> None:
        self._app = app
        self._liveness = LivenessLock(app.db)
        self._running: set[UUID] = set()

    async def run(self, call: Call, handler: Callable[[], Awaitable[HttpResponse]]) -> HttpResponse:
        """The response of `handler`, or the stored response of an earlier request with the same key."""
        key = call.headers.get(HEADER)
        if key is None or call.endpoint.recover is None:
            return await handler()
        if not _KEY.fullmatch(key):
            raise invalid_field("Idempotency-Key", "must be 1 to 255 visible ASCII characters")
        digest = _bind_to_parameters(call, await _digest(call.raw_body))
        row = self._new_row(call, key, digest, await self._liveness.hold())
        self._running.add(call.request_id)
        try:
            return await self._run_once(call, row, handler)
        finally:
            self._running.discard(call.request_id)

    async def close(self) -> None:
        """Release the liveness lock: other processes may recover running requests."""
        await self._liveness.release()

    def _new_row(self, call: Call, key: str, digest: bytes, process: UUID) -> dict[str, Any]:
        who = call.caller()
        return {
            "caller_id": who.id,
            "route": f"{call.endpoint.method} {call.endpoint.path}",
            "key": key,
            "body_hash": digest,
            "request_id": call.request_id,
            "process": process,
        }

    async def _run_once(
        self, call: Call, row: dict[str, Any], handler: Callable[[], Awaitable[HttpResponse]]
    ) -> HttpResponse:
        stored = await self._claim(row)
        if stored is not None:
            if stored.body_hash != row["body_hash"]:
                raise IdempotencyMismatch
            if stored.status is not None:
                return _replay(stored.status, stored.answer or b"null")
            recovered = await self._recover(call, row, stored)
            if recovered is not None:
                return recovered
        try:
            response = await handler()
        except Refusal as refusal:
            await (self._release(row) if _had_no_effect(refusal) else self._abandon(row))
            raise
        except Exception:
            await self._abandon(row)
            raise
        await self._store_response(call, row, response)
        return response

    async def _recover(self, call: Call, row: dict[str, Any], stored: _Claim) -> HttpResponse | None:
        """The response of an interrupted request from the records of its effect; None if it had none."""
        assert call.endpoint.recover is not None
        if stored.request_id in self._running or not await self._claim_recovery(row, stored):
            raise IdempotencyInProgress
        self._running.add(stored.request_id)
        try:
            response = await call.endpoint.recover(self._app, call, stored.request_id)
        except Exception:
            await self._abandon(row | {"request_id": stored.request_id})
            raise
        finally:
            self._running.discard(stored.request_id)
        if response is not None:
            await self._store_response(call, row | {"request_id": stored.request_id}, response)
            data = _without_secrets(call, response.data)
            return HttpResponse(data, status=call.endpoint.status, headers={REPLAYED: "true"})
        if not await self._claim_again(row, stored.request_id):
            raise IdempotencyInProgress
        return None

    async def _claim(self, row: dict[str, Any]) -> _Claim | None:
        """Claim the key for this request. Returns None, or the claim of an earlier request."""
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
                row | {"at": at, "expired": at - RETENTION},
            )
            if cursor.rowcount == 1:
                return None
            cursor = await conn.execute(
                """
                SELECT request_id, body_hash, process, status, answer FROM idempotency_keys
                WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s
                """,
                row,
            )
            stored = await cursor.fetchone()
        if stored is None:  # released just now: the client's next try will claim it
            raise IdempotencyInProgress
        return _Claim(**stored)

    async def _claim_recovery(self, row: dict[str, Any], stored: _Claim) -> bool:
        """Take over the recovery of a claim. Returns False if another running process has it."""
        async with self._app.db.autocommit() as conn:
            if stored.process != row["process"] and not await self._liveness.is_process_gone(conn, stored.process):
                return False
            cursor = await conn.execute(
                """
                UPDATE idempotency_keys SET process = %(process)s
                WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s AND process = %(holder)s
                  AND request_id = %(stored)s AND status IS NULL
                """,
                row | {"holder": stored.process, "stored": stored.request_id},
            )
            return cursor.rowcount == 1

    async def _claim_again(self, row: dict[str, Any], previous_id: UUID) -> bool:
        """Take over the claim of a request that had no effect. Returns False if another request did so first."""
        async with self._app.db.autocommit() as conn:
            cursor = await conn.execute(
                """
                UPDATE idempotency_keys
                SET request_id = %(request_id)s, process = %(process)s, claimed_at = %(at)s
                WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s AND request_id = %(previous_id)s
                  AND status IS NULL
                """,
                row | {"previous_id": previous_id, "at": self._app.clock()},
            )
            return cursor.rowcount == 1

    async def _release(self, row: dict[str, Any]) -> None:
        async with self._app.db.autocommit() as conn:
            await conn.execute(
                """
                DELETE FROM idempotency_keys
                WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s
                  AND request_id = %(request_id)s AND status IS NULL
                """,
                row,
            )

    async def _abandon(self, row: dict[str, Any]) -> None:
        """Let any process recover the claim. Without the database, only after the liveness lock is released."""
        with suppress(Unavailable):
            async with self._app.db.autocommit() as conn:
                await conn.execute(
                    """
                    UPDATE idempotency_keys SET process = %(nobody)s
                    WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s
                      AND request_id = %(request_id)s AND status IS NULL
                    """,
                    row | {"nobody": _NOBODY},
                )

    async def _store_response(self, call: Call, row: dict[str, Any], response: HttpResponse) -> None:
        """Store the response. If the database is unavailable, the records of the effect are used later."""
        answer = msgspec.json.encode(_without_secrets(call, response.data))
        try:
            async with self._app.db.autocommit() as conn:
                await conn.execute(
                    """
                    UPDATE idempotency_keys SET status = %(status)s, answer = %(answer)s
                    WHERE caller_id = %(caller_id)s AND route = %(route)s AND key = %(key)s
                      AND request_id = %(request_id)s AND status IS NULL
                    """,
                    row | {"status": response.status or call.endpoint.status, "answer": answer},
                )
        except Unavailable:
            log.warning(
                "response not stored for its idempotency key: the database is unavailable",
                request_id=str(call.request_id),
            )


def _bind_to_parameters(call: Call, digest: bytes) -> bytes:
    """The digest of a body for an object in the path, or with parameters in the query: the same key and body must not
    be answered with another object's response.
    """
    if not call.path and not call.query_pairs:
        return digest
    parameters = msgspec.json.encode([sorted(call.path.items()), list(call.query_pairs)])
    return hashlib.sha256(digest + parameters).digest()


async def _digest(body: JsonText) -> bytes:
    """SHA-256 of the body; in a thread if it is large, so as not to block the event loop."""
    if len(body) <= _HASH_INLINE:
        return hashlib.sha256(body).digest()
    return (await asyncio.to_thread(hashlib.sha256, body)).digest()


async def delete_expired_keys(db: DatabasePool, clock: Clock) -> int:
    """Delete keys older than 24 hours; returns their number."""
    async with db.autocommit() as conn:
        cursor = await conn.execute(
            "DELETE FROM idempotency_keys WHERE claimed_at <= %(expired)s", {"expired": clock() - RETENTION}
        )
        return cursor.rowcount


def _had_no_effect(refusal: Refusal) -> bool:
    """Whether a refusal means that nothing happened. An internal error or a lost database leaves that unknown."""
    if isinstance(refusal, InternalError | Unavailable):
        return False
    return (refusal.details or {}).get("submitted", "no") == "no"


def _without_secrets(call: Call, data: Any) -> Any:
    if not call.endpoint.secrets:
        return data
    return {name: None if name in call.endpoint.secrets else value for name, value in msgspec.to_builtins(data).items()}


def _replay(status: int, answer: bytes) -> HttpResponse:
    return HttpResponse(msgspec.Raw(answer), status=status, headers={REPLAYED: "true"})
