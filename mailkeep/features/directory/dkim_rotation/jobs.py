"""The worker that rotates DKIM keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import Conflict
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.pool import Conn
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.dkim.model import Algorithm, DkimKey
from mailkeep.features.directory.dkim_rotation import rules, service, store
from mailkeep.features.directory.dkim_rotation.model import DkimJob, LockedKeys, RotationClaim
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.record.events import service as events
from mailkeep.features.record.system_mail import service as system_mail
from mailkeep.jobs.run import ClaimLimits, JobQueue, QueueWorker

log = structlog.get_logger("mailkeep.dkim")

_LEASE = timedelta(minutes=5)
_CONCURRENCY = 4
_BLOCKED_PAUSE = timedelta(hours=1)  # when a rotation can't begin because the domain has too many keys
_SYSTEM = Principal(None, "DKIM rotation", Role.SUPER_ADMIN, ActorType.SYSTEM)


class DkimWorker(QueueWorker[DkimJob]):
    """The steps of rotations that are due."""

    def __init__(self, app: App) -> None:
        self._app = app
        queue = JobQueue("dkim", self._claim, _key, self._work, self._release)
        super().__init__(app.db, queue, slots=_CONCURRENCY)

    async def _claim(self, limits: ClaimLimits) -> Sequence[DkimJob]:
        at, settings = self._app.clock(), self._app.settings
        days = settings.dkim.rotate_days
        claim = RotationClaim(
            at=at,
            until=at + _LEASE,
            rotate_before=at - timedelta(days=days) if days else None,
            retire_before=at - _lifetime(self._app),
            limit=limits.total,
        )
        async with self._app.db.tx() as conn:
            return await store.claim(conn, claim)

    async def _work(self, job: DkimJob) -> bool:
        if job.key.stage == "active":
            await self._begin(job)
        elif job.key.stage == "pending":
            await self._look(job)
        else:
            await self._end(job)
        return True

    async def _release(self, job: DkimJob) -> None:
        async with self._app.db.autocommit() as conn:
            await store.release(conn, job, self._app.clock())

    async def _begin(self, job: DkimJob) -> None:
        """Generate the next keys of a domain: of all families whose active key is due or almost so, to ask once."""
        at, domain_id = self._app.clock(), job.key.domain_id
        assert domain_id is not None
        async with self._app.db.autocommit() as conn:
            algorithms = _list_due(await service.list_keys(conn, domain_id), job.key)
        new = await service.make_next(self._app, domain_id, at, algorithms)
        failpoint.reach("dkim.generated")
        try:
            async with self._app.db.tx() as conn:
                locked = await service.lock(conn, domain_id)
                if locked is not None and await store.holds(conn, job):
                    await self._insert(conn, locked, job, new)
                    await store.release(conn, job, at)
        except Conflict as error:
            log.warning("DKIM keys can't be rotated", domain_id=str(domain_id), reason=str(error))
            async with self._app.db.autocommit() as conn:
                await store.release(conn, job, at + _BLOCKED_PAUSE)

    async def _insert(self, conn: Conn, locked: LockedKeys, job: DkimJob, new: Sequence[DkimKey]) -> None:
        due = {_family(algorithm) for algorithm in _list_due(locked.keys, job.key)}
        for key in new:
            if key.family in due:
                await service.insert_next(conn, self._app, _SYSTEM, locked.domain, key)
        at = self._app.clock()
        ids = [key.id for key in new]
        await store.schedule(conn, ids, at + rules.next_check(0))
        await self._ask(conn, locked.domain.id)

    async def _ask(self, conn: Conn, domain_id: UUID) -> None:
        """Ask for the publication of the records of a domain's pending keys, if it is time to."""
        at, app = self._app.clock(), self._app
        locked = await service.lock(conn, domain_id)
        if locked is None:
            return
        requests = await store.find_requests(conn, domain_id)
        publishes_itself = _publishes_itself(app, locked.domain)
        due = [
            key
            for key in locked.keys
            if key.id in requests
            and key.published_since is None
            and rules.is_request_due(key, requests[key.id], at, publishes_itself=publishes_itself)
        ]
        if not due:
            return
        reminder = max(requests[key.id] for key in due)
        await store.count_request(conn, [key.id for key in due])
        domain = locked.domain
        event = rules.due_event(domain.id, domain.name, due, reminder)
        await events.emit(conn, at, event)
        is_delegated = any(key.cname is not None for key in due)
        recipients = await store.list_administrators(conn, domain.id, server_too=is_delegated)
        await system_mail.notify(conn, at, "dkim_due", recipients, rules.due_item(domain.name, due))

    async def _look(self, job: DkimJob) -> None:
        """Look for the record of a pending key, and activate it if every name server finds it."""
        key, domain_id = job.key, job.key.domain_id
        assert domain_id is not None
        async with self._app.db.autocommit() as conn:
            domain_name = await service.find_domain_name(conn, domain_id)
        if domain_name is None:
            return
        lookup = await service.look_up(self._app, key, domain_name)
        at = self._app.clock()
        async with self._app.db.tx() as conn:
            locked = await service.lock(conn, domain_id)
            if locked is None or not await store.holds(conn, job):
                return
            await dkim.record_checks(conn, {key.id: lookup.status}, at)
            current = next((each for each in await service.list_keys(conn, domain_id) if each.id == key.id), None)
            if current is None or current.stage != "pending":
                return
            if lookup.is_published and rules.is_ready(current, at):
                await service.switch(conn, _SYSTEM, at, locked, current)
                failpoint.reach("dkim.switched")
                await store.release(conn, job, at)
                return
            pause = rules.pause_of(current, job.checks, at, is_published=lookup.is_published)
            await store.release(conn, job, at, at + pause)
            await self._ask(conn, domain_id)

    async def _end(self, job: DkimJob) -> None:
        """Retire a key: mail that it signed is no longer in the queue."""
        assert job.key.domain_id is not None
        async with self._app.db.tx() as conn:
            locked = await service.lock(conn, job.key.domain_id)
            if locked is None or not await store.holds(conn, job):
                return
            at = self._app.clock()
            key = next((each for each in locked.keys if each.id == job.key.id), None)
            if key is not None and rules.is_over(key, _lifetime(self._app), at):
                await service.end_retiring(conn, _SYSTEM, at, locked, key)
            await store.release(conn, job, at)


def _list_due(keys: Sequence[DkimKey], due: DkimKey) -> list[Algorithm]:
    """The algorithms of the keys that a rotation creates: of each family whose active key is as old as the due one, or
    a day younger, and that has no next key yet.
    """
    waiting = {key.family for key in keys if key.stage == "pending" and key.for_rotation}
    found: dict[str, Algorithm] = {}
    for key in keys:
        if key.stage == "active" and key.family not in waiting and rules.is_as_old(key, due):
            found[key.family] = rules.next_algorithm(key.algorithm)
    return list(found.values())


def _lifetime(app: App) -> timedelta:
    outbound = app.settings.outbound
    return rules.queue_lifetime(outbound.give_up_hours, outbound.longest_retry_seconds)


def _publishes_itself(app: App, domain: Domain) -> bool:
    """Whether Mailkeep writes the record of a new key of a domain by `dns.provider`."""
    dns = app.settings.dns
    return dns.provider != "none" and (dns.manage_server if domain.dkim_delegated else domain.dns_managed)


def _family(algorithm: Algorithm) -> str:
    return "ed25519" if algorithm == "ed25519" else "rsa"


def _key(job: DkimJob) -> UUID:
    return job.key.id
